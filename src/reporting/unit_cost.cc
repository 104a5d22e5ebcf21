#include "reporting/unit_cost.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/check.h"
#include "core/split.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;

bool is_owner(std::string_view workload) { return workload.starts_with('('); }

UnitCostBreakdown classify_cost(PostingKind kind, Money effective) {
  UnitCostBreakdown parts = UnitCostBreakdown::none(effective.currency());
  switch (kind) {
    case PostingKind::kUsed:
      parts.used = effective;
      break;
    case PostingKind::kHeldIdle:
    case PostingKind::kUnallocated:
    case PostingKind::kStranded:
    case PostingKind::kUnavailable:
      parts.idle = effective;
      break;
    case PostingKind::kOverhead:
    case PostingKind::kShared:
      parts.other = effective;
      break;
  }
  return parts;
}

// Splits each of the three costs by the same weights.
std::vector<UnitCostBreakdown> split_parts(const UnitCostBreakdown& parts,
                                           std::span<const Weight> weights) {
  const std::vector<Money> used = split(parts.used, weights);
  const std::vector<Money> idle = split(parts.idle, weights);
  const std::vector<Money> other = split(parts.other, weights);
  std::vector<UnitCostBreakdown> all;
  for (std::size_t i = 0; i < weights.size(); ++i) all.push_back({used[i], idle[i], other[i]});
  return all;
}

void add_to(std::map<std::string, UnitCostBreakdown>& sums, const std::string& key,
            const UnitCostBreakdown& parts) {
  sums.try_emplace(key, UnitCostBreakdown::none(parts.used.currency())).first->second += parts;
}

// The values of the named dimensions, in the order of the names.
std::optional<std::vector<std::string>> dimension_values(const Labels& labels,
                                                         std::span<const std::string> names) {
  std::vector<std::string> values;
  for (const std::string& name : names) {
    const auto value = labels.find(name);
    if (!value) return std::nullopt;
    values.emplace_back(*value);
  }
  return values;
}

std::optional<UnitCost> unit_cost(const UnitCostRow& row, Money cost, std::uint64_t per) {
  if (!row.has_cost || row.count == 0) return std::nullopt;
  return UnitCost{cost, row.count, per};
}

void add_row(UnitCostRow& sum, const UnitCostRow& row) {
  sum.cost += row.cost;
  sum.without_outcomes += row.without_outcomes;
  sum.has_cost |= row.has_cost;
  sum.has_outcomes |= row.has_outcomes;
  sum.count += row.count;
  sum.count_without_cost += row.count_without_cost;
}

}  // namespace

std::optional<Money> UnitCost::rounded(int digits) const {
  CHECK(digits >= 0 && digits <= Decimal::kFractionDigits, "digits that Money has");
  UInt128 step = 1;
  for (int i = digits; i < Decimal::kFractionDigits; ++i) step *= 10;
  const bool is_negative = cost.is_negative();
  const UInt128 ticks =
      is_negative ? -static_cast<UInt128>(cost.ticks()) : static_cast<UInt128>(cost.ticks());
  const auto most = static_cast<UInt128>(kInt128Max);
  if (count > most / step || ticks / count >= most / per - step) return std::nullopt;
  const UInt128 divisor = count * step;
  auto [steps, rest] = multiply_divide(ticks, per, divisor);
  // Exactly half of the divisor: round to the even quotient.
  const UInt128 above = divisor - rest;
  if (rest > above || (rest == above && steps % 2 == 1)) ++steps;
  const auto rounded = static_cast<Int128>(steps * step);
  return Money::from_ticks(is_negative ? -rounded : rounded, cost.currency());
}

std::optional<UnitCost> without_idle(const UnitCostRow& row, std::uint64_t per) {
  return unit_cost(row, row.cost.used, per);
}

std::optional<UnitCost> with_idle(const UnitCostRow& row, std::uint64_t per) {
  return unit_cost(row, row.cost.with_idle(), per);
}

std::string_view why_no_unit_cost(const UnitCostRow& row) {
  if (row.has_cost && row.count > 0) return "";
  if (row.has_outcomes) return "counted none";
  return row.count_without_cost > 0 ? "outcomes without cost" : "cost without outcomes";
}

