// Question: a SummaryQuery in the numbers of one state of the rollup.
//
// For every facet, place, set and value it says to which group it belongs, or that a filter keeps
// it out; then rows of a grain are added up by looking these up.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ledger/summary.h"
#include "rollup/state.h"

namespace pennyweight::rollup {

inline constexpr Number kLeftOut = std::numeric_limits<Number>::max();

// Whether the kinds of what somebody owns are told apart. Else the last dimension is "kind", and
// it is told only of what nobody owns: where another key is empty.
enum class Kinds { kApart, kOfOwnersTogether };

// Which group each of a kind of things belongs to, and the values (texts) of each group.
struct Groups {
  std::vector<Number> group_of;  // by the thing's number; kLeftOut where a filter says so
  std::vector<std::vector<Number>> values;
};

// A part of the time that is asked for, and the grain that has it. Inclusive, in its days or
// months.
struct Reading {
  const Grain* grain;
  std::int32_t first;
  std::int32_t last;
};

class Question {
 public:
  // Nothing where no grain has what is asked. `state` outlives it.
  static std::optional<Question> of(const State& state, const SummaryQuery& query,
                                    Kinds kinds = Kinds::kApart);

  // Where the value of a key comes from: the n-th value of its group.
  enum class Origin { kFacet, kPlace, kLabels, kWorkload, kNothing };
  struct Key {
    Origin origin;
    std::size_t at = 0;
  };

  const State& state;
  TimeBucket bucket;
  std::vector<Key> keys;
  Groups facets;  // the last value of each group is its currency
  Groups places;
  // Groups of sets and of values of a dimension share their numbers.
  Groups sets;
  std::vector<Number> group_of_value;  // by text
  // Where the kinds of owners are together: the group of a facet if it is an owner's, and which
  // groups of places and labels may be parts of one.
  std::vector<Number> group_of_owner;
  std::vector<bool> owns_place, owns_label;
  std::vector<SummaryFilter> workload_filters;
  bool by_workload = false;
  bool kinds_together = false;
  bool needs_facet = false;  // more than its lean dimensions
  bool needs_place = false;
  bool needs_workload = false;
  bool needs_sets = false;
  std::optional<Number> dimension;  // the only one of labels that is asked for
  std::vector<Number> scopes;       // that filters on cluster and month let through
  bool all_scopes = true;
  std::vector<Reading> readings;

  // Whether a group of facets is an owner's. REQUIRES: kinds_together.
  bool is_of_owner(Number facet) const;

 private:
  Question(const State& of_state, Kinds kinds)
      : state(of_state), kinds_together(kinds == Kinds::kOfOwnersTogether) {}
  bool plan(const SummaryQuery& query);
  const Grain* smallest(bool by_day) const;
  bool add_readings(const SummaryQuery& query);
  void group_facets(const SummaryQuery& query);
  void group_places(const SummaryQuery& query);
  void group_labels(const SummaryQuery& query);
  void group_owners();
  void choose_scopes(const SummaryQuery& query);
};

}  // namespace pennyweight::rollup
