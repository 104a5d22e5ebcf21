#include "ingest/bills/rated/owned_charges.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "ingest/bills/rated/custom_columns.h"

namespace pennyweight::rated {
namespace {

// The nodes of an inventory, by name.
class Nodes {
 public:
  explicit Nodes(std::span<const Node> nodes) {
    for (const Node& node : nodes) sorted_.push_back(&node);
    std::stable_sort(sorted_.begin(), sorted_.end(), [](const Node* a, const Node* b) {
      return std::tie(a->cluster, a->name, a->from) < std::tie(b->cluster, b->name, b->from);
    });
  }

  // The latest fact about the node that overlaps the time; null: there is none.
  const Node* find(const OwnedAsset& asset, const Interval& during) const {
    const Node* latest = nullptr;
    const auto key = std::tie(asset.cluster, asset.node);
    for (auto at = std::lower_bound(sorted_.begin(), sorted_.end(), key,
                                    [](const Node* node, const auto& wanted) {
                                      return std::tie(node->cluster, node->name) < wanted;
                                    });
         at != sorted_.end() && std::tie((*at)->cluster, (*at)->name) == key; ++at) {
      const bool there = (*at)->from < during.end() && (!(*at)->to || *(*at)->to > during.begin());
      if (there) latest = *at;
    }
    return latest;
  }

 private:
  std::vector<const Node*> sorted_;
};

Node node_of(const OwnedAsset& asset, const Node* known) {
  if (known != nullptr) return *known;
  return Node{.cluster = asset.cluster,
              .name = asset.node,
              .provider_id = {},
              .instance_type = {},
              .region = {},
              .pool = PoolId(""),
              .gpu_model = {},
              .gpu_count = 0,
              .shard_count = 0,
              .mps_count = 0,
              .sharing = GpuSharing::kNone,
              .gpu_replicas = 0,
              .replicas_renamed = false,
              .cpu_milli = {},
              .memory_bytes = {},
              .from = asset.in_service,
              .to = {},
              .id = {},
              .source = {}};
}

std::string component(Money amount) {
  return amount.is_zero() ? std::string() : to_text(amount.amount());
}

Charge line_of(const OwnedAsset& asset, const OwnedDay& day, const Node& node,
               const PricedMonth& month, const OwnedOptions& options) {
  Charge charge = node_line(node, month, interval_of(day.day));
  const Money total = day.total();
  charge.billing_account_id = options.account;
  charge.billing_account_name = options.organisation;
  charge.invoice_issuer_name = options.organisation;
  charge.service_provider_name = options.organisation;
  charge.service_name = "Owned hardware";
  charge.charge_description = fmt::format("Owned node {}, one day", asset.node.text());
  charge.sku_id = "owned-node";
  charge.sku_meter = "Node day";
  charge.sku_price_id = fmt::format("owned-node/{}/{}", asset.cluster.text(), asset.node.text());
  charge.costs = {total, total, total, total};
  charge.pricing_quantity = Decimal::from_units(1);
  charge.pricing_unit = "Days";
  charge.list_unit_price = total.amount();
  charge.contracted_unit_price = total.amount();
  charge.consumed_quantity = Decimal::from_units(24);
  charge.consumed_unit = "Hours";
  OtherColumns others{{"x_CapitalCost", component(day.capital)},
                      {"x_ColocationCost", component(day.colocation)},
                      {"x_DepreciationCost", component(day.depreciation)},
                      {"x_OperationsCost", component(day.operations)},
                      {"x_PowerCost", component(day.power)},
                      {"x_SupportCost", component(day.support)}};
  if (day.kwh != Decimal()) {
    others["x_EnergyQuantity"] = to_text(day.kwh);
    others["x_EnergyBasis"] = day.measured ? "measured" : "nominal";
  }
  charge.other_columns = to_json(others);
  return charge;
}

void note_retirement(const OwnedAsset& asset, const PricedMonth& month,
                     std::vector<std::string>& notes) {
  if (!asset.retired || *asset.retired < month.first || *asset.retired >= month.end) return;
  const Money left = asset.purchase - asset.salvage - depreciated_before(asset, *asset.retired);
  if (left.is_zero()) return;
  notes.push_back(fmt::format(
      "{}: {} is retired on {} with {} {} not written off; that loss is on no line", asset.place,
      asset.node.text(), to_text(*asset.retired), to_text(left.amount()), left.currency().text()));
}

}  // namespace

PricedLines owned_charges(std::span<const OwnedAsset> assets, std::span<const Node> nodes,
                          const PricedMonth& month, const EnergyByDay& energy,
                          const OwnedOptions& options) {
  const Nodes known(nodes);
  PricedLines lines;
  std::set<std::pair<ClusterId, NodeId>> owned;
  for (const OwnedAsset& asset : assets) {
    owned.emplace(asset.cluster, asset.node);
    note_retirement(asset, month, lines.notes);
    bool is_known = false;
    const auto days = owned_days(asset, month.first, month.end, energy);
    for (const OwnedDay& day : days) {
      const Node* node = known.find(asset, interval_of(day.day));
      is_known = is_known || node != nullptr;
      lines.charges.push_back(line_of(asset, day, node_of(asset, node), month, options));
    }
    if (!days.empty() && !is_known) {
      lines.notes.push_back(fmt::format(
          "{}: no inventory of cluster {} knows node {} in this month; its lines join no node",
          asset.place, asset.cluster.text(), asset.node.text()));
    }
  }
  std::set<std::pair<ClusterId, NodeId>> noted;
  for (const auto& [key, kwh] : energy) {
    const auto& [cluster, node, day] = key;
    if (owned.contains({cluster, node}) || !noted.emplace(cluster, node).second) continue;
    lines.notes.push_back(
        fmt::format("energy of node {} of cluster {} is of no asset", node.text(), cluster.text()));
  }
  std::stable_sort(lines.charges.begin(), lines.charges.end(),
                   [](const Charge& a, const Charge& b) {
                     return std::tie(a.cluster, a.resource_name, a.charge_period) <
                            std::tie(b.cluster, b.resource_name, b.charge_period);
                   });
  return lines;
}

}  // namespace pennyweight::rated
