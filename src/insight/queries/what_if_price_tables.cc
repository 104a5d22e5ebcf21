// What a scenario took from price list and GPU catalogue, and the commitments that it buys.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/gpu/gpu_speed.h"
#include "insight/queries/what_if_tables.h"
#include "insight/queries/what_if_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using what_if::BoughtCommitment;
using what_if::Bound;
using what_if::ListedPrice;
using what_if::SpeedUse;

std::string amount_text(Int128 ticks, Currency currency) {
  return fmt::format("{} {}", format_rounded(Decimal::from_ticks(ticks), 2, Thousands::kSeparated),
                     currency.text());
}

std::string day_text(Instant at) { return to_text(std::chrono::floor<std::chrono::days>(at)); }

// What the sentence is about: "p4d.24xlarge (aws)".
std::string type_text(const ListedPrice& price) {
  return fmt::format("{} ({})", price.rate.instance_type, price.gpu_model);
}

void note_price(const WhatIfQuery& query, const ListedPrice& price,
                std::vector<std::string>& notes) {
  const std::string type = type_text(price);
  if (price.type_gpus != price.node_gpus) {
    notes.push_back(fmt::format("{}: it has {} and each node {}, so its price is taken by the GPU.",
                                type, counted(price.type_gpus, "GPU"), price.node_gpus));
  }
  if (!price.exchange.empty()) {
    notes.push_back(fmt::format("{}: its price is converted at {}.", type, price.exchange));
  }
  if (price.uncharged > 0) {
    notes.push_back(fmt::format("{}: the bill has no hours of {} of the {} nodes, and {} no cost.",
                                type, price.uncharged, price.nodes,
                                price.uncharged == 1 ? "it has" : "these have"));
  }
  if (price.kept_lines > 0) {
    notes.push_back(fmt::format(
        "{}: {} of these nodes {} credits, taxes or fees, which no price list knows: they stay.",
        type, counted(price.kept_lines, "line"), price.kept_lines == 1 ? "is" : "are"));
  }
  for (const auto& [currency, unused] : price.unused) {
    notes.push_back(fmt::format(
        "{}: {} of commitments that covered these nodes are owed all the same, as unused, until "
        "they end{}.",
        type, amount_text(unused.ticks(), currency),
        query.scenario.commitments.empty() ? " (--commitment-end)" : " as the scenario says"));
  }
  if (price.rate.option == PurchaseOption::kSpot && query.scenario.spot.reclaimed_per_hour == 0) {
    notes.push_back(
        fmt::format("{}: a price of spot capacity, and none is taken back in this "
                    "replay. Say how often with --spot.",
                    type));
  }
  if (price.rate.option == PurchaseOption::kCommitted1Year ||
      price.rate.option == PurchaseOption::kCommitted3Years) {
    notes.push_back(
        fmt::format("{}: a committed price, here for the hours that the bill charges. "
                    "With its unused part and its term: --commitment-buy.",
                    type));
  }
}

// "312 to 989 TFLOPS" of the figure that decides.
std::string figures_text(const SpeedUse& use, Bound bound) {
  const GpuSpeed from = gpu_speed(*use.from);
  const GpuSpeed to = gpu_speed(*use.to);
  if (bound == Bound::kMemory) {
    return fmt::format("{} to {} GB/s", from.memory_gb_per_second, to.memory_gb_per_second);
  }
  const bool is_bf16 = from.bf16_dense_gflops > 0 && to.bf16_dense_gflops > 0;
  const auto tflops = [](std::uint64_t gflops) {
    return gflops % 1000 == 0 ? fmt::format("{}", gflops / 1000)
                              : fmt::format("{}.{}", gflops / 1000, gflops % 1000 / 100);
  };
  return fmt::format("{} to {} TFLOPS {}, dense",
                     tflops(is_bf16 ? from.bf16_dense_gflops : from.fp16_dense_gflops),
                     tflops(is_bf16 ? to.bf16_dense_gflops : to.fp16_dense_gflops),
                     is_bf16 ? "BF16" : "FP16");
}

}  // namespace

Table what_if_price_table(const WhatIfQuery& query, const std::vector<ListedPrice>& prices,
                          const std::string& title) {
  Table table;
  table.title = title + ", list prices";
  table.columns = {{"gpu_model", "GPUs of nodes", ColumnKind::kText},
                   {"nodes", "nodes", ColumnKind::kCount},
                   {"provider", "provider", ColumnKind::kText},
                   {"instance_type", "price of", ColumnKind::kText},
                   {"region", "region", ColumnKind::kText},
                   {"tier", "tier", ColumnKind::kText},
                   {"per_hour", "an hour", ColumnKind::kText},
                   {"currency", "", ColumnKind::kText},
                   {"since", "since", ColumnKind::kText},
                   {"source", "source", ColumnKind::kText},
                   {"node_hours", "node-hours", ColumnKind::kText},
                   {"cost", "cost", ColumnKind::kText}};
  for (const ListedPrice& price : prices) {
    const std::string provider =
        price.rate.provider.empty() ? std::string("-") : price.rate.provider;
    table.rows.push_back(
        {fmt::format("{} x {}", price.node_gpus, price.gpu_model), price.nodes, provider,
         price.rate.instance_type,
         price.rate.region.empty() ? std::string("any") : price.rate.region,
         std::string(to_text(price.rate.option)), to_text(price.rate.per_hour),
         price.rate.currency.text(), day_text(price.rate.from), price.rate.source,
         format_rounded(Decimal::from_ticks(price.node_time / 3'600'000), 2, Thousands::kSeparated),
         amount_text(price.cost, price.currency)});
    note_price(query, price, table.notes);
  }
  if (!query.scenario.fleet.empty()) {
    table.notes.push_back("Nodes, hours and costs are those of before nodes are removed or added.");
  }
  table.notes.push_back(
      "Prices as the list has them, before percentages of --price. Nodes keep their CPUs and "
      "memory; storage, traffic, support and discounts of a contract are in none of them.");
  return table;
}

