// Why an alert is as it is: who hears of it, what keeps it quiet, and when it ends.
#pragma once

#include <string>

#include "app/alerting/alert_state.h"
#include "config/config.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"

namespace pennyweight {

// One sentence, such as "receivers were notified at 2026-03-01T10:00:00Z: ops, chat; it ends 5
// minutes after it was last seen". `state` holds the silences that people put.
std::string explain_alert(const Alert& alert, const AlertState& state, const Config& config,
                          Instant now);

}  // namespace pennyweight
