// Owners: numbers the distinct sets of dimensions in their own order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/label.h"
#include "ledger/posting.h"
#include "ledger/run.h"

namespace pennyweight {

// The position of an owner among all owners of a distribution. A tie in a split goes to the lower.
using OwnerNumber = std::uint32_t;

// REQUIRES: the workloads outlive it.
class Owners {
 public:
  // `others` are owners without a workload: of other scopes, of fixed parts, of corrections.
  Owners(std::span<const WorkloadDimensions> workloads, std::span<const Labels> others);

  // A workload without stated dimensions belongs to the owner without any.
  OwnerNumber of_workload(const WorkloadId& workload) const;
  // REQUIRES: it was given to the constructor.
  OwnerNumber number_of(const Labels& owner) const;
  const Labels& labels(OwnerNumber owner) const { return *labels_[owner]; }
  std::size_t count() const { return labels_.size(); }

 private:
  std::map<Labels, OwnerNumber> numbers_;
  std::vector<const Labels*> labels_;  // keys of numbers_, by number
  std::unordered_map<std::string_view, OwnerNumber> of_workload_;
};

// Whether a posting is what a workload pays for a holding.
inline bool is_held(const Posting& posting) {
  return !posting.workload.empty() &&
         (posting.kind == PostingKind::kUsed || posting.kind == PostingKind::kHeldIdle);
}

}  // namespace pennyweight
