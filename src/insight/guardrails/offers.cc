#include "insight/guardrails/offers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pennyweight::guardrails {
namespace {

constexpr std::size_t kOfferListsMax = 64;

}  // namespace

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

OfferLists::OfferLists(const Catalog& catalog) : catalog_(catalog) {
  for (const Rate& rate : catalog.rates()) changes_.push_back(rate.from);
  std::ranges::sort(changes_);
  const auto again = std::ranges::unique(changes_);
  changes_.erase(again.begin(), again.end());
}

std::shared_ptr<const std::vector<Offer>> OfferLists::list(const OfferFilter& filter) const {
  OfferFilter key = filter;
  const auto next = std::ranges::upper_bound(changes_, filter.at);
  if (next != changes_.begin()) key.at = *std::prev(next);
  const std::lock_guard lock(mutex_);
  const auto known = lists_.find(key);
  if (known != lists_.end()) return known->second;
  auto made = std::make_shared<const std::vector<Offer>>(list_offers(catalog_, key));
  // Who writes manifests chooses the regions, and can't fill the memory with them.
  if (lists_.size() >= kOfferListsMax) lists_.clear();
  lists_.emplace(std::move(key), made);
  return made;
}

}  // namespace pennyweight::guardrails
