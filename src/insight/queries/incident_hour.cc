#include "insight/queries/incident_hour.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/billing_period.h"
#include "core/split.h"
#include "core/try.h"
#include "insight/anomalies/onset.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kPostingsMax = 100'000;
constexpr int kUsualWeeks = 4;
constexpr std::chrono::milliseconds kHour = std::chrono::hours(1);

// A day and the one before it, in whole hours.
struct TwoDays {
  Interval before;
  Interval day;
  std::size_t hours_before() const {
    return static_cast<std::size_t>((before.end() - before.begin()) / kHour);
  }
  std::size_t hours() const {
    return static_cast<std::size_t>((day.end() - before.begin()) / kHour);
  }
};

Result<Interval> local_day(Date day, const TimeZone& zone) {
  // Some days begin later than at midnight, and all of them have a noon.
  return day_of(TRY(parse_local_time(to_text(day) + "T12:00:00", zone, Ambiguous::kEarlier)), zone);
}

// Nothing: one of them has a part of an hour, as where summer time begins by half an hour.
Result<std::optional<TwoDays>> two_days(Date day, const TimeZone& zone) {
  const Interval before = TRY(local_day(day - std::chrono::days(1), zone));
  const Interval last = TRY(local_day(day, zone));
  for (const Interval& one : {before, last}) {
    if ((one.end() - one.begin()) % kHour != std::chrono::milliseconds(0)) return std::nullopt;
  }
  return TwoDays{before, last};
}

// What the hours of two days cost.
struct HourlyCosts {
  std::vector<Money> hours;
  // Of the second day: the sizes of what its postings cost that are shorter than the day, and that
  // are no longer than an hour. Only these say anything of its hours.
  Int128 in_parts = 0;
  Int128 by_hour = 0;
};

void add_posting(const Posting& posting, Money cost, const TwoDays& days, HourlyCosts& costs) {
  std::vector<Weight> weights(costs.hours.size(), 0);
  bool is_within = false;
  for (std::size_t hour = 0; hour < weights.size(); ++hour) {
    const Instant begin = std::max(days.before.begin() + kHour * static_cast<std::int64_t>(hour),
                                   posting.interval.begin());
    const Instant end = std::min(days.before.begin() + kHour * static_cast<std::int64_t>(hour + 1),
                                 posting.interval.end());
    if (begin >= end) continue;
    weights[hour] = static_cast<Weight>((end - begin).count());
    is_within = true;
  }
  if (!is_within) return;
  const std::vector<Money> parts = split(cost, weights);
  for (std::size_t hour = 0; hour < parts.size(); ++hour) costs.hours[hour] += parts[hour];
  const Int128 size = cost.is_negative() ? -cost.ticks() : cost.ticks();
  if (posting.interval.begin() < days.day.begin()) return;
  const auto length = posting.interval.end() - posting.interval.begin();
  if (length < days.day.end() - days.day.begin()) costs.in_parts += size;
  if (length <= kHour) costs.by_hour += size;
}

// Nothing: too much, or costs of several currencies. `currency`: of those so far.
Result<std::optional<HourlyCosts>> read_hours(const IncidentHourQuery& params, Date day,
                                              const Policy& policy, const PostingSource& postings,
                                              std::optional<Currency>& currency) {
  const auto days = TRY(two_days(day, policy.time_zone));
  if (!days) return std::nullopt;
  SummaryQuery query;
  query.filters = params.filters;
  query.first_day = day - std::chrono::days(1);
  query.last_day = day;
  const auto found = TRY(postings(query, kPostingsMax));
  if (found.size() >= kPostingsMax) return std::nullopt;
  HourlyCosts costs;
  for (const Posting& posting : found) {
    const Money cost = select_cost(posting.costs, params.cost);
    if (!currency) currency = cost.currency();
    if (cost.currency() != *currency) return std::nullopt;
    if (costs.hours.empty()) costs.hours.assign(days->hours(), Money::zero(*currency));
    add_posting(posting, cost, *days, costs);
  }
  if (costs.hours.empty() && currency) costs.hours.assign(days->hours(), Money::zero(*currency));
  return costs;
}

Money middle_of(std::vector<Money> values) {
  std::ranges::sort(values, {}, [](const Money& one) { return one.ticks(); });
  const Money below = values[(values.size() - 1) / 2];
  return below + split(values[values.size() / 2] - below, std::vector<Weight>(2, 1)).back();
}

// "14:00" of the local day; nothing where no whole hour of it is then.
std::optional<std::string> hour_text(Instant at, Date day, const TimeZone& zone) {
  for (int hour = 0; hour < 24; ++hour) {
    const std::string text = fmt::format("{:02}:00", hour);
    for (const Ambiguous which : {Ambiguous::kEarlier, Ambiguous::kLater}) {
      const auto then = parse_local_time(fmt::format("{}T{}:00", to_text(day), text), zone, which);
      if (then && *then == at) return text;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> find_incident_hour(const IncidentHourQuery& query,
                                                      const Policy& policy,
                                                      const PostingSource& postings) {
  std::optional<Currency> currency;
  const auto actual = TRY(read_hours(query, query.first, policy, postings, currency));
  // Where nothing is left of what there was, there is no posting of the day to see an hour in.
  if (!actual || actual->hours.empty()) return std::nullopt;
  if (actual->in_parts == 0) return std::nullopt;
  const std::size_t hours = actual->hours.size();
  std::vector<std::vector<Money>> by_hour(hours);
  for (int week = 1; week <= kUsualWeeks; ++week) {
    const Date day = query.first - std::chrono::days(7 * week);
    const auto usual = TRY(read_hours(query, day, policy, postings, currency));
    if (!usual) return std::nullopt;
    // A day of another length, where summer time begins or ends, is short or long of an hour.
    for (std::size_t hour = 0; hour < hours; ++hour) {
      by_hour[hour].push_back(hour < usual->hours.size() ? usual->hours[hour]
                                                         : Money::zero(*currency));
    }
  }
  std::vector<Money> usual;
  for (std::vector<Money>& values : by_hour) usual.push_back(middle_of(std::move(values)));
  const auto onset = find_onset(actual->hours, usual, query.is_higher);
  const auto days = TRY(two_days(query.first, policy.time_zone));
  if (!onset || !days || *onset < days->hours_before()) return std::nullopt;
  Int128 excess = 0;
  for (std::size_t hour = days->hours_before(); hour < hours; ++hour) {
    excess += actual->hours[hour].ticks() - usual[hour].ticks();
  }
  if (excess < 0) excess = -excess;
  // A change at midnight is what days would look like anyway, but for postings of single hours.
  const bool is_midnight = *onset == days->hours_before();
  if (2 * (is_midnight ? actual->by_hour : actual->in_parts) < excess) return std::nullopt;
  const auto text = hour_text(days->before.begin() + kHour * static_cast<std::int64_t>(*onset),
                              query.first, policy.time_zone);
  if (!text) return std::nullopt;
  return fmt::format("{} {}", *text, policy.time_zone.name());
}

}  // namespace pennyweight
