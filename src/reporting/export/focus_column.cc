#include "reporting/export/focus_column.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "core/ascii.h"
#include "core/check.h"

namespace pennyweight {
namespace {

using enum FocusType;

struct VersionedColumn {
  std::string_view name;
  FocusType type;
  bool in_1_2;
  bool in_1_3;
  bool in_1_4;
};

// Sorted by name. 57 columns in 1.2; 65 in 1.3 and in 1.4.
constexpr VersionedColumn kAllColumns[] = {
    {"AllocatedMethodDetails", kJson, false, true, true},
    {"AllocatedMethodId", kString, false, true, true},
    {"AllocatedResourceId", kString, false, true, true},
    {"AllocatedResourceName", kString, false, true, true},
    {"AllocatedTags", kJson, false, true, true},
    {"AvailabilityZone", kString, true, true, true},
    {"BilledCost", kDecimal, true, true, true},
    {"BillingAccountId", kString, true, true, true},
    {"BillingAccountName", kString, true, true, true},
    {"BillingAccountType", kString, true, true, true},
    {"BillingCurrency", kString, true, true, true},
    {"BillingPeriodEnd", kDateTime, true, true, true},
    {"BillingPeriodStart", kDateTime, true, true, true},
    {"CapacityReservationId", kString, true, true, true},
    {"CapacityReservationStatus", kString, true, true, true},
    {"ChargeCategory", kString, true, true, true},
    {"ChargeClass", kString, true, true, true},
    {"ChargeDescription", kString, true, true, true},
    {"ChargeFrequency", kString, true, true, true},
    {"ChargePeriodEnd", kDateTime, true, true, true},
    {"ChargePeriodStart", kDateTime, true, true, true},
    {"CommitmentDiscountCategory", kString, true, true, true},
    {"CommitmentDiscountId", kString, true, true, true},
    {"CommitmentDiscountName", kString, true, true, true},
    {"CommitmentDiscountQuantity", kDecimal, true, true, true},
    {"CommitmentDiscountStatus", kString, true, true, true},
    {"CommitmentDiscountType", kString, true, true, true},
    {"CommitmentDiscountUnit", kString, true, true, true},
    {"CommitmentProgramEligibilityDetails", kJson, false, false, true},
    {"ConsumedQuantity", kDecimal, true, true, true},
    {"ConsumedUnit", kString, true, true, true},
    {"ContractApplied", kJson, false, true, true},
    {"ContractedCost", kDecimal, true, true, true},
    {"ContractedUnitPrice", kDecimal, true, true, true},
    {"EffectiveCost", kDecimal, true, true, true},
    {"HostProviderName", kString, false, true, true},
    {"InvoiceDetailId", kString, false, false, true},
    {"InvoiceId", kString, true, true, true},
    {"InvoiceIssuerName", kString, true, true, true},
    {"ListCost", kDecimal, true, true, true},
    {"ListUnitPrice", kDecimal, true, true, true},
    {"PricingCategory", kString, true, true, true},
    {"PricingCurrency", kString, true, true, true},
    {"PricingCurrencyContractedUnitPrice", kDecimal, true, true, true},
    {"PricingCurrencyEffectiveCost", kDecimal, true, true, true},
    {"PricingCurrencyListUnitPrice", kDecimal, true, true, true},
    {"PricingQuantity", kDecimal, true, true, true},
    {"PricingUnit", kString, true, true, true},
    {"ProviderName", kString, true, true, false},
    {"PublisherName", kString, true, true, false},
    {"RegionId", kString, true, true, true},
    {"RegionName", kString, true, true, true},
    {"ResourceId", kString, true, true, true},
    {"ResourceName", kString, true, true, true},
    {"ResourceType", kString, true, true, true},
    {"ServiceCategory", kString, true, true, true},
    {"ServiceName", kString, true, true, true},
    {"ServiceProviderName", kString, false, true, true},
    {"ServiceSubcategory", kString, true, true, true},
    {"SkuId", kString, true, true, true},
    {"SkuMeter", kString, true, true, true},
    {"SkuPriceDetails", kJson, true, true, true},
    {"SkuPriceId", kString, true, true, true},
    {"SubAccountId", kString, true, true, true},
    {"SubAccountName", kString, true, true, true},
    {"SubAccountType", kString, true, true, true},
    {"Tags", kJson, true, true, true},
};

bool is_in(const VersionedColumn& column, FocusVersion version) {
  switch (version) {
    case FocusVersion::k1_2:
      return column.in_1_2;
    case FocusVersion::k1_3:
      return column.in_1_3;
    case FocusVersion::k1_4:
      return column.in_1_4;
  }
  CHECK(false, "every version is listed");
}

std::vector<FocusColumn> columns_in(FocusVersion version) {
  std::vector<FocusColumn> columns;
  for (const VersionedColumn& known : kAllColumns) {
    if (is_in(known, version)) columns.push_back({std::string(known.name), known.type});
  }
  return columns;
}

constexpr std::size_t kCustomNameMax = 50;

}  // namespace

std::string_view to_text(FocusVersion version) {
  switch (version) {
    case FocusVersion::k1_2:
      return "1.2";
    case FocusVersion::k1_3:
      return "1.3";
    case FocusVersion::k1_4:
      return "1.4";
  }
  CHECK(false, "every version is listed");
}

std::optional<FocusVersion> parse_focus_version(std::string_view text) {
  for (const auto version : {FocusVersion::k1_2, FocusVersion::k1_3, FocusVersion::k1_4}) {
    if (text == to_text(version)) return version;
  }
  return std::nullopt;
}

std::span<const FocusColumn> focus_columns(FocusVersion version) {
  static const std::array<std::vector<FocusColumn>, 3> kByVersion = {
      columns_in(FocusVersion::k1_2), columns_in(FocusVersion::k1_3),
      columns_in(FocusVersion::k1_4)};
  return kByVersion[static_cast<std::size_t>(version)];
}

const FocusColumn* find_focus_column(FocusVersion version, std::string_view name) {
  const auto columns = focus_columns(version);
  const auto at = std::ranges::lower_bound(columns, name, {}, &FocusColumn::name);
  return at != columns.end() && at->name == name ? &*at : nullptr;
}

std::string custom_column_name(std::string_view name) {
  if (name.starts_with("x_")) name.remove_prefix(2);
  std::string custom = "x_";
  bool begins_word = true;
  for (const char c : name) {
    if (custom.size() == kCustomNameMax) break;
    if (!ascii::is_letter_or_digit(c)) {
      begins_word = true;
      continue;
    }
    custom += begins_word ? ascii::to_upper(c) : c;
    begins_word = false;
  }
  return custom.size() > 2 ? custom : "x_Unnamed";
}

}  // namespace pennyweight
