#include "core/date.h"

#include <fmt/format.h>

#include "core/instant.h"
#include "core/plain_text.h"

namespace pennyweight {
namespace {

constexpr std::size_t kDateBytes = 10;  // YYYY-MM-DD

}  // namespace

Result<Date> parse_date(std::string_view text) {
  const auto at = parse_instant(text);
  if (!at || text.size() != kDateBytes) {
    return fail(ErrorCode::kBadValue, fmt::format("'{}' is not a date; write it as 2026-03-31",
                                                  printable_text(text, 60)));
  }
  return std::chrono::floor<std::chrono::days>(*at);
}

std::string to_text(Date date) {
  const std::chrono::year_month_day day(date);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

}  // namespace pennyweight
