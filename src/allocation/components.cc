#include "allocation/components.h"

#include <fmt/format.h>

#include <utility>

#include "allocation/pricing/node_split.h"
#include "core/gpu/card_fraction.h"

namespace pennyweight {
namespace {

bool is_hours(std::string_view unit) {
  return unit == "Hours" || unit == "Hour" || unit == "hours" || unit == "hour" || unit == "Hrs" ||
         unit == "1 Hour";
}

struct HourlyPrice {
  Decimal per_hour;
  Currency currency = kUsd;
  std::string from;
};

std::optional<HourlyPrice> billed_price(const Charge& charge) {
  if (!charge.list_unit_price || charge.list_unit_price->ticks() <= 0 ||
      !is_hours(charge.pricing_unit)) {
    return std::nullopt;
  }
  return HourlyPrice{*charge.list_unit_price, charge.costs.currency(), "ListUnitPrice of the line"};
}

std::optional<HourlyPrice> listed_price(const Charge& charge, const NodeShape& shape,
                                        const Catalog& catalog) {
  const std::string& type =
      shape.instance_type.empty() ? charge.instance_type : shape.instance_type;
  if (type.empty()) return std::nullopt;
  const std::string& region = shape.region.empty() ? charge.region_id : shape.region;
  const auto rate = catalog.find_rate({.instance_type = type,
                                       .region = region,
                                       .option = PurchaseOption::kOnDemand,
                                       .at = charge.charge_period.begin()});
  if (!rate) return std::nullopt;
  return HourlyPrice{
      rate->per_hour, rate->currency,
      fmt::format("on-demand list price of {} in {} ({})", type, rate->region, rate->source)};
}

// The day whose exchange rate converts the rates of CPU and memory: the last of the month that the
// charge begins in, as in reports (reporting/conversion.h).
Date exchange_day(const Charge& charge) {
  const std::chrono::year_month_day day(
      std::chrono::floor<std::chrono::days>(charge.charge_period.begin()));
  return std::chrono::sys_days(day.year() / day.month() / std::chrono::last);
}

// The first rule whose pattern matches the node's instance type.
NodeSplitRule rule_for(const NodeShape& shape, const Charge& charge, const Policy& policy) {
  const std::string& type =
      shape.instance_type.empty() ? charge.instance_type : shape.instance_type;
  for (const NodeSplitRule& rule : policy.node_splits) {
    if (rule.instance_type.empty() || meets_pattern(type, rule.instance_type)) return rule;
  }
  return {.instance_type = {}, .how = policy.node_split, .gpu = {}, .cpu = {}, .memory = {}};
}

Weight ticks_of(Decimal value) { return static_cast<Weight>(value.ticks()); }

ComponentSplit explicit_split(const NodeSplitRule& rule) {
  return {
      .gpu = ticks_of(rule.gpu),
      .cpu = ticks_of(rule.cpu),
      .memory = ticks_of(rule.memory),
      .description = fmt::format("explicit: {} of the price to the GPUs, {} to CPU, {} to memory",
                                 to_text(rule.gpu), to_text(rule.cpu), to_text(rule.memory)),
      .price_per_hour = {}};
}

// Units times prices, over a common denominator of vCPU thousandths and bytes of a GiB.
ComponentSplit ratio_split(const NodeSplitRule& rule, const NodeShape& shape) {
  constexpr Weight kGib = Weight{1} << 30;
  return {.gpu = ticks_of(rule.gpu) * shape.gpu_count * 1000 * kGib,
          .cpu = ticks_of(rule.cpu) * *shape.cpu_milli * kGib,
          .memory = ticks_of(rule.memory) * *shape.memory_bytes * 1000,
          .description =
              fmt::format("ratio: {} GPUs at {}, {} vCPU thousandths at {} per 1000, {} bytes of "
                          "memory at {} per GiB",
                          shape.gpu_count, to_text(rule.gpu), *shape.cpu_milli, to_text(rule.cpu),
                          *shape.memory_bytes, to_text(rule.memory)),
          .price_per_hour = {}};
}

// Of a node without GPUs of whose CPU and memory at most one is known: all of it to that one.
ComponentSplit split_by_what_is_known(const NodeShape& shape) {
  if (shape.cpu_milli.value_or(0) > 0) {
    return {.cpu = 1,
            .description = "no GPUs: all of it to the CPU, since the node's memory is not known",
            .price_per_hour = {}};
  }
  if (shape.memory_bytes.value_or(0) > 0) {
    return {.memory = 1,
            .description = "no GPUs: all of it to the memory, since the node's CPU is not known",
            .price_per_hour = {}};
  }
  return {.description = "the node's GPUs, CPU and memory are not known", .price_per_hour = {}};
}

ComponentSplit all_to_gpus(std::string description) {
  return {.gpu = 1, .description = std::move(description), .price_per_hour = {}};
}

ComponentSplit residual_of(const HourlyPrice& price, const HostUnitRates& rates,
                           const NodeShape& shape, const Catalog& catalog) {
  const auto split = residual_split(price.per_hour, *shape.cpu_milli, *shape.memory_bytes, rates);
  const HostUnitRates& own = catalog.host_unit_rates();
  const std::string converted =
      rates.currency == own.currency
          ? ""
          : fmt::format(", converted from {} and {} {}", to_text(own.per_cpu_hour),
                        to_text(own.per_gib_hour), own.currency.text());
  return {
      .gpu = split.gpu,
      .cpu = split.cpu,
      .memory = split.memory,
      .description = fmt::format(
          "residual: {} per hour ({}), less {} vCPU at {} and {} GiB at {} per hour{}{}",
          to_text(price.per_hour), price.from,
          to_text(Decimal::from_ticks(Int128{*shape.cpu_milli} * Decimal::kTicksPerUnit / 1000)),
          to_text(rates.per_cpu_hour), *shape.memory_bytes >> 30, to_text(rates.per_gib_hour),
          converted, split.capped ? ", CPU and memory capped at half of the price" : ""),
      .price_per_hour = price.per_hour};
}

// REQUIRES: the shape has CPU and memory.
ComponentSplit residual(const Charge& charge, const NodeShape& shape, const Catalog& catalog) {
  std::string no_rate;
  for (const auto& price : {billed_price(charge), listed_price(charge, shape, catalog)}) {
    if (!price) continue;
    const auto rates = catalog.host_unit_rates_in(price->currency, exchange_day(charge));
    if (rates) return residual_of(*price, *rates, shape, catalog);
    if (no_rate.empty()) no_rate = rates.error().message;
  }
  if (no_rate.empty()) {
    ComponentSplit split =
        all_to_gpus("all of it to the GPUs: no hourly list price is known for the node");
    split.price_missing = true;
    return split;
  }
  ComponentSplit split = all_to_gpus(fmt::format(
      "all of it to the GPUs: the rates of CPU and memory can't be compared with the price ({})",
      no_rate));
  split.rate_missing = std::move(no_rate);
  return split;
}

}  // namespace

Weight component_weight(const ComponentSplit& split, Component component) {
  switch (component) {
    case Component::kGpu:
      return split.gpu;
    case Component::kCpu:
      return split.cpu;
    case Component::kMemory:
      return split.memory;
    case Component::kWhole:
      return 0;
  }
  return 0;
}

NodeShape find_node_shape(const Node& node, const Catalog& catalog) {
  NodeShape shape{.gpu_count = node.gpu_count,
                  .gpu_model = node.gpu_model,
                  .instance_type = node.instance_type,
                  .region = node.region,
                  .cpu_milli = node.cpu_milli,
                  .memory_bytes = node.memory_bytes};
  const InstanceType* type = catalog.find_instance_type(node.instance_type);
  if (type == nullptr) return shape;
  if (!shape.cpu_milli) shape.cpu_milli = type->cpu_milli;
  if (!shape.memory_bytes) shape.memory_bytes = type->memory_bytes;
  if (shape.gpu_model.empty()) shape.gpu_model = type->gpu_model;
  // The instance type is decisive: a fraction of a GPU reports itself as a GPU.
  if (const auto sold = find_sold_card(type->gpu_model)) {
    shape.card_share = sold->part;
    if (sold->part != CardShare::whole()) shape.gpu_model = sold->model->name;
  }
  return shape;
}

ComponentSplit compute_component_split(const Charge& charge, const NodeShape& shape,
                                       const Policy& policy, const Catalog& catalog) {
  const NodeSplitRule rule = rule_for(shape, charge, policy);
  const bool has_host =
      shape.cpu_milli && shape.memory_bytes && (*shape.cpu_milli > 0 || *shape.memory_bytes > 0);
  if (shape.gpu_count == 0) {
    if (!has_host) return split_by_what_is_known(shape);
    if (rule.how == NodeSplit::kRatio) return ratio_split(rule, shape);
    // With an unlimited price nothing is capped, so this gives the market prices.
    const auto market = residual_split(Decimal::from_ticks(Decimal::kTicksMax), *shape.cpu_milli,
                                       *shape.memory_bytes, catalog.host_unit_rates());
    return {.cpu = market.cpu,
            .memory = market.memory,
            .description = "no GPUs: CPU and memory by their market unit rates",
            .price_per_hour = {}};
  }
  if (rule.how == NodeSplit::kWholeNode) {
    return {.gpu = 1, .description = "whole_node: all of it to the GPUs", .price_per_hour = {}};
  }
  if (rule.how == NodeSplit::kExplicit) return explicit_split(rule);
  if (!has_host) {
    return {.gpu = 1,
            .description = "all of it to the GPUs: the node's CPU and memory are not known",
            .price_per_hour = {}};
  }
  if (rule.how == NodeSplit::kRatio) return ratio_split(rule, shape);
  return residual(charge, shape, catalog);
}

}  // namespace pennyweight
