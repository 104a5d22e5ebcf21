#include "insight/advice/mig_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "allocation/policy/label_match.h"
#include "allocation/rules.h"
#include "core/gpu/mig_profile.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/autoscaling.h"
#include "insight/advice/mig_plan.h"
#include "insight/advice/right_size.h"
#include "insight/advice/spot.h"

namespace pennyweight::advising {
namespace {

constexpr std::int64_t kPoolHourMs = 3'600'000;
constexpr std::size_t kSlicedDaysMin = 7;
constexpr std::size_t kSlicedRunsMin = 3;

struct MigPool {
  std::string pool;
  std::string instance_type;
  std::string region;
  std::string model;
  auto operator<=>(const MigPool&) const = default;
};

std::string name_of(const MigPool& pool) {
  return fmt::format("pool {}, {}, {}", pool.pool.empty() ? "(unnamed)" : pool.pool,
                     pool.instance_type.empty() ? "any type" : pool.instance_type, pool.model);
}

// What a holding would take of a GPU: a profile, and on which node.
struct SlicedHolding {
  std::uint32_t holding;
  std::uint32_t node;
  std::string profile;
  std::uint64_t count;
};

class MigPoolSearch {
 public:
  MigPoolSearch(const ClusterMonth& month, const ActivityProfiles& profiles, const FleetView& fleet,
                const FleetHours& hours, const NodeBill& bill,
                const std::map<std::uint32_t, HourFlags>& released, const Policy& policy)
      : month_(month),
        profiles_(profiles),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        released_(released),
        policy_(policy),
        manager_(work_manager_of(month.holdings)) {}

  std::vector<Proposal> run() {
    find_slices();
    std::map<MigPool, std::vector<std::uint32_t>> pools;
    for (std::uint32_t node = 0; node < fleet_.nodes().size(); ++node) {
      if (!slices_.contains(node) || excluded_.contains(node)) continue;
      if (hours_.has_pooled(node) || bill_.is_committed(node) || bill_.avoidable(node).empty()) {
        continue;
      }
      const Node& fact = fleet_.any_fact(node);
      pools[{fact.pool.text(), fact.instance_type, fact.region, fleet_.nodes()[node].model->name}]
          .push_back(node);
    }
    for (const auto& [pool, nodes] : pools) {
      if (nodes.size() > 1) consider(pool, nodes);
    }
    return std::move(proposals_);
  }

 private:
  // The smallest profile for the work on this model; nothing where it needs the whole GPU, or where
  // not enough is known.
  std::optional<std::string> profile_for(const std::string& work, const GpuModel& model) {
    const auto [at, is_new] = profiles_for_.try_emplace({work, model.name});
    if (is_new) at->second = find_profile(work, model);
    return at->second;
  }

  std::optional<std::string> find_profile(const std::string& work, const GpuModel& model) const {
    const auto found = profiles_.profiles().find({work, model.name});
    if (found == profiles_.profiles().end()) return std::nullopt;
    const ActivityProfile& seen = found->second;
    const auto metric = seen.metric();
    if (!metric || *metric == ActivityMetric::kGpuUtil || seen.memory.total_ms() == 0) {
      return std::nullopt;
    }
    if (seen.runs.size() < kSlicedRunsMin && seen.days.size() < kSlicedDaysMin) {
      return std::nullopt;
    }
    if (UInt128{seen.observed_ms} * 10 < UInt128{seen.held_ms} * 8) return std::nullopt;
    const TimeBins& activity = seen.activity[static_cast<std::size_t>(*metric)];
    const MigProfile* best = nullptr;
    for (const std::string& geometry : model.mig_geometries) {
      for (const MigProfile& profile : mig_profiles(geometry)) {
        if (profile.name.find('+') != std::string::npos) continue;
        const bool is_whole = profile.compute_slices == model.mig_compute_slices &&
                              profile.memory_slices == model.mig_memory_slices;
        const std::uint64_t bytes =
            model.memory_bytes / model.mig_memory_slices * profile.memory_slices;
        if (is_whole || !fits_mig(activity.quantile(950), seen.memory.peak(), profile, bytes,
                                  model.mig_compute_slices)) {
          continue;
        }
        const auto size = [](const MigProfile& of) {
          return std::tuple(of.memory_slices, of.compute_slices, std::string_view(of.name));
        };
        if (best == nullptr || size(profile) < size(*best)) best = &profile;
      }
    }
    return best == nullptr ? std::nullopt : std::optional(best->name);
  }

  // Instances don't share, so the peak has to fit, and its head-room with it.
  static bool fits_mig(std::uint64_t p95_ppm, std::uint64_t peak_bytes, const MigProfile& profile,
                       std::uint64_t bytes, std::uint32_t card_slices) {
    return UInt128{bytes} * 10 >= UInt128{peak_bytes} * 12 &&
           UInt128{profile.compute_slices} * 1'000'000 >= UInt128{p95_ppm} * card_slices;
  }

