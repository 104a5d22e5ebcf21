// Prices a month's nodes that have no bill: charges for owned hardware, and estimates for the
// others. Charges that a new pricing does not state again are retracted.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "allocation/pricing/owned.h"
#include "allocation/pricing/rate_card.h"
#include "core/error.h"
#include "core/gpu/cloud_resource.h"
#include "ingest/bills/rated/node_days.h"
#include "ingest/bills/rated/node_estimates.h"
#include "ingest/bills/rated/owned_charges.h"
#include "ledger/store.h"

namespace pennyweight {

struct PriceInputs {
  std::vector<OwnedAsset> assets;
  EnergyByDay energy;
  RateCard card;
};

struct PricingRequest {
  std::string name;    // of the charges' import: the given file names
  std::string reason;  // why the month is priced again; may be empty
  std::string organisation;
  bool owned = false;      // price owned hardware; otherwise its charges stay
  bool estimates = false;  // and estimate the other nodes
  // Whose nodes are estimated; empty: all. Estimates of one account replace those of the same
  // account only, and leave out nodes that another account estimates.
  std::set<ClusterId> clusters = {};
  std::string account = rated::kEstimateAccount;
};

// The charges of the month. An Error where the ledger has charges of assets, and no asset is left.
Result<rated::PricedLines> price_charges(Store& store, const PriceInputs& inputs,
                                         const PricingRequest& order,
                                         const rated::PricedMonth& month,
                                         std::span<const JoinRule> join_rules);

// Imports the charges in place of the earlier ones.
Result<ImportOutcome> store_priced_charges(Store& store, const std::vector<Charge>& charges,
                                           const PricingRequest& order, Instant now);

}  // namespace pennyweight
