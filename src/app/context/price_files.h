// Loads price files: rate cards, owned machines and their energy, exchange rates. Errors name the
// file and the place in it.
#pragma once

#include <string>
#include <vector>

#include "allocation/pricing/exchange.h"
#include "allocation/pricing/owned.h"
#include "allocation/pricing/rate_card.h"
#include "config/config.h"
#include "core/error.h"

namespace pennyweight {

Result<RateCard> load_rate_card(const std::string& path);
Result<std::vector<OwnedAsset>> load_owned_assets(const std::string& path);
Result<EnergyByDay> load_energy(const std::string& path);
Result<ExchangeRates> load_exchange_rates(const std::string& path);

// Configured by currencies.pivot and currencies.days_valid_max.
RateSearch rate_search(const Config& config);

}  // namespace pennyweight
