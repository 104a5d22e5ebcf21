// What the configuration says of rules: which are off, how they differ, and what is silent when.
#pragma once

#include <chrono>
#include <vector>

#include "config/alert_config.h"
#include "core/billing_period.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"

namespace pennyweight {

// The conditions of rules that are not off, as alerts.rules wants them.
std::vector<AlertCondition> as_configured(std::vector<AlertCondition> conditions,
                                          const AlertConfig& config);
// How long after its condition was last seen an alert ends, where its rule says nothing else.
std::chrono::milliseconds alert_hold(const AlertConfig& config);
// The silences, and the maintenance that goes on `now`.
std::vector<AlertSilence> configured_silences(const AlertConfig& config, const TimeZone& zone,
                                              Instant now);

}  // namespace pennyweight
