#include "ingest/azure/charge_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "ingest/azure/export_date.h"
#include "ingest/azure/words.h"
#include "ledger/delivery.h"

namespace pennyweight::azure {
namespace {

using bill::Fault;

Fault unknown_word(Column column, std::string_view text, std::string_view allowed) {
  return bad(column, fmt::format("'{}' is none that Azure documents; they are {}",
                                 text.substr(0, 60), allowed));
}

std::string_view to_text(CostMetric metric) {
  switch (metric) {
    case CostMetric::kActual:
      return "Actual";
    case CostMetric::kAmortised:
      return "Amortised";
    case CostMetric::kActualPurchases:
      return "Actual purchases";
  }
  return {};
}

}  // namespace

ChargeReader::ChargeReader(std::span<const std::string> header, CostMetric metric)
    : columns_(Columns::of(header)), metric_(metric) {
  CHECK(columns_.find(Column::kCost) && columns_.find(Column::kCurrency) &&
            columns_.find(Column::kDate),
        "azure_bill looks for the columns without which no line can be taken");
  plan_other_columns(header.size());
}

void ChargeReader::plan_other_columns(std::size_t header_size) {
  std::vector<std::optional<Column>> read(header_size);
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (const auto at = columns_.find(static_cast<Column>(c))) read[*at] = static_cast<Column>(c);
  }
  const auto add = [&](std::string name, Other::What what, std::size_t at, Column column) {
    std::string key;
    bill::append_json_string(key, name);
    others_.push_back(
        {.name = std::move(name), .json_key = key + ":", .what = what, .at = at, .column = column});
  };
  for (std::size_t i = 0; i < header_size; ++i) {
    std::string name = columns_.kept_names()[i];
    if (name == "x_CostInUsd") {
      const char* const by_metric =
          metric_ == CostMetric::kAmortised ? "x_EffectiveCostInUsd" : "x_BilledCostInUsd";
      if (std::ranges::find(columns_.kept_names(), by_metric) == columns_.kept_names().end()) {
        name = by_metric;
      }
    }
    add(std::move(name), read[i] ? Other::What::kWhereKept : Other::What::kAlways, i,
        read[i].value_or(Column::kCost));
  }
  add(std::string(kMetricName), Other::What::kMetric, 0, Column::kCost);
  if (metric_ == CostMetric::kActualPurchases) {
    // It completes the amortised export and does not replace it (ledger/delivery.h).
    add(kDeliveryPartColumn, Other::What::kDeliveryPart, 0, Column::kCost);
  }
  add("CommitmentDiscountName", Other::What::kCommitmentName, 0, Column::kCost);
  std::ranges::sort(others_, {}, &Other::name);
}

std::string_view ChargeReader::text(const Row& row, Column column) const {
  const auto at = columns_.find(column);
  return at ? row.fields[*at] : std::string_view{};
}

bill::BillReader::Outcome ChargeReader::read(std::span<const std::string_view> fields,
                                             bill::Lines& lines) {
  Row row{.fields = fields, .kept = {}, .commitment_name = {}, .counts = {}};
  Charge& charge = lines.add();
  if (auto fault = read_codes(row, charge)) return {.fault = std::move(fault)};
  if (auto fault = read_costs(row, charge)) return {.fault = std::move(fault)};
  // Tax on a commitment stands in both exports.
  const bool is_wanted = row.type == ChargeType::kPurchase || row.type == ChargeType::kRefund ||
                         (row.type == ChargeType::kUsage && !charge.costs.billed.is_zero());
  if (metric_ == CostMetric::kActualPurchases && !(row.of_commitment && is_wanted)) {
    return {.passed_over = bill::BillReader::PassedOver{"stands in the amortised export"}};
  }
  if (auto fault = read_periods(row, charge)) return {.fault = std::move(fault)};
  read_accounts(row, charge);
  read_commitment(row, charge);
  read_sku(row, charge);
  if (auto fault = read_quantities(row, charge)) return {.fault = std::move(fault)};
  if (auto fault = read_prices(row, charge)) return {.fault = std::move(fault)};
  read_json(row, charge);
  read_resource(row, charge);
  keep_others(row, charge);
  counts_.rounded_numbers += row.counts.rounded_numbers;
  counts_.unread_json += row.counts.unread_json;
  counts_.commitment_lines += row.counts.commitment_lines;
  counts_.months_from_dates += row.counts.months_from_dates;
  return {};
}

