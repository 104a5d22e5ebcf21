#include "ingest/bills/rated/node_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/try.h"
#include "core/units.h"
#include "ingest/bills/rated/custom_columns.h"

namespace pennyweight::rated {
namespace {

// How a node is priced: a rate, and how many of its units an hour of the node is.
struct Price {
  const CardRate* rate = nullptr;
  std::uint64_t units_per_hour = 1;
  bool by_gpu = false;
};

Result<Price> price_of(const Node& node, const RateCard& card, const Interval& during) {
  CardUsage usage{.provider = "",
                  .skus = {},
                  .service = "",
                  .gpu_model = "",
                  .instance_type = node.instance_type,
                  .region = node.region,
                  .unit = "Hours",
                  .currency = std::nullopt,
                  .during = during};
  const auto by_type = node.instance_type.empty()
                           ? Result<const CardRate*>(fail(ErrorCode::kNotFound, "no instance type"))
                           : card.find(usage);
  if (by_type) return Price{*by_type, 1, false};
  if (by_type.error().code != ErrorCode::kNotFound || node.gpu_count == 0) {
    return std::unexpected(by_type.error());
  }
  usage.gpu_model = node.gpu_model;
  usage.unit = "GPU-Hours";
  const auto by_gpu = TRY(card.find(usage));
  return Price{by_gpu, node.gpu_count, true};
}

void fill_whose(Charge& charge, const EstimateOptions& options) {
  charge.billing_account_id = options.account;
  charge.billing_account_name = "Estimates, not billed";
  charge.invoice_issuer_name = options.organisation;
  charge.service_provider_name = options.organisation;
  charge.service_name = "Estimated nodes";
  charge.other_columns = to_json({{"x_Estimated", "true"}});
}

std::vector<const Node*> by_name(std::span<const Node> nodes) {
  std::vector<const Node*> sorted;
  sorted.reserve(nodes.size());
  for (const Node& node : nodes) sorted.push_back(&node);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Node* a, const Node* b) {
    return std::tie(a->cluster, a->name, a->from) < std::tie(b->cluster, b->name, b->from);
  });
  return sorted;
}

// The part of a day for which this fact about the node holds: a later fact ends it.
std::optional<Interval> present_on(const Node& node, const Node* next, const Interval& day) {
  Instant end = std::min(day.end(), node.to.value_or(day.end()));
  if (next != nullptr && next->cluster == node.cluster && next->name == node.name) {
    end = std::min(end, next->from);
  }
  return Interval::of(std::max(day.begin(), node.from), end);
}

}  // namespace

Result<Charge> estimated_charge(const Node& node, const RateCard& card, const PricedMonth& month,
                                const Interval& during, const EstimateOptions& options) {
  const auto price = TRY(price_of(node, card, during));
  const CardRate& rate = *price.rate;
  const Decimal milliseconds =
      Decimal::from_ticks(Int128{Decimal::kTicksPerUnit} * static_cast<Int128>(during.length_ms()) *
                          static_cast<Int128>(price.units_per_hour));
  const auto amounts = TRY(amounts_of(rate, milliseconds, kMillisecondsPerHour));
  Charge charge = node_line(node, month, during);
  fill_whose(charge, options);
  charge.charge_description = fmt::format("Estimate for node {}", node.name.text());
  charge.sku_id = price.by_gpu ? node.gpu_model : node.instance_type;
  charge.costs = {amounts.cost, amounts.cost, amounts.list, amounts.cost};
  charge.pricing_quantity = divided(milliseconds, kMillisecondsPerHour).value;
  charge.pricing_unit = rate.unit;
  charge.list_unit_price = rate.list_price;
  charge.contracted_unit_price = rate.price;
  charge.consumed_quantity = Decimal::from_units(static_cast<std::int64_t>(during.length_ms()));
  charge.consumed_unit = "Milliseconds";
  return charge;
}

PricedLines estimated_charges(std::span<const Node> nodes, const RateCard& card,
                              const PricedMonth& month, const EstimateOptions& options) {
  PricedLines lines;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> unpriced_nodes;
  const std::vector<const Node*> sorted = by_name(nodes);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Node& node = *sorted[i];
    const Node* next = i + 1 < sorted.size() ? sorted[i + 1] : nullptr;
    std::string unpriced;
    for (Date day = month.first; day < month.end; day += std::chrono::days(1)) {
      const auto present = present_on(node, next, interval_of(day));
      if (!present) continue;
      auto line = estimated_charge(node, card, month, *present, options);
      if (line) {
        lines.charges.push_back(*std::move(line));
      } else if (unpriced.empty()) {
        unpriced = line.error().message;
      }
    }
    if (!unpriced.empty()) {
      unpriced_nodes[{node.cluster.text(), unpriced}].insert(node.name.text());
    }
  }
  // Nodes without a price mostly lack it for one reason, which is said once.
  for (const auto& [why, names] : unpriced_nodes) {
    const std::string which =
        names.size() == 1 ? fmt::format("node {}", *names.begin())
                          : fmt::format("{} nodes, such as {},", names.size(), *names.begin());
    lines.notes.push_back(fmt::format("{} of cluster {}: {}", which, why.first, why.second));
  }
  return lines;
}

Charge no_estimates_left(const PricedMonth& month, const EstimateOptions& options,
                         Currency currency) {
  Charge charge(month.billing, month.billing, Costs::zero(currency));
  charge.charge_category = ChargeCategory::kAdjustment;
  charge.charge_description = "No estimate is left: every node has a bill";
  fill_whose(charge, options);
  return charge;
}

}  // namespace pennyweight::rated
