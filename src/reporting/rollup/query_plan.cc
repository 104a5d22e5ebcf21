#include "reporting/rollup/query_plan.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/check.h"
#include "ledger/store_rules.h"

namespace pennyweight::rollup {
namespace {

bool is_among(const auto& all, const auto& one) {
  return std::ranges::find(all, one) != std::ranges::end(all);
}

template <std::size_t N>
std::optional<std::size_t> index_in(const std::array<const char*, N>& names,
                                    std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

// A filter on one dimension, with its values as texts; those that no text has can't match.
class ValueFilter {
 public:
  ValueFilter(const Dictionary& names, const SummaryFilter& filter) : negate_(filter.negate) {
    for (const std::string& value : filter.values) {
      if (const auto text = names.texts.find(std::string_view(value))) values_.insert(*text);
    }
  }
  bool lets_through(Number value) const { return values_.contains(value) != negate_; }

 private:
  std::set<Number> values_;
  bool negate_;
};

// Puts things into groups by some of their values.
class Grouping {
 public:
  Number group_of(const std::vector<Number>& values) { return numbers_.number_of(values); }
  std::vector<std::vector<Number>> values() const { return numbers_.all(); }

 private:
  InternTable<std::vector<Number>, HashNumbers> numbers_;
};

// Groups of facets and places, which are rows of values.
template <class Row, std::size_t N>
Groups group_rows(const Dictionary& names, const std::vector<Row>& rows,
                  const std::array<const char*, N>& dimensions, const SummaryQuery& query,
                  std::vector<std::size_t> columns) {
  std::vector<std::pair<std::size_t, ValueFilter>> sieves;
  for (const SummaryFilter& filter : query.filters) {
    if (const auto at = index_in(dimensions, filter.dimension)) {
      sieves.emplace_back(*at, ValueFilter(names, filter));
    }
  }
  Grouping grouping;
  Groups groups;
  groups.group_of.reserve(rows.size());
  std::vector<Number> values(columns.size());
  for (const Row& row : rows) {
    if (!std::ranges::all_of(sieves, [&](const auto& sieve) {
          return sieve.second.lets_through(row[sieve.first]);
        })) {
      groups.group_of.push_back(kLeftOut);
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) values[i] = row[columns[i]];
    groups.group_of.push_back(grouping.group_of(values));
  }
  groups.values = grouping.values();
  return groups;
}

}  // namespace

std::optional<QueryPlan> QueryPlan::of(const RollupState& state, const SummaryQuery& query,
                                       OwnerKinds kinds) {
  CHECK(kinds == OwnerKinds::kSeparate ||
            (!query.group_by.empty() && query.group_by.back() == "kind"),
        "kinds that are put together are asked for");
  QueryPlan plan(state, kinds);
  if (!plan.build(query)) return std::nullopt;
  return plan;
}

bool QueryPlan::build(const SummaryQuery& query) {
  if (query.as_of) return false;
  bucket = query.bucket;
  std::vector<std::string> asked = query.group_by;
  for (const SummaryFilter& filter : query.filters) asked.push_back(filter.dimension);
  std::set<Number> labels;
  for (const std::string& name : asked) {
    // Only the ledger has single charges, and what they say beside the facets.
    if (name == "charge" || name == "charge_class" || is_tag_dimension(name)) return false;
    if (const auto at = index_in(kFacetDimensions, name)) {
      needs_facet |= *at >= kLeanDimensions;
    } else if (index_in(kPlaceDimensions, name)) {
      needs_place = true;
    } else if (name == "workload") {
      needs_workload = true;
    } else {
      CHECK(!is_built_in_dimension(name), "every built-in dimension is kept somewhere");
      const auto text = state.names.texts.find(std::string_view(name));
      if (!text || !is_among(state.names.dimensions, *text)) continue;
      labels.insert(*text);
    }
  }
  needs_sets = !labels.empty();
  if (labels.size() == 1) dimension = *labels.begin();
  choose_scopes(query);
  group_facets(query);
  group_places(query);
  group_labels(query);
  if (merges_owner_kinds) group_owners();
  for (const SummaryFilter& filter : query.filters) {
    if (filter.dimension == "workload") workload_filters.push_back(filter);
  }
  return add_scans(query);
}

void QueryPlan::choose_scopes(const SummaryQuery& query) {
  const auto passes = [&](const RolledUpScope& kept) {
    return std::ranges::all_of(query.filters, [&](const SummaryFilter& filter) {
      const bool of_cluster = filter.dimension == "cluster";
      if (!of_cluster && filter.dimension != "month") return true;
      const std::string& value = of_cluster ? kept.scope.cluster.text() : kept.scope.month;
      return is_among(filter.values, value) != filter.negate;
    });
  };
  for (const RolledUpScope& kept : state.scopes) {
    if (passes(kept)) scopes.push_back(kept.number);
  }
  all_scopes = scopes.size() == state.scopes.size();
}

void QueryPlan::group_facets(const SummaryQuery& query) {
  std::vector<std::size_t> columns;
  for (const std::string& name : query.group_by) {
    Key key{Origin::kNothing};
    if (const auto facet = index_in(kFacetDimensions, name)) {
      key = {Origin::kFacet, columns.size()};
      columns.push_back(*facet);
    }
    keys.push_back(key);
  }
  columns.push_back(kCurrency);
  facets = group_rows(state.names, state.names.facets.all(), kFacetDimensions, query, columns);
}

void QueryPlan::group_places(const SummaryQuery& query) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < query.group_by.size(); ++i) {
    if (const auto place = index_in(kPlaceDimensions, query.group_by[i])) {
      keys[i] = {Origin::kPlace, columns.size()};
      columns.push_back(*place);
    }
  }
  if (needs_place) {
    places = group_rows(state.names, state.names.places.all(), kPlaceDimensions, query, columns);
  }
}

