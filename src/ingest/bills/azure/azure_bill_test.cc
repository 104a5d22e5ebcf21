#include "ingest/bills/azure/azure_bill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <ranges>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ingest/bills/azure/column.h"
#include "ingest/bills/azure/date_survey.h"
#include "ingest/bills/azure/export_date.h"
#include "ingest/bills/azure/service_category.h"
#include "ingest/bills/azure/unit_of_measure.h"
#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/csv_import.h"
#include "ingest/csv/header.h"

namespace pennyweight::azure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string file_text(const std::string& name) {
  std::ifstream in(std::string(TEST_DATA) + "/azure/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

Result<bill::ImportSummary> import(std::string_view text, bill::CollectingSink& seen,
                                   std::optional<CostMetric> metric) {
  return bill::import_csv(text, "azure.csv", azure_bill({.metric = metric}), seen);
}

// A bill of lines that differ in some columns from a plain hour of a GPU machine.
using Cells = std::vector<std::pair<std::string, std::string>>;

Cells line(const Cells& changes) {
  Cells cells = {
      {"BillingAccountId", "12345678"},
      {"BillingAccountName", "Example"},
      {"SubscriptionId", "sub-1"},
      {"SubscriptionName", "research"},
      {"BillingPeriodStartDate", "03/01/2026"},
      {"BillingPeriodEndDate", "03/31/2026"},
      {"Date", "03/05/2026"},
      {"ProductName", "Virtual Machines NDasrA100v4 - US East"},
      {"MeterCategory", "Virtual Machines"},
      {"MeterId", "meter-1"},
      {"MeterName", "ND96asr A100 v4"},
      {"PartNumber", "AAA-1"},
      {"ServiceFamily", "Compute"},
      {"UnitOfMeasure", "1 Hour"},
      {"Quantity", "24"},
      {"UnitPrice", "25"},
      {"PayGPrice", "27.197"},
      {"CostInBillingCurrency", "600"},
      {"BillingCurrencyCode", "USD"},
      {"ResourceLocation", "eastus"},
      {"ResourceId",
       "/subscriptions/sub-1/resourceGroups/rg/providers/Microsoft.Compute/"
       "virtualMachines/gpu-1"},
      {"ChargeType", "Usage"},
      {"PricingModel", "OnDemand"},
      {"Frequency", "UsageBased"},
      {"ReservationId", ""},
      {"ReservationName", ""},
      {"benefitId", ""},
      {"benefitName", ""},
      {"AdditionalInfo", R"({"ServiceType":"Standard_ND96asr_v4","VMName":"gpu-1"})"},
      {"Tags", R"("team": "research")"},
  };
  for (const auto& [name, value] : changes) {
    const auto there = std::ranges::find(cells, name, &Cells::value_type::first);
    if (there == cells.end()) {
      cells.emplace_back(name, value);
    } else {
      there->second = value;
    }
  }
  return cells;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

std::string csv(const std::vector<Cells>& lines) {
  std::string text;
  for (const auto& [name, value] : lines.front()) text += (text.empty() ? "" : ",") + quoted(name);
  for (const Cells& cells : lines) {
    text += '\n';
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += (i == 0 ? "" : ",") + quoted(cells[i].second);
  }
  return text + "\n";
}

Charge taken(const Cells& changes, CostMetric metric = CostMetric::kActual) {
  bill::CollectingSink seen;
  const auto summary = import(csv({line(changes)}), seen, metric);
  EXPECT_TRUE(summary) << (summary ? "" : summary.error().message);
  EXPECT_EQ(seen.lines.size(), 1u) << (seen.bad.empty() ? "" : seen.bad[0].reason);
  if (!seen.lines.empty()) return seen.lines[0];
  const Interval any(Instant{}, from_unix_ms(1));
  return Charge(any, any, Costs::zero(kUsd));
}

std::vector<std::string> costs_of(const Charge& charge) {
  return {to_text(charge.costs.billed.amount()), to_text(charge.costs.effective.amount()),
          to_text(charge.costs.list.amount()), to_text(charge.costs.contracted.amount())};
}

// The sums were computed apart from this program, with Python's decimal module.
TEST(AzureSamples, EveryRowIsTakenAndTheSumsAreExact) {
  struct Case {
    std::string file;
    std::uint64_t rows;
    std::vector<std::string> totals;
    std::string kind;
  };
  const Case cases[] = {
      {"enterprise_2020.csv",
       5,
       {"19.998413754", "19.998413754", "1.286780025533765600", "1.286780025533765600"},
       "Azure actual cost, Enterprise Agreement"},
      {"enterprise_2021.csv",
       1,
       {"0", "0", "0.1", "0.1"},
       "Azure actual cost, Enterprise Agreement"},
      {"enterprise_2023.csv",
       27,
       {"1.26136926505726", "1.26136926505726", "0.59159663244747928", "6.4913987500077"},
       "Azure actual cost, Enterprise Agreement"},
      {"pay_as_you_go_german.csv",
       1,
       {"0.075", "0.075", "0.075", "0.075"},
       "Azure actual cost, pay-as-you-go"},
  };
  for (const Case& c : cases) {
    bill::CollectingSink seen;
    std::string text = file_text(c.file);
    for (std::size_t at = 0; (at = text.find(",MC,", at)) != std::string::npos;) {
      text.replace(at, 4, ",USD,");
    }
    const auto summary = import(text, seen, CostMetric::kActual);
    ASSERT_TRUE(summary) << c.file << ": " << summary.error().message;
    EXPECT_EQ(summary->rows, c.rows) << c.file;
    EXPECT_EQ(summary->imported, c.rows) << c.file << (seen.bad.empty() ? "" : seen.bad[0].reason);
    EXPECT_EQ(summary->kind, c.kind);
    EXPECT_EQ(summary->unread_json, 0u) << c.file;
    EXPECT_EQ(summary->rounded_numbers, 0u) << c.file;
    std::vector<std::string> totals = seen.totals();
    EXPECT_EQ(totals.size(), 4u);
    for (std::size_t i = 0; i < totals.size(); ++i) {
      EXPECT_EQ(*parse_exact_decimal(totals[i]), *parse_exact_decimal(c.totals[i]))
          << c.file << " column " << i << ": " << totals[i];
    }
  }
}

TEST(AzureSamples, AMachineOfAScaleSetIsReadFieldByField) {
  bill::CollectingSink seen;
  const auto summary = import(file_text("enterprise_2021.csv"), seen, CostMetric::kActual);
  ASSERT_TRUE(summary);
  ASSERT_EQ(seen.lines.size(), 1u);
  const Charge& charge = seen.lines[0];
  EXPECT_EQ(to_text(charge.charge_period), "2021-02-02T00:00:00Z/2021-02-03T00:00:00Z");
  EXPECT_EQ(to_text(charge.billing_period), "2021-05-01T00:00:00Z/2021-06-01T00:00:00Z");
  EXPECT_EQ(charge.costs.currency().text(), "CAD");
  EXPECT_EQ(charge.instance_type, "Standard_E4s_v3");
  EXPECT_EQ(charge.sku_price_details, R"({"InstanceType":"Standard_E4s_v3"})");
  EXPECT_EQ(charge.resource_name, "aks-defaultpool-12345678-vmss_2");
  EXPECT_EQ(charge.resource_type, "Microsoft.Compute/virtualMachineScaleSets");
  EXPECT_EQ(charge.tags.find("poolName"), "defaultpool");
  EXPECT_EQ(charge.pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(charge.commitment_discount_id, "11111111-12ab-34dc-56ef-123456abcdef");
  EXPECT_EQ(charge.commitment_discount_status, UsedOrUnused::kUsed);
  EXPECT_EQ(charge.commitment_discount_type, "Reservation");
  EXPECT_EQ(to_text(*charge.pricing_quantity), "1");
  EXPECT_EQ(charge.pricing_unit, "10 Hours");
  EXPECT_EQ(to_text(*charge.consumed_quantity), "10");
  EXPECT_EQ(charge.consumed_unit, "Hours");
  EXPECT_EQ(charge.service_category, "Compute");
  for (const char* kept :
       {R"("CommitmentDiscountName":"ExampleReservationName")", R"("x_EffectiveUnitPrice":"1.2")",
        R"("x_ResourceName":"aks-defaultpool-12345678-vmss")", R"("x_SkuTerm":"36")",
        R"("x_PricingUnitDescription":"10 Hours")", R"("x_CostMetric":"Actual")"}) {
    EXPECT_THAT(charge.other_columns, HasSubstr(kept));
  }
  EXPECT_THAT(summary->warnings,
              ElementsAre(HasSubstr("does not amortise"), HasSubstr("has no line end")));
}

// The anonymised sample has MC in place of a currency: the rows are set aside, not guessed.
TEST(AzureSamples, AnUnknownCurrencyIsSetAside) {
  bill::CollectingSink seen;
  const auto summary = import(file_text("enterprise_2020.csv"), seen, CostMetric::kActual);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->rows, 5u);
  EXPECT_EQ(summary->rejected, 5u);
  EXPECT_THAT(seen.bad[0].reason, HasSubstr("'MC' is not a currency"));
}

TEST(AzureSamples, EveryHeaderIsTaken) {
  for (const char* name : {"enterprise_2020.csv", "enterprise_2021.csv", "enterprise_2023.csv",
                           "pay_as_you_go_german.csv"}) {
    const std::string whole = file_text(name);
    std::string first = whole.substr(0, whole.find_first_of("\r\n"));
    std::vector<std::string_view> names;
    for (const auto part : std::views::split(first, ',')) names.emplace_back(part);
    const auto header = csv::Header::of(names);
    ASSERT_TRUE(header) << name;
    EXPECT_TRUE(is_azure_header(header->names())) << name;
    EXPECT_TRUE(azure_bill({.metric = CostMetric::kAmortised})(*header)) << name;
  }
}

TEST(AzureHeader, IsKnownInEverySpelling) {
  const auto names = [](std::vector<std::string> all) { return is_azure_header(all); };
  EXPECT_TRUE(names({"SubscriptionGuid", "UsageDateTime", "MeterId", "PreTaxCost", "Currency"}));
  EXPECT_TRUE(names({"Abonnement-GUID (SubscriptionGuid)", "UsageDateTime (UsageDateTime)",
                     "ID der Verbrauchseinheit (MeterId)", "PreTaxCost (PreTaxCost)", "Currency"}));
  EXPECT_TRUE(names({"subscriptionId", "date", "meterCategory", "costInBillingCurrency"}));
  EXPECT_TRUE(names({"Subscription ID", "Date", "Meter ID", "ExtendedCost"}));
  EXPECT_FALSE(names({"BilledCost", "EffectiveCost", "SubAccountId", "ChargePeriodStart"}));
  EXPECT_FALSE(names({"identity/LineItemId", "lineItem/UnblendedCost"}));
  EXPECT_FALSE(names({}));
  // Azure's own FOCUS export is FOCUS.
  EXPECT_FALSE(names({"BilledCost", "SubscriptionId", "Date", "MeterId", "Cost"}));
}

TEST(AzureHeader, WithoutACostThereIsNoBill) {
  bill::CollectingSink seen;
  const auto summary = import("SubscriptionId,MeterId\n1,2\n", seen, CostMetric::kActual);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().message,
              HasSubstr("CostInBillingCurrency, BillingCurrencyCode, Date"));
}

TEST(AzureHeader, AByteOrderMarkIsNotPartOfTheFirstName) {
  bill::CollectingSink seen;
  const auto summary = import(
      "\xEF\xBB\xBF"
      "Date,PreTaxCost,Currency\n2026-03-05,1,EUR\n",
      seen, CostMetric::kActual);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->imported, 1u);
}

TEST(AzureHeader, TwoColumnsNeverShareAName) {
  const std::vector<std::string> header = {"Date",
                                           "Cost",
                                           "CostInBillingCurrency",
                                           "Currency",
                                           "BillingCurrencyCode",
                                           "invoiceSection",
                                           "InvoiceSectionName",
                                           "any thing",
                                           "AnyThing",
                                           "costMetric"};
  const Columns columns = Columns::of(header);
  EXPECT_EQ(columns.find(Column::kCost), 2u);
  EXPECT_EQ(columns.find(Column::kCurrency), 4u);
  EXPECT_THAT(columns.kept_names(),
              ElementsAre("x_Date", "x_Cost", "x_CostInBillingCurrency", "x_Currency",
                          "x_Currency_5", "x_InvoiceSectionName", "x_InvoiceSectionName_7",
                          "x_AnyThing", "x_AnyThing_9", "x_CostMetric_10"));
}

TEST(AzureUnit, ANumberSaysHowManyAPriceIsFor) {
  struct Case {
    std::string text;
    std::int64_t block;
    bool counts_blocks;
    std::string unit;
    std::string pricing_unit;
  };
  const Case cases[] = {
      {"1 Hour", 1, false, "Hours", "Hours"},
      {"10 Hours", 10, false, "Hours", "10 Hours"},
      {"100 Hours", 100, false, "Hours", "100 Hours"},
      {"1 GB", 1, false, "GB", "GB"},
      {"1 GB/Month", 1, false, "GB/Month", "GB/Month"},
      {"1 GB Hour", 1, false, "GB-Hours", "GB-Hours"},
      {"1 /Month", 1, false, "Units/Month", "Units/Month"},
      {"1/Month", 1, false, "Units/Month", "Units/Month"},
      {"Gb / Month", 1, false, "Gb/Month", "Gb/Month"},
      {"10000 Transactions", 10000, false, "Transactions", "10000 Transactions"},
      {"100000000", 100000000, false, "Units", "100000000 Units"},
      {"10K", 10000, true, "Units", "10000 Units"},
      {"1M/Month", 1000000, true, "Units/Month", "1000000 Units/Month"},
      {"10K Transactions", 10000, true, "Transactions", "10000 Transactions"},
      {"1B", 1000000000, true, "Units", "1000000000 Units"},
      {"1 小时", 1, false, "Hours", "Hours"},
      {"", 1, false, "Units", "Units"},
      {"Unassigned", 1, false, "Unassigned", "Unassigned"},
      {"0 Unassigned", 1, false, "0 Unassigned", "0 Unassigned"},
      {"10000s", 1, false, "10000s", "10000s"},
      {"99999999999999999999 Hours", 1, false, "99999999999999999999-Hours",
       "99999999999999999999-Hours"},
  };
  for (const Case& c : cases) {
    const UnitOfMeasure measure = parse_unit_of_measure(c.text);
    EXPECT_EQ(measure.block, c.block) << c.text;
    EXPECT_EQ(measure.counts_blocks, c.counts_blocks) << c.text;
    EXPECT_EQ(measure.unit, c.unit) << c.text;
    EXPECT_EQ(measure.pricing_unit, c.pricing_unit) << c.text;
  }
}

TEST(AzureUnit, QuantitiesInBlocksAndInUnits) {
  const auto blocks = [](const char* quantity, const char* unit) {
    const auto parsed =
        pricing_quantity(*parse_exact_decimal(quantity), parse_unit_of_measure(unit));
    return to_text(parsed.value) + (parsed.rounded ? " rounded" : "");
  };
  EXPECT_EQ(blocks("25", "10 Hours"), "2.5");
  EXPECT_EQ(blocks("-25", "100 Hours"), "-0.25");
  EXPECT_EQ(blocks("0.0129", "10K"), "0.0129");
  EXPECT_EQ(blocks("1", "30 Days"), "0.033333333333333333 rounded");
  EXPECT_EQ(blocks("2", "30 Days"), "0.066666666666666667 rounded");
  EXPECT_EQ(blocks("-2", "30 Days"), "-0.066666666666666667 rounded");
  EXPECT_EQ(blocks("0.000000000000000005", "10 Hours"), "0 rounded");                     // to even
  EXPECT_EQ(blocks("0.000000000000000015", "10 Hours"), "0.000000000000000002 rounded");  // to even
  EXPECT_EQ(to_text(*consumed_quantity(*parse_exact_decimal("0.428"), parse_unit_of_measure("1K"))),
            "428");
  EXPECT_FALSE(
      consumed_quantity(*parse_exact_decimal("99999999999999999999"), parse_unit_of_measure("1K")));
}

TEST(AzureDate, OfTwoKinds) {
  for (const char* text :
       {"03/05/2026", "3/5/2026", "2026-03-05", "2026-03-05T00:00:00.0000000Z"}) {
    const auto at = parse_export_date(text);
    ASSERT_TRUE(at) << text;
    EXPECT_EQ(to_text(*at), "2026-03-05T00:00:00Z") << text;
  }
  for (const char* text : {"", "13/05/2026", "02/30/2026", "3/5/26", "3/5/02026", "/5/2026",
                           "3//2026", "3/5/2026 0:00", "05.03.2026", "3/5/1969", "3/5/2200"}) {
    EXPECT_FALSE(parse_export_date(text)) << text;
  }
  EXPECT_EQ(to_text(*parse_export_date("13/05/2026", DateOrder::kDayFirst)),
            "2026-05-13T00:00:00Z");
  EXPECT_EQ(to_text(*parse_export_date("5/3/2026", DateOrder::kDayFirst)), "2026-03-05T00:00:00Z");
  EXPECT_FALSE(parse_export_date("03/31/2026", DateOrder::kDayFirst));
  EXPECT_EQ(to_text(utc_month(*parse_export_date("2/29/2024"))),
            "2024-02-01T00:00:00Z/2024-03-01T00:00:00Z");
}

TEST(AzureService, ByMeterThenByFamily) {
  EXPECT_EQ(service_category("Virtual Machines", "Networking").category, "Compute");
  EXPECT_EQ(service_category("Bandwidth", "Compute").category, "Networking");
  EXPECT_EQ(service_category("Something New", "AI + Machine Learning").category,
            "AI and Machine Learning");
  EXPECT_EQ(service_category("Something New", "").subcategory, "Other (Other)");
}

TEST(AzureBill, AnHourOfAMachine) {
  const Charge charge = taken({});
  EXPECT_THAT(costs_of(charge), ElementsAre("600", "600", "652.728", "600"));
  EXPECT_EQ(to_text(charge.billing_period), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
  EXPECT_EQ(charge.billing_account_id, "12345678");
  EXPECT_EQ(charge.sub_account_name, "research");
  EXPECT_EQ(charge.service_provider_name, "Microsoft");
  EXPECT_EQ(charge.invoice_issuer_name, "Microsoft");
  EXPECT_EQ(charge.resource_name, "gpu-1");
  EXPECT_EQ(charge.resource_type, "Microsoft.Compute/virtualMachines");
  EXPECT_EQ(charge.instance_type, "Standard_ND96asr_v4");
  EXPECT_EQ(charge.sku_id, "meter-1");
  EXPECT_EQ(charge.sku_price_id, "AAA-1");
  EXPECT_EQ(charge.sku_meter, "ND96asr A100 v4");
  EXPECT_EQ(to_text(*charge.contracted_unit_price), "25");
  EXPECT_EQ(to_text(*charge.list_unit_price), "27.197");
  EXPECT_EQ(charge.pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(charge.charge_frequency, ChargeFrequency::kUsageBased);
  EXPECT_EQ(charge.tags.find("team"), "research");
  EXPECT_THAT(charge.other_columns, Not(HasSubstr("x_ChargeType")));
  EXPECT_THAT(charge.other_columns, Not(HasSubstr("x_Quantity")));
}

TEST(AzureBill, WhatEachKindOfLineIs) {
  struct Case {
    Cells cells;
    CostMetric metric;
    std::string says;  // category, class, pricing category, status
    std::vector<std::string> billed_and_effective;
  };
  const auto says = [](const Charge& c) {
    return std::string(to_text(c.charge_category)) + (c.is_correction ? " correction" : "") + " " +
           (c.pricing_category ? std::string(to_text(*c.pricing_category)) : "-") + " " +
           (c.commitment_discount_status ? std::string(to_text(*c.commitment_discount_status))
                                         : "-");
  };
  const auto reserved = [](const std::string& type, const std::string& cost) -> Cells {
    return {{"ChargeType", type},
            {"PricingModel", "Reservation"},
            {"ReservationId", "r-1"},
            {"CostInBillingCurrency", cost}};
  };
  const Case cases[] = {
      {{}, CostMetric::kAmortised, "Usage Standard -", {"600", "600"}},
      {{{"PricingModel", "Spot"}}, CostMetric::kActual, "Usage Dynamic -", {"600", "600"}},
      {{{"PricingModel", ""}, {"MeterName", "ND96 Spot"}},
       CostMetric::kActual,
       "Usage Dynamic -",
       {"600", "600"}},
      {{{"ChargeType", "Tax"}}, CostMetric::kActual, "Tax - -", {"600", "600"}},
      {{{"ChargeType", "RoundingAdjustment"}, {"CostInBillingCurrency", "-0.01"}},
       CostMetric::kAmortised,
       "Adjustment - -",
       {"-0.01", "-0.01"}},
      {{{"ChargeType", "Refund"}, {"CostInBillingCurrency", "-600"}},
       CostMetric::kActual,
       "Usage correction Standard -",
       {"-600", "-600"}},
      {{{"ChargeType", "Purchase"}, {"Frequency", "OneTime"}},
       CostMetric::kAmortised,
       "Purchase Standard -",
       {"600", "600"}},
      {reserved("Usage", "0"), CostMetric::kActual, "Usage Committed Used", {"0", "0"}},
      {reserved("Usage", "400"), CostMetric::kAmortised, "Usage Committed Used", {"0", "400"}},
      {reserved("UnusedReservation", "50"),
       CostMetric::kAmortised,
       "Usage Committed Unused",
       {"0", "50"}},
      {reserved("Purchase", "4380"), CostMetric::kActual, "Purchase Standard -", {"4380", "4380"}},
      {reserved("Purchase", "4380"),
       CostMetric::kActualPurchases,
       "Purchase Standard -",
       {"4380", "0"}},
      {reserved("Refund", "-100"),
       CostMetric::kActualPurchases,
       "Purchase correction Standard -",
       {"-100", "0"}},
      {reserved("Usage", "0.5"),
       CostMetric::kActualPurchases,
       "Usage Committed Used",
       {"0.5", "0"}},
      {{{"ChargeType", "UnusedSavingsPlan"},
        {"PricingModel", "SavingsPlan"},
        {"benefitId", "/providers/Microsoft.BillingBenefits/savingsPlanOrders/o/savingsPlans/s"}},
       CostMetric::kAmortised,
       "Usage Committed Unused",
       {"0", "600"}},
  };
  for (const Case& c : cases) {
    const Charge charge = taken(c.cells, c.metric);
    const std::string shown = c.cells.empty() ? "" : c.cells[0].second;
    EXPECT_EQ(says(charge), c.says) << shown;
    const auto costs = costs_of(charge);
    EXPECT_EQ(std::vector<std::string>(costs.begin(), costs.begin() + 2), c.billed_and_effective)
        << c.says;
  }
}

TEST(AzureBill, NullsAreWhereFocusWantsThem) {
  const Charge tax = taken({{"ChargeType", "Tax"}});
  EXPECT_TRUE(tax.sku_id.empty() && tax.sku_price_id.empty() && tax.sku_meter.empty());
  EXPECT_TRUE(tax.sku_price_details.empty());
  EXPECT_FALSE(tax.pricing_quantity || tax.contracted_unit_price || tax.list_unit_price);
  EXPECT_FALSE(tax.consumed_quantity);
  EXPECT_THAT(tax.other_columns, HasSubstr(R"("x_SkuMeterId":"meter-1")"));
  EXPECT_THAT(tax.other_columns, HasSubstr(R"("x_Quantity":"24")"));
  EXPECT_THAT(tax.other_columns, HasSubstr(R"("x_UnitPrice":"25")"));

  const Charge unused = taken({{"ChargeType", "UnusedReservation"},
                               {"PricingModel", "Reservation"},
                               {"ReservationId", "r-1"},
                               {"ReservationName", "three years of ND"}},
                              CostMetric::kAmortised);
  EXPECT_FALSE(unused.consumed_quantity);
  EXPECT_EQ(unused.resource_id, "r-1");
  EXPECT_EQ(unused.resource_name, "three years of ND");
  EXPECT_EQ(unused.resource_type, "Reservation");
  EXPECT_THAT(unused.other_columns, HasSubstr(R"("x_ResourceId":"/subscriptions/sub-1/)"));

  const Charge purchase = taken({{"ChargeType", "Purchase"}, {"Frequency", "OneTime"}});
  EXPECT_TRUE(purchase.pricing_quantity && !purchase.consumed_quantity);
}

TEST(AzureBill, ACustomerAgreementIsPricedInOneCurrencyAndBilledInAnother) {
  const Charge charge = taken({{"billingProfileId", "profile-1"},
                               {"billingProfileName", "Profile"},
                               {"ProductId", "DZH318Z0"},
                               {"PartNumber", ""},
                               {"pricingCurrency", "USD"},
                               {"BillingCurrencyCode", "EUR"},
                               {"exchangeRatePricingToBilling", "0.9"},
                               {"CostInBillingCurrency", "540"},
                               {"costInPricingCurrency", "600"},
                               {"costInUsd", "600"},
                               {"paygCostInBillingCurrency", "587.4552"}});
  EXPECT_EQ(charge.billing_account_id, "profile-1");
  EXPECT_EQ(charge.sku_id, "DZH318Z0");
  EXPECT_EQ(charge.sku_price_id, "meter-1");
  EXPECT_THAT(costs_of(charge), ElementsAre("540", "540", "587.4552", "540"));
  EXPECT_EQ(to_text(*charge.contracted_unit_price), "22.5");
  EXPECT_EQ(to_text(*charge.list_unit_price), "24.4773");
  for (const char* kept :
       {R"("PricingCurrency":"USD")", R"("PricingCurrencyContractedUnitPrice":"25")",
        R"("PricingCurrencyListUnitPrice":"27.197")", R"("x_BillingAccountId":"12345678")",
        R"("x_BillingExchangeRate":"0.9")", R"("x_CostInPricingCurrency":"600")",
        R"("x_BilledCostInUsd":"600")"}) {
    EXPECT_THAT(charge.other_columns, HasSubstr(kept));
  }
  const Charge no_rate = taken({{"pricingCurrency", "USD"}, {"BillingCurrencyCode", "EUR"}});
  EXPECT_FALSE(no_rate.contracted_unit_price);
  EXPECT_THAT(costs_of(no_rate), ElementsAre("600", "600", "600", "600"));
}

TEST(AzureBill, APriceOfZeroIsNone) {
  const Charge charge = taken({{"UnitPrice", "0"}, {"PayGPrice", "0"}});
  EXPECT_FALSE(charge.contracted_unit_price || charge.list_unit_price);
  EXPECT_THAT(costs_of(charge), ElementsAre("600", "600", "600", "600"));
}

TEST(AzureBill, WhatIsRefused) {
  struct Case {
    Cells cells;
    CostMetric metric;
    std::string column;
    std::string reason;
  };
  const Case cases[] = {
      {{{"ChargeType", "Gift"}}, CostMetric::kActual, "ChargeType", "'Gift' is not one that Azure"},
      {{{"ChargeType", ""}}, CostMetric::kActual, "ChargeType", "'' is not one that Azure"},
      {{{"PricingModel", "Barter"}}, CostMetric::kActual, "PricingModel", "'Barter'"},
      {{{"Frequency", "Often"}}, CostMetric::kActual, "Frequency", "'Often'"},
      {{{"CostInBillingCurrency", ""}}, CostMetric::kActual, "CostInBillingCurrency", "is empty"},
      {{{"CostInBillingCurrency", "1,5"}},
       CostMetric::kActual,
       "CostInBillingCurrency",
       "separators"},
      {{{"BillingCurrencyCode", "MC"}}, CostMetric::kActual, "BillingCurrencyCode", "ISO 4217"},
      {{{"Date", "31/03/2026"}}, CostMetric::kActual, "Date", "MM/DD/YYYY"},
      {{{"BillingPeriodEndDate", "02/01/2026"}},
       CostMetric::kActual,
       "BillingPeriodEndDate",
       "before"},
      {{{"Quantity", "many"}}, CostMetric::kActual, "Quantity", "digits"},
      {{{"UnitPrice", "$1"}}, CostMetric::kActual, "UnitPrice", "digits"},
      {{{"ChargeType", "UnusedReservation"}},
       CostMetric::kActual,
       "ChargeType",
       "read it as amortised"},
      {{{"ChargeType", "UnusedSavingsPlan"}},
       CostMetric::kActualPurchases,
       "ChargeType",
       "read it as amortised"},
      {{{"ChargeType", "Purchase"}, {"PricingModel", "SavingsPlan"}},
       CostMetric::kAmortised,
       "ChargeType",
       "read it as actual"},
  };
  for (const Case& c : cases) {
    bill::CollectingSink seen;
    const auto summary = import(csv({line(c.cells), line({})}), seen, c.metric);
    ASSERT_TRUE(summary);
    ASSERT_EQ(seen.bad.size(), 1u) << c.reason;
    EXPECT_EQ(seen.bad[0].column, c.column);
    EXPECT_THAT(seen.bad[0].reason, HasSubstr(c.reason));
    EXPECT_EQ(seen.bad[0].line, 2u);
  }
}

TEST(AzureBill, UnreadTagsStayAsText) {
  bill::CollectingSink seen;
  const auto summary =
      import(csv({line({{"Tags", R"("team": {"a":1})"}})}), seen, CostMetric::kActual);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->unread_json, 1u);
  EXPECT_THAT(seen.lines[0].other_columns, HasSubstr(R"("Tags":"\"team\": {\"a\":1}")"));
}

// What a British portal writes, or a spreadsheet.
TEST(AzureDate, OrderIsFoundFromTheDatesOfAnExport) {
  const auto order_of = [](const std::vector<std::string>& dates, const std::string& begin = "",
                           const std::string& end = "") -> std::string {
    DateSurvey survey;
    for (const std::string& date : dates) survey.look_at(date, begin, end);
    const auto found = survey.infer();
    if (!found) return "refused";
    return found->order == DateOrder::kDayFirst ? "day first" : "month first";
  };
  EXPECT_EQ(order_of({"05/03/2026", "31/03/2026"}), "day first");
  EXPECT_EQ(order_of({"03/05/2026", "03/31/2026"}), "month first");
  EXPECT_EQ(order_of({"01/02/2026", "02/02/2026"}, "01/02/2026", "28/02/2026"), "day first");
  EXPECT_EQ(order_of({"02/01/2026", "03/01/2026"}, "02/01/2026", "03/31/2026"), "month first");
  EXPECT_EQ(order_of({"02/01/2026", "02/02/2026"}), "month first");  // one month
  EXPECT_EQ(order_of({"2026-02-01", "2026-03-02"}), "month first");
  EXPECT_EQ(order_of({"01/02/2026", "02/02/2026"}), "refused");  // February, or two months
  EXPECT_EQ(order_of({"31/03/2026", "03/31/2026"}), "refused");
  // An export of the first day of a month.
  EXPECT_EQ(order_of({"02/01/2026"}), "refused");
  EXPECT_EQ(order_of({"03/03/2026"}), "month first");  // the same day either way
  EXPECT_EQ(order_of({"01/03/2026"}, "2026-03-01", "2026-03-31"), "day first");
  EXPECT_EQ(order_of({"03/01/2026"}, "2026-03-01", "2026-03-31"), "month first");
  EXPECT_EQ(order_of({"01/03/2026"}, "01/03/2026", "31/03/2026"), "day first");
  EXPECT_EQ(order_of({"03/01/2026"}, "03/01/2026", "03/31/2026"), "month first");
  EXPECT_EQ(order_of({"01/03/2026"}, "2026-03-01"), "day first");
  EXPECT_EQ(order_of({"02/03/2026"}, "01/03/2026"), "day first");
  EXPECT_EQ(order_of({"03/02/2026"}, "03/01/2026"), "month first");
  EXPECT_EQ(order_of({"02/03/2026"}, "02/03/2026", "03/02/2026"), "month first");  // to 2 March
  // A spreadsheet turned some of the dates into its own.
  EXPECT_EQ(order_of({"01/03/2026", "2026-03-02", "2026-03-03"}), "day first");
  EXPECT_EQ(order_of({"03/01/2026", "2026-03-02", "2026-03-03"}), "month first");
  EXPECT_EQ(order_of({"01/03/2026", "2026-05-02"}), "refused");
  EXPECT_EQ(order_of({"01/03/2026", "2026-05-02", "2026-05-13"}, "", "2026-05-31"), "refused");
}

TEST(AzureBill, AnExportThatIsNotSaidToBeActualWarns) {
  bill::CollectingSink seen;
  const auto summary = import(csv({line({})}), seen, std::nullopt);
  ASSERT_TRUE(summary);
  EXPECT_THAT(summary->warnings, ElementsAre(HasSubstr("actual or amortised")));
}

// One month, exported twice.
struct Month {
  std::vector<Cells> actual;
  std::vector<Cells> amortised;
  Int128 actual_ticks = 0;
  Int128 amortised_ticks = 0;
};

std::string amount(Int128 ticks) { return to_text(Decimal::from_ticks(ticks)); }

Month any_month() {
  Month month;
  const auto ticks = [] {
    return Int128{*rc::gen::inRange<std::int64_t>(-1'000'000'000'000, 1'000'000'000'000)} *
           1'000'003;
  };
  const auto add_actual = [&](Cells cells, Int128 cost) {
    cells.emplace_back("CostInBillingCurrency", amount(cost));
    month.actual.push_back(line(cells));
    month.actual_ticks += cost;
  };
  const auto add_amortised = [&](Cells cells, Int128 cost) {
    cells.emplace_back("CostInBillingCurrency", amount(cost));
    month.amortised.push_back(line(cells));
    month.amortised_ticks += cost;
  };
  const auto count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) {
    const Cells reserved = {
        {"PricingModel", *rc::gen::element(std::string("Reservation"), std::string("SavingsPlan"))},
        {"benefitId", "b-" + std::to_string(i)}};
    const auto with_type = [](Cells cells, const char* type) {
      cells.emplace_back("ChargeType", type);
      return cells;
    };
    switch (*rc::gen::inRange(0, 4)) {
      case 0: {
        const char* const types[] = {"Tax", "RoundingAdjustment", "Usage", "Refund", "Purchase"};
        const int type = *rc::gen::inRange(0, 5);
        Cells cells = {{"ChargeType", types[type]}};
        if (type < 2 && *rc::gen::arbitrary<bool>()) cells.emplace_back("benefitId", "b");
        const Int128 cost = ticks();
        add_actual(cells, cost);
        add_amortised(cells, cost);
        break;
      }
      case 1:
        add_actual(with_type(reserved, "Usage"), 0);
        add_amortised(with_type(reserved, "Usage"), ticks());
        break;
      case 2:
        add_amortised(with_type(reserved, "UnusedReservation"), ticks());
        break;
      default:
        add_actual(with_type(reserved, *rc::gen::arbitrary<bool>() ? "Purchase" : "Refund"),
                   ticks());
        break;
    }
  }
  return month;
}

RC_GTEST_PROP(AzureBill, TwoExportsOfAMonthMakeBothLedgersExact, ()) {
  const Month month = any_month();
  bill::CollectingSink both;
  std::uint64_t rows = 0;
  if (!month.amortised.empty()) {
    const auto summary = import(csv(month.amortised), both, CostMetric::kAmortised);
    RC_ASSERT(summary.has_value());
    rows += summary->imported;
  }
  if (!month.actual.empty()) {
    const auto summary = import(csv(month.actual), both, CostMetric::kActualPurchases);
    RC_ASSERT(summary.has_value());
    rows += summary->imported;
    bill::CollectingSink alone;
    RC_ASSERT(import(csv(month.actual), alone, CostMetric::kActual).has_value());
    Int128 billed = 0;
    for (const Charge& charge : alone.lines) billed += charge.costs.billed.ticks();
    RC_ASSERT(billed == month.actual_ticks);
    RC_ASSERT(alone.bad.empty());
  }
  RC_ASSERT(both.bad.empty());
  RC_ASSERT(both.lines.size() == rows);
  Int128 billed = 0;
  Int128 effective = 0;
  for (const Charge& charge : both.lines) {
    billed += charge.costs.billed.ticks();
    effective += charge.costs.effective.ticks();
  }
  RC_ASSERT(billed == month.actual_ticks);
  RC_ASSERT(effective == month.amortised_ticks);
}

}  // namespace
}  // namespace pennyweight::azure
