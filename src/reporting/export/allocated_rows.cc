#include "reporting/export/allocated_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/json_text.h"
#include "core/split.h"
#include "core/try.h"
#include "reporting/export/effective_rest.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::string_view kQuantities[] = {"PricingQuantity", "ConsumedQuantity",
                                            "CommitmentDiscountQuantity",
                                            "PricingCurrencyEffectiveCost"};

Decimal hours(GpuTime time) {
  const auto parsed = parse_exact_decimal(format_gpu_hours(time, 18, Thousands::kPlain));
  CHECK(parsed.has_value(), "GPU-hours of a share fit a decimal");
  return *parsed;
}

UInt128 absolute_ticks(Money money) {
  const Int128 ticks = money.ticks();
  return static_cast<UInt128>(ticks < 0 ? -ticks : ticks);
}

// Takes the ratio from the largest cost, which is the most precise. All four are split by the same
// weights.
std::vector<Weight> share_weights(const Costs& whole, std::span<const ChargeShare> shares) {
  Money Costs::* base = &Costs::list;
  for (Money Costs::* other : {&Costs::contracted, &Costs::effective, &Costs::billed}) {
    if (absolute_ticks(whole.*other) > absolute_ticks(whole.*base)) base = other;
  }
  std::vector<Weight> weights;
  for (const ChargeShare& share : shares) {
    weights.push_back((whole.*base).is_zero() ? share.weight : absolute_ticks(share.costs.*base));
  }
  return weights;
}

// Without any weight the first gets everything, so that nothing is lost.
void must_have_one(std::vector<Weight>& weights) {
  const bool all_zero = std::ranges::all_of(weights, [](Weight weight) { return weight == 0; });
  if (all_zero) weights.front() = 1;
}

std::vector<Decimal> split_decimal(Decimal whole, const std::vector<Weight>& weights) {
  const bool negative = whole.is_negative();
  const Decimal size = negative ? -whole : whole;
  std::vector<Decimal> parts;
  for (const UInt128 ticks : split_units(static_cast<UInt128>(size.ticks()), weights)) {
    const Decimal part = Decimal::from_ticks(static_cast<Int128>(ticks));
    parts.push_back(negative ? -part : part);
  }
  return parts;
}

std::string ratio_text(UInt128 ratio) {
  return to_text(Decimal::from_ticks(static_cast<Int128>(ratio) * 1000));
}

Costs sum_shares(std::span<const ChargeShare> shares) {
  Costs sum = Costs::zero(shares.front().costs.currency());
  for (const ChargeShare& share : shares) sum += share.costs;
  return sum;
}

// Support, tax or a fee without node and owner is not divided at all.
bool is_divided(std::span<const ChargeShare> shares) {
  return std::ranges::any_of(shares, [](const ChargeShare& share) {
    return !share.owner.id.empty() || share.kinds != kind_bit(PostingKind::kShared);
  });
}

FocusCell text_cell(const std::string& text) {
  return text.empty() ? FocusCell() : FocusCell(text);
}

}  // namespace

std::vector<FocusColumn> allocation_columns(FocusVersion version, bool with_transfers) {
  std::vector<FocusColumn> columns = {{"x_AllocatedRatio", FocusType::kDecimal},
                                      {"x_GpuHours", FocusType::kDecimal},
                                      {"x_HeldIdleBilledCost", FocusType::kDecimal},
                                      {"x_HeldIdleEffectiveCost", FocusType::kDecimal},
                                      {std::string(kOriginChargeId), FocusType::kString},
                                      {"x_PostingKind", FocusType::kString}};
  if (version == FocusVersion::k1_2) {
    for (const std::string_view name : kAllocatedColumns) {
      columns.push_back({"x_" + std::string(name), FocusType::kString});
    }
  }
  if (with_transfers) {
    columns.push_back({"x_TransferId", FocusType::kString});
    columns.push_back({"x_TransferOwnerId", FocusType::kString});
    columns.push_back({"x_TransferOwnerTags", FocusType::kString});
  }
  return columns;
}

