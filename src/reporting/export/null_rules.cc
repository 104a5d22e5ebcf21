#include "reporting/export/null_rules.h"

#include <utility>

namespace pennyweight {
namespace {

struct DependentColumn {
  std::string_view column;
  std::string_view of;
};

// `column` describes `of`, so it is null where `of` is.
constexpr DependentColumn kDescribes[] = {
    {"SkuMeter", "SkuId"},
    {"PricingUnit", "PricingQuantity"},
    {"ConsumedUnit", "ConsumedQuantity"},
    {"CommitmentDiscountCategory", "CommitmentDiscountId"},
    {"CommitmentDiscountName", "CommitmentDiscountId"},
    {"CommitmentDiscountQuantity", "CommitmentDiscountId"},
    {"CommitmentDiscountStatus", "CommitmentDiscountId"},
    {"CommitmentDiscountType", "CommitmentDiscountId"},
    {"CommitmentDiscountUnit", "CommitmentDiscountQuantity"},
    {"CapacityReservationStatus", "CapacityReservationId"},
    {"ResourceName", "ResourceId"},
    {"ResourceType", "ResourceId"},
    {"RegionName", "RegionId"},
    {"SubAccountName", "SubAccountId"},
    {"SubAccountType", "SubAccountId"},
};

// … and must not be null where `of` is not.
constexpr DependentColumn kDescribesAlways[] = {
    {"PricingUnit", "PricingQuantity"},
    {"ConsumedUnit", "ConsumedQuantity"},
    {"CommitmentDiscountCategory", "CommitmentDiscountId"},
    {"CommitmentDiscountType", "CommitmentDiscountId"},
    {"CommitmentDiscountUnit", "CommitmentDiscountQuantity"},
    {"ResourceType", "ResourceId"},
    {"RegionName", "RegionId"},
    {"SubAccountName", "SubAccountId"},
    {"SubAccountType", "SubAccountId"},
};

constexpr std::string_view kOfAPrice[] = {"SkuPriceDetails",
                                          "ListUnitPrice",
                                          "ContractedUnitPrice",
                                          "PricingQuantity",
                                          "PricingCategory",
                                          "ConsumedQuantity",
                                          "CommitmentDiscountQuantity",
                                          "PricingCurrencyContractedUnitPrice",
                                          "PricingCurrencyListUnitPrice"};

constexpr std::string_view kRequiredIfPriced[] = {"SkuId",           "SkuPriceId",
                                                  "ListUnitPrice",   "ContractedUnitPrice",
                                                  "PricingQuantity", "PricingCategory"};

constexpr std::string_view kAlwaysRequired[] = {
    "BillingAccountId", "ChargeFrequency",     "InvoiceIssuerName",
    "ProviderName",     "PublisherName",       "ServiceCategory",
    "ServiceName",      "ServiceProviderName", "ServiceSubcategory"};

}  // namespace

bool NullRules::is_null(const FocusRow& row, std::string_view column) const {
  return !table_.has(column) ||
         std::holds_alternative<std::monostate>(row[table_.column_index(column)]);
}

std::string_view NullRules::text(const FocusRow& row, std::string_view column) const {
  if (is_null(row, column)) return {};
  const auto* text = std::get_if<std::string>(&row[table_.column_index(column)]);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

void NullRules::empty(FocusRow& row, std::string_view column) {
  if (is_null(row, column)) return;
  row[table_.column_index(column)] = FocusCell();
  ++emptied_[std::string(column)];
}

void NullRules::count_if_null(const FocusRow& row, std::string_view column) {
  if (table_.has(column) && is_null(row, column)) ++missing_[std::string(column)];
}

void NullRules::apply(FocusRow& row) {
  const std::string_view category = text(row, "ChargeCategory");
  const bool is_usage = category == "Usage";
  const bool is_priced = is_usage || category == "Purchase";
  const bool must_be_priced = is_priced && text(row, "ChargeClass") != "Correction";
  const bool is_unused = text(row, "CommitmentDiscountStatus") == "Unused";

  if (category == "Tax") {
    empty(row, "SkuId");
    empty(row, "SkuPriceId");
  }
  // Where a charge must have a price and the bill does not name one, the other price columns stay:
  // only the name is missing.
  if (is_null(row, "SkuPriceId") && !must_be_priced) {
    for (const std::string_view column : kOfAPrice) empty(row, column);
  }
  if (!is_usage || is_unused) empty(row, "ConsumedQuantity");
  if (!is_priced) empty(row, "CommitmentDiscountQuantity");
  for (const auto& [column, of] : kDescribes) {
    if (is_null(row, of)) empty(row, column);
  }

  for (const std::string_view column : kAlwaysRequired) count_if_null(row, column);
  if (must_be_priced) {
    for (const std::string_view column : kRequiredIfPriced) count_if_null(row, column);
    if (is_usage && !is_unused) count_if_null(row, "ConsumedQuantity");
    if (!is_null(row, "CommitmentDiscountId")) count_if_null(row, "CommitmentDiscountQuantity");
  }
  // Since 1.3 corrections too: a named price has a unit price.
  if (!must_be_priced && table_.version() != FocusVersion::k1_2 && !is_null(row, "SkuPriceId")) {
    for (const std::string_view column : {"ListUnitPrice", "ContractedUnitPrice"}) {
      count_if_null(row, column);
    }
  }
  for (const auto& [column, of] : kDescribesAlways) {
    if (!is_null(row, of)) count_if_null(row, column);
  }
  if (is_usage && !is_null(row, "CommitmentDiscountId"))
    count_if_null(row, "CommitmentDiscountStatus");
  if (is_usage && !is_null(row, "CapacityReservationId"))
    count_if_null(row, "CapacityReservationStatus");
  if (!is_null(row, "InvoiceId")) count_if_null(row, "InvoiceDetailId");
  if (!is_null(row, "PricingCurrency") &&
      text(row, "PricingCurrency") != text(row, "BillingCurrency")) {
    count_if_null(row, "PricingCurrencyEffectiveCost");
  }
}

void NullRules::fill_in(FocusRow& row) const {
  const auto copy = [&](std::string_view column, std::string_view from) {
    if (table_.has(column) && is_null(row, column) && !is_null(row, from)) {
      row[table_.column_index(column)] = row[table_.column_index(from)];
    }
  };
  copy("HostProviderName", "ServiceProviderName");
  copy("PricingCurrency", "BillingCurrency");
  if (text(row, "PricingCurrency") != text(row, "BillingCurrency")) return;
  copy("PricingCurrencyEffectiveCost", "EffectiveCost");
  copy("PricingCurrencyListUnitPrice", "ListUnitPrice");
  copy("PricingCurrencyContractedUnitPrice", "ContractedUnitPrice");
}

}  // namespace pennyweight
