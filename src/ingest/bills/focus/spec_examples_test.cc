// The specification's worked examples (FOCUS_Spec v1.2, specification/data), twice: as they are
// published, where every table is refused or every row set aside with its reason, and completed to
// bills (by tests/focus/complete_examples.py), where every row is imported and the money is right.
// The sums were computed apart from this program, with Python's decimal module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ingest/bills/collecting_sink_testing.h"
#include "ingest/bills/focus/focus_bill.h"

namespace pennyweight::focus {
namespace {

using testing::HasSubstr;

std::string example_text(const std::string& name) {
  std::ifstream in(std::string(TEST_DATA) + "/focus/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::set<std::string> files_of(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TEST_DATA) + "/focus/" + folder)) {
    names.insert(entry.path().stem().string());
  }
  return names;
}

struct Example {
  std::string name;
  // As published: the column that the table lacks, or else where its rows are at fault.
  std::string missing;
  std::string fault;
  // Completed: rows, how many of them are set aside, and the sums of the imported rows: billed,
  // effective, list, contracted.
  std::uint64_t rows;
  std::uint64_t set_aside;
  std::vector<std::string> totals;
};

const std::string kLacksCurrency = "BillingCurrency";
const std::string kUtilization = "_percent_utilization_with";
const std::string kFlexible = "_commitment_discount_flexibility";

// Two of the examples have hours of a day that no day has: 2023-02-01T30:00:00Z.
const Example kExamples[] = {
    {"commitment_discount_purchase_scenario_1", kLacksCurrency, "", 1, 0, {"8760", "0", "0", "0"}},
    {"commitment_discount_purchase_scenario_2", kLacksCurrency, "", 3, 1, {"2", "0", "0", "0"}},
    {"commitment_discount_purchase_scenario_3", kLacksCurrency, "", 4, 1, {"4381", "0", "0", "0"}},
    {"commitment_discount_usage_scenario_1", kLacksCurrency, "", 1, 0, {"0", "1", "0", "0"}},
    {"commitment_discount_usage_scenario_2", kLacksCurrency, "", 1, 0, {"0", "1", "0", "0"}},
    {"commitment_discount_usage_scenario_3", kLacksCurrency, "", 2, 0, {"0", "1", "0", "0"}},
    {"commitment_discount_usage_scenario_4", kLacksCurrency, "", 2, 0, {"0.5", "1.5", "0", "0"}},
    {"one_hundred" + kUtilization + kFlexible + "_with_1_resource",
     kLacksCurrency,
     "",
     3,
     0,
     {"2.75", "2.75", "6.25", "0"}},
    {"one_hundred" + kUtilization + kFlexible + "_with_2_resources",
     kLacksCurrency,
     "",
     3,
     0,
     {"2", "2", "8", "0"}},
    {"one_hundred" + kUtilization + "out" + kFlexible,
     kLacksCurrency,
     "",
     2,
     0,
     {"1.5", "1.5", "6", "0"}},
    {"saas_spend_agreements_a1", "", "BillingPeriodStart", 4, 0, {"1200", "1200", "1257", "1200"}},
    {"saas_spend_agreements_a2", "", "BillingPeriodStart", 13, 0, {"1200", "1200", "1257", "1200"}},
    {"saas_spend_agreements_b1", "", "BillingPeriodStart", 5, 0, {"1200", "1200", "2457", "2400"}},
    {"saas_spend_agreements_b2", "", "BillingPeriodStart", 14, 0, {"1200", "1200", "2457", "2400"}},
    {"simple_saas_agreements_a1", "", "BilledCost", 1, 0, {"10000", "10000", "10000", "10000"}},
    {"simple_saas_agreements_a2", "", "BilledCost", 1, 0, {"50000", "50000", "50000", "50000"}},
    {"simple_saas_agreements_a3", "", "BilledCost", 1, 0, {"1000", "1000", "1000", "1000"}},
    {"simple_saas_agreements_b", "", "BilledCost", 1, 0, {"50000", "50000", "50000", "50000"}},
    {"simple_saas_agreements_c", "", "BilledCost", 3, 0, {"35800", "35800", "35800", "35800"}},
    {"virtual_currency_pricing_model_a1",
     "",
     "BillingPeriodStart",
     1,
     0,
     {"200000", "0", "200000", "200000"}},
    {"virtual_currency_pricing_model_a2",
     "",
     "BillingPeriodStart",
     3,
     0,
     {"0", "1230", "1230", "1230"}},
    // "0.00 ": with a space behind it.
    {"virtual_currency_pricing_model_b1",
     "",
     "BillingPeriodStart",
     1,
     0,
     {"100000", "0", "200000", "100000"}},
    {"virtual_currency_pricing_model_b2",
     "",
     "BillingPeriodStart",
     3,
     0,
     {"0", "615", "1230", "615"}},
    {"virtual_currency_pricing_model_b3",
     "",
     "BillingPeriodStart",
     3,
     0,
     {"0", "495", "1230", "495"}},
    {"virtual_currency_pricing_model_c",
     "",
     "BillingPeriodStart",
     2,
     0,
     {"53000", "0", "53000", "53000"}},
    {"zero" + kUtilization + "out" + kFlexible, kLacksCurrency, "", 3, 0, {"3.5", "3.5", "8", "0"}},
};

TEST(SpecExamples, AllAreHere) {
  std::set<std::string> names;
  for (const Example& example : kExamples) names.insert(example.name);
  EXPECT_EQ(names, files_of("spec_examples"));
  EXPECT_EQ(names, files_of("spec_examples_completed"));
}

TEST(SpecExamples, AsPublishedEachIsRefusedOrKeptAsideWithItsReason) {
  for (const Example& example : kExamples) {
    SCOPED_TRACE(example.name);
    const std::string file = "spec_examples/" + example.name + ".csv";
    bill::CollectingSink seen;
    const auto summary = import_csv(example_text(file), file, seen);
    if (!example.missing.empty()) {
      ASSERT_FALSE(summary);
      EXPECT_THAT(summary.error().message, HasSubstr("missing columns: " + example.missing));
      continue;
    }
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(summary->rows, example.rows);
    EXPECT_EQ(summary->rejected, example.rows);
    ASSERT_EQ(seen.bad.size(), example.rows);
    for (const RejectedRow& row : seen.bad) EXPECT_EQ(row.column, example.fault) << row.reason;
  }
}

TEST(SpecExamples, CompletedEveryRowIsAccountedForAndTheSumsAreRight) {
  for (const Example& example : kExamples) {
    SCOPED_TRACE(example.name);
    const std::string file = "spec_examples_completed/" + example.name + ".csv";
    bill::CollectingSink seen;
    const auto summary = import_csv(example_text(file), file, seen);
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(summary->rows, example.rows);
    EXPECT_EQ(summary->rejected, example.set_aside);
    EXPECT_EQ(summary->imported, example.rows - example.set_aside);
    EXPECT_EQ(summary->rounded_numbers, 0u);
    EXPECT_EQ(seen.totals(), example.totals);
    for (const RejectedRow& row : seen.bad) {
      EXPECT_EQ(row.column, "ChargePeriodEnd");
      EXPECT_THAT(row.text, HasSubstr("T30:00:00Z"));
    }
  }
}

// What a bill says of its purchases and of what they cover.
struct Commitments {
  Money bought = Money::zero(kUsd);   // BilledCost of purchases
  Money covered = Money::zero(kUsd);  // EffectiveCost of used and unused, of the same commitments
};

Commitments commitments_of(const std::string& name) {
  const std::string file = "spec_examples_completed/" + name + ".csv";
  bill::CollectingSink seen;
  EXPECT_TRUE(import_csv(example_text(file), file, seen)) << name;
  Commitments found;
  for (const Charge& line : seen.lines) {
    if (line.charge_category == ChargeCategory::kPurchase) {
      found.bought += line.costs.billed;
      EXPECT_TRUE(line.costs.effective.is_zero()) << name << ": a purchase that covers";
    } else if (line.commitment_discount_status) {
      found.covered += line.costs.effective;
      EXPECT_TRUE(line.costs.billed.is_zero()) << name << ": is covered, and billed";
    }
  }
  return found;
}

TEST(SpecExamples, WhatIsUsedAndUnusedOfACommitmentAddsUpToItsPurchase) {
  struct Case {
    std::string name;
    std::string bought;
  };
  const Case cases[] = {
      {"one_hundred" + kUtilization + kFlexible + "_with_1_resource", "0.5"},
      {"one_hundred" + kUtilization + kFlexible + "_with_2_resources", "2"},
      {"one_hundred" + kUtilization + "out" + kFlexible, "1.5"},
      {"zero" + kUtilization + "out" + kFlexible, "1.5"},
  };
  for (const Case& c : cases) {
    const Commitments found = commitments_of(c.name);
    EXPECT_EQ(to_text(found.bought.amount()), c.bought) << c.name;
    EXPECT_EQ(found.covered, found.bought) << c.name;
  }
}

// The purchase of the first scenario covers the 8760 hours of a year, and each scenario of usage
// shows one of them in another way: used, unused, partly used, used and exceeded.
TEST(SpecExamples, AnHourOfACommitmentCostsTheSameHoweverItIsUsed) {
  const Commitments year = commitments_of("commitment_discount_purchase_scenario_1");
  EXPECT_EQ(to_text(year.bought.amount()), "8760");
  for (const std::string scenario : {"1", "2", "3", "4"}) {
    const Commitments hour = commitments_of("commitment_discount_usage_scenario_" + scenario);
    EXPECT_EQ(to_text(hour.covered.amount()), "1") << scenario;
  }
}

// A spend agreement that is paid in advance costs what its usage and its shortfall cost.
TEST(SpecExamples, ASpendAgreementCoversItsUsageAndItsShortfall) {
  for (const std::string name : {"saas_spend_agreements_b1", "saas_spend_agreements_b2"}) {
    const std::string file = "spec_examples_completed/" + name + ".csv";
    bill::CollectingSink seen;
    ASSERT_TRUE(import_csv(example_text(file), file, seen)) << name;
    std::map<ChargeCategory, Costs> sums;
    for (const Charge& line : seen.lines) {
      sums.try_emplace(line.charge_category, Costs::zero(kUsd)).first->second += line.costs;
    }
    EXPECT_EQ(sums.at(ChargeCategory::kUsage).effective, sums.at(ChargeCategory::kPurchase).billed)
        << name;
    EXPECT_TRUE(sums.at(ChargeCategory::kUsage).billed.is_zero()) << name;
  }
}

}  // namespace
}  // namespace pennyweight::focus
