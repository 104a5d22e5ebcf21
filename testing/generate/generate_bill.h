// generate_bill: makes a FOCUS bill for a fleet at real list prices; every line says that it is
// generated.
//
// No public bill with much GPU spend exists, so demonstrations and tests generate their own, from
// an inventory and the catalog. It has everything that a cloud bill has: on-demand, spot and
// committed usage of nodes, the commitment's unused part and its monthly purchase, storage, network
// egress, a refund, support, tax and a promotional credit. Every line's ChargeDescription begins
// with "Generated:", and it has x_Generated, x_GeneratorSeed and x_PriceSource.
//
// ENSURES, for every bill:
//   - ListCost = ListUnitPrice * PricingQuantity and ContractedCost = ContractedUnitPrice *
//     PricingQuantity, exactly, wherever a line has unit prices;
//   - per commitment and month, the EffectiveCost of what is used and unused adds up to the
//     BilledCost of the purchase, exactly;
//   - EffectiveCost = BilledCost on every line outside commitments; null rules of FOCUS 1.4;
//   - the same lines in the same order for the same options, catalog and nodes, on any machine and
//     for any order of the nodes; no two lines with one natural key.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/money.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight {

enum class BillGranularity { kDaily, kHourly };

// Shares are in thousandths. Nodes that are neither on demand nor spot are reserved.
struct BillOptions {
  std::uint64_t seed = 1;
  std::chrono::sys_days first_day;  // UTC
  std::chrono::sys_days last_day;   // included
  BillGranularity granularity = BillGranularity::kDaily;
  std::string provider = "aws";  // who bills: "aws", "gcp", "azure", "oci" or a name to print
  std::string region;            // for nodes without a region; empty: the cheapest
  // Uses the list prices of this date for everything; for records older than any list.
  std::optional<Instant> prices_as_of;
  Currency currency = kUsd;  // of the rates
  std::uint32_t on_demand_per_mille = 300;
  std::uint32_t spot_per_mille = 200;
  std::uint32_t negotiated_discount_per_mille = 50;  // of the list price, on demand
  // Of the list price, if the catalog has no spot or committed price; the line then says so.
  std::uint32_t spot_discount_per_mille = 650;
  std::uint32_t commitment_discount_per_mille = 400;
  std::uint32_t spare_commitment_per_mille =
      100;                               // committed beyond the reserved nodes, at least one
  std::uint32_t support_per_mille = 30;  // of what is billed
  std::uint32_t tax_per_mille = 80;      // of usage, purchases and support
};

struct BillTotals {
  std::uint64_t lines = 0;
  Costs costs;
};

// Receives the lines one by one; an error ends the bill. The charge is valid only during the call.
using BillSink = std::function<Result<void>(const Charge&)>;

// The clouds whose instance types the nodes are, as the catalog has them.
std::set<std::string> providers_of(std::span<const Node> nodes, const Catalog& catalog);

// Returns an error that says which node or option cannot be billed, and why.
Result<BillTotals> generate_bill(std::span<const Node> nodes, const Catalog& catalog,
                                 const BillOptions& options, const BillSink& sink);

}  // namespace pennyweight
