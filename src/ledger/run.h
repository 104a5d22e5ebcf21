// Run: one allocation of one scope under one policy.
//
// A run replaces the earlier run of its scope atomically; earlier runs stay readable. A run stores
// the texts of its rules, so that any of its postings can be explained later.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/id.h"
#include "core/instant.h"
#include "core/label.h"

namespace pennyweight {

// A cluster and a billing month. The cluster is empty for charges that belong to no cluster.
struct Scope {
  ClusterId cluster;
  std::string month;  // "2026-03", of the bill's own billing period
  auto operator<=>(const Scope&) const = default;
};

struct Run {
  Scope scope;
  std::uint64_t number = 0;  // 1, 2, … within its scope; set by the store
  std::string policy;        // the policy's text
  Hash128 policy_version;    // its fingerprint
  Hash128 catalog_version;   // of the prices that were used
  std::string time_zone;     // whose days divide the postings
  std::string program_version;
  Instant at;                  // when it was created
  Hash128 postings_digest;     // set by the store: of the set of postings, in any order
  std::uint64_t postings = 0;  // set by the store
  bool current = true;         // false: a later run replaced it
};

// A run as a store holds it.
struct RunRecord {
  Run run;
  Hash128 dimensions_digest;  // of the set of its workloads' dimensions
  Hash128 postings_sum;       // SetDigest::sum() of its postings
};

// The dimensions (team, user, …) that the label rules gave to a workload in a run.
struct WorkloadDimensions {
  WorkloadId workload;
  Labels dimensions;
  bool operator==(const WorkloadDimensions&) const = default;
};

}  // namespace pennyweight