// Dimensions of labels: of a set, or where only one is asked for, of one value of it. A dimension
// that nobody has is "" everywhere.
void QueryPlan::group_labels(const SummaryQuery& query) {
  const Dictionary& names = state.names;
  std::vector<std::optional<Number>> columns;
  std::vector<std::pair<std::optional<Number>, ValueFilter>> sieves;
  const auto is_label = [](const std::string& name) {
    return name != "workload" && !is_built_in_dimension(name);
  };
  const auto known = [&](const std::string& name) -> std::optional<Number> {
    const auto text = names.texts.find(std::string_view(name));
    if (!text || !is_among(names.dimensions, *text)) return std::nullopt;
    return text;
  };
  for (std::size_t i = 0; i < query.group_by.size(); ++i) {
    if (query.group_by[i] == "workload") {
      keys[i] = {Origin::kWorkload};
      by_workload = true;
    } else if (is_label(query.group_by[i])) {
      keys[i] = {Origin::kLabels, columns.size()};
      columns.push_back(known(query.group_by[i]));
    }
  }
  for (const SummaryFilter& filter : query.filters) {
    if (is_label(filter.dimension)) {
      sieves.emplace_back(known(filter.dimension), ValueFilter(names, filter));
    }
  }
  Grouping grouping;
  const auto group_by = [&](const auto& value_of) {
    for (const auto& [name, sieve] : sieves) {
      if (!sieve.lets_through(name ? value_of(*name) : 0)) return kLeftOut;
    }
    std::vector<Number> values;
    for (const auto& name : columns) values.push_back(name ? value_of(*name) : 0);
    return grouping.group_of(values);
  };
  for (const LabelSet& set : names.sets.all()) {
    sets.group_of.push_back(group_by([&](Number name) { return value_in(set, name); }));
    if (!needs_sets) break;  // the empty one says it for all
  }
  if (dimension) {
    std::set<Number> there = {0};
    for (const LabelSet& set : names.sets.all()) there.insert(value_in(set, *dimension));
    group_of_value.assign(names.texts.all().size(), kLeftOut);
    for (const Number value : there)
      group_of_value[value] = group_by([&](Number) { return value; });
  }
  sets.values = grouping.values();
}

