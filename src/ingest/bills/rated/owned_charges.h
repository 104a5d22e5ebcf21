// Owned hardware as charges: one Usage charge for each node and day, so that owned nodes are
// allocated, reported and exported like billed ones.
//
// FOCUS does not define such charges; in ours, ServiceProviderName and InvoiceIssuerName are the
// own organisation, all four costs are the day's cost, PricingQuantity is 1 "Days",
// ConsumedQuantity is 24 "Hours", and there is no InvoiceId. Their components add up to the costs
// exactly:
//   x_DepreciationCost, x_CapitalCost, x_PowerCost, x_ColocationCost, x_OperationsCost,
//   x_SupportCost.
// Beside them, and no costs: x_EnergyQuantity (kWh without the PUE's share), x_EnergyBasis
// (nominal, measured).
// A component that the asset does not have is left out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "allocation/pricing/owned.h"
#include "ingest/bills/rated/node_days.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight::rated {

inline constexpr const char* kOwnedAccount = "owned-hardware";

struct OwnedOptions {
  std::string organisation;             // ServiceProviderName, InvoiceIssuerName
  std::string account = kOwnedAccount;  // BillingAccountId: what a later delivery replaces
};

struct PricedLines {
  std::vector<Charge> charges;     // by cluster, node, time
  std::vector<std::string> notes;  // for the user to check, a sentence each
};

// An asset costs from its first day until it is retired, whether or not the node is in an
// inventory; the inventory gives the resource id, instance type and region. The notes name assets
// without an inventory in the month, assets retired before they were written off, and measured
// energy of nodes that are not assets.
PricedLines owned_charges(std::span<const OwnedAsset> assets, std::span<const Node> nodes,
                          const PricedMonth& month, const EnergyByDay& energy,
                          const OwnedOptions& options);

}  // namespace pennyweight::rated
