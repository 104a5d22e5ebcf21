#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "core/split.h"
#include "core/try.h"
#include "insight/queries/budget_query.h"
#include "insight/queries/incident_cause.h"
#include "insight/queries/price_incident.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr int kComparedWeeks = 4;
// Of so many incidents, the newest, more is asked than their days.
constexpr std::size_t kDetailedMax = 20;
// For the hours of all of them, so that an answer is never long in the making.
constexpr std::uint64_t kPostingsInAllMax = 200'000;
// Its values are machines, which have nodes and a price.
constexpr std::string_view kMachineCause = "instance_type";

// The days of an incident, or those of the weeks before that it is compared with.
std::vector<std::pair<Date, Date>> compared_weeks(Date first, Date last) {
  std::vector<std::pair<Date, Date>> weeks;
  // Whole weeks back, so that the weekdays are the same; none of them touches the incident.
  const auto length = (last - first).count() + 1;
  const auto step = (length + 6) / 7 * 7;
  for (int back = 1; back <= kComparedWeeks; ++back) {
    const auto shift = std::chrono::days(step * back);
    weeks.emplace_back(first - shift, last - shift);
  }
  return weeks;
}

// The dimensions by which the costs of an incident are read, each once, and where they are.
struct CauseColumns {
  std::vector<std::string> names;
  std::size_t add(const std::string& name) {
    const auto at = std::ranges::find(names, name);
    if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
    names.push_back(name);
    return names.size() - 1;
  }
};

