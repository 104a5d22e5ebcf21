#include "insight/replay/placement.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "core/check.h"
#include "core/enum_names.h"

namespace pennyweight::replay {
namespace {

constexpr auto kRuleNames = enum_names<PlacementRule>({
    {PlacementRule::kFirstFit, "first-fit"},
    {PlacementRule::kBestFit, "best-fit"},
    {PlacementRule::kWorstFit, "worst-fit"},
    {PlacementRule::kRandom, "random"},
    {PlacementRule::kDotProduct, "dot-product"},
    {PlacementRule::kGpuClustering, "gpu-clustering"},
    {PlacementRule::kGpuPacking, "gpu-packing"},
    {PlacementRule::kLeastFragmentation, "least-fragmentation"},
});

// Cost is compared in millionths of a machine, so that CPU and GPU weigh the same.
constexpr Int128 kWhole = 1'000'000;
// Kubernetes scores a node with a whole number up to this. The dot product is compared in such
// steps, so that machines that differ less are equal.
constexpr Int128 kScores = 100;

// 0: without GPU, 1: a fraction, n + 1: n whole GPUs.
std::size_t size_class(std::uint32_t gpus, std::uint32_t milli_of_each) {
  if (gpus == 0) return 0;
  return milli_of_each < kMilliPerGpu ? 1 : 1 + gpus;
}
std::size_t size_class(const Request& request) {
  return request.gpu_milli > 0 ? 1 : size_class(request.gpus, kMilliPerGpu);
}
std::size_t size_class(const Share& share) {
  return size_class(static_cast<std::uint32_t>(std::popcount(share.gpu_mask)), share.gpu_milli);
}

// Machines that hold jobs of this size and no other, then those that hold others too, then empty
// ones, then those that hold only others. Within each, the one with the least GPU left, in steps
// of a 25th of eight GPUs. A request without GPU goes to the first machine with room.
Int128 clustering_cost(const FreeMachine& free, const std::vector<std::uint32_t>& held,
                       const Request& request) {
  if (request.milli_gpus() == 0) return 0;
  const std::size_t size = size_class(request);
  const auto sizes =
      std::count_if(held.begin() + 1, held.end(), [](std::uint32_t count) { return count > 0; });
  int group = 0;
  if (held[size] > 0) {
    group = sizes == 1 ? 0 : 1;
  } else {
    group = sizes == 0 ? 2 : 3;
  }
  constexpr int kSteps = 25;
  constexpr int kStepMilli = 8 * static_cast<int>(kMilliPerGpu) / kSteps;
  return group * 100 * (kSteps + 1) +
         (static_cast<int>(free.gpu_milli) + kStepMilli - 1) / kStepMilli;
}

// GPUs that others share already, the fullest first, in ten steps; then free GPUs of a machine in
// use, the fewer the better; then an idle machine, the smaller the better. A request without GPU
// goes to the first machine with room.
Int128 packing_cost(const FreeMachine& free, const Machine& machine, const Request& request) {
  if (request.milli_gpus() == 0) return 0;
  constexpr int kOpensGpu = 50;
  constexpr int kOpensMachine = 100;
  if (machine.gpus == 0) return 0;
  if (free.whole_gpus == machine.gpus) return kOpensMachine + static_cast<int>(machine.gpus);
  if (request.gpus > 0) return kOpensGpu + static_cast<int>(request.gpus);
  std::uint32_t least = kMilliPerGpu;
  for (std::uint32_t i = 0; i < machine.gpus; ++i) {
    if (free.by_gpu[i] >= request.gpu_milli) least = std::min<std::uint32_t>(least, free.by_gpu[i]);
  }
  return least < kMilliPerGpu ? static_cast<int>(least / 100) : kOpensGpu + 1;
}

// Whether machines that differ little count as equal, as they do in the published scores of these
// rules. Then the machine given first wins; otherwise the tightest fit does.
bool compares_coarsely(PlacementRule rule) {
  return rule == PlacementRule::kDotProduct || rule == PlacementRule::kGpuClustering ||
         rule == PlacementRule::kGpuPacking;
}

MachineOrder machine_order(PlacementRule rule) {
  switch (rule) {
    case PlacementRule::kBestFit:
      return MachineOrder::kLeastFree;
    case PlacementRule::kWorstFit:
      return MachineOrder::kMostFree;
    case PlacementRule::kFirstFit:
    case PlacementRule::kRandom:
    case PlacementRule::kDotProduct:
    case PlacementRule::kGpuClustering:
    case PlacementRule::kGpuPacking:
    case PlacementRule::kLeastFragmentation:
      break;
  }
  return MachineOrder::kAsGiven;
}

}  // namespace

std::string_view to_text(PlacementRule rule) { return kRuleNames.name(rule); }

std::optional<PlacementRule> parse_placement_rule(std::string_view text) {
  return kRuleNames.parse(text);
}

std::string placement_rule_names() {
  std::string list;
  for (const std::string_view name : kRuleNames.names()) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

RequestKinds request_kinds(std::span<const Job> jobs) {
  using Values = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, ModelSet>;
  RequestKinds result;
  result.kind_of_job.reserve(jobs.size());
  std::map<Values, std::uint32_t> numbers;
  for (const Job& job : jobs) {
    const Request& request = job.request;
    const auto [at, is_new] = numbers.try_emplace(
        {request.gpus, request.gpu_milli, request.cpu_milli, request.memory_mib, request.models},
        static_cast<std::uint32_t>(result.kinds.size()));
    if (is_new) result.kinds.push_back({request, 0});
    ++result.kinds[at->second].jobs;
    result.kind_of_job.push_back(at->second);
  }
  return result;
}

Int128 fragmentation(const FreeMachine& free, const Machine& machine,
                     std::span<const RequestKind> kinds) {
  Int128 sum = 0;
  for (const RequestKind& kind : kinds) {
    const std::uint32_t wanted = kind.request.gpus > 0 ? kMilliPerGpu : kind.request.gpu_milli;
    std::uint64_t useless = 0;
    if (wanted == 0 || !fits(free, machine, kind.request)) {
      useless = free.gpu_milli;
    } else {
      for (std::uint32_t i = 0; i < machine.gpus; ++i) {
        if (free.by_gpu[i] < wanted) useless += free.by_gpu[i];
      }
    }
    sum += static_cast<Int128>(useless) * static_cast<Int128>(kind.jobs);
  }
  return sum;
}

Placement::Placement(ClusterState& cluster, PlacementRule rule, std::span<const RequestKind> kinds,
                     SeededRandom& random, bool same_rack)
    : cluster_(cluster),
      index_(cluster, machine_order(rule)),
      rule_(rule),
      kinds_(kinds),
      random_(random) {
  const std::size_t count = cluster.machines().size();
  versions_.assign(count, 1);
  if (rule_ == PlacementRule::kLeastFragmentation) {
    memos_.assign(kinds.size(), std::vector<FragmentationMemo>(count));
  }
  if (rule_ == PlacementRule::kGpuClustering) {
    held_by_size_.assign(count, std::vector<std::uint32_t>(kGpusPerMachineMax + 2, 0));
  }
  if (same_rack) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> racks;
    for (std::uint32_t i = 0; i < count; ++i) racks[cluster.machines()[i].rack].push_back(i);
    for (auto& [number, machines] : racks) racks_.push_back(std::move(machines));
  }
  for (const Machine& machine : cluster.machines()) {
    cpu_max_ = std::max(cpu_max_, machine.cpu_milli);
    gpu_max_ = std::max<std::uint64_t>(gpu_max_, std::uint64_t{kMilliPerGpu} * machine.gpus);
  }
}

void Placement::take(const Share& share) {
  cluster_.take(share);
  index_.update(share.machine);
  ++versions_[share.machine];
  if (!held_by_size_.empty()) ++held_by_size_[share.machine][size_class(share)];
}

void Placement::set_closed(std::uint32_t machine, bool is_closed) {
  cluster_.set_closed(machine, is_closed);
  index_.update(machine);
  ++versions_[machine];
}

bool Placement::is_free(const Shares& shares) const {
  return std::all_of(shares.begin(), shares.end(),
                     [&](const Share& share) { return cluster_.is_free(share); });
}

void Placement::take(const Shares& shares) {
  for (const Share& share : shares) take(share);
}

void Placement::give_back(const Shares& shares) {
  for (const Share& share : shares) {
    cluster_.give_back(share);
    index_.update(share.machine);
    ++versions_[share.machine];
    if (held_by_size_.empty()) continue;
    std::uint32_t& held = held_by_size_[share.machine][size_class(share)];
    CHECK(held > 0, "what is given back was placed");
    --held;
  }
}

std::optional<Shares> Placement::place(const Request& request) {
  std::optional<Shares> shares = find(request);
  if (shares) take(*shares);
  return shares;
}

std::optional<Shares> Placement::find(const Request& request) {
  if (request.gpus > cluster_.largest_machine()) return find_on_several(request);
  if (request.milli_gpus() > cluster_.free_milli_gpus()) return std::nullopt;
  const std::optional<Share> share = choose(request);
  if (!share) return std::nullopt;
  return Shares{*share};
}

void Placement::clear() {
  cluster_.clear();
  index_.update_changed();
  for (std::uint64_t& version : versions_) ++version;
  for (auto& held : held_by_size_) std::fill(held.begin(), held.end(), 0u);
}

Int128 Placement::what_remains(std::uint32_t machine, const Request& request) const {
  const FreeMachine& free = cluster_.free_on(machine);
  return static_cast<Int128>(free.cpu_milli - request.cpu_milli) * kWhole /
             static_cast<Int128>(cpu_max_) +
         static_cast<Int128>(free.gpu_milli - request.milli_gpus()) * kWhole /
             static_cast<Int128>(gpu_max_);
}

Int128 Placement::cost_of(std::uint32_t machine, const Request& request) const {
  const FreeMachine& free = cluster_.free_on(machine);
  switch (rule_) {
    case PlacementRule::kDotProduct: {
      const auto share = [](std::uint64_t part, std::uint64_t all) {
        return static_cast<Int128>(part) * kWhole / static_cast<Int128>(all);
      };
      const Int128 product =
          share(free.cpu_milli, cpu_max_) * share(request.cpu_milli, cpu_max_) +
          share(free.gpu_milli, gpu_max_) * share(request.milli_gpus(), gpu_max_);
      constexpr Int128 kMost = 2 * kWhole * kWhole;
      return (kScores * product + kMost - 1) / kMost;
    }
    case PlacementRule::kGpuClustering:
      return clustering_cost(free, held_by_size_[machine], request);
    case PlacementRule::kGpuPacking:
      return packing_cost(free, cluster_.machines()[machine], request);
    case PlacementRule::kFirstFit:
    case PlacementRule::kBestFit:
    case PlacementRule::kWorstFit:
    case PlacementRule::kRandom:
    case PlacementRule::kLeastFragmentation:
      break;
  }
  CHECK(false, "choose() handles the other rules itself");
}

Placement::Choice Placement::least_fragmentation(std::uint32_t machine, const Request& request,
                                                 std::size_t kind) {
  Share share = cluster_.share_on(machine, request);
  if (kind < memos_.size()) {
    FragmentationMemo& memo = memos_[kind][machine];
    if (memo.version == versions_[machine]) {
      share.gpu_mask = memo.gpu_mask;
      return {.share = share, .cost = memo.growth};
    }
  }
  const Machine& whole = cluster_.machines()[machine];
  const FreeMachine before = cluster_.free_on(machine);
  const Int128 now = fragmentation(before, whole, kinds_);
  const auto growth_of = [&](std::uint32_t mask) {
    FreeMachine after = before;
    after.cpu_milli -= share.cpu_milli;
    after.memory_mib -= share.memory_mib;
    for (std::uint32_t i = 0; i < whole.gpus; ++i) {
      if (((mask >> i) & 1) == 0) continue;
      if (after.by_gpu[i] == kMilliPerGpu) --after.whole_gpus;
      after.by_gpu[i] = static_cast<std::uint16_t>(after.by_gpu[i] - share.gpu_milli);
      after.gpu_milli -= share.gpu_milli;
    }
    return fragmentation(after, whole, kinds_) - now;
  };
  Choice best{.share = share, .cost = growth_of(share.gpu_mask)};
  if (request.gpu_milli > 0) {
    for (std::uint32_t i = 0; i < whole.gpus; ++i) {
      if (before.by_gpu[i] < request.gpu_milli || share.gpu_mask == (1u << i)) continue;
      const Int128 growth = growth_of(1u << i);
      if (growth >= best.cost) continue;
      best.share.gpu_mask = 1u << i;
      best.cost = growth;
    }
  }
  if (kind < memos_.size()) {
    memos_[kind][machine] = {versions_[machine], best.cost, best.share.gpu_mask};
  }
  return best;
}

std::optional<Share> Placement::choose(const Request& request) {
  const auto count = static_cast<std::uint32_t>(cluster_.machines().size());
  if (!index_.may_fit(request)) return std::nullopt;
  if (rule_ == PlacementRule::kFirstFit || rule_ == PlacementRule::kBestFit ||
      rule_ == PlacementRule::kWorstFit) {
    const std::optional<std::uint32_t> machine = index_.first(request);
    if (!machine) return std::nullopt;
    return cluster_.share_on(*machine, request);
  }
  if (rule_ == PlacementRule::kRandom) {
    std::vector<std::uint32_t> fitting;
    for (std::uint32_t machine = 0; machine < count; ++machine) {
      if (cluster_.fits(machine, request)) fitting.push_back(machine);
    }
    if (fitting.empty()) return std::nullopt;
    const std::uint32_t machine = fitting[random_.below(fitting.size())];
    Share share = cluster_.share_on(machine, request);
    if (request.gpu_milli > 0) {
      std::vector<std::uint32_t> gpus;
      for (std::uint32_t i = 0; i < cluster_.machines()[machine].gpus; ++i) {
        if (cluster_.free_on(machine).by_gpu[i] >= request.gpu_milli) gpus.push_back(i);
      }
      share.gpu_mask = 1u << gpus[random_.below(gpus.size())];
    }
    return share;
  }
  std::size_t kind = kinds_.size();
  if (rule_ == PlacementRule::kLeastFragmentation) {
    const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const RequestKind& each) {
      return each.request == request;
    });
    kind = static_cast<std::size_t>(same - kinds_.begin());
  }
  std::optional<Choice> best;
  const bool is_coarse = compares_coarsely(rule_);
  for (std::uint32_t machine = 0; machine < count; ++machine) {
    if (!cluster_.fits(machine, request)) continue;
    Choice choice = rule_ == PlacementRule::kLeastFragmentation
                        ? least_fragmentation(machine, request, kind)
                        : Choice{.share = cluster_.share_on(machine, request),
                                 .cost = cost_of(machine, request)};
    choice.remains = is_coarse ? 0 : what_remains(machine, request);
    if (!best || choice.cost < best->cost ||
        (choice.cost == best->cost && choice.remains < best->remains)) {
      best = choice;
    }
  }
  if (!best) return std::nullopt;
  return best->share;
}