std::optional<Fault> ChargeReader::read_codes(Row& row, Charge& charge) const {
  const std::string_view type = text(row, Column::kChargeType);
  constexpr std::pair<std::string_view, ChargeType> kTypes[] = {
      {"Usage", ChargeType::kUsage},
      {"Purchase", ChargeType::kPurchase},
      {"Tax", ChargeType::kTax},
      {"Credit", ChargeType::kCredit},
      {"Refund", ChargeType::kRefund},
      {"RoundingAdjustment", ChargeType::kRoundingAdjustment},
      {"UnusedReservation", ChargeType::kUnusedReservation},
      {"UnusedSavingsPlan", ChargeType::kUnusedSavingsPlan},
  };
  if (columns_.find(Column::kChargeType)) {
    const auto found = std::ranges::find_if(
        kTypes, [&](const auto& known) { return same_word(type, known.first); });
    if (found == std::end(kTypes)) {
      return unknown_word(Column::kChargeType, type,
                          "Usage, Purchase, Tax, Credit, Refund, RoundingAdjustment, "
                          "UnusedReservation and UnusedSavingsPlan");
    }
    row.type = found->second;
  }  // Exports without the column are of usage alone.

  const std::string_view model = text(row, Column::kPricingModel);
  constexpr std::pair<std::string_view, PricingModel> kModels[] = {
      {"", PricingModel::kNone},
      {"OnDemand", PricingModel::kOnDemand},
      {"Spot", PricingModel::kSpot},
      {"Reservation", PricingModel::kReservation},
      {"SavingsPlan", PricingModel::kSavingsPlan},
  };
  const auto found = std::ranges::find_if(
      kModels, [&](const auto& known) { return same_word(model, known.first); });
  if (found == std::end(kModels)) {
    return unknown_word(Column::kPricingModel, model,
                        "OnDemand, Spot, Reservation and SavingsPlan, or nothing");
  }
  row.model = found->second;
  row.of_commitment =
      row.model == PricingModel::kReservation || row.model == PricingModel::kSavingsPlan ||
      row.type == ChargeType::kUnusedReservation || row.type == ChargeType::kUnusedSavingsPlan ||
      !text(row, Column::kReservationId).empty() || !text(row, Column::kBenefitId).empty();

  const std::string_view frequency = text(row, Column::kFrequency);
  if (same_word(frequency, "UsageBased") || (frequency.empty() && row.type == ChargeType::kUsage)) {
    charge.charge_frequency = ChargeFrequency::kUsageBased;
  } else if (same_word(frequency, "OneTime")) {
    charge.charge_frequency = ChargeFrequency::kOneTime;
  } else if (same_word(frequency, "Recurring")) {
    charge.charge_frequency = ChargeFrequency::kRecurring;
  } else if (!frequency.empty()) {
    return unknown_word(Column::kFrequency, frequency, "OneTime, Recurring and UsageBased");
  }

  switch (row.type) {
    case ChargeType::kUsage:
    case ChargeType::kUnusedReservation:
    case ChargeType::kUnusedSavingsPlan:
      charge.charge_category = ChargeCategory::kUsage;
      break;
    case ChargeType::kPurchase:
      charge.charge_category = ChargeCategory::kPurchase;
      break;
    case ChargeType::kTax:
      charge.charge_category = ChargeCategory::kTax;
      break;
    case ChargeType::kCredit:
      charge.charge_category = ChargeCategory::kCredit;
      break;
    case ChargeType::kRefund:
      // FOCUS: a correction keeps the category of what it corrects.
      charge.charge_category =
          row.of_commitment || charge.charge_frequency != ChargeFrequency::kUsageBased
              ? ChargeCategory::kPurchase
              : ChargeCategory::kUsage;
      charge.is_correction = true;
      break;
    case ChargeType::kRoundingAdjustment:
      charge.charge_category = ChargeCategory::kAdjustment;
      break;
  }
  if (row.type != ChargeType::kUsage) keep(row, Column::kChargeType);
  if (row.model != PricingModel::kOnDemand) keep(row, Column::kPricingModel);

  // The purchase of a commitment is not itself Committed (FOCUS, PricingCategory).
  const bool is_usage = charge.charge_category == ChargeCategory::kUsage;
  if (!is_usage && charge.charge_category != ChargeCategory::kPurchase) return std::nullopt;
  const std::string_view meter = text(row, Column::kMeterName);
  if (row.of_commitment && is_usage) {
    charge.pricing_category = PricingCategory::kCommitted;
  } else if (row.model == PricingModel::kSpot ||
             (row.model == PricingModel::kNone &&
              (meter.ends_with(" Spot") || meter.ends_with(" Low Priority")))) {
    // Exports without PricingModel tell spot by the meter's name alone.
    charge.pricing_category = PricingCategory::kDynamic;
  } else {
    charge.pricing_category = PricingCategory::kStandard;
  }
  return std::nullopt;
}

