// QueryPlan: a SummaryQuery in the dictionary numbers of one state of the rollup.
//
// It maps every facet, place, label set and label value to its group, or to kLeftOut if a filter
// excludes it. Adding up a grain's rows then needs only lookups.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ledger/summary.h"
#include "reporting/rollup/rollup_state.h"

namespace pennyweight::rollup {

inline constexpr Number kLeftOut = std::numeric_limits<Number>::max();

// Whether the kinds of an owner's costs are separate rows. If merged, the last dimension is "kind",
// and only rows without an owner (with another key empty) have it.
enum class OwnerKinds { kSeparate, kMergedByOwner };

// The group of each facet, place or set, and the values (texts) of each group.
struct Groups {
  std::vector<Number> group_of;  // by number; kLeftOut if a filter excludes it
  std::vector<std::vector<Number>> values;
};

// A part of the requested time, and the grain to read it from. Inclusive, in the grain's days or
// months.
struct GrainScan {
  const Grain* grain;
  std::int32_t first;
  std::int32_t last;
};

class QueryPlan {
 public:
  // Nothing if no grain can answer the query. `state` must outlive the plan.
  static std::optional<QueryPlan> of(const RollupState& state, const SummaryQuery& query,
                                     OwnerKinds kinds = OwnerKinds::kSeparate);

  // Where the value of a key comes from: the n-th value of its group.
  enum class Origin { kFacet, kPlace, kLabels, kWorkload, kNothing };
  struct Key {
    Origin origin;
    std::size_t at = 0;
  };

  const RollupState& state;
  TimeBucket bucket;
  std::vector<Key> keys;
  Groups facets;  // the last value of each group is its currency
  Groups places;
  // Groups of sets and of values of a dimension share their numbers.
  Groups sets;
  std::vector<Number> group_of_value;  // by text
  // With merged kinds: the group of a facet if it is an owner's, and which groups of places and
  // labels may belong to an owner.
  std::vector<Number> group_of_owner;
  std::vector<bool> owns_place, owns_label;
  std::vector<SummaryFilter> workload_filters;
  bool by_workload = false;
  bool merges_owner_kinds = false;
  bool needs_facet = false;  // more than its lean dimensions
  bool needs_place = false;
  bool needs_workload = false;
  bool needs_sets = false;
  std::optional<Number> dimension;  // the only label dimension of the query
  std::vector<Number> scopes;       // that pass the filters by cluster and month
  bool all_scopes = true;
  std::vector<GrainScan> scans;

  // Whether a group of facets is an owner's. REQUIRES: merges_owner_kinds.
  bool is_of_owner(Number facet) const;

 private:
  QueryPlan(const RollupState& of_state, OwnerKinds kinds)
      : state(of_state), merges_owner_kinds(kinds == OwnerKinds::kMergedByOwner) {}
  bool build(const SummaryQuery& query);
  const Grain* smallest(bool by_day) const;
  bool add_scans(const SummaryQuery& query);
  void group_facets(const SummaryQuery& query);
  void group_places(const SummaryQuery& query);
  void group_labels(const SummaryQuery& query);
  void group_owners();
  void choose_scopes(const SummaryQuery& query);
};

}  // namespace pennyweight::rollup
