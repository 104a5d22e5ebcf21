#include "insight/advice/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "insight/advice/formulas/packing.h"
#include "insight/advice/small_work.h"

namespace pennyweight::advising {
namespace {

constexpr std::uint64_t kWholeCardPpm = 1'000'000;
constexpr std::size_t kSharedDaysMin = 7;
constexpr std::size_t kSharedRunsMin = 3;
constexpr std::size_t kNodesNamedMax = 40;

std::string share_text(std::uint64_t ppm) { return fmt::format("{} %", (ppm + 9'999) / 10'000); }

class SharingSearch {
 public:
  SharingSearch(const ClusterMonth& month, const ActivityProfiles& profiles, const FleetView& fleet,
                const FleetHours& hours, const NodeBill& bill, WorkManager configured)
      : month_(month),
        profiles_(profiles),
        fleet_(fleet),
        hours_(hours),
        bill_(bill),
        manager_(work_manager_of(month.holdings, configured)) {}

  std::vector<Proposal> run(const std::map<std::uint32_t, HourFlags>& released,
                            const Policy& policy) {
    const auto taken_of = [&](const PlacedHolding& placed) -> std::optional<std::string> {
      const bool is_one = std::holds_alternative<WholeGpu>(placed.holding.device) &&
                          placed.devices == 1 && placed.nodes == 1;
      if (!is_one) return std::nullopt;
      const std::string work = work_of(placed.holding);
      return load_of(work, placed.model) ? std::optional(work) : std::nullopt;
    };
    for (const SmallWorkPool& pool :
         find_small_work_pools(month_, fleet_, hours_, bill_, released, policy, taken_of)) {
      // The nodes share GPUs already, and what they do there is not known by holding.
      const bool is_shared = std::ranges::any_of(pool.nodes, [&](std::uint32_t node) {
        return fleet_.any_fact(node).sharing != GpuSharing::kNone;
      });
      if (!is_shared) consider(pool);
    }
    return std::move(proposals_);
  }

 private:
  // What all runs of the work take of one GPU; nothing where not enough is known.
  std::optional<PackedLoad> load_of(const std::string& work, const GpuModel& model) {
    const auto [at, is_new] = loads_.try_emplace({work, model.name});
    if (is_new) at->second = find_load(work, model);
    return at->second;
  }
  std::optional<PackedLoad> find_load(const std::string& work, const GpuModel& model) const {
    const auto found = profiles_.profiles().find({work, model.name});
    if (found == profiles_.profiles().end() || model.memory_bytes == 0) return std::nullopt;
    const ActivityProfile& seen = found->second;
    const auto metric = seen.metric();
    if (!metric || *metric == ActivityMetric::kGpuUtil || seen.memory.total_ms() == 0) {
      return std::nullopt;
    }
    if (seen.runs.size() < kSharedRunsMin && seen.days.size() < kSharedDaysMin) return std::nullopt;
    if (UInt128{seen.observed_ms} * 10 < UInt128{seen.held_ms} * 8) return std::nullopt;
    const auto share = [&](UInt128 bytes) {
      return static_cast<std::uint64_t>(bytes * kWholeCardPpm / model.memory_bytes);
    };
    // All of their peaks fit as well, since one that finds no memory ends.
    return PackedLoad{
        .activity_ppm = seen.activity[static_cast<std::size_t>(*metric)].quantile(950),
        .memory_ppm = std::max(share(seen.memory.quantile(990)),
                               share(UInt128{seen.memory.peak()} * 9 / 10))};
  }

  void consider(const SmallWorkPool& pool) {
    std::map<std::string, PackedLoad> loads;
    for (const std::string& work : pool.works) loads[work] = *load_of(work, *pool.model);
    std::optional<SharedPlan> best;
    for (std::uint64_t sharers = 2; sharers <= kSharersMax; ++sharers) {
      const SharedPlan plan = plan_sharing(pool.peak, loads, sharers, pool.gpus_each);
      if (!best || plan.nodes < best->nodes) best = plan;
    }
    if (best->nodes >= pool.nodes.size() || best->shared == 0) return;
    const auto saved = pool.saved_beyond(best->nodes, hours_, bill_);
    const auto cautious = pool.saved_beyond(best->nodes + 1, hours_, bill_);
    for (const auto& [currency, money] : saved) {
      if (money.ticks() <= 0) continue;
      const auto low = cautious.find(currency);
      propose(pool, loads, *best, low == cautious.end() ? Money::zero(currency) : low->second,
              money);
    }
  }

  void propose(const SmallWorkPool& pool, const std::map<std::string, PackedLoad>& loads,
               const SharedPlan& plan, const Money& low, const Money& saved) {
    const auto monthly = [&](const Money& money) {
      return scaled(money, kHoursPerMonth, hours_.hours());
    };
    const std::string subject = pool.name();
    Proposal advice{
        .id = proposal_id(AdviceKind::kShare, month_.cluster,
                          fmt::format("{}\n{}\n{}", subject, pool.region, saved.currency().text())),
        .kind = AdviceKind::kShare,
        .cluster = month_.cluster,
        .subject = subject,
        .change = fmt::format("Let {} workloads share a GPU, and give back {} of {} nodes",
                              plan.sharers, pool.nodes.size() - plan.nodes, pool.nodes.size()),
        .monthly = {monthly(low), monthly(saved), monthly(saved)},
        .observed = saved,
        .moved = Money::zero(saved.currency())};
    PackedLoad largest;
    std::size_t sharing = 0;
    for (const auto& [work, load] : loads) {
      if (!fits(load, plan.sharers)) continue;
      ++sharing;
      largest.activity_ppm = std::max(largest.activity_ppm, load.activity_ppm);
      largest.memory_ppm = std::max(largest.memory_ppm, load.memory_ppm);
    }
    advice.evidence = {
        fmt::format("{} GPUs are held at once by work that needs at most {} of the compute (95th "
                    "percentile) and {} of the memory (99th) of one: {} pieces of work",
                    plan.shared, share_text(largest.activity_ppm), share_text(largest.memory_ppm),
                    sharing),
        fmt::format("any {} of them use at most {} of a GPU's compute and {} of its memory "
                    "together; the bounds are 80 % and 90 %",
                    plan.sharers, share_text(largest.activity_ppm * plan.sharers),
                    share_text(largest.memory_ppm * plan.sharers)),
        plan.alone == 0 ? std::string("no work of the pool needs a GPU alone")
                        : fmt::format("{} GPUs more are held at once by work that does not fit and "
                                      "keeps them alone, on other nodes",
                                      plan.alone),
        "expected: hours in which the work held more nodes than these; low: one node more is kept"};
    advice.confidence = sharing > 1 && !low.is_zero() ? Confidence::kMedium : Confidence::kLow;
    advice.confidence_reason =
        fmt::format("{} {} of work; how well the host's CPUs and memory go round is not known",
                    sharing, sharing == 1 ? "piece" : "pieces");
    advice.risk =
        "Work is slower while others on its GPU compute. Time-slicing keeps neither memory nor "
        "faults apart, so one that grows or fails may end the others: let only work share that "
        "belongs together.";
    std::vector<std::string> shared_nodes;
    for (std::size_t i = 0; i < std::min<std::size_t>(plan.shared_nodes, kNodesNamedMax); ++i) {
      shared_nodes.push_back(fleet_.any_fact(pool.nodes[i]).name.text());
    }
    advice.apply = sharing_text(manager_, plan.sharers, pool.gpus_each, shared_nodes,
                                plan.shared_nodes - shared_nodes.size());
    for (std::size_t i = plan.nodes; i < pool.nodes.size(); ++i) {
      advice.nodes.push_back(fleet_.any_fact(pool.nodes[i]).name.text());
    }
    if (pool.works.size() == 1) {
      advice.owner = profiles_.owner_of_work(*pool.works.begin());
      advice.workload =
          pool.workloads.size() == 1 ? *pool.workloads.begin() : WorkloadId("(several)");
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
  WorkManager manager_;
  std::map<std::pair<std::string, std::string>, std::optional<PackedLoad>> loads_;
  std::vector<Proposal> proposals_;
};

}  // namespace

std::vector<Proposal> propose_sharing(const ClusterMonth& month, const ActivityProfiles& profiles,
                                      const FleetView& fleet, const FleetHours& hours,
                                      const NodeBill& bill,
                                      const std::map<std::uint32_t, HourFlags>& released,
                                      const Policy& policy, WorkManager configured) {
  return SharingSearch(month, profiles, fleet, hours, bill, configured).run(released, policy);
}

}  // namespace pennyweight::advising
