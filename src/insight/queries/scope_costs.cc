#include "insight/queries/scope_costs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/try.h"

namespace pennyweight {
namespace {

// Fewer scopes than this ask for themselves: a grouped query reads more than they need.
constexpr std::size_t kScopesMin = 3;
constexpr const char* kMonth = "month";

std::vector<std::string> dimensions_of(const ScopeCosts::Scope& scope) {
  std::set<std::string> names;
  for (const SummaryFilter& filter : scope) names.insert(filter.dimension);
  return {names.begin(), names.end()};
}

void add_row(SummaryRow& sum, const SummaryRow& row) {
  sum.costs += row.costs;
  sum.gpu_time += row.gpu_time;
  sum.idle_time += row.idle_time;
  sum.memory_time += row.memory_time;
  sum.observed_time += row.observed_time;
  sum.postings += row.postings;
}

}  // namespace

struct ScopeCosts::Group {
  std::vector<std::string> dimensions;
  std::size_t scopes = 0;
  // The values by which every scope of the group is limited, by dimension: only these are read.
  std::map<std::string, std::set<std::string>> limits;
  std::map<std::string, std::size_t> limited_scopes;  // how many scopes limit the dimension
  bool is_loaded = false;
  std::vector<SummaryRow> rows;
  // Of each dimension, the rows of each value.
  std::vector<std::map<std::string, std::vector<std::size_t>>> by_value;

  bool passes(const SummaryRow& row, const SummaryFilter& filter) const {
    const auto at = std::ranges::find(dimensions, filter.dimension) - dimensions.begin();
    const std::string& value = row.keys[static_cast<std::size_t>(at)];
    return (std::ranges::find(filter.values, value) != filter.values.end()) != filter.negate;
  }

  bool has_month() const { return std::ranges::find(dimensions, kMonth) != dimensions.end(); }

  // Whether every scope has such a limit, so that only its values are read.
  bool is_limited_by(const std::string& dimension) const {
    const auto found = limited_scopes.find(dimension);
    return found != limited_scopes.end() && found->second == scopes;
  }

  // Whether all that the scope needs is read: true of those that were announced.
  bool holds(const Scope& scope) const {
    return std::ranges::all_of(limits, [&](const auto& limit) {
      return !is_limited_by(limit.first) ||
             std::ranges::any_of(scope, [&](const SummaryFilter& filter) {
               return !filter.negate && filter.dimension == limit.first &&
                      std::ranges::all_of(filter.values, [&](const std::string& value) {
                        return limit.second.contains(value);
                      });
             });
    });
  }

  // The rows that a filter with few values leaves; nothing: all of them.
  std::optional<std::vector<std::size_t>> candidates(const Scope& scope) const {
    for (const SummaryFilter& filter : scope) {
      if (filter.negate) continue;
      const auto at = std::ranges::find(dimensions, filter.dimension) - dimensions.begin();
      const auto& known = by_value[static_cast<std::size_t>(at)];
      std::vector<std::size_t> found;
      const std::set<std::string> values(filter.values.begin(), filter.values.end());
      for (const std::string& value : values) {
        const auto rows_of_value = known.find(value);
        if (rows_of_value == known.end()) continue;
        found.insert(found.end(), rows_of_value->second.begin(), rows_of_value->second.end());
      }
      return found;
    }
    return std::nullopt;
  }
};

ScopeCosts::ScopeCosts(std::span<const Scope> scopes, Date first, Date last,
                       SummarySource summarise, bool by_month)
    : first_(first), last_(last), summarise_(std::move(summarise)), by_month_(by_month) {
  for (const Scope& scope : scopes) {
    auto dimensions = dimensions_of(scope);
    auto& group = groups_[dimensions];
    if (!group) group = std::make_unique<Group>();
    group->dimensions = std::move(dimensions);
    ++group->scopes;
    std::set<std::string> limited;
    for (const SummaryFilter& filter : scope) {
      if (filter.negate) continue;
      group->limits[filter.dimension].insert(filter.values.begin(), filter.values.end());
      limited.insert(filter.dimension);
    }
    for (const std::string& dimension : limited) ++group->limited_scopes[dimension];
  }
}

ScopeCosts::~ScopeCosts() = default;

Result<std::vector<SummaryRow>> ScopeCosts::ask(const SummaryQuery& query) {
  ++queries_;
  return summarise_(query);
}

Result<void> ScopeCosts::load(Group& group) {
  SummaryQuery query{.first_day = first_, .last_day = last_, .bucket = TimeBucket::kDay};
  query.group_by = group.dimensions;
  if (by_month_ && !group.has_month()) query.group_by.emplace_back(kMonth);
  for (const auto& [dimension, values] : group.limits) {
    if (!group.is_limited_by(dimension)) continue;
    query.filters.push_back({dimension, {values.begin(), values.end()}, false});
  }
  group.rows = TRY(ask(query));
  group.by_value.resize(group.dimensions.size());
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    for (std::size_t d = 0; d < group.dimensions.size(); ++d) {
      group.by_value[d][group.rows[i].keys[d]].push_back(i);
    }
  }
  group.is_loaded = true;
  return {};
}

Result<std::vector<SummaryRow>> ScopeCosts::summarise(const SummaryQuery& query) {
  const bool is_by_month =
      by_month_ && query.group_by.size() == 1 && query.group_by.front() == kMonth;
  const bool is_of_days =
      query.bucket == TimeBucket::kDay && (query.group_by.empty() || is_by_month) && !query.as_of &&
      query.first_day && query.last_day && *query.first_day >= first_ && *query.last_day <= last_;
  const auto place = groups_.find(dimensions_of(query.filters));
  if (!is_of_days || place == groups_.end()) return ask(query);
  Group& group = *place->second;
  if (is_by_month && group.has_month()) return ask(query);
  // The whole is one query, however many scopes ask for it.
  if (!query.filters.empty() && group.scopes < kScopesMin) return ask(query);
  if (!group.holds(query.filters)) return ask(query);
  if (!group.is_loaded) TRY(load(group));
  std::map<std::tuple<Date, std::string, std::string>, SummaryRow> sums;
  const auto add = [&](const SummaryRow& row) {
    if (!row.bucket || *row.bucket < *query.first_day || *row.bucket > *query.last_day) return;
    const bool is_in = std::ranges::all_of(
        query.filters, [&](const SummaryFilter& filter) { return group.passes(row, filter); });
    if (!is_in) return;
    const std::string month = is_by_month ? row.keys.back() : std::string();
    const auto [sum, is_new] =
        sums.try_emplace({*row.bucket, month, row.costs.currency().text()}, row);
    if (is_new) {
      sum->second.keys.assign(is_by_month ? 1 : 0, month);
    } else {
      add_row(sum->second, row);
    }
  };
  if (const auto chosen = group.candidates(query.filters)) {
    for (const std::size_t i : *chosen) add(group.rows[i]);
  } else {
    for (const SummaryRow& row : group.rows) add(row);
  }
  std::vector<SummaryRow> rows;
  rows.reserve(sums.size());
  for (auto& [key, row] : sums) rows.push_back(std::move(row));
  return rows;
}

}  // namespace pennyweight
