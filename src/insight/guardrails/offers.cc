#include "insight/guardrails/offers.h"

#include <utility>

namespace pennyweight::guardrails {

std::vector<Offer> list_offers(const Catalog& catalog, const OfferFilter& filter) {
  std::vector<Offer> offers;
  for (const InstanceType& type : catalog.instance_types()) {
    if (!filter.provider.empty() && type.provider != filter.provider) continue;
    const auto card = type.gpu_count > 0 ? find_sold_card(type.gpu_model) : std::nullopt;
    for (const PurchaseOption option :
         {PurchaseOption::kOnDemand, PurchaseOption::kSpot, PurchaseOption::kCommitted1Year,
          PurchaseOption::kCommitted3Years}) {
      auto rate = catalog.find_rate(
          {.instance_type = type.name, .region = filter.region, .option = option, .at = filter.at});
      if (!rate || rate->currency != filter.currency) continue;
      offers.push_back({&type, card, std::move(*rate)});
    }
  }
  return offers;
}

}  // namespace pennyweight::guardrails
