#include "server/api/daily_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/config.h"
#include "core/billing_period.h"
#include "core/try.h"

namespace pennyweight::api {

Result<void> set_known_days(const Services& services, const ScopedQueries& queries,
                            std::optional<Date> today, DailyCostQuery& query) {
  const TimeZone& zone = services.config.policy.time_zone;
  const Date clock_day = TRY(parse_date(local_date(services.clock.now(), zone)));
  // A browser east of here may be in tomorrow.
  if (today && *today > clock_day + std::chrono::days(1)) {
    return fail(ErrorCode::kBadValue, fmt::format("today: {} is later than {}, which is today",
                                                  to_text(*today), to_text(clock_day)));
  }
  query.today = std::min(today.value_or(clock_day), clock_day);
  if (!queries.is_scoped()) return {};
  // What a scope holds does not say which days are complete.
  query.complete_until = TRY(queries.last_complete_day(query.today));
  return {};
}

}  // namespace pennyweight::api
