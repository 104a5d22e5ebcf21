#include "ingest/bills/gcp/gcp_bill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/bills/gcp/gcp_testing.h"

namespace pennyweight::gcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Charge only_line(const Cells& changed) {
  const Imported imported = import_rows({usage_row(changed)});
  EXPECT_EQ(imported.error, "");
  EXPECT_THAT(imported.bad, IsEmpty()) << (imported.bad.empty() ? "" : imported.bad[0].reason);
  EXPECT_THAT(imported.lines, SizeIs(1));
  return imported.lines.empty()
             ? Charge({Instant{}, Instant{std::chrono::milliseconds{1}}},
                      {Instant{}, Instant{std::chrono::milliseconds{1}}}, Costs::zero(kUsd))
             : imported.lines[0];
}

std::vector<std::string> lines_of(const Cells& changed) {
  const Imported imported = import_rows({usage_row(changed)});
  EXPECT_EQ(imported.error, "");
  EXPECT_THAT(imported.bad, IsEmpty()) << (imported.bad.empty() ? "" : imported.bad[0].reason);
  return charge_text(imported.lines);
}

std::string fault_of(const Cells& changed) {
  const Imported imported = import_rows({usage_row(changed)});
  EXPECT_EQ(imported.error, "");
  EXPECT_THAT(imported.lines, IsEmpty());
  return imported.bad.empty() ? "" : imported.bad[0].column + ": " + imported.bad[0].reason;
}

