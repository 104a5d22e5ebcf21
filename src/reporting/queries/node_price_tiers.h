// How nodes were bought, as their bills say: for reports that are made from holdings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/billing_period.h"
#include "core/error.h"
#include "core/instant.h"
#include "ledger/store.h"
#include "ledger/summary.h"
#include "reporting/queries/holding_dimensions.h"

namespace pennyweight {

// Whether a row or a filter of such a report needs it.
bool needs_price_tiers(const std::vector<std::string>& by,
                       const std::vector<SummaryFilter>& filters);

// The tier of each node whose cost is allocated in the time; kMixedTiers where its charges of the
// time have several. Borders are those of local days; nothing: without a border.
Result<NodePriceTiers> billed_price_tiers(Store& store, const std::optional<Instant>& from,
                                          const std::optional<Instant>& to, const TimeZone& zone);

}  // namespace pennyweight