std::vector<UInt128> weight_ratios(std::vector<Weight> weights) {
  must_have_one(weights);
  return split_units(kRatioParts, weights);
}

bool is_transfer(std::span<const ChargeShare> shares) {
  const Costs sum = sum_shares(shares);
  return sum == Costs::zero(sum.currency());
}

void AllocatedRows::set(FocusRow& row, std::string_view column, FocusCell cell) const {
  row[table_.column_index(column)] = std::move(cell);
}

void AllocatedRows::set_allocated(FocusRow& row, std::string_view column, FocusCell cell) const {
  const bool is_standard = find_focus_column(table_.version(), column) != nullptr;
  set(row, is_standard ? std::string(column) : "x_" + std::string(column), std::move(cell));
}

// The bill had divided the charge already: its Allocated columns move to x_Origin… columns.
void AllocatedRows::keep_origins_allocation(FocusRow& row) const {
  for (const std::string_view name : kAllocatedColumns) {
    const std::string origin = "x_Origin" + std::string(name);
    if (!table_.has(name) || !table_.has(origin)) continue;
    row[table_.column_index(origin)] = std::exchange(row[table_.column_index(name)], FocusCell());
  }
}

std::string AllocatedRows::details(const ChargeShare& share, UInt128 ratio,
                                   bool has_gpu_time) const {
  const RunDescription& run = runs_[share.scope];
  std::string json = R"({"Elements":[{"AllocatedRatio":)" + ratio_text(ratio);
  if (has_gpu_time) json += R"(,"UsageQuantity":)" + to_text(hours(share.gpu_time));
  json += R"(,"UsageUnit":"GPU-Hours"}],"x_Basis":)";
  append_json_string(json, run.basis);
  json += R"(,"x_Cluster":)";
  append_json_string(json, run.cluster);
  json +=
      fmt::format(R"(,"x_PolicyVersion":"{}","x_RunNumber":{}}})", run.policy_version, run.number);
  return json;
}

void AllocatedRows::split_quantities(const FocusRow& origin, const std::vector<Weight>& weights,
                                     std::vector<FocusRow>& rows) const {
  for (const std::string_view column : kQuantities) {
    const std::size_t place = table_.column_index(column);
    const auto* whole = std::get_if<Decimal>(&origin[place]);
    if (whole == nullptr) continue;
    const std::vector<Decimal> parts = split_decimal(*whole, weights);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i][place] = parts[i];
  }
}

Result<FocusRow> AllocatedRows::origin_row(const Charge& charge) {
  FocusRow origin;
  TRY(table_.fill(charge, origin));
  rules_.apply(origin);
  defaults_.apply(origin);
  return origin;
}

Result<void> AllocatedRows::write(const Charge& charge, std::span<const ChargeShare> shares,
                                  const Sink& sink) {
  if (!shares.empty() && !(sum_shares(shares) == charge.costs)) {
    return fail(
        ErrorCode::kConflict,
        fmt::format(
            "the postings of bill line {} do not add up to it; "
            "'pennyweight reconcile' shows the difference, 'pennyweight allocate' allocates it "
            "again",
            to_text(charge.id)));
  }
  const auto parted = part_effective_cost(charge, table_.version());
  if (!parted || !table_.has(kEffectiveCostOf)) {
    auto origin = TRY(origin_row(charge));
    return write_parts(charge, std::move(origin), shares, sink);
  }
  ++parted_;
  const PartedShares parts = part_shares(shares, *parted);
  auto line = TRY(origin_row(parted->line));
  auto rest = TRY(origin_row(parted->rest));
  table_.link_rest(line, rest, parted->rest);
  TRY(write_parts(parted->line, std::move(line), parts.line, sink));
  return write_parts(parted->rest, std::move(rest), parts.rest, sink);
}

