#include "reporting/coverage/estimate_comparison.h"

#include <algorithm>
#include <utility>

#include "allocation/charge_kind.h"
#include "core/ascii.h"
#include "core/check.h"
#include "core/int128.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kHourMs = 3'600'000;

std::vector<const Node*> pointers(std::span<const Node> nodes) {
  std::vector<const Node*> all;
  all.reserve(nodes.size());
  for (const Node& node : nodes) all.push_back(&node);
  return all;
}

std::optional<Interval> presence(const Node& node, const Interval& during) {
  return Interval::of(std::max(node.from, during.begin()),
                      node.to ? std::min(*node.to, during.end()) : during.end());
}

// How long a unit of the quantity is; providers write hours in several ways.
std::optional<std::uint64_t> unit_ms(std::string_view unit) {
  const std::string lower = ascii::lower_case(unit);
  for (const char* hours : {"hours", "hour", "hrs", "hr", "h", "1 hour"}) {
    if (lower == hours) return kHourMs;
  }
  if (lower == "seconds" || lower == "second") return 1000;
  return std::nullopt;
}

bool is_covered(const Charge& charge) {
  return charge.commitment_discount_status == UsedOrUnused::kUsed;
}

Money absolute(Money money) { return money.is_negative() ? -money : money; }

EstimateComparisonRow empty_row(Currency currency) {
  const Money none = Money::zero(currency);
  return {.instance_type = "",
          .region = "",
          .node = "",
          .cluster = "",
          .estimate = none,
          .bill = none,
          .missing = none,
          .hours = none,
          .commitment = none,
          .price = none,
          .present_ms = 0,
          .billed_ms = 0,
          .nodes = 0,
          .note = ""};
}

void sort_rows(std::vector<EstimateComparisonRow>& rows) {
  std::ranges::stable_sort(
      rows, [](const EstimateComparisonRow& a, const EstimateComparisonRow& b) {
        if (a.bill.currency() != b.bill.currency()) return a.bill.currency() < b.bill.currency();
        return absolute(a.difference()).ticks() > absolute(b.difference()).ticks();
      });
}

}  // namespace

Money price_for(Decimal per_hour, std::uint64_t length_ms, Currency currency) {
  CHECK(!per_hour.is_negative(), "the catalog has no negative prices");
  auto [ticks, rest] =
      multiply_divide(static_cast<UInt128>(per_hour.ticks()), UInt128{length_ms}, UInt128{kHourMs});
  if (rest * 2 > kHourMs || (rest * 2 == kHourMs && ticks % 2 == 1)) ++ticks;
  return Money::from_ticks(static_cast<Int128>(ticks), currency);
}

std::optional<std::uint64_t> billed_ms(const Charge& charge) {
  const bool plain = charge.charge_category == ChargeCategory::kUsage && !charge.is_correction &&
                     !charge.costs.list.is_negative() && is_for_devices(charge) &&
                     !is_unused(charge);
  if (!plain) return std::nullopt;
  const std::uint64_t period = charge.charge_period.length_ms();
  const auto quantity_ms = [&](const std::optional<Decimal>& quantity,
                               std::string_view unit) -> std::optional<std::uint64_t> {
    const auto each = unit_ms(unit);
    if (!each || !quantity || quantity->is_negative()) return std::nullopt;
    const UInt128 ms = multiply_divide(static_cast<UInt128>(quantity->ticks()), UInt128{*each},
                                       UInt128{Decimal::kTicksPerUnit})
                           .quotient;
    return static_cast<std::uint64_t>(std::min(ms, UInt128{period}));
  };
  if (const auto ms = quantity_ms(charge.consumed_quantity, charge.consumed_unit)) return ms;
  if (const auto ms = quantity_ms(charge.pricing_quantity, charge.pricing_unit)) return ms;
  return period;
}

EstimateComparison::EstimateComparison(const EstimateInput& input)
    : input_(input), index_(pointers(input.nodes), input.rules) {}

void EstimateComparison::add(std::span<const Charge> charges) {
  for (const Charge& charge : charges) {
    if (!is_for_devices(charge)) continue;
    const Currency currency = charge.costs.currency();
    const NodeMatch found = find_node(index_, charge, [&](std::uint32_t at) {
      const Node& node = index_.node(at);
      return (charge.cluster.empty() || node.cluster.text() == charge.cluster) &&
             presence(node, charge.charge_period).has_value();
    });
    const Money none = Money::zero(currency);
    if (found.positions.empty()) {
      // Without a type it may be anything: a disk, an address, a discount on all.
      if (charge.instance_type.empty()) continue;
      UnmatchedCost& unmatched =
          unmatched_
              .try_emplace({currency, charge.instance_type, charge.region_id},
                           UnmatchedCost{.effective = none, .unused = none, .billed_ms = 0})
              .first->second;
      unmatched.effective += charge.costs.effective;
      if (is_unused(charge)) unmatched.unused += charge.costs.effective;
      unmatched.billed_ms += billed_ms(charge).value_or(0);
      continue;
    }
    const Node& node = index_.node(found.positions.front());
    Billed& billed =
        billed_
            .try_emplace(
                {{node.cluster, node.name}, currency},
                Billed{.effective = none, .committed = none, .unused = none, .hours_ms = {}})
            .first->second;
    billed.effective += charge.costs.effective;
    if (is_unused(charge)) {
      billed.unused += charge.costs.effective;
    } else if (is_covered(charge)) {
      billed.committed += charge.costs.effective - charge.costs.list;
    }
    if (const auto ms = billed_ms(charge)) {
      std::uint64_t& hours = billed.hours_ms[charge.charge_period];
      hours = std::min(hours + *ms, charge.charge_period.length_ms());
    }
  }
}