TEST(GcpBill, ARowOfUsageColumnByColumn) {
  const Charge line = only_line(
      {{"cost_at_list", "88.5"},
       {"price.effective_price", "9.79625"},
       {"price.list_price", "11.0625"},
       {"price.tier_start_amount", "0"},
       {"export_time", "2026-03-10 09:11:12.066000+00:00"},
       {"labels",
        R"([{"key":"team","value":"vision"},{"key":"goog-k8s-cluster-name","value":"c"}])"},
       {"system_labels",
        R"([{"key":"compute.googleapis.com/machine_spec","value":"a3-highgpu-8g"}])"},
       {"project.labels", R"([{"key":"cost-center","value":"cc-7"}])"},
       {"tags", R"([{"key":"env","value":"prod","inherited":true,"namespace":"821"}])"},
       {"partition_date", "2026-03-10"}});
  EXPECT_EQ(line.billing_account_id, "01-02-03");
  EXPECT_EQ(line.sub_account_id, "ml");
  EXPECT_EQ(line.sub_account_name, "Machine learning");
  EXPECT_EQ(to_text(line.billing_period), "2026-03-01T08:00:00Z/2026-04-01T07:00:00Z");
  EXPECT_EQ(to_text(line.charge_period), "2026-03-10T05:00:00Z/2026-03-10T06:00:00Z");
  EXPECT_EQ(line.invoice_issuer_name, "Google Cloud");
  EXPECT_EQ(line.service_provider_name, "Google Cloud");
  EXPECT_EQ(charge_text(line), "Usage 78.37 78.37 88.5 78.37");
  EXPECT_FALSE(line.is_correction);
  EXPECT_EQ(line.charge_frequency, ChargeFrequency::kUsageBased);
  EXPECT_EQ(line.charge_description, "Nvidia H100 80GB GPU running in Iowa");
  EXPECT_EQ(line.service_category, "Compute");
  EXPECT_EQ(line.service_subcategory, "Virtual Machines");
  EXPECT_EQ(line.service_name, "Compute Engine");
  EXPECT_EQ(line.region_id, "us-central1");
  EXPECT_EQ(line.availability_zone, "us-central1-a");
  EXPECT_EQ(line.resource_id,
            "//compute.googleapis.com/projects/ml/zones/us-central1-a/instances/4711");
  EXPECT_EQ(line.resource_name, "gpu-1");
  EXPECT_EQ(line.resource_type, "instances");
  EXPECT_EQ(line.sku_id, "AAAA-BBBB-CCCC");
  EXPECT_EQ(line.sku_meter, line.charge_description);
  EXPECT_EQ(line.sku_price_id, "AAAA-BBBB-CCCC/0");
  EXPECT_EQ(line.instance_type, "a3-highgpu-8g");
  EXPECT_EQ(line.pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(to_text(*line.pricing_quantity), "8");
  EXPECT_EQ(line.pricing_unit, "hour");
  EXPECT_EQ(to_text(*line.list_unit_price), "11.0625");
  EXPECT_EQ(to_text(*line.contracted_unit_price), "9.79625");
  EXPECT_EQ(to_text(*line.consumed_quantity), "28800");
  EXPECT_EQ(line.consumed_unit, "seconds");
  EXPECT_EQ(line.tags.find("team"), "vision");
  EXPECT_EQ(line.tags.find("goog-k8s-cluster-name"), "c");
  EXPECT_EQ(line.tags.find("project/cost-center"), "cc-7");
  EXPECT_EQ(line.tags.find("tag/821/env"), "prod");
  EXPECT_EQ(line.other_columns,
            R"({"x_CostType":"regular","x_CurrencyConversionRate":"1",)"
            R"("x_ExportTime":"2026-03-10T09:11:12.066Z","x_Location":"us-central1-a",)"
            R"("x_PartitionDate":"2026-03-10","x_ServiceId":"6F81-5844-456A",)"
            R"("x_Tags":"[{\"key\":\"env\",\"value\":\"prod\",\"inherited\":true,)"
            R"(\"namespace\":\"821\"}]"})");
}

TEST(GcpBill, ReducedPricesComeOffTheUsage) {
  for (const std::string type : {"SUSTAINED_USAGE_DISCOUNT", "DISCOUNT", "SPENDING_BASED_DISCOUNT",
                                 "FREE_TIER", "SUBSCRIPTION_BENEFIT", "RESELLER_MARGIN"}) {
    EXPECT_THAT(lines_of({{"cost", "10"},
                          {"cost_at_list", "12"},
                          {"credits", R"([{"name":"n","amount":-2.5,"type":")" + type + "\"}]"}}),
                ElementsAre("Usage 7.5 7.5 12 10"))
        << type;
  }
}

TEST(GcpBill, ACreditThatIsAnIncentiveIsALineOfItsOwn) {
  for (const std::string type : {"PROMOTION", "CREDIT_TYPE_UNSPECIFIED", "OF_NEXT_YEAR", ""}) {
    EXPECT_THAT(
        lines_of({{"cost", "10"},
                  {"credits", R"([{"name":"Trial","amount":"-4","type":")" + type + "\"}]"}}),
        ElementsAre("Usage 10 10 10 10", "Credit -4 -4 -4 -4"))
        << type;
  }
}

