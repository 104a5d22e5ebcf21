// Estimate against bill: what the machines of the inventory would cost at the catalog's on-demand
// price while they were there, beside what the bill says, and why the two differ.
//
//   missing     a node that has a price and no line (less than estimated), lines of machines that
//               join no node, or nodes without a price (more than estimated)
//   hours       billed for other hours than the inventory has the machine, at the catalog's price
//   commitment  what commitments take off the list price of the hours that they cover, and what of
//               them nothing used
//   price       the rest of each hour's price: another list price, a negotiated one, spot, credits
//
// The four add up to bill less estimate exactly. Each is defined by its own sum and none is "what
// is left"; where hours are multiplied by a price, and so rounded, the rounded amount is used on
// both sides of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "allocation/node_index.h"
#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "ledger/charge.h"
#include "ledger/node.h"

namespace pennyweight {

// A price for so long, rounded half to even at 10^-18.
Money price_for(Decimal per_hour, std::uint64_t length_ms, Currency currency);

struct EstimateComparisonRow {
  std::string instance_type;
  std::string region;
  std::string node;  // empty: of lines that join none
  std::string cluster;
  Money estimate;
  Money bill;  // effective
  Money missing, hours, commitment, price;
  std::uint64_t present_ms = 0;  // that the inventory has it
  std::uint64_t billed_ms = 0;   // that the bill has it
  std::uint64_t nodes = 1;       // 0: of lines that join none
  std::string note;              // "no price …", "no line", "no node"

  Money difference() const { return bill - estimate; }
};

struct EstimateInput {
  std::span<const Node> nodes;
  Interval during;  // the month
  const Catalog& catalog;
  Instant prices_as_of;  // whose list prices
  std::span<const JoinRule> rules = {};
};

// Lines in any order and in batches; nothing of them is kept but sums by node, and the hours that
// each of a node's charge periods states.
class EstimateComparison {
 public:
  // What the input lies in must outlive the audit.
  explicit EstimateComparison(const EstimateInput& input);
  void add(std::span<const Charge> charges);
  // By currency, size of the difference, cluster and node.
  // ENSURES: of every row and of their sums, missing + hours + commitment + price == difference.
  std::vector<EstimateComparisonRow> nodes() const;

 private:
  struct Billed {
    Money effective;
    Money committed;  // effective less list, of lines that a commitment covers
    Money unused;     // effective
    std::map<Interval, std::uint64_t> hours_ms;  // by charge period
  };
  using Machine = std::pair<ClusterId, NodeId>;
  struct UnmatchedCost {
    Money effective;
    Money unused;  // of it, commitments that nothing used
    std::uint64_t billed_ms = 0;
  };

  EstimateInput input_;
  NodeIndex index_;
  std::map<std::pair<Machine, Currency>, Billed> billed_;
  std::map<std::tuple<Currency, std::string, std::string>, UnmatchedCost>
      unmatched_;  // by type and region
};

// The same by instance type and region.
std::vector<EstimateComparisonRow> by_instance_type(std::span<const EstimateComparisonRow> nodes);

// How long the machine of a charge ran: its quantity in hours or seconds, at most the charge
// period; the period itself if it states no quantity. Nothing for charges that aren't plain machine
// usage.
std::optional<std::uint64_t> billed_ms(const Charge& charge);

}  // namespace pennyweight
