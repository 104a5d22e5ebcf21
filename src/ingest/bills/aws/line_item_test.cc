// Every type of line, worked by hand: 730 hours of one p4d.24xlarge at $32.7726, and its kin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/bills/aws/report_test.h"

namespace pennyweight::aws {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kPlan = "arn:aws:savingsplans::111111111111:savingsplan/abc";
constexpr const char* kReserved = "arn:aws:ec2:us-east-1:111111111111:reserved-instances/def";

Cells typed(const std::string& type, const std::string& cost, Cells more = {}) {
  more["line_item_line_item_type"] = type;
  more["line_item_unblended_cost"] = cost;
  return more;
}

// "Usage Usage-Based 1 2 3 4 Used": category, frequency, billed, effective, list, contracted, and
// the status of the commitment.
std::string shape(const Charge& c) {
  std::string text{to_text(c.charge_category)};
  text += " " + std::string(c.charge_frequency ? to_text(*c.charge_frequency) : "none");
  for (const Money& m : {c.costs.billed, c.costs.effective, c.costs.list, c.costs.contracted}) {
    text += " " + to_text(m.amount());
  }
  if (c.commitment_discount_status) {
    text += " " + std::string(to_text(*c.commitment_discount_status));
  }
  return text;
}

struct Case {
  std::string name;
  Cells row;
  std::vector<std::string> lines;
};

TEST(LineItems, BecomeTheseLines) {
  const Case cases[] = {
      {"on demand, private rate",
       typed("Usage", "29.5", {{"pricing_public_on_demand_cost", "32.7726"}}),
       {"Usage Usage-Based 29.5 29.5 32.7726 29.5"}},
      {"without a list cost", typed("Usage", "3"), {"Usage Usage-Based 3 3 3 3"}},
      {"with a net cost",
       typed("Usage", "30",
             {{"line_item_net_unblended_cost", "27"}, {"pricing_public_on_demand_cost", "32"}}),
       {"Usage Usage-Based 27 27 32 27"}},
      {"reserved",
       typed("DiscountedUsage", "0",
             {{"reservation_reservation_a_r_n", kReserved},
              {"reservation_effective_cost", "19.22"},
              {"pricing_public_on_demand_cost", "32.7726"}}),
       {"Usage Usage-Based 0 19.22 32.7726 32.7726 Used"}},
      {"reserved, after discounts",
       typed("DiscountedUsage", "0",
             {{"reservation_reservation_a_r_n", kReserved},
              {"line_item_net_unblended_cost", "0"},
              {"reservation_effective_cost", "19.22"},
              {"reservation_net_effective_cost", "18.1"}}),
       {"Usage Usage-Based 0 18.1 18.1 18.1 Used"}},
      {"fee of a reservation, half used",
       typed("RIFee", "7000",
             {{"reservation_reservation_a_r_n", kReserved},
              {"reservation_unused_recurring_fee", "3500"},
              {"reservation_unused_amortized_upfront_fee_for_billing_period", "15.5"}}),
       {"Purchase Recurring 7000 0 7000 7000", "Usage Usage-Based 0 3515.5 0 0 Unused"}},
      {"fee of a reservation, all used",
       typed("RIFee", "7000",
             {{"reservation_reservation_a_r_n", kReserved},
              {"reservation_unused_recurring_fee", "0"},
              {"reservation_unused_amortized_upfront_fee_for_billing_period", "0.0"}}),
       {"Purchase Recurring 7000 0 7000 7000"}},
      {"upfront fee of a reservation",
       typed("Fee", "150000", {{"reservation_reservation_a_r_n", kReserved}}),
       {"Purchase One-Time 150000 0 150000 150000"}},
      {"fee of the marketplace",
       typed("Fee", "99", {{"bill_billing_entity", "AWS Marketplace"}}),
       {"Purchase One-Time 99 99 99 99"}},
      {"fee of a Capacity Block, which covers no other charge",
       typed("Fee", "1200",
             {{"reservation_reservation_a_r_n",
               "arn:aws:ec2:us-east-1:1:capacity-reservation/cr-1"}}),
       {"Purchase One-Time 1200 1200 1200 1200"}},
      {"under a Savings Plan",
       typed("SavingsPlanCoveredUsage", "32.7726",
             {{"savings_plan_savings_plan_a_r_n", kPlan},
              {"savings_plan_savings_plan_effective_cost", "21.3"},
              {"pricing_public_on_demand_cost", "32.7726"},
              {"line_item_resource_id", "i-1"}}),
       {"Usage Usage-Based 0 21.3 32.7726 32.7726 Used", "Adjustment Usage-Based 32.7726 0 0 0"}},
      {"negation",
       typed("SavingsPlanNegation", "-32.7726", {{"savings_plan_savings_plan_a_r_n", kPlan}}),
       {"Adjustment Usage-Based -32.7726 0 0 0"}},
      {"hour of a Savings Plan, three quarters used",
       typed("SavingsPlanRecurringFee", "40",
             {{"savings_plan_savings_plan_a_r_n", kPlan},
              {"savings_plan_total_commitment_to_date", "40"},
              {"savings_plan_used_commitment", "30"}}),
       {"Purchase Recurring 40 0 40 40", "Usage Usage-Based 0 10 0 0 Unused"}},
      {"hour of a Savings Plan, of a report without the total",
       typed("SavingsPlanRecurringFee", "25",
             {{"savings_plan_savings_plan_a_r_n", kPlan},
              {"savings_plan_recurring_commitment_for_billing_period", "25"},
              {"savings_plan_amortized_upfront_commitment_for_billing_period", "15"},
              {"savings_plan_used_commitment", "38"}}),
       {"Purchase Recurring 25 0 25 25", "Usage Usage-Based 0 2 0 0 Unused"}},
      {"hour of a Savings Plan after discounts: the fee is shared as the commitment is",
       typed("SavingsPlanRecurringFee", "40",
             {{"savings_plan_savings_plan_a_r_n", kPlan},
              {"line_item_net_unblended_cost", "36"},
              {"savings_plan_total_commitment_to_date", "40"},
              {"savings_plan_net_recurring_commitment_for_billing_period", "36"},
              {"savings_plan_used_commitment", "30"}}),
       {"Purchase Recurring 36 0 36 36", "Usage Usage-Based 0 9 0 0 Unused"}},
      {"upfront fee of a Savings Plan",
       typed("SavingsPlanUpfrontFee", "80000", {{"savings_plan_savings_plan_a_r_n", kPlan}}),
       {"Purchase One-Time 80000 0 80000 80000"}},
      {"credit", typed("Credit", "-50"), {"Credit One-Time -50 -50 -50 -50"}},
      {"tax", typed("Tax", "19", {{"line_item_tax_type", "VAT"}}), {"Tax One-Time 19 19 19 19"}},
      {"refund of usage",
       typed("Refund", "-5", {{"line_item_usage_type", "BoxUsage:p4d.24xlarge"}}),
       {"Usage Usage-Based -5 -5 -5 -5"}},
      {"refund of a tax",
       typed("Refund", "-1", {{"line_item_tax_type", "VAT"}}),
       {"Tax One-Time -1 -1 -1 -1"}},
      {"refund of a reservation counts in full",
       typed("Refund", "-100", {{"reservation_reservation_a_r_n", kReserved}}),
       {"Adjustment One-Time -100 -100 -100 -100"}},
      {"refund of the one-time fee of a Savings Plan",
       typed("Refund", "-900",
             {{"line_item_product_code", "ComputeSavingsPlans"},
              {"line_item_line_item_description",
               "Refund for one-time fee for Savings Plan ID abc"}}),
       {"Purchase One-Time -900 0 -900 -900"}},
      {"any other refund", typed("Refund", "-2"), {"Adjustment One-Time -2 -2 -2 -2"}},
      {"discount of an enterprise programme",
       typed("EdpDiscount", "-3.2"),
       {"Adjustment Usage-Based -3.2 -3.2 0 -3.2"}},
      {"private rate", typed("PrivateRateDiscount", "-2"), {"Adjustment Usage-Based -2 -2 0 -2"}},
      {"bundle", typed("BundledDiscount", "-1"), {"Adjustment Usage-Based -1 -1 0 -1"}},
      {"discount that stands in the net columns",
       typed("EdpDiscount", "-3.2", {{"line_item_net_unblended_cost", "0"}}),
       {"Adjustment Usage-Based 0 0 0 0"}},
      {"subscription", typed("FlatRateSubscription", "15"), {"Purchase Recurring 15 15 15 15"}},
  };
  for (const Case& c : cases) {
    const auto got = import_rows({c.row});
    ASSERT_TRUE(got) << c.name << ": " << got.error().message;
    ASSERT_THAT(got->bad, IsEmpty()) << c.name << ": " << got->bad[0].reason;
    std::vector<std::string> shapes;
    for (const Charge& charge : got->lines) shapes.push_back(shape(charge));
    EXPECT_EQ(shapes, c.lines) << c.name;
  }
}

TEST(LineItems, UnknownTypesAreKeptAside) {
  const auto got = import_rows({typed("Surprise", "1"), typed("", "1"), typed("usage", "1")});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->bad.size(), 3u);
  EXPECT_EQ(got->bad[0].column, "line_item_line_item_type");
  EXPECT_THAT(got->bad[0].reason, HasSubstr("'Surprise' is not one that AWS documents"));
  EXPECT_THAT(got->lines, IsEmpty());
}

