// Whole reports: fields, spellings, what is kept, what is refused; and sums that must meet.
#include "ingest/bills/aws/aws_bill.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ingest/bills/aws/report_test.h"
#include "ingest/bills/parquet_import.h"

namespace pennyweight::aws {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string file_text(const std::string& name) {
  std::ifstream in(std::string(TEST_DATA) + "/aws/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

// The sums were computed apart from this program, with Python's decimal module.
TEST(Samples, AreReadWhole) {
  const auto small = import_text(file_text("legacy_koku.csv"));
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ(small->summary.rows, 3u);
  EXPECT_EQ(small->summary.imported, 3u);
  EXPECT_EQ(small->summary.charges, 6u);  // each with the cost that a negation would offset
  EXPECT_THAT(small->totals, ElementsAre("30", "0.3", "30", "30"));
  EXPECT_THAT(small->summary.warnings, ElementsAre(HasSubstr("add up to 30 NOK in BilledCost")));

  const auto large = import_text(file_text("legacy_focus_converters.csv"));
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(large->summary.kind, "AWS CUR");
  EXPECT_EQ(large->summary.rows, 35u);
  EXPECT_EQ(large->summary.imported, 35u);
  EXPECT_EQ(large->summary.charges, 35u);
  EXPECT_THAT(large->totals,
              ElementsAre("0.1065791743", "0.1065791743", "0.3066179014", "0.1065791743"));
  EXPECT_THAT(large->summary.warnings, IsEmpty());
}

TEST(Samples, HaveTheirFields) {
  const auto small = import_text(file_text("legacy_koku.csv"));
  ASSERT_TRUE(small);
  const Charge& c = small->lines[0];
  EXPECT_EQ(c.billing_account_id, "0099999999999");
  EXPECT_EQ(c.invoice_id, "987654321");
  EXPECT_EQ(c.invoice_issuer_name, "Amazon Web Services, Inc.");
  EXPECT_EQ(to_text(c.billing_period), "2023-06-01T00:00:00Z/2023-07-01T00:00:00Z");
  EXPECT_EQ(to_text(c.charge_period), "2023-06-01T00:00:00Z/2023-06-01T01:00:00Z");
  EXPECT_EQ(c.service_name, "Amazon Elastic Compute Cloud");
  EXPECT_EQ(c.region_id, "us-west-1");
  EXPECT_EQ(c.resource_id, "i-99995555");
  EXPECT_EQ(c.resource_type, "instance");
  EXPECT_EQ(c.instance_type, "m5.large");
  EXPECT_EQ(c.sku_id, "VEAJHRNKTJZA");
  EXPECT_EQ(c.sku_meter, "BoxUsage:m5.large");
  EXPECT_EQ(
      c.sku_price_details,
      R"({"CoreCount":2,"InstanceType":"m5.large","MemorySize":8,"OperatingSystem":"Linux"})");
  EXPECT_EQ(c.pricing_unit, "Hours");
  EXPECT_EQ(c.pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(c.costs.currency().text(), "NOK");
  EXPECT_THAT(c.other_columns, HasSubstr(R"("x_CostCategory:cost_env":"prod")"));
  EXPECT_THAT(c.other_columns, HasSubstr(R"("x_NoTagsUserApp":)"));
  EXPECT_THAT(c.other_columns, Not(HasSubstr("x_LineItemId")));
}

// CUR 2.0 as AWS delivers it: doubles, timestamps and maps.
TEST(Samples, ParquetIsReadAsCsvIs) {
  bill::CollectingSink seen;
  const auto reader = aws_bill({});
  const auto summary = bill::import_parquet(std::string(TEST_DATA) + "/aws/cur2.parquet",
                                            "cur2.parquet", reader, seen);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->kind, "AWS CUR 2.0");
  EXPECT_EQ(summary->imported, 5u);
  EXPECT_EQ(summary->charges, 7u);
  EXPECT_THAT(summary->warnings, IsEmpty());
  // Billed 0.1 + 1e-7 + the fee of 40; effective 0.1 + 1e-7 + 21.3 used and 18.7 unused.
  EXPECT_EQ(seen.totals()[0], "40.1000001");
  EXPECT_EQ(seen.totals()[1], "40.1000001");
  const Charge& c = seen.lines[0];
  EXPECT_EQ(c.tags.find("team"), "vision");
  EXPECT_EQ(c.billing_account_name, "Payer");
  EXPECT_EQ(c.sku_price_details, R"({"GpuCount":8,"InstanceType":"p4d.24xlarge"})");
  EXPECT_EQ(to_text(c.charge_period), "2026-03-05T10:00:00Z/2026-03-05T11:00:00Z");
}

Cells full_row() {
  return {
      {"identity_line_item_id", "abc"},
      {"identity_time_interval", "2026-03-05T10:00:00Z/2026-03-05T11:00:00Z"},
      {"bill_invoice_id", "INV-1"},
      {"bill_billing_entity", "AWS"},
      {"bill_bill_type", "Anniversary"},
      {"bill_payer_account_name", "Payer"},
      {"line_item_usage_account_name", "Vision"},
      {"line_item_usage_type", "USW2-BoxUsage:p4d.24xlarge"},
      {"line_item_operation", "RunInstances"},
      {"line_item_availability_zone", "us-west-2b"},
      {"line_item_resource_id", "i-0123"},
      {"line_item_usage_amount", "1"},
      {"line_item_unblended_rate", "29.5"},
      {"line_item_unblended_cost", "29.5"},
      {"line_item_line_item_description", "$32.7726 per On Demand Linux p4d.24xlarge"},
      {"product_region_code", "us-west-2"},
      {"product_sku", "SKU1"},
      {"product_product_family", "Compute Instance"},
      {"product", R"({"product_name":"Amazon Elastic Compute Cloud","gpu":"8","vcpu":"96",)"
                  R"("instance_type":"p4d.24xlarge","memory":"1152 GiB"})"},
      {"pricing_rate_code", "SKU1.JRTCKXETXF.6YS6EN2CT7"},
      {"pricing_public_on_demand_cost", "32.7726"},
      {"pricing_public_on_demand_rate", "32.7726"},
      {"pricing_unit", "Hrs"},
      {"resource_tags", R"({"user_team":"vision","aws_created_by":"x","user_Name":"trainer-1"})"},
      {"cost_category", R"({"dept":"R&D"})"},
      {"discount", R"({"edp":"1"})"}};
}

TEST(AwsBill, SetsEveryField) {
  const auto got = import_rows({full_row()});
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->lines.size(), 1u) << got->bad[0].reason;
  const Charge& c = got->lines[0];
  EXPECT_EQ(got->summary.kind, "AWS CUR 2.0");
  EXPECT_EQ(c.billing_account_id, "111111111111");
  EXPECT_EQ(c.billing_account_name, "Payer");
  EXPECT_EQ(c.sub_account_id, "222222222222");
  EXPECT_EQ(c.sub_account_name, "Vision");
  EXPECT_EQ(c.service_provider_name, "AWS");
  EXPECT_EQ(c.service_category, "Compute");
  EXPECT_EQ(c.service_subcategory, "Virtual Machines");
  EXPECT_EQ(c.region_id, "us-west-2");
  EXPECT_EQ(c.availability_zone, "us-west-2b");
  EXPECT_EQ(c.resource_name, "trainer-1");
  EXPECT_EQ(c.instance_type, "p4d.24xlarge");
  EXPECT_EQ(c.sku_id, "SKU1");
  EXPECT_EQ(c.sku_price_id, "SKU1.JRTCKXETXF.6YS6EN2CT7");
  EXPECT_EQ(c.sku_price_details,
            R"({"CoreCount":96,"GpuCount":8,"InstanceType":"p4d.24xlarge","MemorySize":1152})");
  EXPECT_EQ(c.tags.find("team"), "vision");
  EXPECT_EQ(c.tags.find("aws:created_by"), "x");
  EXPECT_EQ(c.pricing_category, PricingCategory::kStandard);
  ASSERT_TRUE(c.pricing_quantity && c.list_unit_price && c.contracted_unit_price);
  EXPECT_EQ(to_text(*c.pricing_quantity), "1");
  EXPECT_EQ(to_text(*c.list_unit_price), "32.7726");
  EXPECT_EQ(to_text(*c.contracted_unit_price), "29.5");
  EXPECT_EQ(c.consumed_quantity, c.pricing_quantity);
  EXPECT_EQ(c.consumed_unit, "Hours");
  EXPECT_EQ(c.other_columns,
            R"({"x_BillType":"Anniversary","x_CostCategories":"{\"dept\":\"R&D\"}",)"
            R"("x_DiscountsCost":"{\"edp\":\"1\"}","x_LineItemType":"Usage",)"
            R"("x_Operation":"RunInstances","x_PricingUnit":"Hrs",)"
            R"("x_Product":"{\"product_name\":\"Amazon Elastic Compute Cloud\",\"gpu\":\"8\",)"
            R"(\"vcpu\":\"96\",\"instance_type\":\"p4d.24xlarge\",\"memory\":\"1152 GiB\"}",)"
            R"("x_ProductProductFamily":"Compute Instance","x_ServiceCode":"AmazonEC2",)"
            R"("x_UsageType":"USW2-BoxUsage:p4d.24xlarge"})");
}

TEST(AwsBill, ReadsAllThreeSpellingsAlike) {
  const std::pair<std::string, std::string> legacy[] = {
      {"line_item_line_item_type", "lineItem/LineItemType"},
      {"line_item_unblended_cost", "lineItem/UnblendedCost"},
      {"line_item_currency_code", "lineItem/CurrencyCode"},
      {"line_item_usage_start_date", "lineItem/UsageStartDate"},
      {"line_item_usage_end_date", "lineItem/UsageEndDate"},
      {"line_item_product_code", "lineItem/ProductCode"},
      {"line_item_usage_account_id", "lineItem/UsageAccountId"},
      {"bill_payer_account_id", "bill/PayerAccountId"},
      {"bill_billing_period_start_date", "bill/BillingPeriodStartDate"},
      {"bill_billing_period_end_date", "bill/BillingPeriodEndDate"},
      {"savings_plan_savings_plan_a_r_n", "savingsPlan/SavingsPlanARN"},
      {"savings_plan_savings_plan_effective_cost", "savingsPlan/SavingsPlanEffectiveCost"},
      {"resource_tags_user_team", "resourceTags/user:team"}};
  const std::string snake = report_of({{{"line_item_line_item_type", "SavingsPlanCoveredUsage"},
                                        {"savings_plan_savings_plan_a_r_n", "arn:plan"},
                                        {"savings_plan_savings_plan_effective_cost", "0.5"},
                                        {"resource_tags_user_team", "vision"}}});
  std::string slash = snake;
  for (const auto& [from, to] : legacy) {
    const std::size_t at = slash.find(in_quotes(from));
    ASSERT_NE(at, std::string::npos) << from;
    slash.replace(at, from.size() + 2, in_quotes(to));
  }
  const auto a = import_text(snake);
  const auto b = import_text(slash);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->lines.size(), 2u);
  EXPECT_EQ(a->lines, b->lines);
}

TEST(AwsBill, SpotMayNameItsInstanceOnlyInTheDescription) {
  const auto got = import_rows({{{"line_item_usage_type", "USW2-SpotUsage:p4d.24xlarge"}},
                                {{"line_item_usage_type", "SpotUsage"},
                                 {"line_item_usage_amount", "0.5"},
                                 {"line_item_line_item_description",
                                  "p3.2xlarge Linux/UNIX Spot Instance-hour in Oregon"}}});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->lines.size(), 2u);
  EXPECT_EQ(got->lines[0].instance_type, "p4d.24xlarge");
  EXPECT_EQ(got->lines[0].pricing_category, PricingCategory::kDynamic);
  EXPECT_EQ(got->lines[1].instance_type, "p3.2xlarge");
  EXPECT_EQ(got->lines[1].sku_id, "SpotUsage");
  ASSERT_TRUE(got->lines[1].consumed_quantity);
  EXPECT_EQ(to_text(*got->lines[1].consumed_quantity), "0.5");
}

