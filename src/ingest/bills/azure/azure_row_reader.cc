#include "ingest/bills/azure/azure_row_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/json_text.h"
#include "ingest/bills/azure/azure_text.h"
#include "ingest/bills/azure/export_date.h"
#include "ledger/delivery.h"

namespace pennyweight::azure {
namespace {

using bill::RowFault;

std::string kind_text(CostMetric metric, Agreement agreement) {
  std::string kind = "Azure ";
  switch (metric) {
    case CostMetric::kActual:
      kind += "actual cost";
      break;
    case CostMetric::kAmortised:
      kind += "amortised cost";
      break;
    case CostMetric::kActualPurchases:
      kind += "purchases of commitments";
      break;
  }
  switch (agreement) {
    case Agreement::kEnterprise:
      return kind + ", Enterprise Agreement";
    case Agreement::kCustomer:
      return kind + ", Customer Agreement";
    case Agreement::kPayAsYouGo:
      return kind + ", pay-as-you-go";
  }
  return kind;
}

RowFault unknown_word(Column column, std::string_view text, std::string_view allowed) {
  return column_fault(column, fmt::format("'{}' is not one that Azure documents; those are {}",
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

// Values of the column ChargeType. A Refund of usage is Usage (see read_codes).
struct ChargeTypeRow {
  std::string_view word;
  ChargeType type;
  ChargeCategory category;
  bool of_commitment = false;
};
constexpr ChargeTypeRow kChargeTypes[] = {
    {"Usage", ChargeType::kUsage, ChargeCategory::kUsage},
    {"Purchase", ChargeType::kPurchase, ChargeCategory::kPurchase},
    {"Tax", ChargeType::kTax, ChargeCategory::kTax},
    {"Credit", ChargeType::kCredit, ChargeCategory::kCredit},
    {"Refund", ChargeType::kRefund, ChargeCategory::kPurchase},
    {"RoundingAdjustment", ChargeType::kRoundingAdjustment, ChargeCategory::kAdjustment},
    {"UnusedReservation", ChargeType::kUnusedReservation, ChargeCategory::kUsage, true},
    {"UnusedSavingsPlan", ChargeType::kUnusedSavingsPlan, ChargeCategory::kUsage, true},
};

// Values of the column PricingModel.
struct PricingModelRow {
  std::string_view word;
  PricingModel model;
  bool of_commitment = false;
};
constexpr PricingModelRow kPricingModels[] = {
    {"", PricingModel::kNone},
    {"OnDemand", PricingModel::kOnDemand},
    {"Spot", PricingModel::kSpot},
    {"Reservation", PricingModel::kReservation, true},
    {"SavingsPlan", PricingModel::kSavingsPlan, true},
};

// Values of the column Frequency.
struct FrequencyRow {
  std::string_view word;
  ChargeFrequency frequency;
};
constexpr FrequencyRow kFrequencies[] = {
    {"UsageBased", ChargeFrequency::kUsageBased},
    {"OneTime", ChargeFrequency::kOneTime},
    {"Recurring", ChargeFrequency::kRecurring},
};

template <class Table>
auto find_word(const Table& table, std::string_view word) -> decltype(&table[0]) {
  for (const auto& row : table) {
    if (equal_ignoring_case_and_spaces(word, row.word)) return &row;
  }
  return nullptr;
}

}  // namespace

Result<AzureRowReader> AzureRowReader::open(const csv::Header& header,
                                            const AzureOptions& options) {
  const Columns columns = Columns::of(header.names());
  std::vector<std::string_view> missing;
  for (const Column needed : {Column::kCost, Column::kCurrency, Column::kDate}) {
    if (!columns.find(needed)) missing.push_back(name_of(needed));
  }
  if (!missing.empty()) {
    return fail(ErrorCode::kBadFile,
                fmt::format("an Azure cost export has columns that this file lacks: {}; export "
                            "the actual or amortised cost with all columns",
                            fmt::join(missing, ", ")));
  }
  return AzureRowReader(header.names(), options);
}

AzureRowReader::AzureRowReader(std::span<const std::string> header, const AzureOptions& options)
    : columns_(Columns::of(header)),
      options_(options),
      metric_(options.metric.value_or(CostMetric::kActual)) {
  plan_other_columns(header.size());
}

void AzureRowReader::describe(bill::ImportSummary& summary) const {
  summary.kind = kind_text(metric_, columns_.agreement());
  summary.rounded_numbers = counts_.rounded_numbers;
  summary.unread_json = counts_.unread_json;
  if (!options_.metric) {
    summary.warnings.emplace_back(
        "an Azure export does not say whether it is of actual or amortised cost; it was read as "
        "actual");
  }
  if (metric_ == CostMetric::kActual && counts_.commitment_charges > 0) {
    summary.warnings.push_back(
        fmt::format("{} charges are for reservations or savings plans, which an actual export does "
                    "not amortise: "
                    "EffectiveCost is what was billed; for both costs import the amortised export, "
                    "and only the "
                    "purchases of this one",
                    counts_.commitment_charges));
  }
  if (counts_.months_from_dates > 0) {
    summary.warnings.push_back(
        fmt::format("{} charges name no billing period and were put into the calendar month (UTC) "
                    "of their date",
                    counts_.months_from_dates));
  }
}

void AzureRowReader::plan_other_columns(std::size_t header_size) {
  std::vector<std::optional<Column>> read(header_size);
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (const auto at = columns_.find(static_cast<Column>(c))) read[*at] = static_cast<Column>(c);
  }
  const auto add = [&](std::string name, OtherColumn::Source source, std::size_t at,
                       Column column) {
    std::string key;
    append_stored_json_string(key, name);
    others_.push_back({.name = std::move(name),
                       .json_key = key + ":",
                       .source = source,
                       .at = at,
                       .column = column});
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
    add(std::move(name),
        read[i] ? OtherColumn::Source::kColumnIfKept : OtherColumn::Source::kColumn, i,
        read[i].value_or(Column::kCost));
  }
  add(std::string(kMetricName), OtherColumn::Source::kMetric, 0, Column::kCost);
  if (metric_ == CostMetric::kActualPurchases) {
    // It completes the amortised export and does not replace it (ledger/delivery.h).
    add(std::string(kDeliveryPartColumn), OtherColumn::Source::kDeliveryPart, 0, Column::kCost);
  }
  add("CommitmentDiscountName", OtherColumn::Source::kCommitmentName, 0, Column::kCost);
  std::ranges::sort(others_, {}, &OtherColumn::name);
}

std::string_view AzureRowReader::text(const Row& row, Column column) const {
  const auto at = columns_.find(column);
  return at ? row.fields[*at] : std::string_view{};
}

bill::RowOutcome AzureRowReader::read(const bill::TextRow& texts, bill::ChargeBuffer& charges) {
  Row row{.fields = texts.fields, .kept = {}, .commitment_name = {}, .counts = {}};
  Charge& charge = charges.add();
  if (auto fault = read_codes(row, charge)) return {.fault = std::move(fault)};
  if (auto fault = read_costs(row, charge)) return {.fault = std::move(fault)};
  // Tax on a commitment is in both exports.
  const bool is_wanted = row.type == ChargeType::kPurchase || row.type == ChargeType::kRefund ||
                         (row.type == ChargeType::kUsage && !charge.costs.billed.is_zero());
  if (metric_ == CostMetric::kActualPurchases && !(row.of_commitment && is_wanted)) {
    return {.skipped = bill::SkippedRow{"is in the amortised export"}};
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
  counts_.commitment_charges += row.counts.commitment_charges;
  counts_.months_from_dates += row.counts.months_from_dates;
  return {};
}

std::optional<RowFault> AzureRowReader::read_codes(Row& row, Charge& charge) const {
  // Exports without the column are of usage alone.
  const ChargeTypeRow* type = &kChargeTypes[0];
  if (columns_.find(Column::kChargeType)) {
    const std::string_view word = text(row, Column::kChargeType);
    type = find_word(kChargeTypes, word);
    if (type == nullptr) {
      return unknown_word(Column::kChargeType, word,
                          "Usage, Purchase, Tax, Credit, Refund, RoundingAdjustment, "
                          "UnusedReservation and UnusedSavingsPlan");
    }
  }
  row.type = type->type;

  const std::string_view model_word = text(row, Column::kPricingModel);
  const PricingModelRow* model = find_word(kPricingModels, model_word);
  if (model == nullptr) {
    return unknown_word(Column::kPricingModel, model_word,
                        "OnDemand, Spot, Reservation and SavingsPlan, or nothing");
  }
  row.model = model->model;
  row.of_commitment = type->of_commitment || model->of_commitment ||
                      !text(row, Column::kReservationId).empty() ||
                      !text(row, Column::kBenefitId).empty();

  const std::string_view frequency_word = text(row, Column::kFrequency);
  if (const FrequencyRow* frequency = find_word(kFrequencies, frequency_word)) {
    charge.charge_frequency = frequency->frequency;
  } else if (!frequency_word.empty()) {
    return unknown_word(Column::kFrequency, frequency_word, "OneTime, Recurring and UsageBased");
  } else if (row.type == ChargeType::kUsage) {
    charge.charge_frequency = ChargeFrequency::kUsageBased;
  }

  charge.charge_category = type->category;
  if (row.type == ChargeType::kRefund) {
    // FOCUS: a correction keeps the category of the charge that it corrects.
    const bool is_usage =
        !row.of_commitment && charge.charge_frequency == ChargeFrequency::kUsageBased;
    if (is_usage) charge.charge_category = ChargeCategory::kUsage;
    charge.is_correction = true;
  }
  if (row.type != ChargeType::kUsage) keep(row, Column::kChargeType);
  if (row.model != PricingModel::kOnDemand) keep(row, Column::kPricingModel);
  set_pricing_category(row, charge);
  return std::nullopt;
}

void AzureRowReader::set_pricing_category(const Row& row, Charge& charge) const {
  const bool is_usage = charge.charge_category == ChargeCategory::kUsage;
  if (!is_usage && charge.charge_category != ChargeCategory::kPurchase) return;
  const std::string_view meter = text(row, Column::kMeterName);
  // The purchase of a commitment is not itself Committed (FOCUS, PricingCategory).
  if (row.of_commitment && is_usage) {
    charge.pricing_category = PricingCategory::kCommitted;
  } else if (row.model == PricingModel::kSpot ||
             (row.model == PricingModel::kNone &&
              (meter.ends_with(" Spot") || meter.ends_with(" Low Priority")))) {
    // In exports without PricingModel only the meter's name tells spot.
    charge.pricing_category = PricingCategory::kDynamic;
  } else {
    charge.pricing_category = PricingCategory::kStandard;
  }
}

Result<Instant> AzureRowReader::read_date(std::size_t slot, std::string_view written) {
  LastDate& last = last_dates_[slot];
  if (written == last.text && !written.empty()) return last.at;
  const auto at = parse_export_date(written, options_.dates);
  if (at) last = {std::string(written), *at};
  return at;
}

std::optional<RowFault> AzureRowReader::read_periods(Row& row, Charge& charge) {
  const auto at = read_date(0, text(row, Column::kDate));
  if (!at) return column_fault(Column::kDate, at.error().message);
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
  const auto begin = read_date(1, from);
  if (!begin) return column_fault(Column::kBillingPeriodStart, begin.error().message);
  const auto last_day = read_date(2, to);
  if (!last_day) return column_fault(Column::kBillingPeriodEnd, last_day.error().message);
  // Azure names the last day; a period in FOCUS ends with the first instant after it.
  const auto period = Interval::of(utc_day(*begin).begin(), utc_day(*last_day).end());
  if (!period) {
    return column_fault(Column::kBillingPeriodEnd,
                        fmt::format("'{}' is before the period's start '{}'", to.substr(0, 60),
                                    from.substr(0, 60)));
  }
  charge.billing_period = *period;
  return std::nullopt;
}

void AzureRowReader::keep_others(const Row& row, Charge& charge) const {
  std::string& out = charge.other_columns;
  for (const OtherColumn& other : others_) {
    std::string_view value;
    switch (other.source) {
      case OtherColumn::Source::kColumn:
        value = row.fields[other.at];
        break;
      case OtherColumn::Source::kColumnIfKept:
        if (row.kept.test(static_cast<std::size_t>(other.column))) value = row.fields[other.at];
        break;
      case OtherColumn::Source::kMetric:
        value = to_text(metric_);
        break;
      case OtherColumn::Source::kCommitmentName:
        value = row.commitment_name;
        break;
      case OtherColumn::Source::kDeliveryPart:
        value = "purchases";
        break;
    }
    if (value.empty()) continue;
    out += out.empty() ? '{' : ',';
    out += other.json_key;
    append_stored_json_string(out, value);
  }
  if (!out.empty()) out += '}';
}

}  // namespace pennyweight::azure