TEST(LineItems, RowsOfSplitCostAllocationArePassedOver) {
  const Cells shared = {{"line_item_resource_id", "i-1"}};
  const auto got = import_rows({typed("Usage", "10", shared),
                                typed("Usage", "4", {{"line_item_operation", "EKSPod-EC2"}}),
                                typed("Usage", "6", {{"line_item_operation", "ECSTask-EC2"}})});
  ASSERT_TRUE(got);
  EXPECT_THAT(got->totals, ElementsAre("10", "10", "10", "10"));
  EXPECT_EQ(got->summary.rows, 3u);
  EXPECT_EQ(got->summary.skipped.at("repeats the cost of its instance"), 2u);
}

TEST(LineItems, CoveredUsageNamesNoResourceWhereItIsOffset) {
  const auto got = import_rows(
      {typed("SavingsPlanCoveredUsage", "30",
             {{"savings_plan_savings_plan_a_r_n", kPlan},
              {"savings_plan_savings_plan_effective_cost", "20"},
              {"line_item_resource_id", "i-1"},
              {"resourceTags/user:team", "vision"}}),
       typed("SavingsPlanNegation", "-30", {{"savings_plan_savings_plan_a_r_n", kPlan}})});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->lines.size(), 3u);
  EXPECT_EQ(got->lines[0].resource_id, "i-1");
  EXPECT_EQ(got->lines[0].tags.find("team"), "vision");
  EXPECT_EQ(got->lines[1].resource_id, "");
  EXPECT_TRUE(got->lines[1].tags.empty());
  EXPECT_EQ(got->lines[1].commitment_discount_id, kPlan);
  EXPECT_EQ(got->lines[1].sub_account_id, "222222222222");
  EXPECT_THAT(got->totals, ElementsAre("0", "20", "30", "30"));
  EXPECT_THAT(got->summary.warnings, IsEmpty());
}

