// The files of prices that the configuration or a command line names: rate cards, owned machines
// and their energy, exchange rates. An error says which file, and where in it.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "core/error.h"
#include "pricing/exchange.h"
#include "pricing/owned.h"
#include "pricing/rate_card.h"

namespace pennyweight {

Result<RateCard> load_rate_card(const std::string& path);
Result<std::vector<OwnedAsset>> load_owned_assets(const std::string& path);
Result<EnergyByDay> load_energy(const std::string& path);
Result<ExchangeRates> load_exchange_rates(const std::string& path);

// currencies.pivot and currencies.days_valid_max.
RateSearch rate_search(const Config& config);

}  // namespace pennyweight
