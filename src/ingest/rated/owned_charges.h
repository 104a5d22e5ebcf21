// Owned hardware as lines of a bill: one Usage line for each node and day, so that what nobody
// bills is allocated, reported and exported like what somebody does.
//
// FOCUS has no shape for it; ours is: ServiceProviderName and InvoiceIssuerName the own
// organisation, all four costs the day's cost, PricingQuantity 1 of unit "Days", ConsumedQuantity
// 24 "Hours", no InvoiceId. The components stand beside it, and add up to the costs with ==:
//   x_DepreciationCost, x_CapitalCost, x_PowerCost, x_ColocationCost, x_OperationsCost,
//   x_SupportCost; x_EnergyQuantity (kWh without the PUE's share), x_EnergyBasis (nominal,
//   measured)
// A component that the asset does not have is left out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ingest/rated/node_days.h"
#include "ledger/charge.h"
#include "ledger/node.h"
#include "pricing/owned.h"

namespace pennyweight::rated {

inline constexpr const char* kOwnedAccount = "owned-hardware";

struct OwnedOptions {
  std::string organisation;             // ServiceProviderName, InvoiceIssuerName
  std::string account = kOwnedAccount;  // BillingAccountId: what a later delivery replaces
};

struct PricedLines {
  std::vector<Charge> charges;     // by cluster, node, time
  std::vector<std::string> notes;  // what somebody should look at, a sentence each
};

// An asset costs from its first day until it is retired, whether or not an inventory knows the
// node; the inventory gives the resource id, instance type and region. Noted are assets that no
// inventory knows in the month, assets retired before they were written off, and measured energy of
// nodes that are no assets.
PricedLines owned_charges(std::span<const OwnedAsset> assets, std::span<const Node> nodes,
                          const PricedMonth& month, const EnergyByDay& energy,
                          const OwnedOptions& options);

}  // namespace pennyweight::rated