namespace {

// What `gpus` of a request's GPUs take of its CPU and memory, rounded up.
Request part_of(const Request& request, std::uint32_t gpus) {
  const auto part = [&](std::uint64_t all) {
    return (all * gpus + request.gpus - 1) / request.gpus;
  };
  return {.gpus = gpus,
          .cpu_milli = part(request.cpu_milli),
          .memory_mib = part(request.memory_mib),
          .models = request.models};
}

}  // namespace

// Idle machines whole, in their order, and the rest on the first other one that has room.
std::optional<Shares> Placement::find_in_rack(const Request& request,
                                              std::span<const std::uint32_t> rack) const {
  Shares shares;
  std::uint32_t missing = request.gpus;
  for (const std::uint32_t machine : rack) {
    const std::uint32_t gpus = cluster_.machines()[machine].gpus;
    if (missing == 0) break;
    if (gpus == 0 || gpus > missing) continue;
    const Request each = part_of(request, gpus);
    if (!cluster_.fits(machine, each)) continue;
    shares.push_back(cluster_.share_on(machine, each));
    missing -= gpus;
  }
  if (missing == 0) return shares;
  if (missing >= cluster_.largest_machine()) return std::nullopt;
  const Request rest = part_of(request, missing);
  for (const std::uint32_t machine : rack) {
    const bool is_taken =
        std::ranges::any_of(shares, [&](const Share& share) { return share.machine == machine; });
    if (is_taken || !cluster_.fits(machine, rest)) continue;
    shares.push_back(cluster_.share_on(machine, rest));
    return shares;
  }
  return std::nullopt;
}

