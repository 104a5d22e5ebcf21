#include "testing/generate/bills/azure_columns.h"

#include <string>
#include <string_view>

namespace pennyweight::bills {
namespace {

struct Spelling {
  std::string_view name;
  std::string_view header;  // empty: same as the name
};

constexpr Spelling kEnterprise[] = {{"InvoiceSectionName", ""},
                                    {"AccountName", ""},
                                    {"AccountOwnerId", ""},
                                    {"SubscriptionId", ""},
                                    {"SubscriptionName", ""},
                                    {"ResourceGroup", ""},
                                    {"ResourceLocation", ""},
                                    {"Date", ""},
                                    {"ProductName", ""},
                                    {"MeterCategory", ""},
                                    {"MeterSubCategory", ""},
                                    {"MeterId", ""},
                                    {"MeterName", ""},
                                    {"MeterRegion", ""},
                                    {"UnitOfMeasure", ""},
                                    {"Quantity", ""},
                                    {"EffectivePrice", ""},
                                    {"Cost", "CostInBillingCurrency"},
                                    {"CostCenter", ""},
                                    {"ConsumedService", ""},
                                    {"ResourceId", ""},
                                    {"Tags", ""},
                                    {"OfferId", ""},
                                    {"AdditionalInfo", ""},
                                    {"ServiceInfo1", ""},
                                    {"ServiceInfo2", ""},
                                    {"ResourceName", ""},
                                    {"ReservationId", ""},
                                    {"ReservationName", ""},
                                    {"UnitPrice", ""},
                                    {"ProductOrderId", ""},
                                    {"ProductOrderName", ""},
                                    {"Term", ""},
                                    {"PublisherType", ""},
                                    {"PublisherName", ""},
                                    {"ChargeType", ""},
                                    {"Frequency", ""},
                                    {"PricingModel", ""},
                                    {"AvailabilityZone", ""},
                                    {"BillingAccountId", ""},
                                    {"BillingAccountName", ""},
                                    {"BillingCurrency", "BillingCurrencyCode"},
                                    {"BillingPeriodStartDate", ""},
                                    {"BillingPeriodEndDate", ""},
                                    {"BillingProfileId", ""},
                                    {"BillingProfileName", ""},
                                    {"InvoiceSectionId", ""},
                                    {"IsAzureCreditEligible", ""},
                                    {"PartNumber", ""},
                                    {"PayGPrice", ""},
                                    {"PlanName", ""},
                                    {"ServiceFamily", ""},
                                    {"CostAllocationRuleName", ""},
                                    {"BenefitId", "benefitId"},
                                    {"BenefitName", "benefitName"}};

constexpr Spelling kCustomer[] = {{"InvoiceId", "invoiceId"},
                                  {"PreviousInvoiceId", "previousInvoiceId"},
                                  {"BillingAccountId", "billingAccountId"},
                                  {"BillingAccountName", "billingAccountName"},
                                  {"BillingProfileId", "billingProfileId"},
                                  {"BillingProfileName", "billingProfileName"},
                                  {"InvoiceSectionId", "invoiceSectionId"},
                                  {"InvoiceSectionName", "invoiceSectionName"},
                                  {"CostCenter", "costCenter"},
                                  {"BillingPeriodEndDate", "billingPeriodEndDate"},
                                  {"BillingPeriodStartDate", "billingPeriodStartDate"},
                                  {"ServicePeriodEndDate", "servicePeriodEndDate"},
                                  {"ServicePeriodStartDate", "servicePeriodStartDate"},
                                  {"Date", "date"},
                                  {"ServiceFamily", "serviceFamily"},
                                  {"ProductOrderId", "productOrderId"},
                                  {"ProductOrderName", "productOrderName"},
                                  {"ConsumedService", "consumedService"},
                                  {"MeterId", "meterId"},
                                  {"MeterName", "meterName"},
                                  {"MeterCategory", "meterCategory"},
                                  {"MeterSubCategory", "meterSubCategory"},
                                  {"MeterRegion", "meterRegion"},
                                  {"ProductId", ""},
                                  {"ProductName", ""},
                                  {"SubscriptionId", ""},
                                  {"SubscriptionName", "subscriptionName"},
                                  {"PublisherType", "publisherType"},
                                  {"PublisherName", "publisherName"},
                                  {"ResourceGroup", "resourceGroupName"},
                                  {"ResourceId", ""},
                                  {"ResourceLocation", "resourceLocation"},
                                  {"Location", "location"},
                                  {"EffectivePrice", "effectivePrice"},
                                  {"Quantity", "quantity"},
                                  {"UnitOfMeasure", "unitOfMeasure"},
                                  {"ChargeType", "chargeType"},
                                  {"BillingCurrency", "billingCurrency"},
                                  {"PricingCurrency", "pricingCurrency"},
                                  {"Cost", "costInBillingCurrency"},
                                  {"CostInPricingCurrency", "costInPricingCurrency"},
                                  {"CostInUsd", "costInUsd"},
                                  {"PaygCostInBillingCurrency", "paygCostInBillingCurrency"},
                                  {"PaygCostInUsd", "paygCostInUsd"},
                                  {"ExchangeRatePricingToBilling", "exchangeRatePricingToBilling"},
                                  {"ExchangeRateDate", "exchangeRateDate"},
                                  {"IsAzureCreditEligible", "isAzureCreditEligible"},
                                  {"ServiceInfo1", "serviceInfo1"},
                                  {"ServiceInfo2", "serviceInfo2"},
                                  {"AdditionalInfo", "additionalInfo"},
                                  {"Tags", "tags"},
                                  {"PayGPrice", ""},
                                  {"Frequency", "frequency"},
                                  {"Term", "term"},
                                  {"ReservationId", "reservationId"},
                                  {"ReservationName", "reservationName"},
                                  {"PricingModel", "pricingModel"},
                                  {"UnitPrice", "unitPrice"},
                                  {"CostAllocationRuleName", "costAllocationRuleName"},
                                  {"BenefitId", "benefitId"},
                                  {"BenefitName", "benefitName"},
                                  {"Provider", "provider"}};

}  // namespace

std::vector<SheetColumn> azure_columns(AzureAgreement agreement) {
  std::vector<SheetColumn> columns;
  const auto add = [&](const Spelling& spelling) {
    columns.push_back({std::string(spelling.name),
                       std::string(spelling.header.empty() ? spelling.name : spelling.header)});
  };
  if (agreement == AzureAgreement::kEnterprise) {
    for (const Spelling& spelling : kEnterprise) add(spelling);
  } else {
    for (const Spelling& spelling : kCustomer) add(spelling);
  }
  return columns;
}

}  // namespace pennyweight::bills