TEST(AwsBill, CapacityReservationsAreUsedOrUnused) {
  const std::string arn = "arn:aws:ec2:us-east-1:1:capacity-reservation/cr-1";
  const auto got = import_rows(
      {{{"line_item_usage_type", "BoxUsage:p5.48xlarge"},
        {"line_item_resource_id", "i-1"},
        {"reservation_reservation_a_r_n", arn}},
       {{"line_item_usage_type", "UnusedBox:p5.48xlarge"}, {"line_item_resource_id", arn}},
       {{"capacity_reservation_capacity_reservation_arn", arn},
        {"capacity_reservation_capacity_reservation_status", "UNUSED"}},
       {{"line_item_usage_type", "BoxUsage:p5.48xlarge"}}});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->lines.size(), 4u);
  EXPECT_EQ(got->lines[0].capacity_reservation_id, arn);
  EXPECT_EQ(got->lines[0].capacity_reservation_status, UsedOrUnused::kUsed);
  EXPECT_EQ(got->lines[0].commitment_discount_id, "");
  EXPECT_EQ(got->lines[1].capacity_reservation_status, UsedOrUnused::kUnused);
  EXPECT_EQ(got->lines[1].instance_type, "p5.48xlarge");
  EXPECT_EQ(got->lines[2].capacity_reservation_status, UsedOrUnused::kUnused);
  EXPECT_EQ(got->lines[3].capacity_reservation_id, "");
  EXPECT_EQ(got->lines[3].capacity_reservation_status, std::nullopt);
}

