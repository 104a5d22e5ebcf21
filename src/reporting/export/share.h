// ChargeShare: the part of one charge that one owner has, or that has no owner: a sum of postings.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/instant.h"
#include "core/quantity.h"
#include "core/split.h"
#include "ledger/charge.h"
#include "ledger/posting.h"

namespace pennyweight {

// The owner of a share: a workload, or the dimension values that an export groups by.
struct ShareOwner {
  std::string id;    // AllocatedResourceId; empty: no owner
  std::string name;  // AllocatedResourceName
  std::string tags;  // a flat JSON object; empty: none
  bool operator==(const ShareOwner&) const = default;
};

struct ChargeShare {
  FactId charge;        // or transfer
  std::uint32_t scope;  // index of the run that made it, among those of the export
  ShareOwner owner;
  std::uint32_t kinds = 0;  // kind_bit() of each kind of its postings
  Costs costs;
  Money held_idle_billed;  // the part of `costs` that was held and not used
  Money held_idle_effective;
  GpuTime gpu_time;
  Weight weight = 0;  // of the first component's postings: the ratio where all costs are zero
  Interval interval;  // from the first posting's begin to the last one's end
  bool operator==(const ChargeShare&) const = default;
};

inline std::uint32_t kind_bit(PostingKind kind) { return 1u << static_cast<unsigned>(kind); }

// "used", "used+held_idle": in the order of PostingKind.
std::string kinds_text(std::uint32_t kinds);

// Sums the postings of a scope by charge and owner. REQUIRES: postings come by charge, as a scan
// returns them. Holds one charge at a time.
class ShareCollector {
 public:
  using FindOwner = std::function<ShareOwner(const WorkloadId&)>;
  using Sink = std::function<Result<void>(const ChargeShare&)>;

  // `find_owner` is not called for postings without a workload, which have no owner.
  ShareCollector(std::uint32_t scope, FindOwner find_owner, Sink sink)
      : scope_(scope), find_owner_(std::move(find_owner)), sink_(std::move(sink)) {}

  Result<void> add(const Posting& posting);
  // After the last posting.
  Result<void> finish();

 private:
  struct OwnerShare {
    ChargeShare share;
    std::map<Component, Weight> weights;
  };

  std::uint32_t scope_;
  FindOwner find_owner_;
  Sink sink_;
  std::optional<FactId> charge_;
  std::map<std::string, OwnerShare> shares_;  // by the owner's id
};

}  // namespace pennyweight