std::vector<EstimateComparisonRow> EstimateComparison::nodes() const {
  // A machine's facts follow one another; its type and price are those of the latest.
  struct Present {
    const Node* latest = nullptr;
    std::uint64_t ms = 0;
  };
  std::map<Machine, Present> present;
  for (const Node& node : input_.nodes) {
    const auto there = presence(node, input_.during);
    if (!there) continue;
    Present& machine = present[{node.cluster, node.name}];
    machine.ms += there->length_ms();
    if (machine.latest == nullptr || machine.latest->from < node.from) machine.latest = &node;
  }
  std::map<Machine, std::vector<Currency>> currencies;
  for (const auto& [key, billed] : billed_) currencies[key.first].push_back(key.second);

  std::vector<EstimateComparisonRow> rows;
  const auto row_of = [&](const Machine& machine, const Present& there, const Billed* billed,
                          Currency currency, const Result<Rate>& rate) {
    EstimateComparisonRow row = empty_row(currency);
    row.cluster = machine.first.text();
    row.node = machine.second.text();
    row.nodes = 1;
    if (there.latest != nullptr) {
      row.instance_type = there.latest->instance_type;
      row.region = there.latest->region;
    }
    row.present_ms = there.ms;
    if (billed != nullptr) {
      row.bill = billed->effective;
      for (const auto& [period, ms] : billed->hours_ms) row.billed_ms += ms;
    }
    if (!rate || rate->currency != currency) {
      row.missing = row.bill;
      row.note = !rate ? "no price" : "no price in " + currency.text();
      return row;
    }
    row.estimate = price_for(rate->per_hour, there.ms, currency);
    if (billed == nullptr) {
      row.missing = -row.estimate;
      row.note = "no line";
      return row;
    }
    const Money at_list = price_for(rate->per_hour, row.billed_ms, currency);
    row.hours = at_list - row.estimate;
    row.commitment = billed->committed + billed->unused;
    row.price = (billed->effective - row.commitment) - at_list;
    CHECK(row.missing + row.hours + row.commitment + row.price == row.difference(),
          "the reasons add up");
    return row;
  };
  for (const auto& [machine, there] : present) {
    const auto rate = input_.catalog.find_rate({.instance_type = there.latest->instance_type,
                                                .region = there.latest->region,
                                                .option = PurchaseOption::kOnDemand,
                                                .at = input_.prices_as_of});
    const auto in = currencies.find(machine);
    if (in == currencies.end()) {
      // A node of no type says nothing about money: a machine that is not rented, say.
      if (!rate) continue;
      rows.push_back(row_of(machine, there, nullptr, rate->currency, rate));
      continue;
    }
    for (const Currency currency : in->second) {
      rows.push_back(row_of(machine, there, &billed_.at({machine, currency}), currency, rate));
    }
  }
  // Lines of the month for hours outside of it, of machines that are gone by then.
  for (const auto& [key, billed] : billed_) {
    if (present.contains(key.first)) continue;
    EstimateComparisonRow row = empty_row(key.second);
    row.cluster = key.first.first.text();
    row.node = key.first.second.text();
    row.nodes = 1;
    row.bill = billed.effective;
    row.missing = row.bill;
    row.note = "not there in the month";
    rows.push_back(std::move(row));
  }
  for (const auto& [key, unmatched] : unmatched_) {
    EstimateComparisonRow row = empty_row(std::get<0>(key));
    row.instance_type = std::get<1>(key);
    row.region = std::get<2>(key);
    row.bill = unmatched.effective;
    row.commitment = unmatched.unused;
    row.missing = row.bill - row.commitment;
    row.billed_ms = unmatched.billed_ms;
    row.note = row.missing.is_zero() ? "unused commitment" : "no node";
    if (row.bill.is_zero()) continue;  // of lines that take one another back, or are not amortised
    rows.push_back(std::move(row));
  }
  sort_rows(rows);
  return rows;
}

std::vector<EstimateComparisonRow> by_instance_type(std::span<const EstimateComparisonRow> nodes) {
  using Key = std::tuple<Currency, std::string, std::string, std::string>;
  std::map<Key, EstimateComparisonRow> by_type;
  for (const EstimateComparisonRow& node : nodes) {
    const Currency currency = node.bill.currency();
    EstimateComparisonRow& row =
        by_type
            .try_emplace(Key{currency, node.instance_type, node.region, node.note},
                         empty_row(currency))
            .first->second;
    row.instance_type = node.instance_type;
    row.region = node.region;
    row.note = node.note;
    row.estimate += node.estimate;
    row.bill += node.bill;
    row.missing += node.missing;
    row.hours += node.hours;
    row.commitment += node.commitment;
    row.price += node.price;
    row.present_ms += node.present_ms;
    row.billed_ms += node.billed_ms;
    row.nodes += node.nodes;
  }
  std::vector<EstimateComparisonRow> rows;
  for (auto& [key, row] : by_type) rows.push_back(std::move(row));
  sort_rows(rows);
  return rows;
}

}  // namespace pennyweight