// Costs and GPU time by the values of the cause: after, and before as the mean of some weeks. A
// mean is a split by largest remainder, so that what is compared is exact. `shown`: the values that
// are not among "(others)". Nothing where the costs of the weeks before are in another currency.
Result<std::vector<CostAndTime>> causes_of(const AnomalyQuery& params, const Policy& policy,
                                           const SummarySource& summarise, const std::string& key,
                                           const std::set<std::string>& shown, Date first,
                                           Date last) {
  const bool is_time = params.costs.cost == kGpuHourCost;
  const std::string& cause = params.cause.empty() ? params.costs.by : params.cause;
  SummaryQuery query;
  for (const std::string& text : params.costs.filters) {
    const auto filters = TRY(parse_filter(text, policy));
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  const bool is_others = key == kOtherKeys;
  if (!params.costs.by.empty() && !is_others) {
    for (SummaryFilter& filter : row_filters(params.costs.by, key)) {
      query.filters.push_back(std::move(filter));
    }
  }
  CauseColumns columns;
  std::size_t cause_at = 0;
  std::size_t kind_at = 0;
  std::size_t value_at = 0;
  if (!cause.empty()) {
    cause_at = columns.add(TRY(parse_dimensions({cause}, policy)).front());
    // No filter says "none of those": a value such as "(unallocated)" is of a kind.
    if (is_others) value_at = columns.add(TRY(parse_dimensions({params.costs.by}, policy)).front());
    kind_at = columns.add("kind");
  }
  query.group_by = columns.names;
  std::map<std::string, CostAndTime> parts;
  std::optional<Currency> currency;
  bool has_one_currency = true;
  const auto add = [&](Date from, Date to, bool is_before) -> Result<void> {
    query.first_day = from;
    query.last_day = to;
    const auto rows = TRY(summarise(query));
    for (const SummaryRow& row : rows) {
      const auto value_text = [&](std::size_t at) {
        return display_key(columns.names[at], row.keys[at], row.keys[kind_at]);
      };
      if (is_others && shown.contains(value_text(value_at))) continue;
      const Money cost = TRY(budget_cost(row, params.costs.cost));
      if (!currency) currency = cost.currency();
      if (cost.currency() != *currency) {
        has_one_currency = false;
        continue;
      }
      const Money zero = Money::zero(cost.currency());
      const std::string value = cause.empty() ? "(all)" : value_text(cause_at);
      CostAndTime& part = parts.try_emplace(value, CostAndTime{value, zero, zero}).first->second;
      const GpuTime time = is_time ? row.gpu_time : row.gpu_time + row.idle_time;
      (is_before ? part.cost_before : part.cost_after) += cost;
      (is_before ? part.time_before : part.time_after) += time;
    }
    return {};
  };
  TRY(add(first, last, false));
  for (const auto& [from, to] : compared_weeks(first, last)) TRY(add(from, to, true));
  std::vector<CostAndTime> out;
  if (!has_one_currency) return out;
  for (auto& [value, part] : parts) {
    const std::vector<Weight> even(kComparedWeeks, 1);
    part.cost_before = split(part.cost_before, even).front();
    part.time_before = GpuTime::of(part.time_before.count() / kComparedWeeks);
    out.push_back(std::move(part));
  }
  return out;
}

// "since 2026-03-10 14:00 UTC"
std::string days_text(const FoundAnomaly& found) {
  const bool is_one_day = found.last == found.first;
  const std::string first = to_text(found.first);
  if (found.is_open || !is_one_day) {
    return fmt::format("{} {}{}{}", found.is_open ? "since" : "from", first,
                       found.hour.empty() ? "" : " " + found.hour,
                       found.is_open ? "" : " to " + to_text(found.last));
  }
  return fmt::format("on {}{}", first, found.hour.empty() ? "" : " from " + found.hour);
}

// `machines`: what changed of those that explain it.
std::string describe(const FoundAnomaly& found, const std::string& machines) {
  std::string text =
      fmt::format("{}: {} a day {}", found.key, signed_money_text(found.incident.impact_per_day()),
                  days_text(found));
  if (!found.causes.empty() && found.causes.front().key != "(all)" &&
      found.causes.front().key != found.key) {
    text += fmt::format(", {} % from {}{}", found.causes.front().permille / 10,
                        found.causes.front().key, machines);
  }
  return text +
         fmt::format("; volume {}, price {}, mix {}, other {}",
                     signed_money_text(found.split.volume), signed_money_text(found.split.price),
                     signed_money_text(found.split.mix), signed_money_text(found.split.rest));
}

// Postings while some are `left` of those that one answer may read; then an Error of kLimit.
PostingSource at_most_in_all(const PostingSource& postings, std::uint64_t& left) {
  return [&postings, &left](const SummaryQuery& query,
                            std::uint64_t at_most) -> Result<std::vector<Posting>> {
    const std::uint64_t wanted = std::min(at_most, left);
    std::vector<Posting> found;
    if (wanted > 0) found = TRY(postings(query, wanted));
    left -= std::min<std::uint64_t>(left, found.size());
    if (found.size() < wanted) return found;
    return fail(ErrorCode::kLimit, "there are too many postings");
  };
}

// Finds the hour in which an incident began, and what changed of the machines behind it. Where the
// postings can't be read now, its days are told alone: they are not less true.
Result<std::string> look_closer(const AnomalyQuery& params, const Policy& policy,
                                const SummarySource& summarise, const PostingSource& postings,
                                FoundAnomaly& found) {
  if (params.costs.cost == kGpuHourCost || found.key == kOtherKeys) return std::string();
  IncidentHourQuery query{.filters = {},
                          .cost = TRY(parse_one_cost(params.costs.cost)),
                          .first = found.first,
                          .is_higher = !found.incident.impact().is_negative()};
  for (const std::string& text : params.costs.filters) {
    const auto filters = TRY(parse_filter(text, policy));
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  if (!params.costs.by.empty()) {
    std::ranges::move(row_filters(params.costs.by, found.key), std::back_inserter(query.filters));
  }
  const auto hour = find_incident_hour(query, policy, postings);
  if (hour) found.hour = hour->value_or("");
  if (found.causes.empty() || params.cause != kMachineCause ||
      found.causes.front().key.starts_with('(')) {
    return std::string();
  }
  std::ranges::move(row_filters(params.cause, found.causes.front().key),
                    std::back_inserter(query.filters));
  return describe_incident_cause({.filters = query.filters,
                                  .days = {{found.first, found.last}},
                                  .before = compared_weeks(found.first, found.last)},
                                 summarise);
}

// The value, such as an instance type, whose price explains the incident; empty: none does. Not
// where the cause is the dimension itself: a team has no price.
std::string price_of(std::span<const CostAndTime> causes, const FoundAnomaly& anomaly,
                     const AnomalyQuery& params) {
  if (params.cause.empty() || params.cause == params.costs.by) return "";
  const CostAndTime* cause = find_price_cause(causes);
  if (cause == nullptr || cause->key.starts_with('(')) return "";
  // The weeks before may say that it costs more, where its weekdays say that it costs less.
  const bool is_alike =
      anomaly.split.sum().is_negative() == anomaly.incident.impact().is_negative();
  return is_alike ? cause->key : "";
}

}  // namespace

Result<std::vector<FoundAnomaly>> query_anomalies(const AnomalyQuery& params, const Policy& policy,
                                                  const SummarySource& summarise) {
  const auto history = TRY(query_daily_costs(params.costs, policy, summarise));
  std::set<std::string> shown;
  for (const forecasting::DailyCosts& part : history.parts) shown.insert(part.key);
  std::vector<FoundAnomaly> found;
  for (const forecasting::DailyCosts& part : history.parts) {
    for (const Incident& incident : find_incidents(part.days, history.missing, params.rules)) {
      const Date first = history.first_day + std::chrono::days(incident.first);
      const Date last = history.first_day + std::chrono::days(incident.last);
      if (params.since && last < *params.since) continue;
      const Money zero = Money::zero(part.days.front().currency());
      FoundAnomaly anomaly{
          part.key, first, last, incident.is_open, incident, {zero, zero, zero, zero}, {}, false,
          {},       {},    {}};
      if (params.costs.filters.empty() && params.costs.cost == "effective") {
        const IncidentName name{params.costs.by, part.key, first};
        const auto* verdict = judge_incident(params.verdicts, name,
                                             {incident.score_milli, incident.impact_per_day()});
        anomaly.is_expected = verdict != nullptr && verdict->is_expected;
        anomaly.verdict = verdict_text(verdict, name);
      }
      const auto causes = TRY(causes_of(params, policy, summarise, part.key, shown, first, last));
      if (!causes.empty()) {
        anomaly.split = split_difference(causes);
        anomaly.causes = contributions(causes);
        anomaly.price_of = price_of(causes, anomaly, params);
      }
      found.push_back(std::move(anomaly));
    }
  }
  std::ranges::stable_sort(found, [](const FoundAnomaly& a, const FoundAnomaly& b) {
    return std::tuple(b.last, b.first) < std::tuple(a.last, a.first);
  });
  std::uint64_t left = kPostingsInAllMax;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::string machines;
    if (params.postings && i < kDetailedMax) {
      machines = TRY(
          look_closer(params, policy, summarise, at_most_in_all(params.postings, left), found[i]));
    }
    found[i].sentence = describe(found[i], machines);
  }
  return found;
}

