#include "app/run/reversals.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/try.h"

namespace pennyweight {
namespace {

Posting reversed(Posting posting, const FactId& charge) {
  posting.charge = charge;
  for (Money* cost : {&posting.costs.billed, &posting.costs.effective, &posting.costs.list,
                      &posting.costs.contracted}) {
    *cost = -*cost;
  }
  posting.gpu_time = {};
  posting.memory_time = {};
  posting.observed_time = {};
  return posting;
}

}  // namespace

std::vector<Charge> extract_reversals(std::vector<Charge>& charges) {
  const auto rest = std::stable_partition(charges.begin(), charges.end(),
                                          [](const Charge& charge) { return !charge.takes_back; });
  std::vector<Charge> reversals(std::make_move_iterator(rest),
                                std::make_move_iterator(charges.end()));
  charges.erase(rest, charges.end());
  return reversals;
}

Result<ReversalPostings> reverse_postings(Store& store, std::span<const Charge> charges) {
  ReversalPostings all;
  std::map<std::string, std::set<WorkloadId>> wanted;  // by closed month
  for (const Charge& charge : charges) {
    if (!charge.takes_back) continue;
    const auto original = store.find_charge(*charge.takes_back);
    if (!original) return std::unexpected(original.error());
    const auto postings = TRY(store.postings_of(*charge.takes_back));
    if (!*original || postings.empty()) {
      return fail(ErrorCode::kStore,
                  fmt::format("the line {} takes back {}, which was never allocated",
                              to_text(charge.id), to_text(*charge.takes_back)));
    }
    for (const Posting& posting : postings) {
      if (!posting.workload.empty()) wanted[(*original)->booked_month].insert(posting.workload);
      all.postings.push_back(reversed(posting, charge.id));
    }
  }
  if (wanted.empty()) return all;
  const auto runs = TRY(store.runs());
  std::map<WorkloadId, Labels> dimensions;
  for (const Run& run : runs) {
    const auto workloads = wanted.find(run.scope.month);
    if (!run.current || workloads == wanted.end()) continue;
    const auto known = TRY(store.dimensions_of(run.scope));
    for (const WorkloadDimensions& entry : known) {
      if (workloads->second.contains(entry.workload)) {
        dimensions.try_emplace(entry.workload, entry.dimensions);
      }
    }
  }
  for (auto& [workload, labels] : dimensions) all.dimensions.push_back({workload, labels});
  return all;
}

}  // namespace pennyweight