Result<void> AllocatedRows::write_parts(const Charge& charge, FocusRow origin,
                                        std::span<const ChargeShare> shares, const Sink& sink) {
  if (shares.empty() || !is_divided(shares)) {
    if (!shares.empty()) set(origin, "x_PostingKind", kinds_text(shares.front().kinds));
    defaults_.fill_in(origin);
    return sink(origin);
  }

  keep_origins_allocation(origin);
  std::vector<Weight> weights = share_weights(charge.costs, shares);
  must_have_one(weights);
  const std::vector<UInt128> ratios = weight_ratios(weights);
  const bool has_gpu_time = std::ranges::any_of(
      shares, [](const ChargeShare& share) { return share.gpu_time.count() > 0; });
  std::vector<FocusRow> rows(shares.size(), origin);
  split_quantities(origin, weights, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    FocusRow& row = rows[i];
    const ChargeShare& share = shares[i];
    set(row, "BilledCost", share.costs.billed.amount());
    set(row, "EffectiveCost", share.costs.effective.amount());
    set(row, "ListCost", share.costs.list.amount());
    set(row, "ContractedCost", share.costs.contracted.amount());
    set_allocated(row, "AllocatedMethodId", runs_[share.scope].method_id);
    set_allocated(row, "AllocatedMethodDetails", details(share, ratios[i], has_gpu_time));
    set_allocated(row, "AllocatedResourceId", text_cell(share.owner.id));
    set_allocated(row, "AllocatedResourceName", text_cell(share.owner.name));
    set_allocated(row, "AllocatedTags", text_cell(share.owner.tags));
    set(row, "x_AllocatedRatio", Decimal::from_ticks(static_cast<Int128>(ratios[i]) * 1000));
    set(row, "x_GpuHours", has_gpu_time ? FocusCell(hours(share.gpu_time)) : FocusCell());
    set(row, "x_HeldIdleBilledCost", share.held_idle_billed.amount());
    set(row, "x_HeldIdleEffectiveCost", share.held_idle_effective.amount());
    set(row, "x_PostingKind", kinds_text(share.kinds));
    defaults_.fill_in(row);
    TRY(sink(row));
  }
  return {};
}

Result<void> AllocatedRows::write_transfer(std::span<const ChargeShare> shares,
                                           const Interval& billing_period, const Sink& sink) const {
  for (const ChargeShare& share : shares) {
    FocusRow row(table_.columns().size());
    const auto put = [&](std::string_view column, FocusCell cell) {
      if (table_.has(column)) set(row, column, std::move(cell));
    };
    const std::string generator = "pennyweight";
    for (const char* column :
         {"BillingAccountId", "BillingAccountName", "InvoiceIssuerName", "HostProviderName",
          "ProviderName", "PublisherName", "ServiceName", "ServiceProviderName"}) {
      put(column, generator);
    }
    put("BillingAccountType", std::string("Chargeback"));
    put("BillingCurrency", share.costs.currency().text());
    put("BillingPeriodStart", billing_period.begin());
    put("BillingPeriodEnd", billing_period.end());
    put("ChargePeriodStart", share.interval.begin());
    put("ChargePeriodEnd", share.interval.end());
    put("ChargeCategory", std::string("Adjustment"));
    put("ChargeDescription",
        fmt::format("Transfer of {} cost between owners", kinds_text(share.kinds)));
    put("ChargeFrequency", std::string("One-Time"));
    put("ServiceCategory", std::string("Management and Governance"));
    put("ServiceSubcategory", std::string("Cost Management"));
    put("BilledCost", share.costs.billed.amount());
    put("EffectiveCost", share.costs.effective.amount());
    put("ListCost", share.costs.list.amount());
    put("ContractedCost", share.costs.contracted.amount());
    put("x_PostingKind", kinds_text(share.kinds));
    put("x_TransferId", to_text(share.charge));
    put("x_TransferOwnerId", text_cell(share.owner.id));
    put("x_TransferOwnerTags", text_cell(share.owner.tags));
    defaults_.fill_in(row);
    TRY(sink(row));
  }
  return {};
}

}  // namespace pennyweight
