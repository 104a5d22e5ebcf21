#include "reporting/queries/holding_selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/nearest.h"
#include "core/billing_period.h"
#include "core/try.h"
#include "reporting/queries/holding_dimensions.h"

namespace pennyweight {

Result<void> check_holding_dimension(const std::string& name, const Policy& policy,
                                     const std::vector<std::string>& further) {
  if (name.starts_with("label:") && name.size() > 6) return {};
  std::vector<std::string> known = further;
  for (const DimensionRule& rule : policy.dimensions) known.push_back(rule.dimension);
  for (std::string& each : holding_dimensions()) known.push_back(std::move(each));
  if (std::ranges::find(known, name) != known.end()) return {};
  std::string list;
  for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
  return fail(ErrorCode::kBadValue,
              fmt::format("holdings have no dimension '{}'{}; they have {}, and label:KEY", name,
                          suggestion(name, known), list));
}

Result<SummaryFilter> parse_holding_filter(const std::string& text, const Policy& policy,
                                           const std::vector<std::string>& further) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a filter; write it as user=ann,bo or user!=ann", text));
  }
  const bool negate = text[equals - 1] == '!';
  std::string dimension = text.substr(0, negate ? equals - 1 : equals);
  TRY(check_holding_dimension(dimension, policy, further));
  return SummaryFilter{std::move(dimension), split_list(text.substr(equals + 1)), negate};
}

Result<LocalRange> local_range(const DateOptions& dates, const TimeZone& zone) {
  LocalRange range;
  if (!dates.month.empty()) {
    TRY(check_month(dates.month));
    const auto month = TRY(BillingPeriod::parse(dates.month, zone));
    range.from = month.to_interval().begin();
    range.to = month.to_interval().end();
  }
  const auto local_midnight = [&](const std::string& day) {
    return parse_local_time(day + "T12:00:00", zone, Ambiguous::kEarlier);
  };
  if (!dates.from.empty()) {
    std::ignore = TRY(parse_day(dates.from));
    const auto noon = TRY(local_midnight(dates.from));
    const Instant first = start_of_day(noon, zone);
    range.from = std::max(range.from.value_or(first), first);
  }
  if (!dates.to.empty()) {
    std::ignore = TRY(parse_day(dates.to));
    const auto noon = TRY(local_midnight(dates.to));
    const Instant end = day_of(noon, zone).end();
    range.to = std::min(range.to.value_or(end), end);
  }
  if (range.from && range.to && *range.to <= *range.from) {
    return fail(ErrorCode::kBadValue, "the last day is before the first");
  }
  return range;
}

}  // namespace pennyweight