std::uint64_t default_per(std::string_view measure) {
  return measure.ends_with("tokens") ? kMillion : 1;
}

void UnitCosts::add_dimensions(const ClusterId& cluster,
                               std::span<const WorkloadDimensions> workloads) {
  for (const WorkloadDimensions& each : workloads) {
    dimensions_.insert_or_assign({cluster.text(), each.workload.text()}, each.dimensions);
  }
}

void UnitCosts::add_cost(const ClusterId& cluster, const WorkloadId& workload, PostingKind kind,
                         Money effective) {
  Sums& sums = sums_[effective.currency()];
  const UnitCostBreakdown parts = classify_cost(kind, effective);
  if (workload.empty()) {
    std::string key = "(";
    key += to_text(kind);
    return add_to(sums.unowned, key + ")", parts);
  }
  auto& of = is_owner(workload.text()) ? sums.owners : sums.workloads;
  of.try_emplace({cluster.text(), workload.text()}, UnitCostBreakdown::none(effective.currency()))
      .first->second += parts;
}

void UnitCosts::add_outcome(const Outcome& outcome) {
  const auto value = outcome.labels.find(by_);
  outcomes_[outcome.measure][{outcome.cluster.text(), outcome.workload.text()}]
           [std::string(value.value_or(""))] += outcome.count;
}

std::vector<std::string> UnitCosts::measures() const {
  std::vector<std::string> names;
  for (const auto& [measure, counts] : outcomes_) names.push_back(measure);
  return names;
}

class UnitCosts::Reporter {
 public:
  Reporter(const UnitCosts& all, Currency currency) : all_(all), currency_(currency) {}

  void costs(const Sums& sums, const std::map<Workload, Counts>& outcomes) {
    std::map<Workload, UnitCostBreakdown> workloads = sums.workloads;
    for (const auto& [owner, parts] : sums.owners) share_out(owner, parts, sums, workloads);
    for (const auto& [workload, parts] : workloads) {
      const auto counts = outcomes.find(workload);
      if (counts == outcomes.end()) {
        row(key_of(workload)).without_outcomes += parts;
      } else {
        with_outcomes(workload, parts, counts->second);
      }
    }
    for (const auto& [key, parts] : sums.unowned) row(key).without_outcomes += parts;
  }

  void outcomes_without_cost(const Workload& workload, const Counts& counts) {
    for (const auto& [value, count] : counts) {
      row(value.empty() ? key_of(workload) : value).count_without_cost += count;
    }
  }

  UnitCostReport finish(std::string_view measure, bool has_currency) {
    UnitCostReport report{.measure = std::string(measure),
                          .currency = has_currency ? std::optional(currency_) : std::nullopt,
                          .rows = {},
                          .total = empty_row("total")};
    for (auto& [key, row] : rows_) {
      add_row(*report.total, row);
      report.rows.push_back(std::move(row));
    }
    return report;
  }

 private:
  UnitCostRow empty_row(std::string key) const {
    return {.key = std::move(key),
            .cost = UnitCostBreakdown::none(currency_),
            .without_outcomes = UnitCostBreakdown::none(currency_)};
  }
  UnitCostRow& row(const std::string& key) {
    return rows_.try_emplace(key, empty_row(key)).first->second;
  }

  std::string key_of(const Workload& workload) const {
    if (all_.by_ == "cluster") return workload.first.empty() ? kNoKey : workload.first;
    if (all_.by_ == "workload") return workload.second;
    const auto dimensions = all_.dimensions_.find(workload);
    if (dimensions == all_.dimensions_.end()) return kNoKey;
    const auto value = dimensions->second.find(all_.by_);
    return !value || value->empty() ? kNoKey : std::string(*value);
  }

