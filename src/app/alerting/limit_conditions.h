// The alert rules about limits that stop work which runs: what is announced, and what is due.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/alert_config.h"
#include "config/config.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"
#include "insight/alerts/running_alerts.h"
#include "insight/guardrails/stop_notice.h"
#include "insight/queries/limit_stops.h"

namespace pennyweight {

// limit_stop_notice: the grace of a limit has begun; told once. limit_stop_due: it is over, and
// these workloads may be stopped. The owner of both is the value of the limit.
std::vector<AlertCondition> limit_conditions(const guardrails::StopState& state,
                                             const LimitStops& stops, const Config& config,
                                             Instant now);

// Whether the grace of a limit counts from when a message of this rule was delivered.
bool keeps_deliveries(std::string_view rule);

// By the scopes of notices, when somebody was told of each: when the first of the receivers that
// hear of it at once accepted the message. What waits, was given up or was never sent tells nobody.
std::map<std::string, Instant> told_stop_notices(const AlertsNow& now, const AlertConfig& config);

}  // namespace pennyweight