  // What each holding would take, by node, and the nodes that have other holders.
  void find_slices() {
    for (std::uint32_t i = 0; i < month_.holdings.size(); ++i) {
      const Holding& holding = month_.holdings[i];
      if (matches_any(policy_.overhead,
                      [&](std::string_view key) { return policy_label(holding, key); })) {
        continue;
      }
      std::map<std::uint32_t, std::uint64_t> devices;
      if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
        for (const OnNodes::NodeDevices& part : on_nodes->parts) {
          if (const auto node = fleet_.node_of(part.node)) devices[*node] += part.devices;
        }
      } else if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
        for (const GpuId& gpu : on_gpus->gpus) {
          if (const auto node = fleet_.node_of_gpu(gpu)) ++devices[*node];
        }
      }
      for (const auto& [node, count] : devices) {
        const GpuModel* model = fleet_.nodes()[node].model;
        std::optional<std::string> profile;
        if (model != nullptr && !model->mig_geometries.empty() && count > 0) {
          if (const auto* slice = std::get_if<MigSlice>(&holding.device)) {
            const auto use = find_mig_profile(*model, slice->profile);
            if (use && use->is_whole() && use->profile->name.find('+') == std::string::npos) {
              profile = use->profile->name;
            }
          } else if (std::holds_alternative<WholeGpu>(holding.device) && count == 1 &&
                     devices.size() == 1) {
            profile = profile_for(work_of(holding), *model);
          }
        }
        if (profile) {
          slices_[node].push_back({i, node, *profile, count});
        } else {
          excluded_.insert(node);
        }
      }
    }
  }

