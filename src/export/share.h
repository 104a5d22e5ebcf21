// ChargeShare: what one owner, or nobody, has of one bill line: its postings added up.
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

// Who has a part: a workload, or the dimensions that an export groups by.
struct Owner {
  std::string id;    // AllocatedResourceId; empty: nobody
  std::string name;  // AllocatedResourceName
  std::string tags;  // a flat JSON object; empty: none
  bool operator==(const Owner&) const = default;
};

struct ChargeShare {
  FactId charge;        // or the transfer
  std::uint32_t scope;  // index of the run that made it, among those of the export
  Owner owner;
  std::uint32_t kinds = 0;  // kind_bit() of each kind of posting in it
  Costs costs;
  Money held_idle_billed;  // of costs, what was held and not used
  Money held_idle_effective;
  GpuTime gpu_time;
  Weight weight = 0;  // of the first component's postings: the ratio where no cost tells it
  Interval interval;  // from the first posting's begin to the last one's end
  bool operator==(const ChargeShare&) const = default;
};

inline std::uint32_t kind_bit(PostingKind kind) { return 1u << static_cast<unsigned>(kind); }

// "used", "used+held_idle": in the order of PostingKind.
std::string kinds_text(std::uint32_t kinds);

// Adds up postings that come by charge, as a scope's scan gives them. Holds one charge at a time.
class ShareCollector {
 public:
  using OwnerOf = std::function<Owner(const WorkloadId&)>;
  using Sink = std::function<Result<void>(const ChargeShare&)>;

  // `owner_of` is not asked about postings without a workload, which are nobody's.
  ShareCollector(std::uint32_t scope, OwnerOf owner_of, Sink sink)
      : scope_(scope), owner_of_(std::move(owner_of)), sink_(std::move(sink)) {}

  Result<void> add(const Posting& posting);
  // After the last posting.
  Result<void> finish();

 private:
  struct Part {
    ChargeShare share;
    std::map<Component, Weight> weights;
  };

  std::uint32_t scope_;
  OwnerOf owner_of_;
  Sink sink_;
  std::optional<FactId> charge_;
  std::map<std::string, Part> parts_;  // by the owner's id
};

}  // namespace pennyweight
