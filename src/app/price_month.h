// A month of what nobody bills, stated anew: lines of owned hardware, and estimates for nodes that
// have no bill. What was said before and is not said again is taken back.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "fleet/cloud_resource.h"
#include "ingest/rated/node_days.h"
#include "ingest/rated/node_estimates.h"
#include "ingest/rated/owned_charges.h"
#include "ledger/store.h"
#include "pricing/owned.h"
#include "pricing/rate_card.h"

namespace pennyweight {

struct PriceInputs {
  std::vector<OwnedAsset> assets;
  EnergyByDay energy;
  RateCard card;
};

struct PriceOrder {
  std::string name;    // of the lines' import: the files, as they were named
  std::string reason;  // why it is priced again; may be empty
  std::string organisation;
  bool owned = false;      // state owned hardware; else what was said of it stays
  bool estimates = false;  // and estimates
  // Of which clusters' nodes; empty: all. Estimates of one account take the place of those of the
  // same account only, and leave out what another one estimates.
  std::set<ClusterId> clusters = {};
  std::string account = rated::kEstimateAccount;
};

// The lines of the month. An Error where there is no asset left that the ledger has lines of.
Result<rated::PricedLines> priced_lines(Store& store, const PriceInputs& inputs,
                                        const PriceOrder& order, const rated::PricedMonth& month,
                                        std::span<const JoinRule> join_rules);

// Puts them into the ledger in the place of those that were there.
Result<ImportOutcome> keep_priced_lines(Store& store, const std::vector<Charge>& charges,
                                        const PriceOrder& order, Instant now);

}  // namespace pennyweight
