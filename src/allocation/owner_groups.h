// Divides a bucket among groups of owners, as its spread rule says.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allocation/owner_totals.h"
#include "allocation/owners.h"
#include "allocation/policy/policy.h"

namespace pennyweight {

// A group of owners, which share its part of the bucket by their weights.
struct OwnerGroup {
  Weight weight;
  std::vector<OwnerWeight> members;  // by owner; never empty
};

// Applies one spread rule.
class Spreader {
 public:
  // REQUIRES: `owners` includes stated_owners(rule).
  Spreader(const SpreadRule& rule, const Owners& owners);

  // The groups of a bucket whose weighted owners are `members`. Empty: the bucket stays.
  std::vector<OwnerGroup> groups(std::vector<OwnerWeight> members) const;
  // Whether the rule divides by fixed parts and has none, so that it can't divide anything.
  bool has_no_parts() const { return by_parts_ && parts_.empty(); }

 private:
  struct FixedPart {
    std::string value;
    Weight weight;
    OwnerNumber alone;  // {dimension: value}
  };
  std::string_view value_of(OwnerNumber owner) const;

  const SpreadRule& rule_;
  const Owners& owners_;
  bool by_parts_;
  std::vector<FixedPart> parts_;  // by value, none of weight zero
};

// The owners {dimension: value} that a rule's parts name.
std::vector<Labels> stated_owners(const SpreadRule& rule);

}  // namespace pennyweight