  void consider(const MigPool& pool, std::vector<std::uint32_t> nodes) {
    const GpuModel& model = *find_gpu_model(pool.model);
    std::map<std::string, std::vector<std::uint64_t>> wanted;  // by profile, in each hour
    std::map<std::uint32_t, HourFlags> held;
    std::set<std::string> works;
    std::set<WorkloadId> workloads;
    for (const std::uint32_t node : nodes) {
      HourFlags& flags = held.try_emplace(node, HourFlags(hours_.hours(), false)).first->second;
      for (const SlicedHolding& slice : slices_.at(node)) {
        const Holding& holding = month_.holdings[slice.holding];
        works.insert(work_of(holding));
        workloads.insert(holding.workload);
        std::vector<std::uint64_t>& counts = wanted[slice.profile];
        counts.resize(hours_.hours(), 0);
        const Instant begin = hours_.hour(0).begin();
        if (holding.held.end() <= begin) continue;
        auto hour = static_cast<std::size_t>(
            (std::max(holding.held.begin(), begin) - begin).count() / kPoolHourMs);
        for (; hour < hours_.hours() && hours_.hour(hour).begin() < holding.held.end(); ++hour) {
          counts[hour] += slice.count;
          flags[hour] = true;
        }
      }
    }
    for (auto& [node, flags] : held) {
      const auto gone = released_.find(node);
      for (std::size_t hour = 0; gone != released_.end() && hour < flags.size(); ++hour) {
        flags[hour] = flags[hour] && !gone->second[hour];
      }
    }
    std::map<std::string, std::uint64_t> peak;
    for (const auto& [profile, counts] : wanted) peak[profile] = std::ranges::max(counts);
    const auto plan = plan_mig_layouts(model, peak);
    if (!plan || plan->gpus == 0) return;
    const std::uint64_t gpus_each = fleet_.nodes()[nodes.front()].capacity.gpus;
    if (gpus_each == 0 || std::ranges::any_of(nodes, [&](std::uint32_t node) {
          return fleet_.nodes()[node].capacity.gpus != gpus_each;
        })) {
      return;
    }
    const std::uint64_t needed = (plan->gpus + gpus_each - 1) / gpus_each;
    if (needed >= nodes.size()) return;
    // Those that are held longest stay.
    const auto hours_held = [&](std::uint32_t node) {
      return std::ranges::count(held.at(node), true);
    };
    std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return hours_held(a) > hours_held(b);
    });
    const auto saved_beyond = [&](std::uint64_t kept) {
      std::map<std::uint32_t, HourFlags> gone;
      for (std::size_t hour = 0; hour < hours_.hours(); ++hour) {
        std::uint64_t in_use = 0;
        for (const std::uint32_t node : nodes) {
          if (!held.at(node)[hour] || ++in_use <= kept) continue;
          gone.try_emplace(node, HourFlags(hours_.hours(), false)).first->second[hour] = true;
        }
      }
      std::map<Currency, Money> sums;
      for (const auto& [node, flags] : gone) {
        for (const auto& [currency, money] : bill_.cost_of(node, hours_, flags)) {
          sums.try_emplace(currency, Money::zero(currency)).first->second += money;
        }
      }
      return sums;
    };
    const auto saved = saved_beyond(needed);
    const auto cautious = saved_beyond(needed + 1);
    for (const auto& [currency, money] : saved) {
      if (money.ticks() <= 0) continue;
      const auto low = cautious.find(currency);
      propose(pool, nodes, works, workloads, *plan, needed, gpus_each, peak,
              low == cautious.end() ? Money::zero(currency) : low->second, money);
    }
  }

  void propose(const MigPool& pool, const std::vector<std::uint32_t>& nodes,
               const std::set<std::string>& works, const std::set<WorkloadId>& workloads,
               const MigPlan& plan, std::uint64_t needed, std::uint64_t gpus_each,
               const std::map<std::string, std::uint64_t>& peak, const Money& low,
               const Money& saved) {
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, hours_.hours());
    };
    const Money none = Money::zero(saved.currency());
    const std::string subject = name_of(pool);
    Proposal advice{
        .id = proposal_id(AdviceKind::kMigLayout, month_.cluster,
                          fmt::format("{}\n{}\n{}", subject, pool.region, saved.currency().text())),
        .kind = AdviceKind::kMigLayout,
        .cluster = month_.cluster,
        .subject = subject,
        .change =
            fmt::format("Cut the GPUs of {} {} with MIG, and give back the other {} of {}", needed,
                        needed == 1 ? "node" : "nodes", nodes.size() - needed, nodes.size()),
        .monthly = {monthly(low), monthly(saved), monthly(saved)},
        .observed = saved,
        .moved = none};
    std::vector<std::string> mix;
    for (const auto& [profile, count] : peak) mix.push_back(fmt::format("{} x {}", count, profile));
    advice.evidence.push_back(
        fmt::format("at the peak the pool's work needs {}: the smallest instances with 20 % of "
                    "memory to spare and compute for the 95th percentile",
                    fmt::join(mix, ", ")));
    for (const MigCards& cards : plan.layouts) {
      advice.evidence.push_back(fmt::format(
          "{} {}: {}; {} compute and {} memory slices of each are left over", cards.count,
          cards.count == 1 ? "GPU" : "GPUs", fmt::join(cards.profiles, " + "),
          cards.free_compute_slices, cards.free_memory_slices));
    }
    advice.evidence.push_back(
        "expected: hours in which such work held more nodes than these; low: one node more is "
        "kept");
    advice.confidence = works.size() > 1 && !low.is_zero() ? Confidence::kMedium : Confidence::kLow;
    advice.confidence_reason =
        fmt::format("{} {} of work; how well the host's CPUs and memory go round is not known",
                    works.size(), works.size() == 1 ? "piece" : "pieces");
    advice.risk =
        "Changing a layout takes the GPU's work down; an instance has no NVLink and no peer "
        "access, "
        "and its work must fit when it grows.";
    const MigFile file = mig_parted_file(plan, gpus_each);
    advice.apply = file.text;
    std::size_t at = 0;
    for (const auto& [name, count] : file.nodes) {
      for (std::uint64_t i = 0; i < count && at < nodes.size(); ++i, ++at) {
        const std::string node = shell_word(fleet_.any_fact(nodes[at]).name.text());
        advice.apply +=
            manager_ == WorkManager::kSlurm
                ? fmt::format("# on {}: nvidia-mig-parted apply -f this-file -c {}\n", node, name)
                : fmt::format("# kubectl label node {} nvidia.com/mig.config={} --overwrite\n",
                              node, name);
      }
    }
    for (; at < nodes.size(); ++at) {
      advice.nodes.push_back(fleet_.any_fact(nodes[at]).name.text());
    }
    if (works.size() == 1) {
      advice.owner = profiles_.owner_of_work(*works.begin());
      advice.workload = workloads.size() == 1 ? *workloads.begin() : WorkloadId("(several)");
    }
    if (!pool.instance_type.empty()) advice.looked_for = "type " + pool.instance_type;
    advice.alternatives_of =
        fmt::format("mig-layout\n{}\n{}", month_.cluster.text(), subject + pool.region);
    for (const std::string& work : works) {
      advice.conflicts_with.push_back(right_size_set(month_.cluster, work, pool.model));
      advice.conflicts_with.push_back(autoscaling_set(month_.cluster, work));
      advice.conflicts_with.push_back(
          spot_set(month_.cluster, work, pool.instance_type, pool.region));
    }
    advice.conflicts_with.push_back(
        fmt::format("commitment\n{}\n{}, {}\n{}", month_.cluster.text(), pool.instance_type,
                    pool.region.empty() ? "any region" : pool.region, saved.currency().text()));
    proposals_.push_back(std::move(advice));
  }

  const ClusterMonth& month_;
  const ActivityProfiles& profiles_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const NodeBill& bill_;
  const std::map<std::uint32_t, HourFlags>& released_;
  const Policy& policy_;
  std::map<std::pair<std::string, std::string>, std::optional<std::string>> profiles_for_;
  std::map<std::uint32_t, std::vector<SlicedHolding>> slices_;  // by node
  std::set<std::uint32_t> excluded_;
  WorkManager manager_;
  std::vector<Proposal> proposals_;
};

}  // namespace

std::vector<Proposal> propose_mig_layouts(const ClusterMonth& month,
                                          const ActivityProfiles& profiles, const FleetView& fleet,
                                          const FleetHours& hours, const NodeBill& bill,
                                          const std::map<std::uint32_t, HourFlags>& released,
                                          const Policy& policy) {
  if (hours.hours() == 0) return {};
  return MigPoolSearch(month, profiles, fleet, hours, bill, released, policy).run();
}

}  // namespace pennyweight::advising
