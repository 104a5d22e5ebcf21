#include "app/run/price_month.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "allocation/node_index.h"
#include "core/limits.h"
#include "core/try.h"
#include "ingest/bills/rated/node_estimates.h"

namespace pennyweight {
namespace {

constexpr std::string_view kFormat = "price";

using NodeName = std::pair<ClusterId, NodeId>;

// What the ledger has of the month: the nodes with a charge, the currency of its estimates, if any,
// and whether it has charges of owned hardware.
struct MonthsBill {
  std::set<NodeName> billed;
  std::optional<Currency> estimates;
  bool has_owned = false;
};

// Adds the nodes of a charge, found as in the allocation. Where several match, the charge is for
// none of them, and none of them gets an estimate.
void add_nodes_of(const Charge& charge, const NodeIndex& index, std::set<NodeName>& billed) {
  for (const std::vector<std::uint32_t>& places : index.candidates(charge)) {
    bool is_one_there = false;
    for (const std::uint32_t at : places) {
      const Node& node = index.node(at);
      const Interval& during = charge.charge_period;
      if (node.from >= during.end() || (node.to && *node.to <= during.begin())) continue;
      billed.emplace(node.cluster, node.name);
      is_one_there = true;
    }
    if (is_one_there) return;
  }
}

Result<MonthsBill> read_month(Store& store, const std::string& month, const NodeIndex& index,
                              const std::string& account) {
  MonthsBill bill;
  TRY(store.scan_charges(month, [&](std::span<const Charge> charges) {
    for (const Charge& charge : charges) {
      if (charge.billing_account_id == account) {
        bill.estimates = charge.costs.currency();
        continue;
      }
      bill.has_owned = bill.has_owned || charge.billing_account_id == rated::kOwnedAccount;
      add_nodes_of(charge, index, bill.billed);
    }
    return true;
  }));
  return bill;
}

std::string year_month(const rated::PricedMonth& month) {
  const std::chrono::year_month_day day(
      std::chrono::floor<std::chrono::days>(month.billing.begin()));
  return fmt::format("{:04}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()));
}

// The nodes of the inventory that are neither owned nor billed.
std::vector<Node> without_bill(const std::vector<Node>& nodes, const PriceInputs& inputs,
                               const std::set<NodeName>& billed,
                               const std::set<ClusterId>& clusters) {
  std::set<NodeName> owned;
  for (const OwnedAsset& asset : inputs.assets) owned.emplace(asset.cluster, asset.node);
  std::vector<Node> left;
  for (const Node& node : nodes) {
    const NodeName name(node.cluster, node.name);
    const bool wanted = clusters.empty() || clusters.contains(node.cluster);
    if (wanted && !owned.contains(name) && !billed.contains(name)) left.push_back(node);
  }
  return left;
}

}  // namespace

Result<rated::PricedLines> price_charges(Store& store, const PriceInputs& inputs,
                                         const PricingRequest& order,
                                         const rated::PricedMonth& month,
                                         std::span<const JoinRule> join_rules) {
  const auto nodes = TRY(store.nodes());
  std::vector<const Node*> places;
  for (const Node& node : nodes) places.push_back(&node);
  const std::string name = year_month(month);
  const auto bill =
      TRY(read_month(store, name, NodeIndex(std::move(places), join_rules), order.account));
  rated::PricedLines lines;
  if (order.owned) {
    lines =
        rated::owned_charges(inputs.assets, nodes, month, inputs.energy,
                             {.organisation = order.organisation, .account = rated::kOwnedAccount});
    if (lines.charges.empty() && bill.has_owned) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{}: no asset is in service in {}, but the ledger has lines of owned "
                              "hardware for it; is this the right file?",
                              order.name, name));
    }
  }
  if (!order.estimates) return lines;

  const rated::EstimateOptions options{.organisation = order.organisation,
                                       .account = order.account};
  auto estimates = rated::estimated_charges(
      without_bill(nodes, inputs, bill.billed, order.clusters), inputs.card, month, options);
  if (estimates.charges.empty() && bill.estimates) {
    estimates.charges.push_back(rated::no_estimates_left(month, options, *bill.estimates));
  }
  std::move(estimates.charges.begin(), estimates.charges.end(), std::back_inserter(lines.charges));
  std::move(estimates.notes.begin(), estimates.notes.end(), std::back_inserter(lines.notes));
  return lines;
}

Result<ImportOutcome> store_priced_charges(Store& store, const std::vector<Charge>& charges,
                                           const PricingRequest& order, Instant now) {
  auto session = TRY(store.begin_import({.format = std::string(kFormat),
                                         .name = order.name,
                                         .file_hash = {},
                                         .at = now,
                                         .style = DeliveryStyle::kReplacement,
                                         .reason = order.reason}));
  for (std::size_t i = 0; i < charges.size(); i += limits::kBatchRows) {
    const auto batch =
        std::span(charges).subspan(i, std::min(limits::kBatchRows, charges.size() - i));
    TRY(session->append_charges(batch));
  }
  return session->commit();
}

}  // namespace pennyweight