std::optional<Shares> Placement::find_on_several(const Request& request) {
  // It takes idle machines, and less than all of one more.
  if (request.gpus > index_.idle_gpus() + cluster_.largest_machine()) return std::nullopt;
  for (const auto& rack : racks_) {
    if (std::optional<Shares> shares = find_in_rack(request, rack)) return shares;
  }
  if (!racks_.empty()) return std::nullopt;
  Shares shares;
  std::uint32_t missing = request.gpus;
  const auto count = static_cast<std::uint32_t>(cluster_.machines().size());
  for (std::uint32_t i = 0; i < count && missing > 0; ++i) {
    const Machine& machine = cluster_.machines()[i];
    if (machine.gpus == 0 || machine.gpus > missing ||
        cluster_.free_on(i).whole_gpus < machine.gpus) {
      continue;
    }
    const Request each = part_of(request, machine.gpus);
    if (!cluster_.fits(i, each)) continue;
    shares.push_back(cluster_.share_on(i, each));
    missing -= machine.gpus;
  }
  if (missing == 0) return shares;
  if (missing >= cluster_.largest_machine()) return std::nullopt;
  const Request rest = part_of(request, missing);
  take(shares);
  const std::optional<Share> share = choose(rest);
  give_back(shares);
  if (!share) return std::nullopt;
  shares.push_back(*share);
  return shares;
}

}  // namespace pennyweight::replay