  void with_outcomes(const Workload& workload, const UnitCostBreakdown& parts,
                     const Counts& counts) {
    std::vector<Weight> weights;
    UInt128 sum = 0;
    for (const auto& [value, count] : counts) {
      weights.push_back(count);
      sum += count;
    }
    if (sum == 0) {  // a server without any requests
      UnitCostRow& own = row(key_of(workload));
      own.cost += parts;
      own.has_cost = own.has_outcomes = true;
      return;
    }
    const std::vector<UnitCostBreakdown> shares = split_parts(parts, weights);
    std::size_t next = 0;
    for (const auto& [value, count] : counts) {
      UnitCostRow& of = row(value.empty() ? key_of(workload) : value);
      of.cost += shares[next++];
      of.count += count;
      of.has_cost = of.has_outcomes = true;
    }
  }

  // Cost that was moved to an owner is divided among the workloads with its dimensions.
  void share_out(const Workload& owner, const UnitCostBreakdown& parts, const Sums& sums,
                 std::map<Workload, UnitCostBreakdown>& workloads) {
    const std::vector<Workload>& of = workloads_of(owner, sums);
    std::vector<Weight> weights;
    bool is_any = false;
    for (const Workload& each : of) {
      const Int128 ticks = sums.workloads.at(each).with_idle().ticks();
      weights.push_back(ticks > 0 ? static_cast<UInt128>(ticks) : 0);
      is_any |= ticks > 0;
    }
    if (!is_any) {
      row(key_of(owner)).without_outcomes += parts;
      return;
    }
    const std::vector<UnitCostBreakdown> shares = split_parts(parts, weights);
    for (std::size_t i = 0; i < of.size(); ++i) workloads.at(of[i]) += shares[i];
  }

  // Built once for each set of dimension names that owners have. Otherwise every owner would have
  // to search all workloads of the month.
  const std::vector<Workload>& workloads_of(const Workload& owner, const Sums& sums) {
    static const std::vector<Workload> kNobody;
    const auto dimensions = all_.dimensions_.find(owner);
    if (dimensions == all_.dimensions_.end() || dimensions->second.empty()) return kNobody;
    std::vector<std::string> names;
    for (const auto& [name, value] : dimensions->second.entries()) names.push_back(name);
    auto index = index_.find(names);
    if (index == index_.end()) {
      index = index_.emplace(names, Index()).first;
      for (const auto& [workload, parts] : sums.workloads) {
        const auto labels = all_.dimensions_.find(workload);
        if (labels == all_.dimensions_.end()) continue;
        if (auto values = dimension_values(labels->second, names)) {
          index->second[{workload.first, *std::move(values)}].push_back(workload);
        }
      }
    }
    const auto found =
        index->second.find({owner.first, *dimension_values(dimensions->second, names)});
    return found == index->second.end() ? kNobody : found->second;
  }

  // Cluster and dimension values → workloads.
  using Index = std::map<std::pair<std::string, std::vector<std::string>>, std::vector<Workload>>;

  const UnitCosts& all_;
  const Currency currency_;
  std::map<std::vector<std::string>, Index> index_;
  std::map<std::string, UnitCostRow> rows_;
};

std::vector<UnitCostReport> UnitCosts::report(std::string_view measure) const {
  static const std::map<Workload, Counts> kNone;
  const auto found = outcomes_.find(measure);
  const std::map<Workload, Counts>& outcomes = found == outcomes_.end() ? kNone : found->second;
  const auto add_rest = [&](Reporter& reporter) {
    for (const auto& [workload, counts] : outcomes) {
      const bool has_cost = std::ranges::any_of(
          sums_, [&](const auto& each) { return each.second.workloads.contains(workload); });
      if (!has_cost) reporter.outcomes_without_cost(workload, counts);
    }
  };
  std::vector<UnitCostReport> reports;
  if (sums_.empty()) {
    if (outcomes.empty()) return reports;
    Reporter reporter(*this, kUsd);  // there are no amounts, so the currency does not matter
    add_rest(reporter);
    reports.push_back(reporter.finish(measure, false));
    return reports;
  }
  for (const auto& [currency, sums] : sums_) {
    Reporter reporter(*this, currency);
    reporter.costs(sums, outcomes);
    // They are reported once, in the first table.
    if (reports.empty()) add_rest(reporter);
    reports.push_back(reporter.finish(measure, true));
  }
  return reports;
}

}  // namespace pennyweight
