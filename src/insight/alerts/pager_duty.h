// Alerts as events of PagerDuty (Events API v2).
// https://developer.pagerduty.com/docs/events-api-v2/trigger-events
#pragma once

#include <string>
#include <string_view>

#include "insight/alerts/alert.h"

namespace pennyweight {

// A "trigger", or a "resolve" of an alert that has ended. Events of one `dedup_key` (at most 255
// characters) are one incident, however often they arrive.
std::string pager_duty_json(const AlertNotification& notification, std::string_view routing_key,
                            std::string_view dedup_key);

}  // namespace pennyweight