Result<Instant> ChargeReader::date(std::size_t slot, std::string_view written) {
  LastDate& last = last_dates_[slot];
  if (written == last.text && !written.empty()) return last.at;
  const auto at = parse_export_date(written);
  if (at) last = {std::string(written), *at};
  if (!at && is_day_first(written)) ++counts_.days_first;
  return at;
}

std::optional<Fault> ChargeReader::read_periods(Row& row, Charge& charge) {
  const auto at = date(0, text(row, Column::kDate));
  if (!at) return bad(Column::kDate, at.error().message);
  charge.charge_period = utc_day(*at);
  if (charge.charge_period.begin() != *at) keep(row, Column::kDate);

  const std::string_view from = text(row, Column::kBillingPeriodStart);
  const std::string_view to = text(row, Column::kBillingPeriodEnd);
  if (from.empty() || to.empty()) {
    charge.billing_period = utc_month(*at);
    row.counts.months_from_dates = 1;
    keep(row, Column::kBillingPeriodStart);
    keep(row, Column::kBillingPeriodEnd);
    return std::nullopt;
  }
  const auto begin = date(1, from);
  if (!begin) return bad(Column::kBillingPeriodStart, begin.error().message);
  const auto last_day = date(2, to);
  if (!last_day) return bad(Column::kBillingPeriodEnd, last_day.error().message);
  // Azure names the last day; the end of FOCUS is the first moment after it.
  const auto period = Interval::of(utc_day(*begin).begin(), utc_day(*last_day).end());
  if (!period) {
    return bad(Column::kBillingPeriodEnd, fmt::format("'{}' is before the period's start '{}'",
                                                      to.substr(0, 60), from.substr(0, 60)));
  }
  charge.billing_period = *period;
  return std::nullopt;
}

void ChargeReader::keep_others(const Row& row, Charge& charge) const {
  std::string& out = charge.other_columns;
  for (const Other& other : others_) {
    std::string_view value;
    switch (other.what) {
      case Other::What::kAlways:
        value = row.fields[other.at];
        break;
      case Other::What::kWhereKept:
        if (row.kept.test(static_cast<std::size_t>(other.column))) value = row.fields[other.at];
        break;
      case Other::What::kMetric:
        value = to_text(metric_);
        break;
      case Other::What::kCommitmentName:
        value = row.commitment_name;
        break;
      case Other::What::kDeliveryPart:
        value = "purchases";
        break;
    }
    if (value.empty()) continue;
    out += out.empty() ? '{' : ',';
    out += other.json_key;
    bill::append_json_string(out, value);
  }
  if (!out.empty()) out += '}';
}

}  // namespace pennyweight::azure
