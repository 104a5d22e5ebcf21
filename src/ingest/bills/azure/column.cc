#include "ingest/bills/azure/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/ascii.h"

namespace pennyweight::azure {
namespace {

struct ColumnNames {
  Column column;
  std::string_view name;  // as the documentation spells it
  std::string_view kept;  // its name in other_columns
  // Further spellings, letters and digits in lower case; the earlier one wins where a file has two.
  std::vector<std::string_view> others;
};

// In the order of Column.
const std::vector<ColumnNames>& known() {
  static const std::vector<ColumnNames> table = {
      {Column::kCost,
       "CostInBillingCurrency",
       "x_CostInBillingCurrency",
       {"pretaxcost", "cost", "extendedcost"}},
      {Column::kCurrency, "BillingCurrencyCode", "x_Currency", {"billingcurrency", "currency"}},
      {Column::kDate, "Date", "x_Date", {"usagedatetime", "usagedate"}},
      {Column::kBillingPeriodStart,
       "BillingPeriodStartDate",
       "x_BillingPeriodStartDate",
       {"billingperiodstart"}},
      {Column::kBillingPeriodEnd,
       "BillingPeriodEndDate",
       "x_BillingPeriodEndDate",
       {"billingperiodend"}},
      {Column::kBillingAccountId, "BillingAccountId", "x_BillingAccountId", {}},
      {Column::kBillingAccountName, "BillingAccountName", "x_BillingAccountName", {}},
      {Column::kBillingProfileId, "BillingProfileId", "x_BillingProfileId", {}},
      {Column::kBillingProfileName, "BillingProfileName", "x_BillingProfileName", {}},
      {Column::kSubscriptionId, "SubscriptionId", "x_SubscriptionId", {"subscriptionguid"}},
      {Column::kSubscriptionName, "SubscriptionName", "x_SubscriptionName", {}},
      {Column::kInvoiceId, "InvoiceId", "x_InvoiceId", {"invoiceno"}},
      {Column::kPartnerName, "PartnerName", "x_PartnerName", {}},
      {Column::kChargeType, "ChargeType", "x_ChargeType", {}},
      {Column::kPricingModel, "PricingModel", "x_PricingModel", {}},
      {Column::kFrequency, "Frequency", "x_Frequency", {}},
      {Column::kQuantity, "Quantity", "x_Quantity", {"usagequantity", "consumedquantity"}},
      {Column::kUnitOfMeasure, "UnitOfMeasure", "x_PricingUnitDescription", {}},
      {Column::kUnitPrice, "UnitPrice", "x_UnitPrice", {}},
      {Column::kPaygPrice, "PayGPrice", "x_PaygPrice", {}},
      {Column::kPaygCost, "PaygCostInBillingCurrency", "x_PaygCostInBillingCurrency", {}},
      {Column::kPricingCurrency, "PricingCurrency", "PricingCurrency", {"pricingcurrencycode"}},
      {Column::kExchangeRate,
       "ExchangeRatePricingToBilling",
       "x_BillingExchangeRate",
       {"exchangerate"}},
      {Column::kMeterId, "MeterId", "x_SkuMeterId", {"meterguid"}},
      {Column::kMeterName, "MeterName", "x_SkuMeterName", {}},
      {Column::kMeterCategory, "MeterCategory", "x_SkuMeterCategory", {}},
      {Column::kProductId, "ProductId", "x_SkuProductId", {}},
      {Column::kProductName, "ProductName", "x_ProductName", {"product"}},
      {Column::kPartNumber, "PartNumber", "x_SkuPartNumber", {}},
      {Column::kServiceFamily, "ServiceFamily", "x_SkuServiceFamily", {}},
      {Column::kServiceName, "ServiceName", "x_ServiceName", {}},
      {Column::kConsumedService, "ConsumedService", "x_ConsumedService", {}},
      {Column::kResourceId, "ResourceId", "x_ResourceId", {"instanceid", "instancename"}},
      {Column::kResourceName, "ResourceName", "x_ResourceName", {}},
      {Column::kResourceType, "ResourceType", "x_ResourceType", {}},
      {Column::kRegion, "ResourceLocation", "x_ResourceLocation", {"resourcelocationnormalized"}},
      {Column::kAvailabilityZone, "AvailabilityZone", "x_AvailabilityZone", {}},
      {Column::kReservationId, "ReservationId", "x_ReservationId", {}},
      {Column::kReservationName, "ReservationName", "x_ReservationName", {}},
      {Column::kBenefitId, "BenefitId", "x_BenefitId", {}},
      {Column::kBenefitName, "BenefitName", "x_BenefitName", {}},
      {Column::kAdditionalInfo, "AdditionalInfo", "x_SkuDetails", {}},
      {Column::kTags, "Tags", "Tags", {}},
  };
  return table;
}

// Columns that no rule reads, with the x_ names of Microsoft's FOCUS mapping.
constexpr std::pair<std::string_view, std::string_view> kKept[] = {
    {"accountname", "x_AccountName"},
    {"accountownerid", "x_AccountOwnerId"},
    {"costallocationrulename", "x_CostAllocationRuleName"},
    {"costcenter", "x_CostCenter"},
    {"customername", "x_CustomerName"},
    {"customertenantid", "x_CustomerId"},
    {"departmentname", "x_InvoiceSectionName"},
    {"effectiveprice", "x_EffectiveUnitPrice"},
    {"exchangeratedate", "x_BillingExchangeRateDate"},
    {"invoicesection", "x_InvoiceSectionName"},
    {"invoicesectionid", "x_InvoiceSectionId"},
    {"invoicesectionname", "x_InvoiceSectionName"},
    {"isazurecrediteligible", "x_SkuIsCreditEligible"},
    {"location", "RegionName"},
    {"meterregion", "x_SkuRegion"},
    {"metersubcategory", "x_SkuMeterSubcategory"},
    {"offerid", "x_SkuOfferId"},
    {"partnerearnedcreditapplied", "x_PartnerCreditApplied"},
    {"partnerearnedcreditrate", "x_PartnerCreditRate"},
    {"partnertenantid", "x_InvoiceIssuerId"},
    {"planname", "x_SkuPlanName"},
    {"productorderid", "x_SkuOrderId"},
    {"productordername", "x_SkuOrderName"},
    {"resellermpnid", "x_ResellerId"},
    {"resellername", "x_ResellerName"},
    {"resourcegroup", "x_ResourceGroupName"},
    {"resourcegroupname", "x_ResourceGroupName"},
    {"resourcerate", "x_EffectiveUnitPrice"},
    {"serviceperiodend", "x_ServicePeriodEnd"},
    {"serviceperiodenddate", "x_ServicePeriodEnd"},
    {"serviceperiodstart", "x_ServicePeriodStart"},
    {"serviceperiodstartdate", "x_ServicePeriodStart"},
    {"term", "x_SkuTerm"},
};

std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (ascii::is_letter(c) || ascii::is_digit(c)) key += ascii::to_lower(c);
  }
  return key;
}

