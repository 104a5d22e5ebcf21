// Groups: by what a rule divides a bucket first, and whom each part then goes to.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allocate/distribute_owners.h"
#include "allocate/distribute_paid.h"
#include "policy/policy.h"

namespace pennyweight {

// A part of the bucket, which its members share by their weights.
struct OwnerGroup {
  Weight weight;
  std::vector<OwnerWeight> members;  // by owner; never empty
};

// One spread rule, made ready.
class Spreader {
 public:
  // REQUIRES: `owners` has stated_owners(rule).
  Spreader(const SpreadRule& rule, const Owners& owners);

  // The groups of a bucket in which `members`, by owner, weigh something; none: it stays.
  std::vector<OwnerGroup> groups(std::vector<OwnerWeight> members) const;
  // Whether nothing can be divided by this rule, whoever takes part.
  bool has_no_parts() const { return by_parts_ && parts_.empty(); }

 private:
  struct Part {
    std::string value;
    Weight weight;
    OwnerNumber alone;  // {dimension: value}
  };
  std::string_view value_of(OwnerNumber owner) const;

  const SpreadRule& rule_;
  const Owners& owners_;
  bool by_parts_;
  std::vector<Part> parts_;  // by value, none of weight zero
};

// The owners {dimension: value} of a rule's parts.
std::vector<Labels> stated_owners(const SpreadRule& rule);

}  // namespace pennyweight
