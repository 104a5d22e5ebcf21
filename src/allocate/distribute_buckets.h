// Buckets: what rules move, added up.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocate/distribute_places.h"
#include "ledger/posting.h"
#include "policy/policy.h"

namespace pennyweight {

struct BucketKey {
  std::uint32_t rule;  // index in Policy::spread; says the kind
  Component component;
  Currency currency;
  std::chrono::sys_days day;
  PlaceNumber place;  // of what the rule is within
  auto operator<=>(const BucketKey&) const = default;
};

struct Bucket {
  BucketKey key;
  Costs costs;
  Interval interval;  // from the first to the last of its postings, all of one local day
};

// The spread rules of a policy, for one scope. Looks at what it is given, which must outlive it.
class SpreadRules {
 public:
  // Without a cluster there are no nodes and no pools.
  SpreadRules(std::span<const SpreadRule> rules, bool has_cluster, const ChargeIndex& charges)
      : rules_(rules), has_cluster_(has_cluster), charges_(charges) {}

  // The rule that moves a posting; nothing where it stays.
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

// By key; none that is zero in all four costs.
std::vector<Bucket> buckets_of(std::span<const Posting> postings, const SpreadRules& rules,
                               AllPlaces& places);

// Which of its scope's buckets it is: what its transfer's id stands for.
std::string name_of(const Bucket& bucket, const SpreadRules& rules, const AllPlaces& places);

// "2026-03-01"
std::string date_text(std::chrono::sys_days day);
std::string_view text_of(Spread how);
std::string_view text_of(SpreadWithin within);

}  // namespace pennyweight
