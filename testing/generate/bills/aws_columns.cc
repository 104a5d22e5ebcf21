#include "testing/generate/bills/aws_columns.h"

#include <string>
#include <string_view>

#include "core/ascii.h"

namespace pennyweight::bills {
namespace {

constexpr std::string_view kIdentityAndBill[] = {
    "identity/LineItemId",  "identity/TimeInterval",       "bill/InvoiceId",
    "bill/InvoicingEntity", "bill/BillingEntity",          "bill/BillType",
    "bill/PayerAccountId",  "bill/BillingPeriodStartDate", "bill/BillingPeriodEndDate"};

constexpr std::string_view kLineItem[] = {
    "lineItem/UsageAccountId", "lineItem/LineItemType",        "lineItem/UsageStartDate",
    "lineItem/UsageEndDate",   "lineItem/ProductCode",         "lineItem/UsageType",
    "lineItem/Operation",      "lineItem/AvailabilityZone",    "lineItem/ResourceId",
    "lineItem/UsageAmount",    "lineItem/NormalizationFactor", "lineItem/NormalizedUsageAmount",
    "lineItem/CurrencyCode",   "lineItem/UnblendedRate",       "lineItem/UnblendedCost",
    "lineItem/BlendedRate",    "lineItem/BlendedCost",         "lineItem/LineItemDescription",
    "lineItem/TaxType",        "lineItem/LegalEntity"};

constexpr std::string_view kNetLineItem[] = {"lineItem/NetUnblendedRate",
                                             "lineItem/NetUnblendedCost"};

constexpr std::string_view kProduct[] = {
    "product/instanceFamily", "product/instanceType",  "product/location",
    "product/operation",      "product/productFamily", "product/regionCode",
    "product/servicecode",    "product/sku",           "product/usagetype"};

// Columns in the legacy report, keys of the map `product` in CUR 2.0.
constexpr std::string_view kProductOfMap[] = {"product/ProductName",     "product/gpu",
                                              "product/operatingSystem", "product/region",
                                              "product/tenancy",         "product/vcpu"};

constexpr std::string_view kPricingToSavings[] = {
    "pricing/LeaseContractLength",
    "pricing/OfferingClass",
    "pricing/PurchaseOption",
    "pricing/RateCode",
    "pricing/RateId",
    "pricing/currency",
    "pricing/publicOnDemandCost",
    "pricing/publicOnDemandRate",
    "pricing/term",
    "pricing/unit",
    "reservation/AmortizedUpfrontCostForUsage",
    "reservation/AmortizedUpfrontFeeForBillingPeriod",
    "reservation/AvailabilityZone",
    "reservation/EffectiveCost",
    "reservation/EndTime",
    "reservation/ModificationStatus",
    "reservation/NumberOfReservations",
    "reservation/RecurringFeeForUsage",
    "reservation/ReservationARN",
    "reservation/StartTime",
    "reservation/SubscriptionId",
    "reservation/TotalReservedUnits",
    "reservation/UnitsPerReservation",
    "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod",
    "reservation/UnusedQuantity",
    "reservation/UnusedRecurringFee",
    "reservation/UpfrontValue",
    "savingsPlan/AmortizedUpfrontCommitmentForBillingPeriod",
    "savingsPlan/EndTime",
    "savingsPlan/InstanceTypeFamily",
    "savingsPlan/OfferingType",
    "savingsPlan/PaymentOption",
    "savingsPlan/PurchaseTerm",
    "savingsPlan/RecurringCommitmentForBillingPeriod",
    "savingsPlan/Region",
    "savingsPlan/SavingsPlanARN",
    "savingsPlan/SavingsPlanEffectiveCost",
    "savingsPlan/SavingsPlanRate",
    "savingsPlan/StartTime",
    "savingsPlan/TotalCommitmentToDate",
    "savingsPlan/UsedCommitment"};

constexpr std::string_view kNetCommitments[] = {
    "reservation/NetAmortizedUpfrontCostForUsage",
    "reservation/NetAmortizedUpfrontFeeForBillingPeriod",
    "reservation/NetEffectiveCost",
    "reservation/NetRecurringFeeForUsage",
    "reservation/NetUnusedAmortizedUpfrontFeeForBillingPeriod",
    "reservation/NetUnusedRecurringFee",
    "reservation/NetUpfrontValue",
    "savingsPlan/NetAmortizedUpfrontCommitmentForBillingPeriod",
    "savingsPlan/NetRecurringCommitmentForBillingPeriod",
    "savingsPlan/NetSavingsPlanEffectiveCost"};

constexpr std::string_view kSplit[] = {"splitLineItem/ActualUsage",
                                       "splitLineItem/ParentResourceId",
                                       "splitLineItem/ReservedUsage",
                                       "splitLineItem/SplitCost",
                                       "splitLineItem/SplitUsage",
                                       "splitLineItem/SplitUsageRatio",
                                       "splitLineItem/UnusedCost",
                                       "splitLineItem/PublicOnDemandSplitCost",
                                       "splitLineItem/PublicOnDemandUnusedCost"};

// "savingsPlan/SavingsPlanARN": "savings_plan_savings_plan_a_r_n".
std::string snake_case(std::string_view legacy) {
  std::string name;
  for (const char c : legacy) {
    const bool capital = ascii::is_upper(c);
    if (c == '/') {
      name += '_';
    } else if (capital) {
      if (!name.empty() && name.back() != '_') name += '_';
      name += static_cast<char>(c - 'A' + 'a');
    } else {
      name += c;
    }
  }
  return name;
}

}  // namespace

std::vector<SheetColumn> aws_columns(const NativeBillOptions& options) {
  const bool is_second = options.form == NativeForm::kAwsCur2;
  const bool net = options.aws_discount == AwsDiscount::kNetColumns;
  std::vector<SheetColumn> columns;
  const auto add = [&](std::string_view name) {
    columns.push_back({std::string(name), is_second ? snake_case(name) : std::string(name)});
  };
  const auto add_map = [&](std::string_view name) {
    columns.push_back({std::string(name), std::string(name)});
  };
  for (const auto name : kIdentityAndBill) add(name);
  if (is_second) add("bill/PayerAccountName");
  for (const auto name : kLineItem) add(name);
  if (is_second) add("lineItem/UsageAccountName");
  if (net) {
    for (const auto name : kNetLineItem) add(name);
  }
  for (const auto name : kProduct) add(name);
  if (is_second) {
    add_map("product");
  } else {
    for (const auto name : kProductOfMap) add(name);
  }
  for (const auto name : kPricingToSavings) add(name);
  if (net) {
    for (const auto name : kNetCommitments) add(name);
    if (is_second) {
      add_map("discount");
      add("discount/BundledDiscount");
    } else {
      add("discount/EdpDiscount");
    }
    add("discount/TotalDiscount");
  }
  if (options.aws_split_rows) {
    for (const auto name : kSplit) add(name);
  }
  if (is_second) {
    add_map("resource_tags");
    add_map("cost_category");
  } else {
    for (const auto name : {"Name", "cluster", "generated", "team"}) {
      add(std::string("resourceTags/user:") + name);
    }
  }
  return columns;
}

}  // namespace pennyweight::bills