Table anomaly_table(std::span<const FoundAnomaly> anomalies, const AnomalyQuery& params) {
  Table table;
  table.title =
      fmt::format("Unusual days by {}", params.costs.by.empty() ? "scope" : params.costs.by);
  table.columns = {{params.costs.by.empty() ? "scope" : params.costs.by, "of"},
                   {"first", "from"},
                   {"last", "to"},
                   {"is_open", "goes on"},
                   {"actual", "actual", ColumnKind::kMoney},
                   {"expected", "expected", ColumnKind::kMoney},
                   {"impact", "impact", ColumnKind::kMoney},
                   {"volume", "volume", ColumnKind::kMoney},
                   {"price", "price", ColumnKind::kMoney},
                   {"mix", "mix", ColumnKind::kMoney},
                   {"rest", "other", ColumnKind::kMoney},
                   {"cause", "mostly from"},
                   {"verdict", "what people say"}};
  if (!anomalies.empty()) {
    const Currency currency = anomalies.front().incident.actual.currency();
    const bool is_time = currency == kGpuHourUnit;
    if (!is_time) table.currency = currency;
    table.title += is_time ? " in GPU-hours" : " in " + currency.text();
  }
  for (const FoundAnomaly& one : anomalies) {
    table.rows.push_back(
        {one.key, to_text(one.first), to_text(one.last), std::string(one.is_open ? "yes" : ""),
         one.incident.actual, one.incident.expected, one.incident.impact(), one.split.volume,
         one.split.price, one.split.mix, one.split.rest,
         one.causes.empty() ? std::string() : one.causes.front().key, one.verdict});
  }
  for (const PriceIncident& one : find_price_incidents(anomalies)) {
    if (one.parts.size() < 2) continue;  // its row says so
    table.notes.push_back(describe_price_incident(one, anomalies, params.costs.by));
  }
  table.notes.emplace_back(
      "expected: the median of the same weekday over 8 weeks; volume, price, mix and other add up "
      "to the difference from the mean of the 4 weeks before");
  return table;
}

}  // namespace pennyweight