TEST(GcpBill, ACreditLineSaysWhatItIs) {
  const Imported imported = import_rows({usage_row(
      {{"credits",
        R"([{"name":"FreeTrial","full_name":"Free trial credit","id":"FT-1","type":"PROMOTION",)"
        R"("amount":-1,"customer_amount":"-1.1"},{"type":"PROMOTION","amount":0}])"}})});
  ASSERT_THAT(imported.lines, SizeIs(2));
  const Charge& credit = imported.lines[1];
  EXPECT_EQ(credit.charge_category, ChargeCategory::kCredit);
  EXPECT_EQ(credit.charge_frequency, ChargeFrequency::kOneTime);
  EXPECT_EQ(credit.charge_description, "Free trial credit");
  EXPECT_EQ(credit.resource_id, imported.lines[0].resource_id);
  EXPECT_EQ(credit.sku_price_id, "");
  EXPECT_FALSE(credit.pricing_category || credit.pricing_quantity || credit.consumed_quantity);
  EXPECT_EQ(credit.other_columns, R"({"x_CostType":"regular","x_CreditCustomerAmount":"-1.1",)"
                                  R"("x_CreditFullName":"Free trial credit","x_CreditId":"FT-1",)"
                                  R"("x_CreditName":"FreeTrial","x_CreditType":"PROMOTION",)"
                                  R"("x_CurrencyConversionRate":"1","x_Location":"us-central1-a",)"
                                  R"("x_ServiceId":"6F81-5844-456A"})");
  EXPECT_THAT(imported.lines[0].other_columns,
              HasSubstr(R"("x_Credits":"[{\"name\":\"FreeTrial\")"));
}

TEST(GcpBill, CreditsFromBeforeTheyHadTypesGoByTheirNames) {
  EXPECT_THAT(lines_of({{"cost", "10"},
                        {"credits", R"([{"name":"Sustained Usage Discount","amount":-1}])"}}),
              ElementsAre("Usage 9 9 10 10"));
  EXPECT_THAT(lines_of({{"cost", "10"},
                        {"credits", R"([{"name":"Committed Usage Discount: CPU","amount":-10}])"}}),
              ElementsAre("Usage 0 0 10 10"));
}

TEST(GcpBill, CoveredUsageIsCommittedAndBillsNothing) {
  const Charge line = only_line(
      {{"cost", "10"},
       {"credits",
        R"([{"name":"Committed Usage Discount: CPU","id":"Committed Usage Discount: CPU",)"
        R"("amount":-10,"type":"COMMITTED_USAGE_DISCOUNT"}])"}});
  EXPECT_EQ(charge_text(line), "Usage 0 0 10 10");
  EXPECT_EQ(line.pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(line.commitment_discount_id, "Committed Usage Discount: CPU");
  EXPECT_EQ(line.commitment_discount_category, "Usage");
  EXPECT_EQ(line.commitment_discount_type, "Resource-based CUD");
  EXPECT_EQ(line.commitment_discount_status, UsedOrUnused::kUsed);
  EXPECT_THAT(line.other_columns, HasSubstr(R"("CommitmentDiscountQuantity":"8")"));
}

TEST(GcpBill, UsageThatIsCoveredInPartBecomesTwoLines) {
  const Imported imported = import_rows({usage_row(
      {{"cost", "8"},
       {"cost_at_list", "10"},
       {"usage.amount", "10"},
       {"usage.amount_in_pricing_units", "1"},
       {"credits", R"([{"type":"COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE","id":"c","amount":-6},)"
                   R"({"type":"SUSTAINED_USAGE_DISCOUNT","amount":-0.5},)"
                   R"({"type":"PROMOTION","name":"P","amount":-1}])"}})});
  EXPECT_THAT(charge_text(imported.lines),
              ElementsAre("Usage 0 0 7.5 6", "Usage 1.5 1.5 2.5 2", "Credit -1 -1 -1 -1"));
  const Charge& covered = imported.lines[0];
  const Charge& rest = imported.lines[1];
  EXPECT_EQ(covered.pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(covered.commitment_discount_category, "Spend");
  EXPECT_EQ(to_text(*covered.pricing_quantity), "0.75");
  EXPECT_EQ(to_text(*covered.consumed_quantity), "7.5");
  EXPECT_EQ(rest.pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(rest.commitment_discount_id, "");
  EXPECT_FALSE(rest.commitment_discount_status);
  EXPECT_EQ(to_text(*rest.pricing_quantity), "0.25");
  EXPECT_EQ(to_text(*rest.consumed_quantity), "2.5");
  EXPECT_EQ(imported.lines[2].commitment_discount_id, "");
}

TEST(GcpBill, ANegatedRowIsDividedAsTheRowThatItNegates) {
  EXPECT_THAT(
      lines_of({{"cost", "-8"},
                {"usage.amount_in_pricing_units", "-1"},
                {"credits", R"([{"type":"COMMITTED_USAGE_DISCOUNT","id":"c","amount":6}])"}}),
      ElementsAre("Usage 0 0 -6 -6", "Usage -2 -2 -2 -2"));
}

// The rows of Google's page on the two models, "Overutilized CUD scenario": before and after.
TEST(GcpBill, TheOlderModelOfCommitments) {
  const std::string subscription = "subscriptions/e52fd279-0851-4f53-a533-093119e27bad";
  const std::string origin = R"([{"key":"goog-originating-sku-id","value":"RAM SKU"}])";
  const Imported imported = import_rows({
      usage_row({{"sku.description", "Commitment - dollar based v1: GCE for 1 year"},
                 {"cost", "0.046868"},
                 {"usage.amount_in_pricing_units", "6.509490"},
                 {"price.effective_price", "0.0072"},
                 {"labels", origin},
                 {"resource.name", ""},
                 {"resource.global_name", ""},
                 {"subscription.instance_id", subscription}}),
      usage_row({{"sku.description", "E2 Instance Ram running in Americas"},
                 {"cost", "0.174496"},
                 {"price.effective_price", "0.02181159"},
                 {"credits", R"([{"amount":-0.065095,"full_name":"Committed use discount - dollar )"
                             R"(based: GCE Commitments","type":)"
                             R"("COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE"}])"}}),
      // Not attributed to anything: the export does not tell what it was used for.
      usage_row({{"sku.description", "Commitment v1: Nvidia H100 80GB GPU in Iowa for 1 Year"},
                 {"cost", "5"},
                 {"subscription.instance_id", "subscriptions/h"}}),
  });
  ASSERT_THAT(charge_text(imported.lines),
              ElementsAre("Purchase 0.046868 0 0.046868 0.046868", "Usage 0 0.046868 0 0",
                          "Usage 0 0 0.065095 0.065095",
                          "Usage 0.109401 0.109401 0.109401 0.109401", "Purchase 5 5 5 5"));
  const Charge& purchase = imported.lines[0];
  EXPECT_EQ(purchase.resource_id, subscription);
  EXPECT_EQ(purchase.commitment_discount_id, subscription);
  EXPECT_EQ(purchase.commitment_discount_category, "Spend");
  EXPECT_EQ(purchase.charge_frequency, ChargeFrequency::kRecurring);
  EXPECT_EQ(purchase.pricing_category, PricingCategory::kStandard);
  EXPECT_FALSE(purchase.commitment_discount_status);
  EXPECT_FALSE(purchase.consumed_quantity);
  const Charge& used = imported.lines[1];
  EXPECT_EQ(used.commitment_discount_status, UsedOrUnused::kUsed);
  EXPECT_EQ(used.commitment_discount_id, subscription);
  EXPECT_EQ(used.pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(used.resource_id, "");
  EXPECT_EQ(imported.lines[4].commitment_discount_category, "Usage");
}

// "Underutilized CUD scenario", after.
TEST(GcpBill, TheNewerModelOfCommitments) {
  const std::string subscription = "subscriptions/1fd3b130-40f8-4a79-ac6f-5753aaa0ceeb";
  const auto fee = [&](const std::string& cost, const std::string& credits) {
    return usage_row({{"sku.description", "Compute Flexible CUD 1 Year"},
                      {"cost", cost},
                      {"usage.amount_in_pricing_units", cost},
                      {"price.effective_price", "1"},
                      {"consumption_model.id", "7754-699E-0EBF"},
                      {"consumption_model.description", "Default"},
                      {"credits", credits},
                      {"subscription.instance_id", subscription}});
  };
  const Imported imported = import_rows({
      fee("0.022994", "[]"),
      fee("0.125637", R"([{"amount":"-0.1256348","type":"FEE_UTILIZATION_OFFSET"}])"),
      usage_row({{"sku.description", "E2 Instance Ram running in Americas"},
                 {"cost", "0.125637"},
                 {"cost_at_list", "0.174496"},
                 {"cost_at_effective_price_default", "0.174496"},
                 {"price.effective_price", "0.0157043448"},
                 {"price.effective_price_default", "0.02181159"},
                 {"consumption_model.id", "D97B-0795-975B"},
                 {"consumption_model.description", "Compute Flexible CUDs 1 Year"},
                 {"subscription.instance_id", subscription}}),
  });
  ASSERT_THAT(charge_text(imported.lines),
              ElementsAre("Purchase 0.022994 0 0.022994 0.022994", "Usage 0 0.022994 0 0",
                          "Purchase 0.125637 0 0.125637 0.125637",
                          "Adjustment -0.1256348 0 -0.1256348 -0.1256348", "Usage 0 0.0000022 0 0",
                          "Usage 0.125637 0.125637 0.174496 0.174496"));
  EXPECT_EQ(imported.lines[1].commitment_discount_status, UsedOrUnused::kUnused);
  EXPECT_EQ(imported.lines[1].resource_id, subscription);
  EXPECT_EQ(to_text(*imported.lines[1].pricing_quantity), "0.022994");
  EXPECT_EQ(to_text(*imported.lines[4].pricing_quantity), "0.0000022");
  const Charge& used = imported.lines[5];
  EXPECT_EQ(used.commitment_discount_id, subscription);
  EXPECT_EQ(used.commitment_discount_status, UsedOrUnused::kUsed);
  EXPECT_EQ(used.pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(to_text(*used.contracted_unit_price), "0.02181159");
  EXPECT_EQ(used.sku_price_id, "AAAA-BBBB-CCCC/D97B-0795-975B");
  EXPECT_THAT(used.other_columns,
              HasSubstr(R"("CommitmentDiscountName":"Compute Flexible CUDs 1 Year")"));
  EXPECT_THAT(used.other_columns, HasSubstr(R"("x_PriceEffectivePrice":"0.0157043448")"));
  // FOCUS 1.4: over all lines of a commitment, what is effective is what is billed.
  Money billed = Money::zero(kUsd);
  Money effective = Money::zero(kUsd);
  for (const Charge& line : imported.lines) {
    EXPECT_EQ(line.commitment_discount_id, subscription);
    billed += line.costs.billed;
    effective += line.costs.effective;
  }
  EXPECT_EQ(billed, effective);
}

TEST(GcpBill, TaxAdjustmentAndRounding) {
  struct Case {
    std::string cost_type;
    std::string charge_text;
  };
  for (const Case& c :
       {Case{"tax", "Tax 3 3 3 3"}, Case{"TAX", "Tax 3 3 3 3"},
        Case{"adjustment", "Adjustment 3 3 3 3"}, Case{"rounding_error", "Adjustment 3 3 3 3"},
        Case{"rounding error", "Adjustment 3 3 3 3"}, Case{"", "Usage 3 3 3 3"}}) {
    EXPECT_THAT(lines_of({{"cost_type", c.cost_type}, {"cost", "3"}}), ElementsAre(c.charge_text));
  }
  const Charge tax = only_line({{"cost_type", "tax"}, {"cost", "3"}, {"cost_at_list", "4"}});
  EXPECT_EQ(tax.sku_id, "");
  EXPECT_EQ(tax.sku_price_id, "");
  EXPECT_EQ(tax.sku_meter, "");
  EXPECT_FALSE(tax.pricing_quantity || tax.consumed_quantity || tax.pricing_category ||
               tax.list_unit_price);
  EXPECT_EQ(tax.pricing_unit + tax.consumed_unit, "");
  for (const char* const kept : {R"("x_SkuId":"AAAA-BBBB-CCCC")", R"("x_CostAtList":"4")",
                                 R"("x_UsageAmount":"28800")", R"("x_UsagePricingUnit":"hour")"}) {
    EXPECT_THAT(tax.other_columns, HasSubstr(kept));
  }
  EXPECT_THAT(lines_of({{"cost_type", "tax"},
                        {"cost", "3"},
                        {"credits", R"([{"type":"PROMOTION","amount":-3}])"}}),
              ElementsAre("Tax 3 3 3 3", "Credit -3 -3 -3 -3"));
}

TEST(GcpBill, AChargeForNoTimeIsForItsMonth) {
  const Cells no_time = {{"cost_type", "tax"}, {"usage_end_time", "2026-03-10 05:00:00 UTC"}};
  const Charge line = only_line(no_time);
  EXPECT_EQ(line.charge_period, line.billing_period);
  EXPECT_THAT(line.other_columns, HasSubstr(R"("x_UsageStartTime":"2026-03-10T05:00:00Z")"));
  Cells usage = no_time;
  usage["cost_type"] = "regular";
  EXPECT_THAT(fault_of(usage), HasSubstr("usage_end_time"));
}

TEST(GcpBill, ACorrectionIsToAMonthThatIsOver) {
  struct Case {
    std::string id;
    std::string type;
    std::string month;
    bool corrects;
  };
  for (const Case& c : {
           Case{"", "", "202604", false},  // late usage: no correction
           Case{"a", "USAGE_CORRECTION", "202604", true},
           Case{"a", "PRICE_CORRECTION", "202604", true},
           Case{"a", "METADATA_CORRECTION", "202604", true},
           Case{"a", "", "202604", true},
           Case{"a", "USAGE_CORRECTION", "202603", false},
           Case{"a", "GOODWILL", "202604", false},
           Case{"a", "SLA_VIOLATION", "202604", false},
       }) {
    const Charge line = only_line({{"adjustment_info.id", c.id},
                                   {"adjustment_info.type", c.type},
                                   {"invoice.month", c.month}});
    EXPECT_EQ(line.is_correction, c.corrects) << c.type << ' ' << c.month;
    EXPECT_EQ(line.charge_category, ChargeCategory::kUsage);
  }
}

TEST(GcpBill, MonthsAreGooglesInTheirOwnZone) {
  const auto month = [](const std::string& text) {
    return to_text(only_line({{"invoice.month", text}}).billing_period);
  };
  EXPECT_EQ(month("202603"), "2026-03-01T08:00:00Z/2026-04-01T07:00:00Z");
  EXPECT_EQ(month("2026-03"), "2026-03-01T08:00:00Z/2026-04-01T07:00:00Z");
  EXPECT_EQ(month("202611"), "2026-11-01T07:00:00Z/2026-12-01T08:00:00Z");
  EXPECT_EQ(month("202512"), "2025-12-01T08:00:00Z/2026-01-01T08:00:00Z");
  for (const std::string text : {"", "20263", "202613", "March", "2026031"}) {
    EXPECT_THAT(fault_of({{"invoice.month", text}}), HasSubstr("invoice.month")) << text;
  }
}

TEST(GcpBill, SpotIsToldByTheDescription) {
  const auto category = [](const std::string& sku) {
    return only_line({{"sku.description", sku}}).pricing_category;
  };
  EXPECT_EQ(category("Spot Preemptible A3 Instance Core running in Iowa"),
            PricingCategory::kDynamic);
  EXPECT_EQ(category("Nvidia L4 GPU attached to Spot Preemptible VMs running in Iowa"),
            PricingCategory::kDynamic);
  EXPECT_EQ(category("Preemptible N1 Core"), PricingCategory::kDynamic);
  EXPECT_EQ(category("Hotspot Storage in Spottiswoode"), PricingCategory::kStandard);
}

TEST(GcpBill, ReservationsOfCapacity) {
  const Charge used =
      only_line({{"system_labels",
                  R"([{"key":"compute.googleapis.com/reservation_name","value":"r"},)"
                  R"({"key":"compute.googleapis.com/reservation_project_id","value":"p"}])"}});
  EXPECT_EQ(used.capacity_reservation_id, "projects/p/reservations/r");
  EXPECT_EQ(used.capacity_reservation_status, UsedOrUnused::kUsed);
  const Charge unused =
      only_line({{"system_labels",
                  R"([{"key":"compute.googleapis.com/is_unused_reservation","value":"true"}])"}});
  EXPECT_EQ(unused.capacity_reservation_id, "projects/ml/reservations/unnamed");
  EXPECT_EQ(unused.capacity_reservation_status, UsedOrUnused::kUnused);
  const Charge none =
      only_line({{"system_labels",
                  R"([{"key":"compute.googleapis.com/is_unused_reservation","value":"false"}])"}});
  EXPECT_EQ(none.capacity_reservation_id, "");
}

TEST(GcpBill, TheHoursOfAGpuMachineShareItsResource) {
  const Imported imported =
      import_rows({usage_row({}), usage_row({{"sku.description", "A3 Instance Core"}}),
                   usage_row({{"sku.description", "A3 Instance Ram"}}),
                   usage_row({{"sku.description", "SSD backed Local Storage"}})});
  ASSERT_THAT(imported.lines, SizeIs(4));
  for (const Charge& line : imported.lines) {
    EXPECT_EQ(line.resource_id, imported.lines[0].resource_id);
  }
}

TEST(GcpBill, LabelsThatAreNoneAreKeptAsText) {
  const Imported imported =
      import_rows({usage_row({{"labels", "[{'key': 'team', 'value': 'vision'}]"}})});
  ASSERT_THAT(imported.lines, SizeIs(1));
  EXPECT_THAT(imported.lines[0].tags.entries(), IsEmpty());
  EXPECT_THAT(imported.lines[0].other_columns, HasSubstr("x_Labels"));
  EXPECT_EQ(imported.summary.unread_json, 1u);
}

TEST(GcpBill, NumbersAreTakenToTheLastDigit) {
  EXPECT_THAT(lines_of({{"cost", "1.1955e-05"}}),
              ElementsAre("Usage 0.000011955 0.000011955 0.000011955 0.000011955"));
  EXPECT_THAT(lines_of({{"cost", "1.5e+3"}}), ElementsAre("Usage 1500 1500 1500 1500"));
  const Imported imported = import_rows({usage_row({{"cost", "0.1234567890123456789"}})});
  EXPECT_EQ(imported.summary.rounded_numbers, 1u);
}

// A petabyte kept for a month is 2.6 * 10^21 byte-seconds: its money is not lost for that.
TEST(GcpBill, QuantitiesMayBeLargerThanAnyAmount) {
  const auto usage_of = [](const std::string& amount) {
    return usage_row({{"usage.amount", amount}, {"usage.unit", "byte-seconds"}});
  };
  const Imported day = import_rows({usage_of("1.0368e+18")});
  ASSERT_EQ(day.lines.size(), 1u);
  EXPECT_EQ(to_text(*day.lines[0].consumed_quantity), "1036800000000000000");
  EXPECT_THAT(day.summary.warnings, IsEmpty());

  const Imported month = import_rows({usage_of("2.6e+21"), usage_of("99999999999999999999")});
  ASSERT_EQ(month.lines.size(), 2u) << "both are taken";
  EXPECT_FALSE(month.lines[0].consumed_quantity);
  EXPECT_EQ(month.lines[0].consumed_unit, "");
  EXPECT_THAT(month.lines[0].other_columns, HasSubstr("\"x_UsageAmount\":\"2.6e+21\""));
  EXPECT_THAT(month.lines[0].other_columns, HasSubstr("\"x_UsageUnit\":\"byte-seconds\""));
  EXPECT_EQ(to_text(*month.lines[1].consumed_quantity), "99999999999999999999");
  EXPECT_THAT(month.summary.warnings,
              ElementsAre(HasSubstr("1 quantities are 10^20 or more; they are kept as text")));
}

TEST(GcpBill, WhatIsWrongWithARowIsSaid) {
  struct Case {
    Cells changed;
    std::string reason;
  };
  const Case cases[] = {
      {{{"cost", ""}}, "cost: cost is empty"},
      {{{"cost", "NaN"}}, "cost: cost"},
      {{{"cost", "1,5"}}, "write digits with a point"},
      {{{"cost", "2e18"}}, "no bill has"},
      {{{"currency", "EURO"}}, "currency: currency 'EURO'"},
      {{{"currency", "ZZZ"}}, "currency: currency 'ZZZ'"},
      {{{"cost_type", "refund"}}, "cost_type: cost_type 'refund'"},
      {{{"cost_at_list", "x"}}, "cost_at_list"},
      {{{"usage.amount", "x"}}, "usage.amount"},
      {{{"credits", "[{'amount': -1}]"}}, "TO_JSON_STRING(credits)"},
      {{{"credits", "{\"a\":1}"}}, "is not a list"},
      {{{"credits", "[1]"}}, "not a record"},
      {{{"credits", "[{\"type\":\"PROMOTION\"}]"}}, "without an amount"},
      {{{"credits", "[{\"amount\":1,\"amount\":1}]"}}, "two amounts"},
      {{{"credits", "[{\"amount\":-1,\"currency\":\"EUR\"}]"}},
       "has -1 EUR, and the row is in USD"},
      {{{"credits", "[{\"amount\":\"x\"}]"}}, "an amount that"},
      {{{"usage_start_time", "yesterday"}}, "usage_start_time"},
      {{{"usage_end_time", "2026-03-10 04:00:00 UTC"}}, "not after"},
      {{{"billing_account_id", ""}}, "billing_account_id is empty"},
  };
  for (const Case& c : cases) EXPECT_THAT(fault_of(c.changed), HasSubstr(c.reason));
}

TEST(GcpBill, HeadersThatCanNotBeRead) {
  EXPECT_THAT(import("a,b\n1,2\n").error, HasSubstr("billing_account_id, usage_start_time"));
  Cells unnested = usage_row({{"labels.key", "k"}});
  EXPECT_THAT(import_rows({unnested}).error, HasSubstr("labels.key is a list that was unnested"));
  Cells twice = usage_row({{"service_id", "k"}});
  EXPECT_THAT(import_rows({twice}).error, HasSubstr("are the same"));
}

TEST(GcpBill, SaysWhatAHeaderLeavesOut) {
  Cells row = usage_row({});
  row.erase("credits");
  row.erase("cost_type");
  EXPECT_THAT(import_rows({row}).summary.warnings,
              ElementsAre(HasSubstr("no column credits"), HasSubstr("no column cost_type")));
  EXPECT_THAT(import_rows({usage_row({})}).summary.warnings, IsEmpty());
}

TEST(GcpBill, KnowsItsHeaders) {
  std::vector<std::string> dotted;
  std::vector<std::string> underscored;
  for (const auto& [name, text] : usage_row({})) {
    dotted.push_back(name);
    underscored.push_back(name);
    for (char& c : underscored.back()) c = c == '.' ? '_' : c;
  }
  EXPECT_TRUE(is_gcp_header(dotted));
  EXPECT_TRUE(is_gcp_header(underscored));
  const std::vector<std::string> nested = {
      "billing_account_id", "service", "usage_start_time", "usage_end_time", "cost",
      "currency",           "invoice"};
  EXPECT_TRUE(is_gcp_header(nested));
  const std::vector<std::string> focus = {"BilledCost", "BillingAccountId", "ServiceName"};
  EXPECT_FALSE(is_gcp_header(focus));
  EXPECT_FALSE(is_gcp_header({}));
}

}  // namespace
}  // namespace pennyweight::gcp
