// How much of each limit of guardrails.limits is used this month.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/guardrails/usage_limit.h"
#include "reporting/queries/costs.h"
#include "reporting/table.h"

namespace pennyweight {

// In the order of the limits; a limit that can't be measured says why.
Result<std::vector<guardrails::LimitUse>> query_limits(
    std::span<const guardrails::UsageLimit> limits, Instant now, const Policy& policy,
    const SummarySource& summarise);

// What is left of the month of `now`.
std::uint64_t month_left_ms(Instant now, const Policy& policy);

std::vector<Table> limit_tables(std::span<const guardrails::LimitUse> uses);

}  // namespace pennyweight