// The kind is the last but one of the values of a group, before its currency. Where all others say
// something, the group of an owner is that without the kind.
void QueryPlan::group_owners() {
  const auto says_something = [](const auto& values) { return !is_among(values, Number{0}); };
  Grouping grouping;
  for (const std::vector<Number>& values : facets.values) grouping.group_of(values);
  std::vector<Number> owner_of;  // by group
  for (const std::vector<Number>& values : facets.values) {
    std::vector<Number> owner = values;
    owner[owner.size() - 2] = kLeftOut;
    owner_of.push_back(grouping.group_of(says_something(owner) ? owner : values));
  }
  facets.values = grouping.values();
  group_of_owner.reserve(facets.group_of.size());
  for (const Number group : facets.group_of) {
    group_of_owner.push_back(group == kLeftOut ? kLeftOut : owner_of[group]);
  }
  // One group at least, as a Fold counts them.
  owns_place.push_back(true);
  owns_label.push_back(true);
  if (!places.values.empty()) owns_place.clear();
  if (!sets.values.empty()) owns_label.clear();
  for (const auto& values : places.values) owns_place.push_back(says_something(values));
  for (const auto& values : sets.values) owns_label.push_back(says_something(values));
}

bool QueryPlan::is_of_owner(Number facet) const {
  const std::vector<Number>& values = facets.values[facet];
  return values[values.size() - 2] == kLeftOut;
}

const Grain* QueryPlan::smallest(bool by_day) const {
  const Grain* best = nullptr;
  std::uint64_t best_rows = 0;
  for (std::size_t i = 0; i < kGrains.size(); ++i) {
    const Grain& grain = kGrains[i];
    if (grain.by_day != by_day) continue;
    if (needs_facet && !grain.has_facet) continue;
    if (needs_place && !grain.has_place) continue;
    if (needs_workload && !grain.has_workload) continue;
    if (grain.has_value ? !dimension.has_value() : needs_sets && !grain.has_sets) continue;
    // Of one dimension of several.
    const std::uint64_t rows =
        state.rows[i] / (grain.has_value ? state.names.dimensions.size() : 1);
    if (best != nullptr && rows >= best_rows) continue;
    best = &grain;
    best_rows = rows;
  }
  return best;
}

// Whole months are read by month, what is left of others by day.
bool QueryPlan::add_scans(const SummaryQuery& query) {
  if (scopes.empty()) return true;
  std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -first;
  for (const RolledUpScope& kept : state.scopes) {
    if (kept.first_day > kept.last_day) continue;
    if (!is_among(scopes, kept.number)) continue;
    first = std::min(first, kept.first_day);
    last = std::max(last, kept.last_day);
  }
  const auto days = [](const std::chrono::sys_days& day) {
    return static_cast<std::int32_t>(day.time_since_epoch().count());
  };
  // Where nothing is before or after a limit, it cuts nothing off.
  const bool cut_before = query.first_day && days(*query.first_day) > first;
  const bool cut_after = query.last_day && days(*query.last_day) < last;
  if (cut_before) first = days(*query.first_day);
  if (cut_after) last = days(*query.last_day);
  if (first > last) return true;
  const Grain* by_day = smallest(true);
  CHECK(by_day != nullptr, "all_day has everything");
  if (bucket == TimeBucket::kDay || bucket == TimeBucket::kWeek) {
    scans.push_back({by_day, first, last});
    return true;
  }
  const Grain* by_month = smallest(false);
  CHECK(by_month != nullptr, "all_month has everything");
  std::int32_t first_month = month_of_day(first), last_month = month_of_day(last);
  const bool whole_begin = !cut_before || first == first_day_of_month(first_month);
  const bool whole_end = !cut_after || last == first_day_of_month(last_month + 1) - 1;
  if (first_month == last_month && !(whole_begin && whole_end)) {
    scans.push_back({by_day, first, last});
    return true;
  }
  if (!whole_begin) {
    scans.push_back({by_day, first, first_day_of_month(++first_month) - 1});
  }
  if (!whole_end) {
    scans.push_back({by_day, first_day_of_month(last_month), last});
    --last_month;
  }
  if (first_month <= last_month) scans.push_back({by_month, first_month, last_month});
  return true;
}

}  // namespace pennyweight::rollup