TEST(AwsBill, CommitmentsHaveOneIdentityOnEveryLine) {
  const auto got = import_rows({{{"line_item_line_item_type", "SavingsPlanRecurringFee"},
                                 {"savings_plan_savings_plan_a_r_n", "arn:plan"},
                                 {"savings_plan_total_commitment_to_date", "10"},
                                 {"savings_plan_used_commitment", "4"}}});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->lines.size(), 2u);
  for (const Charge& c : got->lines) {
    EXPECT_EQ(c.commitment_discount_id, "arn:plan");
    EXPECT_EQ(c.resource_id, "arn:plan");
    EXPECT_EQ(c.resource_type, "Savings Plan");
    EXPECT_EQ(c.commitment_discount_category, "Spend");
  }
  EXPECT_EQ(got->lines[0].pricing_category, PricingCategory::kStandard);
  EXPECT_EQ(got->lines[1].pricing_category, PricingCategory::kCommitted);
  EXPECT_EQ(got->lines[1].consumed_quantity, std::nullopt);
  EXPECT_THAT(got->lines[0].other_columns, HasSubstr("x_SavingsPlanTotalCommitmentToDateCost"));
  // Amounts stand on one of the two, so that their sum stays true.
  EXPECT_EQ(got->lines[1].other_columns,
            R"({"CommitmentDiscountQuantity":"6","CommitmentDiscountUnit":"USD",)"
            R"("x_LineItemType":"SavingsPlanRecurringFee","x_ServiceCode":"AmazonEC2"})");
}