Table what_if_speed_table(const WhatIfQuery& query, const std::vector<SpeedUse>& speeds,
                          const std::string& title) {
  Table table;
  table.title = title + ", speeds";
  table.columns = {
      {"from", "from", ColumnKind::kText},        {"to", "to", ColumnKind::kText},
      {"bound", "limited by", ColumnKind::kText}, {"figures", "catalogue", ColumnKind::kText},
      {"time", "time", ColumnKind::kText},        {"jobs", "jobs", ColumnKind::kCount}};
  bool is_any_unknown = false;
  for (const SpeedUse& use : speeds) {
    const bool is_unknown = !use.stated_percent && use.bound == Bound::kUnknown;
    is_any_unknown |= is_unknown;
    const std::string figures =
        use.stated_percent ? std::string("-")
        : is_unknown ? figures_text(use, Bound::kCompute) + "; " + figures_text(use, Bound::kMemory)
                     : figures_text(use, use.bound);
    table.rows.push_back(
        {use.from->name, use.to->name,
         use.stated_percent ? std::string("as stated")
                            : std::string(what_if::bound_text(use.bound)),
         figures, replayed_share_text(Int128{use.ratio.numerator}, Int128{use.ratio.denominator}),
         use.jobs});
    if (use.to->memory_bytes < use.from->memory_bytes) {
      table.notes.push_back(fmt::format(
          "{} has {} GiB of memory and {} {}: whether each job fits there is not replayed.",
          use.to->name, use.to->memory_bytes >> 30, use.from->name, use.from->memory_bytes >> 30));
    }
  }
  table.notes.push_back(
      "Time: of what a job took. Compute is the GPU catalogue's dense tensor throughput, memory "
      "its "
      "bandwidth: what the hardware does at most. Input, network and code that does not use it "
      "gain less: state what you measured, such as --bound TEAM=70%.");
  if (is_any_unknown) {
    table.notes.push_back(
        "Nobody says what limits the jobs under 'unknown': they take the longer of both times, and "
        "the range has the replays with each.");
  }
  const bool is_priced = !query.scenario.list_prices.empty() || !query.scenario.prices.empty();
  if (!is_priced) {
    table.notes.push_back(
        "Nodes cost what they did with their own GPUs: give the price with --list-price or "
        "--price.");
  }
  return table;
}

Table what_if_commitment_table(const std::vector<BoughtCommitment>& commitments,
                               const std::string& title) {
  Table table;
  table.title = title + ", commitments bought";
  table.currency = commitments.front().cost.currency();
  table.columns = {{"commitment", "commitment", ColumnKind::kText},
                   {"from", "from", ColumnKind::kText},
                   {"per_hour", "an hour", ColumnKind::kMoney},
                   {"cost", "cost", ColumnKind::kMoney},
                   {"used", "used", ColumnKind::kMoney},
                   {"unused", "unused", ColumnKind::kMoney},
                   {"used_share", "used, %", ColumnKind::kText},
                   {"covered_on_demand", "covered, on demand", ColumnKind::kMoney},
                   {"saved", "saved", ColumnKind::kMoney}};
  for (const BoughtCommitment& each : commitments) {
    const Money used = each.cost - each.unused;
    table.rows.push_back({each.text, day_text(each.during.begin()), each.per_hour, each.cost, used,
                          each.unused, replayed_share_text(used.ticks(), each.cost.ticks()),
                          each.replaced, each.replaced - each.cost});
    if (!each.source.empty()) {
      table.notes.push_back(fmt::format("{}: {}.", each.text, each.source));
    }
    if (!each.term_cost.is_zero()) {
      table.notes.push_back(
          fmt::format("{} costs {} over its term, used or not.", each.text,
                      amount_text(each.term_cost.ticks(), each.term_cost.currency())));
    }
  }
  table.notes.push_back(
      "Covered hour by hour, in the order of the nodes' names; what is not used of an hour is "
      "lost, "
      "and stands under (unallocated). Saved: what the covered usage costs on demand, less the "
      "whole cost.");
  return table;
}

}  // namespace pennyweight
