// Nodes at list prices: of their own type, another provider, another tier or date.
//
// Each hour that the bill charges for a node costs the listed price once, however it is cut into
// lines. Hours are what lines state in hours: those of one SKU, and of usage that was paid in
// different ways, add up to at most their period; those of SKUs beside each other are the same.
// Other lines, and those that state more hours than their period has (of cores or GPUs), count by
// their period, as far as no other line of the node has charged for it. What no price list can know
// stays: credits, taxes and fees of these nodes. What a commitment covered is charged at the listed
// price, and what the commitment cost goes on as its unused part, until the scenario ends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "allocation/pricing/exchange.h"
#include "core/date.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/compare/fleet_view.h"
#include "insight/compare/policy_costs.h"
#include "insight/what_if/scenario.h"

namespace pennyweight::what_if {

// The exchange rate of a day; an Error where none is known.
using RateOn = std::function<Result<FoundRate>(Currency from, Currency to, Date date)>;

// A list price that a scenario took, and what it made of the bill.
struct ListedPrice {
  Rate rate;                  // as the list has it
  Decimal per_hour;           // of one instance, in `currency`
  Currency currency = kUsd;   // of the costs
  std::string exchange = {};  // the rate between the two; empty: none was needed
  std::string gpu_model = {};
  std::uint32_t type_gpus = 0;            // of the instance type
  std::uint32_t node_gpus = 0;            // of each node
  std::uint64_t nodes = 0;                // with this price
  std::uint64_t uncharged = 0;            // of these, nodes that the bill has no hours of
  Int128 node_time = 0;                   // charged, over all of them, in 10^-18 ms
  Int128 cost = 0;                        // in ticks of the currency
  std::uint64_t kept_lines = 0;           // credits, taxes and fees, which stay
  std::map<Currency, Money> unused = {};  // commitments that covered these nodes
};

struct ListedCharges {
  std::vector<ListedPrice> prices;
  std::set<std::size_t> dropped;                         // lines whose hours another line has
  std::vector<std::pair<std::uint32_t, Charge>> unused;  // of commitments, by the node they covered
};

// Changes `charges`, which are the month's. Errors of kConfig and kNotFound say what the list
// lacks; kUnsupported: nodes that are charged together.
Result<ListedCharges> apply_list_prices(const ClusterMonth& month, const FleetView& fleet,
                                        const Interval& period,
                                        const std::vector<ListPriceChange>& changes,
                                        const RateOn& rate_on, std::vector<Charge>& charges,
                                        const StopCheck& is_stopped);

}  // namespace pennyweight::what_if