TEST(AwsBill, LinesOfAMomentStandInTheirInterval) {
  const auto got =
      import_rows({{{"line_item_usage_end_date", "2026-03-05T10:00:00Z"},
                    {"identity_time_interval", "2026-03-05T00:00:00Z/2026-03-06T00:00:00Z"}},
                   {{"line_item_usage_start_date", ""},
                    {"line_item_usage_end_date", ""},
                    {"identity_time_interval", "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z"}}});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->lines.size(), 2u);
  EXPECT_EQ(to_text(got->lines[0].charge_period), "2026-03-05T00:00:00Z/2026-03-06T00:00:00Z");
  EXPECT_THAT(got->lines[0].other_columns, HasSubstr("x_UsageStartDate"));
  EXPECT_EQ(to_text(got->lines[1].charge_period), "2026-03-01T00:00:00Z/2026-04-01T00:00:00Z");
}

TEST(AwsBill, KeepsBadRowsAsideWithTheColumnAtFault) {
  const std::pair<Cells, std::string> cases[] = {
      {{{"line_item_unblended_cost", "1,5"}}, "line_item_unblended_cost"},
      {{{"line_item_unblended_cost", ""}}, "line_item_unblended_cost"},
      {{{"line_item_unblended_cost", "NaN"}}, "line_item_unblended_cost"},
      {{{"line_item_net_unblended_cost", "x"}}, "line_item_net_unblended_cost"},
      {{{"line_item_currency_code", "EURO"}}, "line_item_currency_code"},
      {{{"line_item_currency_code", ""}}, "line_item_currency_code"},
      {{{"bill_billing_period_start_date", "March"}}, "bill_billing_period_start_date"},
      {{{"bill_billing_period_end_date", "2026-03-01T00:00:00Z"}}, "bill_billing_period_end_date"},
      {{{"line_item_usage_end_date", "2026-03-05T09:00:00Z"}}, "line_item_usage_end_date"},
      {{{"line_item_usage_end_date", "2026-03-05T10:00:00Z"}}, "line_item_usage_end_date"},
      {{{"line_item_usage_start_date", ""}}, "line_item_usage_start_date"},
      {{{"line_item_usage_amount", "one"}}, "line_item_usage_amount"},
      {{{"pricing_public_on_demand_cost", "-"}}, "pricing_public_on_demand_cost"},
  };
  for (const auto& [row, column] : cases) {
    const auto got = import_rows({row, {}});
    ASSERT_TRUE(got) << column;
    ASSERT_EQ(got->bad.size(), 1u) << column;
    EXPECT_EQ(got->bad[0].column, column);
    EXPECT_EQ(got->bad[0].line, 2u);
    EXPECT_THAT(got->bad[0].reason, HasSubstr(column));
    EXPECT_EQ(got->summary.imported, 1u);
  }
}