TEST(LineItems, APlanWhoseNegationsAreMissingIsSaid) {
  const auto got = import_rows(
      {typed("SavingsPlanCoveredUsage", "30", {{"savings_plan_savings_plan_effective_cost", "20"}}),
       typed("SavingsPlanNegation", "-29.5")});
  ASSERT_TRUE(got);
  EXPECT_THAT(got->summary.warnings, ElementsAre(HasSubstr("add up to 0.5 USD in BilledCost")));
}

// An hour of a plan of $40 with a partial upfront: used and unused come to what the hour costs.
TEST(LineItems, UsedAndUnusedOfACommitmentComeToItsCost) {
  const auto got = import_rows(
      {typed("SavingsPlanCoveredUsage", "50", {{"savings_plan_savings_plan_effective_cost", "30"}}),
       typed("SavingsPlanNegation", "-50"),
       typed("SavingsPlanRecurringFee", "25",
             {{"savings_plan_recurring_commitment_for_billing_period", "25"},
              {"savings_plan_amortized_upfront_commitment_for_billing_period", "15"},
              {"savings_plan_total_commitment_to_date", "40"},
              {"savings_plan_used_commitment", "30"}})});
  ASSERT_TRUE(got);
  // Billed: the recurring part; effective: recurring + amortised upfront.
  EXPECT_EQ(got->totals[0], "25");
  EXPECT_EQ(got->totals[1], "40");
}

TEST(LineItems, WithoutTheAmortisedCostNothingIsGuessed) {
  const Cells rows[] = {
      typed("SavingsPlanCoveredUsage", "30"), typed("DiscountedUsage", "0"), typed("RIFee", "1"),
      typed("SavingsPlanRecurringFee", "1"),
      typed("SavingsPlanRecurringFee", "1", {{"savings_plan_total_commitment_to_date", "1"}})};
  for (const Cells& row : rows) {
    const auto got = import_rows({row});
    ASSERT_TRUE(got);
    ASSERT_EQ(got->bad.size(), 1u) << row.at("line_item_line_item_type");
    EXPECT_THAT(got->bad[0].reason, HasSubstr("missing"));
  }
}

TEST(LineItems, DedicatedHostsHaveNoAmortisedCostAndThatIsSaid) {
  const auto got =
      import_rows({typed("DiscountedUsage", "0", {{"reservation_effective_cost", ""}}),
                   typed("DiscountedUsage", "0", {{"reservation_effective_cost", "1"}})});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->totals[1], "1");
  EXPECT_THAT(got->summary.warnings, ElementsAre(HasSubstr("1 lines of reservations")));
}

TEST(LineItems, HalfOfTheNetColumnsIsSaid) {
  const auto got = import_rows(
      {typed("EdpDiscount", "-1"),
       typed("DiscountedUsage", "0",
             {{"line_item_net_unblended_cost", "0"}, {"reservation_effective_cost", "5"}})});
  ASSERT_TRUE(got);
  EXPECT_THAT(got->summary.warnings, ElementsAre(HasSubstr("reservation_net_effective_cost is not"),
                                                 HasSubstr("1 discount lines have no net cost")));
}

TEST(LineItems, ARefundCorrectsOnlyWhatIsBeforeItsBill) {
  const Cells of_february = {{"line_item_usage_start_date", "2026-02-10T00:00:00Z"},
                             {"line_item_usage_end_date", "2026-02-11T00:00:00Z"},
                             {"line_item_usage_type", "BoxUsage:p4d.24xlarge"}};
  const auto got = import_rows({typed("Refund", "-5", of_february), typed("Refund", "-5"),
                                typed("Usage", "5", of_february)});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->lines.size(), 3u);
  EXPECT_TRUE(got->lines[0].is_correction);
  EXPECT_FALSE(got->lines[1].is_correction);
  EXPECT_FALSE(got->lines[2].is_correction);
}

}  // namespace
}  // namespace pennyweight::aws
