// Collects the buckets that spread rules move.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/spread_areas.h"
#include "ledger/posting.h"

namespace pennyweight {

struct BucketKey {
  std::uint32_t rule;  // index in Policy::spread, which gives the kind
  Component component;
  Currency currency;
  std::chrono::sys_days day;
  AreaNumber area;  // the node, pool or cluster that the rule spreads within
  auto operator<=>(const BucketKey&) const = default;
};

struct Bucket {
  BucketKey key;
  Costs costs;
  Interval interval;  // from the first to the last of its postings, all on one local day
};

// The spread rules of a policy, for one scope. REQUIRES: all arguments outlive it.
class SpreadRules {
 public:
  // Without a cluster there are no nodes and no pools.
  SpreadRules(std::span<const SpreadRule> rules, bool has_cluster, const ChargeIndex& charges)
      : rules_(rules), has_cluster_(has_cluster), charges_(charges) {}

  // The rule that moves a posting; absent where it stays.
  std::optional<std::uint32_t> rule_for(const Posting& posting) const;
  SpreadWithin within(const SpreadRule& rule) const {
    return has_cluster_ ? rule.within : SpreadWithin::kCluster;
  }
  const SpreadRule& operator[](std::uint32_t index) const { return rules_[index]; }
  std::span<const SpreadRule> all() const { return rules_; }

 private:
  bool meets_conditions(const SpreadRule& rule, const Posting& posting) const;

  std::span<const SpreadRule> rules_;
  bool has_cluster_;
  const ChargeIndex& charges_;
};

// By key; none is zero in all four costs.
std::vector<Bucket> collect_buckets(std::span<const Posting> postings, const SpreadRules& rules,
                                    SpreadAreas& areas);

// Identifies the bucket in its scope; its transfer's id is made of it.
std::string bucket_name(const Bucket& bucket, const SpreadRules& rules, const SpreadAreas& areas);

// "2026-03-01"
std::string date_text(std::chrono::sys_days day);

}  // namespace pennyweight