TEST(AwsBill, RefusesHeadersWithoutWhatEveryLineNeeds) {
  const auto got = import_text("line_item_line_item_type,line_item_unblended_cost\n");
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("line_item_currency_code, bill_payer_account_id"));
}

TEST(AwsBill, CountsRoundedNumbersAndUnreadMaps) {
  const auto got = import_rows({{{"line_item_unblended_cost", "0.1234567890123456789"},
                                 {"resource_tags", R"({"a":{"b":1}})"},
                                 {"product", "not json"}}});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->summary.rounded_numbers, 1u);
  EXPECT_EQ(got->summary.unread_json, 2u);
  ASSERT_EQ(got->lines.size(), 1u);
  EXPECT_THAT(got->lines[0].other_columns, HasSubstr(R"("x_ResourceTags":"{\"a\":{\"b\":1}}")"));
  EXPECT_THAT(got->lines[0].other_columns, HasSubstr(R"("x_Product":"not json")"));
}

TEST(AwsBill, TagsThatFitNowhereAreKept) {
  const std::string long_value(5000, 'v');
  const auto got = import_rows({{{"resourceTags/user:big", long_value},
                                 {"resourceTags/user:team", "vision"},
                                 {"resource_tags_user_team", "audio"}}});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->lines.size(), 1u);
  EXPECT_EQ(got->lines[0].tags.entries().size(), 1u);
  EXPECT_THAT(got->lines[0].other_columns, HasSubstr(long_value));
  EXPECT_THAT(got->lines[0].other_columns, HasSubstr(R"("x_resource_tags_user_team":"audio")"));
  EXPECT_EQ(got->lines[0].tags.find("team"), "vision");
}

TEST(AwsBill, LineItemIdsAreKeptOnlyWhenAskedFor) {
  const std::string text = report_of({{{"identity_line_item_id", "id-1"}}});
  const auto without = import_text(text);
  const auto with = import_text(text, {.keep_line_item_ids = true});
  ASSERT_TRUE(without && with);
  EXPECT_THAT(without->lines[0].other_columns, Not(HasSubstr("id-1")));
  EXPECT_THAT(with->lines[0].other_columns, HasSubstr(R"("x_LineItemId":"id-1")"));
}

