#include "insight/queries/daily_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/card_share.h"
#include "core/try.h"
#include "reporting/cost_report.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::size_t kDaysBefore = 7;
// Usage that has not come for so long does not come: the machines are gone.
constexpr std::chrono::days kUsageLateMax{31};
// So few that a bill that comes a day late is not taken for one that has not come.
constexpr std::size_t kHoldersLateMax = 2;

Result<SummaryQuery> summary_query(const DailyCostQuery& params, const Policy& policy) {
  SummaryQuery query;
  query.bucket = TimeBucket::kDay;
  if (!params.by.empty()) {
    query.group_by = TRY(parse_dimensions({params.by}, policy));
    if (query.group_by.size() != 1) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("'{}': a history is by one dimension", params.by));
    }
    if (query.group_by.front() != "kind") query.group_by.emplace_back("kind");
  }
  for (const std::string& text : params.filters) {
    const auto filters = TRY(parse_filter(text, policy));
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  query.first_day = params.today - std::chrono::days(params.days_max);
  query.last_day = params.today - std::chrono::days(1);
  return query;
}

// The days of the ledger with their whole list cost, whatever the filters: they say which days are
// missing, and whether the last one is complete. Nothing else is made of these sums, so that
// currencies may come together in them.
using DayTotals = std::map<Date, Int128>;

DayTotals totals_by_day(const std::vector<SummaryRow>& rows) {
  DayTotals totals;
  for (const SummaryRow& row : rows) {
    if (row.bucket) totals[*row.bucket] += row.costs.list.ticks();
  }
  return totals;
}

// Leaves out the last days that have no GPU time, where others have: their usage has not come yet.
// What they cost is of fees and taxes that a bill states for a month to its end. Not where that
// goes on for longer than usage is ever late: storage and support of a fleet that was shut down are
// what its days cost. Returns a sentence about it.
std::optional<std::string> take_days_without_usage(const std::vector<SummaryRow>& rows,
                                                   DayTotals& totals) {
  std::optional<Date> last;
  for (const SummaryRow& row : rows) {
    if (!row.bucket || (row.gpu_time == GpuTime() && row.idle_time == GpuTime())) continue;
    last = last ? std::max(*last, *row.bucket) : *row.bucket;
  }
  if (!last || totals.empty() || totals.rbegin()->first <= *last) return std::nullopt;
  const Date end = totals.rbegin()->first;
  if (end - *last > kUsageLateMax) {
    return fmt::format(
        "no GPU time has come since {}: what the days after it cost is taken to be "
        "all that they cost",
        to_text(*last));
  }
  const auto first = totals.upper_bound(*last);
  const Date begin = first->first;
  totals.erase(first, totals.end());
  constexpr const char* kOnlyFees = "only costs such as the fees of a month";
  if (begin == end) {
    return fmt::format("{} is left out: no GPU time has come for it yet, {}", to_text(begin),
                       kOnlyFees);
  }
  return fmt::format("{} to {} are left out: no GPU time has come for them yet, {}", to_text(begin),
                     to_text(end), kOnlyFees);
}

// Leaves out the last days on which nothing held a GPU, after a week in which something did on each
// day: who held them has hardly been imported, and all that the days cost would be unallocated.
// Not where that goes on for longer: then nothing runs. Returns a sentence about it.
std::optional<std::string> take_days_without_holders(const std::vector<SummaryRow>& rows,
                                                     DayTotals& totals) {
  std::set<Date> held;
  for (const SummaryRow& row : rows) {
    if (row.bucket && row.gpu_time != GpuTime()) held.insert(*row.bucket);
  }
  const auto is_idle = [&](const auto& day) { return !held.contains(day.first); };
  std::size_t idle = 0;
  auto day = totals.rbegin();
  for (; day != totals.rend() && is_idle(*day); ++day) ++idle;
  if (idle == 0 || idle > kHoldersLateMax || totals.size() < idle + kDaysBefore)
    return std::nullopt;
  if (std::any_of(day, std::next(day, kDaysBefore), is_idle)) return std::nullopt;
  const Date last = day->first;
  totals.erase(totals.upper_bound(last), totals.end());
  return fmt::format(
      "what came after {} is left out: nothing held a GPU then, and something did on each of the 7 "
      "days before; have its jobs or pods been imported?",
      to_text(last));
}

// Leaves out the last day where it is far cheaper than every day of the week before.
std::optional<Date> take_partial_day(DayTotals& totals) {
  if (totals.size() <= kDaysBefore) return std::nullopt;
  auto day = std::prev(totals.end());
  const Int128 last = day->second;
  Int128 least = std::prev(day)->second;
  auto before = day;
  for (std::size_t i = 0; i < kDaysBefore; ++i) least = std::min(least, (--before)->second);
  if (least <= 0 || last * 2 >= least) return std::nullopt;
  const Date left_out = day->first;
  totals.erase(day);
  return left_out;
}

// Returns a sentence for each reason.
std::vector<std::string> take_incomplete_days(const std::vector<SummaryRow>& rows,
                                              DayTotals& totals) {
  std::vector<std::string> notes;
  if (auto note = take_days_without_usage(rows, totals)) notes.push_back(*std::move(note));
  if (auto note = take_days_without_holders(rows, totals)) notes.push_back(*std::move(note));
  if (const auto left_out = take_partial_day(totals)) {
    notes.push_back(fmt::format(
        "{} is left out: it costs less than half of any of the 7 days before it, so it is hardly "
        "complete",
        to_text(*left_out)));
  }
  return notes;
}

