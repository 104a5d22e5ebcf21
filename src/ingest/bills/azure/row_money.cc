// AzureRowReader: the costs, quantities and prices of a row.
#include <fmt/format.h>

#include "core/try.h"
#include "ingest/bills/azure/azure_row_reader.h"
#include "ingest/bills/azure/azure_text.h"
#include "ingest/bills/currency_code.h"
#include "ingest/bills/number.h"

namespace pennyweight::azure {

using bill::RowFault;

Result<std::optional<Decimal>> AzureRowReader::read_number(Row& row, Column column) const {
  const std::string_view written = text(row, column);
  if (written.empty()) return std::optional<Decimal>{};
  const auto parsed = bill::parse_printed_number(written);
  if (!parsed) {
    return fail(parsed.error().code,
                fmt::format("{}; write digits with a point, at most a '-' before them, and no "
                            "separators or symbols",
                            parsed.error().message));
  }
  row.counts.rounded_numbers += parsed->rounded ? 1 : 0;
  return std::optional(parsed->value);
}

std::optional<RowFault> AzureRowReader::read_costs(Row& row, Charge& charge) {
  const std::string_view code = text(row, Column::kCurrency);
  const auto currency = currency_parser_.parse(code);
  if (!currency) {
    return column_fault(Column::kCurrency,
                        fmt::format("'{}' is not a currency of ISO 4217; write a code such as USD",
                                    code.substr(0, 60)));
  }
  const auto parsed = read_number(row, Column::kCost);
  if (!parsed) return column_fault(Column::kCost, parsed.error().message);
  if (!*parsed) return column_fault(Column::kCost, "is empty; a line that costs nothing has 0");
  const Money cost = Money::from_decimal(**parsed, *currency);
  const Money none = Money::zero(*currency);
  charge.costs = {.billed = cost, .effective = cost, .list = cost, .contracted = cost};

  const bool is_unused =
      row.type == ChargeType::kUnusedReservation || row.type == ChargeType::kUnusedSavingsPlan;
  const bool buys_commitment =
      row.of_commitment && (row.type == ChargeType::kPurchase || row.type == ChargeType::kRefund);
  const bool is_covered = row.of_commitment && row.type == ChargeType::kUsage;
  if (row.of_commitment) row.counts.commitment_charges = 1;
  switch (metric_) {
    case CostMetric::kActual:
    case CostMetric::kActualPurchases:
      if (is_unused) {
        return column_fault(
            Column::kChargeType,
            "only an amortised export has unused commitments, and this file is read as an "
            "actual one; read it as amortised");
      }
      if (!options_.metric && is_covered && !cost.is_zero()) {
        return column_fault(Column::kCost,
                            "is of usage that a commitment covers, which actual and amortised "
                            "exports bill differently; state which this is with --azure-metric");
      }
      if (metric_ == CostMetric::kActual) break;
      charge.costs.effective = none;
      // Covered usage may be billed nevertheless. The amortised export lacks this cost, and has
      // everything else about the usage.
      row.only_billed = is_covered;
      if (is_covered) charge.costs.list = charge.costs.contracted = none;
      break;
    case CostMetric::kAmortised:
      if (buys_commitment && !cost.is_zero()) {
        return column_fault(
            Column::kChargeType,
            "only an actual export has purchases and refunds of commitments, and this file "
            "is read as an amortised one; read it as actual");
      }
      if (is_unused || is_covered) charge.costs.billed = none;
      break;
  }
  return std::nullopt;
}

const UnitOfMeasure& AzureRowReader::read_unit(std::string_view written) {
  if (written != last_unit_.text) {
    last_unit_ = {std::string(written), parse_unit_of_measure(written)};
  }
  return last_unit_.measure;
}

std::optional<RowFault> AzureRowReader::read_quantities(Row& row, Charge& charge) {
  keep(row, Column::kUnitOfMeasure);
  const auto quantity = read_number(row, Column::kQuantity);
  if (!quantity) return column_fault(Column::kQuantity, quantity.error().message);
  if (charge.sku_price_id.empty() || row.only_billed) {
    keep(row, Column::kQuantity);
    return std::nullopt;
  }
  if (!*quantity) return std::nullopt;
  const UnitOfMeasure& measure = read_unit(text(row, Column::kUnitOfMeasure));
  const ParsedDecimal blocks = pricing_quantity(**quantity, measure);
  if (blocks.rounded) {
    row.counts.rounded_numbers += 1;
    keep(row, Column::kQuantity);
  }
  charge.pricing_quantity = blocks.value;
  charge.pricing_unit = measure.pricing_unit;
  if (charge.charge_category != ChargeCategory::kUsage ||
      charge.commitment_discount_status == UsedOrUnused::kUnused) {
    return std::nullopt;
  }
  const auto units = consumed_quantity(**quantity, measure);
  if (!units) return column_fault(Column::kQuantity, units.error().message);
  charge.consumed_quantity = *units;
  charge.consumed_unit = measure.unit;
  return std::nullopt;
}

// Converts a price into the billing currency; `is_known` is false without an exchange rate.
Result<Decimal> AzureRowReader::in_billing_currency(const Row& row, Decimal price,
                                                    bool& is_known) const {
  is_known = true;
  const std::string_view pricing = text(row, Column::kPricingCurrency);
  if (pricing.empty() || pricing == text(row, Column::kCurrency)) return price;
  const std::string_view written = text(row, Column::kExchangeRate);
  if (written.empty()) {
    is_known = false;
    return price;
  }
  const auto rate = TRY(bill::parse_printed_number(written));
  return multiply(price, rate.value, Rounding::kHalfEven);
}

std::optional<RowFault> AzureRowReader::read_prices(Row& row, Charge& charge) const {
  keep(row, Column::kPricingCurrency);
  keep(row, Column::kExchangeRate);
  const Currency currency = charge.costs.currency();
  // Azure writes 0 for a price that it does not state, and the price of a refund has no sign.
  const bool has_prices =
      charge.pricing_quantity && !charge.is_correction && !charge.sku_price_id.empty();
  const auto price = [&](Column column, std::optional<Decimal>& unit_price,
                         Money& cost) -> std::optional<RowFault> {
    const auto written = read_number(row, column);
    if (!written) return column_fault(column, written.error().message);
    if (!*written) return std::nullopt;
    const bool is_stated = **written > Decimal();
    bool is_known = false;
    const auto billing = in_billing_currency(row, **written, is_known);
    if (!billing) return column_fault(Column::kExchangeRate, billing.error().message);
    if (!has_prices || !is_stated || !is_known) {
      keep(row, column);
      return std::nullopt;
    }
    if (*billing != **written || columns_.agreement() == Agreement::kCustomer) keep(row, column);
    const auto product = multiply(*billing, *charge.pricing_quantity, Rounding::kHalfEven);
    if (!product) return column_fault(column, product.error().message);
    unit_price = *billing;
    cost = Money::from_decimal(*product, currency);
    return std::nullopt;
  };
  if (auto fault =
          price(Column::kUnitPrice, charge.contracted_unit_price, charge.costs.contracted)) {
    return fault;
  }
  if (!row.only_billed) charge.costs.list = charge.costs.contracted;
  if (auto fault = price(Column::kPaygPrice, charge.list_unit_price, charge.costs.list)) {
    return fault;
  }
  const auto list = read_number(row, Column::kPaygCost);
  if (!list) return column_fault(Column::kPaygCost, list.error().message);
  if (!*list) return std::nullopt;
  const bool is_stated = **list != Decimal() || charge.costs.list.is_zero();
  if (is_stated && !row.only_billed) {
    charge.costs.list = Money::from_decimal(**list, currency);
  } else {
    keep(row, Column::kPaygCost);
  }
  return std::nullopt;
}

}  // namespace pennyweight::azure
