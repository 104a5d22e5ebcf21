#include "ingest/bills/azure/export_date.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/ascii.h"

namespace pennyweight::azure {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// One to `digits_max` digits up to `end` or the end of the text.
std::optional<unsigned> number(std::string_view& text, char end, std::size_t digits_max) {
  unsigned value = 0;
  std::size_t i = 0;
  while (i < text.size() && ascii::is_digit(text[i]) && i < digits_max) {
    value = value * 10 + static_cast<unsigned>(text[i++] - '0');
  }
  if (i == 0) return std::nullopt;
  if (end == '\0') {
    if (i != text.size()) return std::nullopt;
  } else if (i == text.size() || text[i] != end) {
    return std::nullopt;
  }
  text.remove_prefix(end == '\0' ? i : i + 1);
  return value;
}

}  // namespace

Result<Instant> parse_export_date(std::string_view text, DateOrder order) {
  if (text.find('/') == std::string_view::npos) return parse_instant(text);
  std::string_view rest = text;
  auto month = number(rest, '/', 2);
  auto day = month ? number(rest, '/', 2) : std::nullopt;
  const auto year = day && rest.size() == 4 ? number(rest, '\0', 4) : std::nullopt;
  if (year) {
    if (order == DateOrder::kDayFirst) std::swap(month, day);
    const year_month_day date{std::chrono::year(static_cast<int>(*year)),
                              std::chrono::month(*month), std::chrono::day(*day)};
    if (date.ok() && sys_days(date) >= kInstantMin && sys_days(date) <= kInstantMax) {
      return Instant(sys_days(date));
    }
  }
  return fail(
      ErrorCode::kBadValue,
      order == DateOrder::kDayFirst
          ? fmt::format("'{}' is not a date with the day first, as the others are; write it as "
                        "DD/MM/YYYY or YYYY-MM-DD",
                        text.substr(0, 60))
          : fmt::format("'{}' is not a date; Azure writes MM/DD/YYYY or YYYY-MM-DD (--azure-dates "
                        "day-first reads DD/MM/YYYY)",
                        text.substr(0, 60)));
}

Interval utc_day(Instant at) {
  const auto day = floor<days>(at);
  return Interval(day, day + days(1));
}

Interval utc_month(Instant at) {
  const year_month_day date(floor<days>(at));
  const auto first = date.year() / date.month() / 1;
  return Interval(sys_days(first), sys_days(first + std::chrono::months(1)));
}

}  // namespace pennyweight::azure
