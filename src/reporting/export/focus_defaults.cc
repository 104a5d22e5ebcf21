#include "reporting/export/focus_defaults.h"

#include <initializer_list>
#include <utility>
#include <variant>

#include "core/ascii.h"
#include "core/decimal.h"

namespace pennyweight {
namespace {

constexpr std::string_view kUnspecified = "Unspecified";

// What the provider calls an account below the billing account (FOCUS, appendix "Grouping
// constructs for resources or services").
std::string_view sub_account_type_of(std::string_view provider) {
  const std::string name = ascii::lower_case(provider);
  if (name.contains("microsoft") || name.contains("azure")) return "Subscription";
  if (name.contains("google")) return "Project";
  if (name.contains("oracle")) return "Tenancy";
  if (name.contains("aws") || name.contains("amazon")) return "Account";
  return "Sub Account";
}

bool is_of_spend(std::string_view commitment_type) {
  const std::string type = ascii::lower_case(commitment_type);
  return type.contains("saving") || type.contains("spend");
}

}  // namespace

void FocusDefaults::put(FocusRow& row, std::string_view column, FocusCell cell) {
  if (!table_.has(column) || !table_.is_null(row, column) ||
      std::holds_alternative<std::monostate>(cell)) {
    return;
  }
  row[table_.column_index(column)] = std::move(cell);
  ++filled_[std::string(column)];
}

void FocusDefaults::copy(FocusRow& row, std::string_view column,
                         std::initializer_list<std::string_view> from, std::string_view otherwise) {
  for (const std::string_view source : from) {
    if (!table_.is_null(row, source)) {
      return put(row, column, row[table_.column_index(source)]);
    }
  }
  put(row, column, FocusCell(std::string(otherwise)));
}

void FocusDefaults::name_parties(FocusRow& row) {
  copy(row, "ServiceProviderName", {"ProviderName", "PublisherName", "InvoiceIssuerName"},
       kUnspecified);
  copy(row, "ProviderName", {"ServiceProviderName", "PublisherName", "InvoiceIssuerName"},
       kUnspecified);
  copy(row, "PublisherName", {"ProviderName", "ServiceProviderName"}, kUnspecified);
  copy(row, "InvoiceIssuerName", {"ServiceProviderName", "ProviderName"}, kUnspecified);
  copy(row, "BillingAccountId", {"SubAccountId"}, kUnspecified);
  copy(row, "BillingAccountName", {"BillingAccountId"}, kUnspecified);
  put(row, "BillingAccountType", std::string("Billing Account"));
  if (!table_.is_null(row, "SubAccountId")) {
    copy(row, "SubAccountName", {"SubAccountId"}, kUnspecified);
    const std::string_view provider = table_.has("ServiceProviderName")
                                          ? table_.text(row, "ServiceProviderName")
                                          : table_.text(row, "ProviderName");
    put(row, "SubAccountType", std::string(sub_account_type_of(provider)));
  }
  if (!table_.is_null(row, "RegionId")) copy(row, "RegionName", {"RegionId"}, kUnspecified);
}

void FocusDefaults::name_service(FocusRow& row) {
  copy(row, "ServiceName", {"SkuMeter", "ServiceProviderName", "ProviderName"}, kUnspecified);
  put(row, "ServiceCategory", std::string("Other"));
  put(row, "ServiceSubcategory",
      "Other (" + std::string(table_.text(row, "ServiceCategory")) + ")");
  if (!table_.is_null(row, "ResourceId")) copy(row, "ResourceType", {"ServiceName"}, kUnspecified);
}

void FocusDefaults::name_price(FocusRow& row, const RowKind& kind) {
  if (!kind.must_be_priced) return;
  copy(row, "SkuId", {"SkuPriceId", "SkuMeter", "ServiceName"}, kUnspecified);
  copy(row, "SkuPriceId", {"SkuId"}, kUnspecified);
  put(row, "PricingCategory",
      std::string(table_.is_null(row, "CommitmentDiscountId") ? "Standard" : "Committed"));
  if (kind.is_usage && !kind.is_unused) {
    if (table_.is_null(row, "ConsumedQuantity")) {
      put(row, "ConsumedQuantity", row[table_.column_index("PricingQuantity")]);
      put(row, "ConsumedUnit", row[table_.column_index("PricingUnit")]);
    }
  }
}

void FocusDefaults::describe_commitment(FocusRow& row, const RowKind& kind) {
  if (!table_.is_null(row, "CapacityReservationId") && kind.is_usage) {
    put(row, "CapacityReservationStatus",
        std::string(table_.is_null(row, "ResourceId") ? "Unused" : "Used"));
  }
  if (table_.is_null(row, "CommitmentDiscountId")) return;
  copy(row, "CommitmentDiscountType", {}, "Commitment");
  put(row, "CommitmentDiscountCategory",
      std::string(is_of_spend(table_.text(row, "CommitmentDiscountType")) ? "Spend" : "Usage"));
  const bool is_spend = table_.text(row, "CommitmentDiscountCategory") == "Spend";
  if (kind.must_be_priced && table_.is_null(row, "CommitmentDiscountQuantity")) {
    const std::string_view amount = kind.is_usage ? "EffectiveCost" : "BilledCost";
    put(row, "CommitmentDiscountQuantity",
        row[table_.column_index(is_spend ? amount : "PricingQuantity")]);
    put(row, "CommitmentDiscountUnit",
        row[table_.column_index(is_spend ? "BillingCurrency" : "PricingUnit")]);
  }
  if (table_.is_null(row, "CommitmentDiscountQuantity")) return;
  if (is_spend) return copy(row, "CommitmentDiscountUnit", {"BillingCurrency"}, "Units");
  copy(row, "CommitmentDiscountUnit", {"PricingUnit", "ConsumedUnit"}, "Units");
}

void FocusDefaults::apply(FocusRow& row) {
  if (table_.kind_of(row).is_usage && !table_.is_null(row, "CommitmentDiscountId")) {
    const bool is_used =
        !table_.is_null(row, "ResourceId") || !table_.is_null(row, "ConsumedQuantity");
    put(row, "CommitmentDiscountStatus", std::string(is_used ? "Used" : "Unused"));
  }
  const RowKind kind = table_.kind_of(row);
  name_parties(row);
  name_service(row);
  put(row, "ChargeFrequency", std::string(kind.is_usage ? "Usage-Based" : "One-Time"));
  if (kind.is_purchase && table_.text(row, "ChargeFrequency") == "Usage-Based") {
    row[table_.column_index("ChargeFrequency")] = std::string("Recurring");
    ++filled_["ChargeFrequency"];
  }
  name_price(row, kind);
  describe_commitment(row, kind);
  if (!table_.is_null(row, "PricingQuantity")) copy(row, "PricingUnit", {"ConsumedUnit"}, "Units");
  if (!table_.is_null(row, "ConsumedQuantity")) {
    copy(row, "ConsumedUnit", {"PricingUnit"}, "Units");
  }
}

void FocusDefaults::fill_in(FocusRow& row) const {
  const auto same_as = [&](std::string_view column, std::string_view from) {
    if (table_.has(column) && table_.is_null(row, column) && !table_.is_null(row, from)) {
      row[table_.column_index(column)] = row[table_.column_index(from)];
    }
  };
  same_as("HostProviderName", "ServiceProviderName");
  same_as("PricingCurrency", "BillingCurrency");
  if (table_.text(row, "PricingCurrency") != table_.text(row, "BillingCurrency")) return;
  same_as("PricingCurrencyEffectiveCost", "EffectiveCost");
  same_as("PricingCurrencyListUnitPrice", "ListUnitPrice");
  same_as("PricingCurrencyContractedUnitPrice", "ContractedUnitPrice");
}

}  // namespace pennyweight
