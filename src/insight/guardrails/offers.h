// Offers: what each machine of the price catalog costs, per purchase option, at one instant.
//
// Pricing a folder of manifests asks the same of the catalog for every group of replicas; this asks
// it once for each region.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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
  auto operator<=>(const OfferFilter&) const = default;
};

// By name of the type and purchase option. Machines without a price in that region, currency or at
// that time are left out. The catalog must outlive the result.
std::vector<Offer> list_offers(const Catalog& catalog, const OfferFilter& filter);

// The lists of a catalog, which stay what they are until a price of it changes: making one takes
// milliseconds, and admission asks for one with every review. Thread-safe.
class OfferLists {
 public:
  // `catalog` must outlive this and the lists.
  explicit OfferLists(const Catalog& catalog);

  std::shared_ptr<const std::vector<Offer>> list(const OfferFilter& filter) const;

 private:
  const Catalog& catalog_;
  std::vector<Instant> changes_;  // when prices of the catalog begin, sorted
  mutable std::mutex mutex_;      // guards lists_
  // By the filter, whose time is the change that is in force.
  mutable std::map<OfferFilter, std::shared_ptr<const std::vector<Offer>>> lists_;
};

}  // namespace pennyweight::guardrails