TEST(AwsBill, AReDeliveredLineKeepsItsKeyWhenOnlyAmountsChange) {
  Cells first = full_row();
  Cells second = first;
  second["identity_line_item_id"] = "another";
  second["line_item_unblended_cost"] = "30";
  second["line_item_unblended_rate"] = "30";
  second["discount"] = R"({"edp":"2"})";
  const auto a = import_rows({first});
  const auto b = import_rows({second});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(natural_key(a->lines[0]), natural_key(b->lines[0]));
  EXPECT_NE(content_hash(a->lines[0]), content_hash(b->lines[0]));
}

// A report of any rows: every type, gross and net, costs of either sign with up to 12 digits.
struct RandomReport {
  std::vector<Cells> rows;
  Money billed = Money::zero(kUsd);
  Money effective = Money::zero(kUsd);
};

Decimal any_amount() {
  const auto digits = *rc::gen::inRange<std::int64_t>(-1'000'000'000'000, 1'000'000'000'000);
  return Decimal::from_ticks(Int128{digits} * 1'000'000);
}

RandomReport any_report() {
  RandomReport report;
  const std::vector<std::string> types = {"Usage",
                                          "DiscountedUsage",
                                          "RIFee",
                                          "Fee",
                                          "SavingsPlanCoveredUsage",
                                          "SavingsPlanNegation",
                                          "SavingsPlanRecurringFee",
                                          "SavingsPlanUpfrontFee",
                                          "Credit",
                                          "Refund",
                                          "Tax",
                                          "EdpDiscount",
                                          "FlatRateSubscription"};
  const int count = *rc::gen::inRange(1, 30);
  for (int i = 0; i < count; ++i) {
    const std::string type = *rc::gen::elementOf(types);
    const bool net = *rc::gen::arbitrary<bool>();
    const bool reserved = *rc::gen::arbitrary<bool>();
    const auto money = [](Decimal d) { return Money::from_decimal(d, kUsd); };
    const Decimal gross_cost = any_amount();
    const Decimal net_cost = any_amount();
    const Decimal a = any_amount();
    const Decimal b = any_amount();
    Cells row = {{"line_item_line_item_type", type},
                 {"line_item_unblended_cost", to_text(gross_cost)},
                 {"reservation_effective_cost", to_text(a)},
                 {"savings_plan_savings_plan_effective_cost", to_text(b)},
                 {"savings_plan_total_commitment_to_date", to_text(a)},
                 {"savings_plan_used_commitment", to_text(b)},
                 {"reservation_unused_recurring_fee", to_text(a)},
                 {"reservation_unused_amortized_upfront_fee_for_billing_period", to_text(b)}};
    if (net) row["line_item_net_unblended_cost"] = to_text(net_cost);
    if (reserved) row["reservation_reservation_a_r_n"] = "arn:aws:ec2:::reserved-instances/r";
    const Money billed = money(net ? net_cost : gross_cost);
    report.billed += billed;
    // AWS's rule once more, as its SQL has it.
    Money effective = billed;
    if (type == "SavingsPlanCoveredUsage") effective = money(b);
    if (type == "SavingsPlanRecurringFee") effective = money(a) - money(b);
    if (type == "SavingsPlanNegation" || type == "SavingsPlanUpfrontFee") {
      effective = Money::zero(kUsd);
    }
    if (type == "DiscountedUsage") effective = money(a);
    if (type == "RIFee") effective = money(a) + money(b);
    if (type == "Fee" && reserved) effective = Money::zero(kUsd);
    report.effective += effective;
    report.rows.push_back(std::move(row));
  }
  return report;
}

RC_GTEST_PROP(AwsBill, SumsMeetTheInvoiceAndTheAmortisedView, ()) {
  const RandomReport report = any_report();
  const auto got = import_rows(report.rows);
  RC_ASSERT(got.has_value());
  RC_ASSERT(got->summary.imported == report.rows.size());
  Costs sum = Costs::zero(kUsd);
  for (const Charge& c : got->lines) sum += c.costs;
  RC_ASSERT(sum.billed == report.billed);
  RC_ASSERT(sum.effective == report.effective);
}

}  // namespace
}  // namespace pennyweight::aws
