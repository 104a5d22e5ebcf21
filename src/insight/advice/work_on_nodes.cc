#include "insight/advice/work_on_nodes.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "allocation/policy/label_match.h"
#include "allocation/rules.h"
#include "insight/advice/activity_profile.h"

namespace pennyweight::advising {
namespace {

constexpr std::uint32_t kNoWork = 0;
constexpr std::uint32_t kSeveralWorks = 1;
constexpr std::uint32_t kFirstWork = 2;
constexpr std::int64_t kHourSpanMs = 3'600'000;

// Who held a node in each hour.
struct NodeHolders {
  std::vector<std::uint32_t> work;        // kNoWork, kSeveralWorks, or kFirstWork and on
  std::vector<std::uint64_t> whole_gpus;  // held from the hour's begin to its end
};

void raise(std::optional<std::uint64_t>& most, const std::optional<std::uint64_t>& amount,
           std::size_t nodes) {
  if (!amount || nodes == 0) return;
  most = std::max(most.value_or(0), *amount / nodes);
}

class NodeHoldersSearch {
 public:
  NodeHoldersSearch(const ClusterMonth& month, const FleetView& fleet, const FleetHours& hours,
                    const Policy& policy, WorkManager configured)
      : month_(month), fleet_(fleet), hours_(hours), policy_(policy), configured_(configured) {}

  std::map<std::string, WorkOnNodes> run() {
    if (hours_.hours() == 0) return {};
    for (const Holding& holding : month_.holdings) {
      if (matches_any(policy_.overhead,
                      [&](std::string_view key) { return policy_label(holding, key); })) {
        continue;
      }
      add(holding);
    }
    std::map<std::string, WorkOnNodes> works;
    std::vector<WorkOnNodes*> by_number(kFirstWork + numbers_.size(), nullptr);
    for (const auto& [name, number] : numbers_) by_number[number] = &works[name];
    for (const auto& [node, holders] : holders_) {
      const std::uint64_t gpus = fleet_.nodes()[node].capacity.gpus;
      if (gpus == 0 || hours_.has_pooled(node)) continue;
      for (std::size_t hour = 0; hour < holders.work.size(); ++hour) {
        if (holders.work[hour] < kFirstWork || holders.whole_gpus[hour] != gpus) continue;
        WorkOnNodes& work = *by_number[holders.work[hour]];
        HourFlags& alone =
            work.alone.try_emplace(node, HourFlags(hours_.hours(), false)).first->second;
        alone[hour] = true;
      }
    }
    for (auto& [name, work] : works) {
      for (const auto& [node, ms] : held_[numbers_.at(name)]) {
        const auto alone = work.alone.find(node);
        const auto hours_alone =
            alone == work.alone.end() ? 0 : std::ranges::count(alone->second, true);
        work.beside_ms[node] = ms - static_cast<std::uint64_t>(hours_alone * kHourSpanMs) *
                                        fleet_.nodes()[node].capacity.gpus;
      }
      const WorkOnNodes& asked = asked_[numbers_.at(name)];
      work.gpus_per_node = asked.gpus_per_node;
      work.cpu_milli = asked.cpu_milli;
      work.memory_bytes = asked.memory_bytes;
      work.manager = asked.manager;
    }
    return works;
  }

 private:
  void add(const Holding& holding) {
    const auto devices = fleet_.devices_on_nodes(holding);
    if (devices.empty()) return;
    const std::uint32_t number =
        numbers_
            .try_emplace(work_of(holding), kFirstWork + static_cast<std::uint32_t>(numbers_.size()))
            .first->second;
    const bool is_whole = std::holds_alternative<WholeGpu>(holding.device);
    const auto [found, is_first] = asked_.try_emplace(number);
    WorkOnNodes& asked = found->second;
    if (is_first) asked.manager = work_manager_of(holding, configured_);
    raise(asked.cpu_milli, holding.cpu_milli, devices.size());
    raise(asked.memory_bytes, holding.memory_bytes, devices.size());
    const Instant begin = hours_.hour(0).begin();
    for (const auto& [node, count] : devices) {
      // A share of a GPU is no number of GPUs.
      if (count > 0) asked.gpus_per_node.insert(is_whole ? count : 0);
      NodeHolders& holders = holders_[node];
      holders.work.resize(hours_.hours(), kNoWork);
      holders.whole_gpus.resize(hours_.hours(), 0);
      std::uint64_t* held_ms = is_whole ? &held_[number][node] : nullptr;
      if (holding.held.end() <= begin) continue;
      auto hour = static_cast<std::size_t>((std::max(holding.held.begin(), begin) - begin).count() /
                                           kHourSpanMs);
      for (; hour < hours_.hours() && hours_.hour(hour).begin() < holding.held.end(); ++hour) {
        const Interval each = hours_.hour(hour);
        const auto both = holding.held.overlap(each);
        if (!both) continue;
        std::uint32_t& work = holders.work[hour];
        work = work == kNoWork || work == number ? number : kSeveralWorks;
        if (held_ms != nullptr) {
          *held_ms += count * both->length_ms();
          if (*both == each) holders.whole_gpus[hour] += count;
        }
      }
    }
  }

  const ClusterMonth& month_;
  const FleetView& fleet_;
  const FleetHours& hours_;
  const Policy& policy_;
  WorkManager configured_;
  std::map<std::string, std::uint32_t> numbers_;                          // by work
  std::map<std::uint32_t, NodeHolders> holders_;                          // by node
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> held_;  // GPU ms, by work, node
  std::map<std::uint32_t, WorkOnNodes> asked_;                            // by work
};

}  // namespace

std::map<std::string, WorkOnNodes> find_work_on_nodes(const ClusterMonth& month,
                                                      const FleetView& fleet,
                                                      const FleetHours& hours, const Policy& policy,
                                                      WorkManager configured) {
  return NodeHoldersSearch(month, fleet, hours, policy, configured).run();
}

}  // namespace pennyweight::advising
