// What the configuration says of rules: which are off, how they differ, and what is silent when.
#pragma once

#include <vector>

#include "config/alert_config.h"
#include "core/billing_period.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"

namespace pennyweight {

// The conditions of rules that are not off, as alerts.rules wants them.
std::vector<AlertCondition> as_configured(std::vector<AlertCondition> conditions,
                                          const AlertConfig& config);
// The silences, and the maintenance that goes on `now`.
std::vector<AlertSilence> configured_silences(const AlertConfig& config, const TimeZone& zone,
                                              Instant now);

}  // namespace pennyweight
