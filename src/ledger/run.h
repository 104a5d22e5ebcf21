// Run: one allocation of one scope under one policy.
//
// A run replaces the earlier run of its scope atomically; earlier runs stay readable. The run keeps
// the texts that decided it, so that any posting can be explained later.
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

// A cluster and a billing month. The cluster is empty for charges that belong to none.
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
  std::string time_zone;     // whose days the postings are cut by
  std::string program_version;
  Instant at;                  // when it was made
  Hash128 postings_digest;     // set by the store: of the set of postings, whatever their order
  std::uint64_t postings = 0;  // set by the store
  bool current = true;         // false: a later run took its place
};

// The dimensions (team, user, …) that the label rules gave to a workload in a run.
struct WorkloadDimensions {
  WorkloadId workload;
  Labels dimensions;
  bool operator==(const WorkloadDimensions&) const = default;
};

}  // namespace pennyweight
