#include "reporting/export/null_rules.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <variant>

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

constexpr std::string_view kOfAPrice[] = {"SkuPriceDetails",
                                          "ListUnitPrice",
                                          "ContractedUnitPrice",
                                          "PricingQuantity",
                                          "PricingCategory",
                                          "ConsumedQuantity",
                                          "CommitmentDiscountQuantity",
                                          "PricingCurrencyContractedUnitPrice",
                                          "PricingCurrencyListUnitPrice"};

constexpr std::string_view kStandsForNull[] = {"NULL", "null", "Not Applicable", "N/A", "None"};

bool stands_for_null(std::string_view text) {
  return std::ranges::find(kStandsForNull, text) != std::end(kStandsForNull) ||
         std::ranges::all_of(text, [](char letter) {
           return std::isspace(static_cast<unsigned char>(letter)) != 0;
         });
}

}  // namespace

void NullRules::empty(FocusRow& row, std::string_view column) {
  if (table_.is_null(row, column)) return;
  row[table_.column_index(column)] = FocusCell();
  ++emptied_[std::string(column)];
}

void NullRules::empty_stand_ins(FocusRow& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto* text = std::get_if<std::string>(&row[i]);
    if (text == nullptr || !stands_for_null(*text)) continue;
    const std::string& name = table_.columns()[i].name;
    if (find_focus_column(table_.version(), name) == nullptr) continue;
    row[i] = FocusCell();
    ++emptied_[name];
  }
}

void NullRules::apply(FocusRow& row) {
  empty_stand_ins(row);
  const RowKind kind = table_.kind_of(row);
  if (table_.text(row, "ChargeCategory") == "Tax") {
    empty(row, "SkuId");
    empty(row, "SkuPriceId");
  }
  // Where a charge must have a price and the bill does not name one, the other price columns stay:
  // only the name is missing.
  if (table_.is_null(row, "SkuPriceId") && !kind.must_be_priced) {
    for (const std::string_view column : kOfAPrice) empty(row, column);
  }
  if (!kind.is_usage || kind.is_unused) empty(row, "ConsumedQuantity");
  if (!kind.is_usage && !kind.is_purchase) empty(row, "CommitmentDiscountQuantity");
  for (const auto& [column, of] : kDescribes) {
    if (table_.is_null(row, of)) empty(row, column);
  }
}

}  // namespace pennyweight
