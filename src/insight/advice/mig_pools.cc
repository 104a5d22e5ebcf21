#include "insight/advice/mig_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "core/gpu/mig_profile.h"
#include "insight/advice/apply_text.h"
#include "insight/advice/mig_plan.h"
#include "insight/advice/sharing.h"
#include "insight/advice/small_work.h"

namespace pennyweight::advising {
namespace {

constexpr std::size_t kSlicedDaysMin = 7;
constexpr std::size_t kSlicedRunsMin = 3;

class MigPoolSearch {
 public:
  MigPoolSearch(const ClusterMonth& month, const ActivityProfiles& profiles, const FleetView& fleet,
                const FleetHours& hours, const NodeBill& bill, WorkManager configured)
      : month_(month),
        profiles_(profiles),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        manager_(work_manager_of(month.holdings, configured)) {}

  std::vector<Proposal> run(const std::map<std::uint32_t, HourFlags>& released,
                            const Policy& policy) {
    const auto taken_of = [&](const PlacedHolding& placed) { return profile_of(placed); };
    for (const SmallWorkPool& pool :
         find_small_work_pools(month_, fleet_, hours_, bill_, released, policy, taken_of)) {
      consider(pool);
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

  // The profile that a holding has or would have.
  std::optional<std::string> profile_of(const PlacedHolding& placed) {
    if (placed.model.mig_geometries.empty()) return std::nullopt;
    if (const auto* slice = std::get_if<MigSlice>(&placed.holding.device)) {
      const auto use = find_mig_profile(placed.model, slice->profile);
      const bool is_plain =
          use && use->is_whole() && use->profile->name.find('+') == std::string::npos;
      return is_plain ? std::optional(use->profile->name) : std::nullopt;
    }
    if (!std::holds_alternative<WholeGpu>(placed.holding.device) || placed.devices != 1 ||
        placed.nodes != 1) {
      return std::nullopt;
    }
    return profile_for(work_of(placed.holding), placed.model);
  }

  void consider(const SmallWorkPool& pool) {
    const auto plan = plan_mig_layouts(*pool.model, pool.peak);
    if (!plan || plan->gpus == 0) return;
    const std::uint64_t needed = (plan->gpus + pool.gpus_each - 1) / pool.gpus_each;
    if (needed >= pool.nodes.size()) return;
    const auto saved = pool.saved_beyond(needed, hours_, bill_);
    const auto cautious = pool.saved_beyond(needed + 1, hours_, bill_);
    for (const auto& [currency, money] : saved) {
      if (money.ticks() <= 0) continue;
      const auto low = cautious.find(currency);
      propose(pool, *plan, needed, low == cautious.end() ? Money::zero(currency) : low->second,
              money);
    }
  }

  void propose(const SmallWorkPool& pool, const MigPlan& plan, std::uint64_t needed,
               const Money& low, const Money& saved) {
    const std::vector<std::uint32_t>& nodes = pool.nodes;
    const std::set<std::string>& works = pool.works;
    const std::set<WorkloadId>& workloads = pool.workloads;
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, hours_.hours());
    };
    const Money none = Money::zero(saved.currency());
    const std::string subject = pool.name();
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
    for (const auto& [profile, count] : pool.peak)
      mix.push_back(fmt::format("{} x {}", count, profile));
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
    const MigFile file = mig_parted_file(plan, pool.gpus_each);
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
    advice.alternatives_of = advising::alternatives_of(month_.cluster, pool);
    advice.conflicts_with = conflicts_of(month_.cluster, pool, saved.currency());
    proposals_.push_back(std::move(advice));
  }

  const ClusterMonth& month_;
  const ActivityProfiles& profiles_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const NodeBill& bill_;
  std::map<std::pair<std::string, std::string>, std::optional<std::string>> profiles_for_;
  WorkManager manager_;
  std::vector<Proposal> proposals_;
};

}  // namespace

std::vector<Proposal> propose_mig_layouts(const ClusterMonth& month,
                                          const ActivityProfiles& profiles, const FleetView& fleet,
                                          const FleetHours& hours, const NodeBill& bill,
                                          const std::map<std::uint32_t, HourFlags>& released,
                                          const Policy& policy, WorkManager configured) {
  if (hours.hours() == 0) return {};
  return MigPoolSearch(month, profiles, fleet, hours, bill, configured).run(released, policy);
}

}  // namespace pennyweight::advising
