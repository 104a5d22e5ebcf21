#include "allocation/owners.h"

#include <algorithm>
#include <tuple>

#include "allocation/distribute.h"
#include "core/check.h"

namespace pennyweight {

Owners::Owners(std::span<const WorkloadDimensions> workloads, std::span<const Labels> others) {
  std::vector<std::map<Labels, OwnerNumber>::const_iterator> owner_of_each;
  owner_of_each.reserve(workloads.size());
  for (const WorkloadDimensions& workload : workloads) {
    owner_of_each.push_back(numbers_.try_emplace(workload.dimensions).first);
  }
  for (const Labels& owner : others) numbers_.try_emplace(owner);
  numbers_.try_emplace(Labels());
  for (auto& [labels, number] : numbers_) {
    number = static_cast<OwnerNumber>(labels_.size());
    labels_.push_back(&labels);
  }
  of_workload_.reserve(workloads.size());
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    of_workload_.emplace(workloads[i].workload.text(), owner_of_each[i]->second);
  }
}

OwnerNumber Owners::of_workload(const WorkloadId& workload) const {
  const auto found = of_workload_.find(workload.text());
  return found == of_workload_.end() ? number_of(Labels()) : found->second;
}

OwnerNumber Owners::number_of(const Labels& owner) const {
  const auto found = numbers_.find(owner);
  CHECK(found != numbers_.end(), "every owner was stated at the start");
  return found->second;
}

std::vector<DistributionInput::OtherScopeCost> sum_costs_by_owner(
    std::span<const Posting> postings, std::span<const WorkloadDimensions> dimensions) {
  const Owners owners(dimensions, {});
  struct OwnedPosting {
    OwnerNumber owner;
    const Posting* posting;
    auto key() const {
      return std::tuple(owner, posting->day, posting->component, posting->costs.currency());
    }
  };
  std::vector<OwnedPosting> all;
  for (const Posting& posting : postings) {
    if (is_held(posting)) all.push_back({owners.of_workload(posting.workload), &posting});
  }
  std::sort(all.begin(), all.end(),
            [](const OwnedPosting& a, const OwnedPosting& b) { return a.key() < b.key(); });

  std::vector<DistributionInput::OtherScopeCost> paid;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Posting& posting = *all[i].posting;
    if (i == 0 || all[i - 1].key() != all[i].key()) {
      paid.push_back({.owner = owners.labels(all[i].owner),
                      .day = posting.day,
                      .component = posting.component,
                      .effective = Money::zero(posting.costs.currency()),
                      .gpu_time = {},
                      .memory_time = {}});
    }
    paid.back().effective += posting.costs.effective;
    paid.back().gpu_time += posting.gpu_time;
    paid.back().memory_time += posting.memory_time;
  }
  return paid;
}

}  // namespace pennyweight