// Days up to the last complete one that had no cost cost nothing.
void add_days_until(DayTotals& totals, Date last) {
  for (Date day = totals.begin()->first; day <= last; day += std::chrono::days(1)) {
    totals.try_emplace(day, 0);
  }
  totals.erase(totals.upper_bound(last), totals.end());
}

std::string key_text(const DailyCostQuery& params, const SummaryRow& row) {
  if (params.by.empty()) return "(all)";
  return display_key(params.by, row.keys.front(), row.keys.back());
}

Result<void> check_one_currency(const std::vector<SummaryRow>& rows) {
  std::set<std::string> currencies;
  for (const SummaryRow& row : rows) currencies.insert(row.costs.currency().text());
  if (currencies.size() <= 1) return {};
  return fail(
      ErrorCode::kBadValue,
      fmt::format("there are costs in {} and {}, which don't add up: choose one with "
                  "the filter currency={}",
                  *currencies.begin(), *std::next(currencies.begin()), *currencies.begin()));
}

// The largest parts first; those beyond the limit together.
void limit_parts(DailyCostHistory& history, std::size_t keys_max) {
  const auto size = [](const forecasting::DailyCosts& part) {
    Int128 sum = 0;
    for (const Money& day : part.days) sum += day.ticks();
    return sum;
  };
  std::ranges::stable_sort(history.parts,
                           [&](const auto& a, const auto& b) { return size(a) > size(b); });
  if (history.parts.size() <= keys_max + 1) return;
  forecasting::DailyCosts others = std::move(history.parts[keys_max]);
  for (std::size_t i = keys_max + 1; i < history.parts.size(); ++i) {
    for (std::size_t t = 0; t < others.days.size(); ++t) {
      others.days[t] += history.parts[i].days[t];
    }
  }
  history.notes.push_back(fmt::format("{} are one row: (others)",
                                      counted(history.parts.size() - keys_max, "smaller value")));
  others.key = kOtherKeys;
  history.parts.resize(keys_max);
  history.parts.push_back(std::move(others));
}

}  // namespace

Result<std::optional<Date>> last_complete_day(Date today, const SummarySource& summarise) {
  const SummaryQuery all = TRY(summary_query({.today = today}, Policy()));
  const auto rows = TRY(summarise(all));
  DayTotals totals = totals_by_day(rows);
  take_incomplete_days(rows, totals);
  if (totals.empty()) return std::nullopt;
  return totals.rbegin()->first;
}

Result<Money> budget_cost(const SummaryRow& row, const std::string& cost) {
  if (cost == "gpu_hours") {
    const auto hours =
        multiply_divide(row.gpu_time.count(), UInt128{Money::kTicksPerUnit}, kGpuHour.count());
    return Money::from_ticks(static_cast<Int128>(hours.quotient), kGpuHourUnit);
  }
  const CostColumn column = TRY(parse_one_cost(cost));
  return select_cost(row.costs, column);
}

Result<CostColumn> parse_one_cost(const std::string& cost) {
  if (cost == "effective") return CostColumn::kEffective;
  if (cost == "billed") return CostColumn::kBilled;
  if (cost == "list") return CostColumn::kList;
  if (cost == "contracted") return CostColumn::kContracted;
  return fail(
      ErrorCode::kBadValue,
      fmt::format("'{}' is not a cost; use effective, billed, list, contracted or gpu_hours",
                  cost));
}

Result<DailyCostHistory> query_daily_costs(const DailyCostQuery& params, const Policy& policy,
                                           const SummarySource& summarise) {
  const bool is_time = params.cost == "gpu_hours";
  if (!is_time) std::ignore = TRY(parse_one_cost(params.cost));
  const SummaryQuery query = TRY(summary_query(params, policy));
  SummaryQuery all = query;
  all.group_by.clear();
  all.filters.clear();
  const auto all_rows = TRY(summarise(all));
  DayTotals totals = totals_by_day(all_rows);
  DailyCostHistory history;
  if (params.complete_until) {
    if (!totals.empty()) add_days_until(totals, *params.complete_until);
  } else {
    history.notes = take_incomplete_days(all_rows, totals);
  }
  if (totals.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no day before {} has costs in the last {} days; import a bill and "
                            "allocate it first",
                            to_text(params.today), params.days_max));
  }
  const auto rows = TRY(summarise(query));
  if (!is_time) TRY(check_one_currency(rows));
  if (rows.empty()) return fail(ErrorCode::kNotFound, "no posting matches the filters and dates");
  history.first_day = totals.begin()->first;
  const auto days =
      static_cast<std::size_t>((totals.rbegin()->first - history.first_day).count()) + 1;
  for (std::size_t t = 0; t < days; ++t) {
    history.missing.push_back(!totals.contains(history.first_day + std::chrono::days(t)));
  }
  std::map<std::string, std::vector<Money>> by_key;
  for (const SummaryRow& row : rows) {
    if (!row.bucket || *row.bucket < history.first_day || *row.bucket > history.last_day())
      continue;
    const Money cost = TRY(budget_cost(row, params.cost));
    const auto place =
        by_key.try_emplace(key_text(params, row), days, Money::zero(cost.currency()));
    place.first->second[static_cast<std::size_t>((*row.bucket - history.first_day).count())] +=
        cost;
  }
  for (auto& [key, costs] : by_key) history.parts.push_back({key, std::move(costs)});
  if (history.parts.empty()) {
    return fail(ErrorCode::kNotFound, "no complete day matches the filters");
  }
  limit_parts(history, params.keys_max);
  const auto age = (params.today - history.last_day()).count();
  if (age > 3) {
    history.notes.push_back(fmt::format("the last complete day is {}, {} ago",
                                        to_text(history.last_day()),
                                        counted(static_cast<std::uint64_t>(age), "day")));
  }
  return history;
}

}  // namespace pennyweight
