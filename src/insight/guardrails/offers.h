// Offers: what each machine of the price catalog costs, per purchase option, at one instant.
//
// Pricing a folder of manifests asks the same of the catalog for every group of replicas; this asks
// it once for each region.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/gpu/card_fraction.h"

namespace pennyweight::guardrails {

// A machine that can be had.
struct Offer {
  const InstanceType* type = nullptr;  // of the catalog, never null
  std::optional<SoldCard> card;        // absent: no GPU, or one that the tables don't know
  Rate rate;
};

struct OfferFilter {
  std::string provider;  // empty: any
  std::string region;    // empty: the cheapest of any
  Currency currency = kUsd;
  Instant at;
  bool operator==(const OfferFilter&) const = default;
};

// By name of the type and purchase option. Machines without a price in that region, currency or at
// that time are left out. The catalog must outlive the result.
std::vector<Offer> list_offers(const Catalog& catalog, const OfferFilter& filter);

}  // namespace pennyweight::guardrails