// "SubscriptionGuid" for "Abonnement-GUID (SubscriptionGuid)"; else the whole name.
std::string_view english(std::string_view name) {
  const std::size_t open = name.rfind('(');
  if (!name.ends_with(')') || open == std::string_view::npos) return name;
  const std::string_view inside = name.substr(open + 1, name.size() - open - 2);
  return key_of(inside).empty() ? name : inside;
}

// "x_Any123" for "any 123".
std::string own_name(std::string_view name) {
  std::string out = "x_";
  bool starts_word = true;
  for (const char c : name) {
    if (!ascii::is_letter(c) && !ascii::is_digit(c)) {
      starts_word = true;
      continue;
    }
    out += starts_word ? ascii::to_upper(c) : c;
    starts_word = false;
  }
  return out.size() == 2 ? out + "Column" : out;
}

std::optional<std::size_t> place_of(const std::vector<std::string>& keys,
                                    const ColumnNames& column) {
  const auto look = [&](std::string_view key) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(keys, key);
    if (found == keys.end()) return std::nullopt;
    return static_cast<std::size_t>(found - keys.begin());
  };
  if (const auto at = look(key_of(column.name))) return at;
  for (const std::string_view other : column.others) {
    if (const auto at = look(other)) return at;
  }
  return std::nullopt;
}

}  // namespace

Columns Columns::of(std::span<const std::string> header) {
  std::vector<std::string> keys;
  for (const std::string& name : header) keys.push_back(key_of(english(name)));

  Columns columns;
  columns.kept_names_.resize(header.size());
  for (const ColumnNames& column : known()) {
    const auto at = place_of(keys, column);
    columns.at_[static_cast<std::size_t>(column.column)] = at;
    if (at) columns.kept_names_[*at] = column.kept;
  }
  const auto has = [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); };
  if (has("pricingcurrency") || has("costinpricingcurrency") ||
      has("exchangeratepricingtobilling")) {
    columns.agreement_ = Agreement::kCustomer;
    // The prices are in the pricing currency, for which FOCUS has columns of its own.
    if (const auto at = columns.find(Column::kUnitPrice)) {
      columns.kept_names_[*at] = "PricingCurrencyContractedUnitPrice";
    }
    if (const auto at = columns.find(Column::kPaygPrice)) {
      columns.kept_names_[*at] = "PricingCurrencyListUnitPrice";
    }
  } else if (!columns.find(Column::kBillingAccountId)) {
    columns.agreement_ = Agreement::kPayAsYouGo;
  }

  std::set<std::string> taken = {std::string(kMetricName)};
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string& name = columns.kept_names_[i];
    if (name.empty()) {
      const auto kept =
          std::ranges::find(kKept, keys[i], &std::pair<std::string_view, std::string_view>::first);
      name = kept != std::end(kKept) ? std::string(kept->second) : own_name(english(header[i]));
    }
    if (!taken.insert(name).second) {
      name = fmt::format("{}_{}", name, i + 1);
      taken.insert(name);
    }
  }
  return columns;
}

std::string_view name_of(Column column) { return known()[static_cast<std::size_t>(column)].name; }

}  // namespace pennyweight::azure
