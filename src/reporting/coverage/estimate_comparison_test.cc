// Estimate against bill: each reason on a month that can be checked by hand, and their sum.
#include "reporting/coverage/estimate_comparison.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "core/decimal.h"

namespace pennyweight {
namespace {

Money estimated_usd(std::string_view text) {
  return Money::from_decimal(*parse_exact_decimal(text), kUsd);
}

const Instant kBegin = *parse_instant("2026-03-01");
const Interval kDay(kBegin, kBegin + std::chrono::hours(24));

// Ten dollars an hour.
Catalog catalog() {
  return *Catalog::built_in().overridden_by(
      "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,"
      "memory_gib\naws,here,ten,on_demand,2026-01-01,10,USD,H100,8,96,1024\n",
      "test");
}

Node node(const std::string& name, const std::string& type = "ten") {
  return {.cluster = ClusterId("c"),
          .name = NodeId(name),
          .provider_id = name,
          .instance_type = type,
          .region = "here",
          .pool = PoolId(""),
          .gpu_model = "",
          .cpu_milli = {},
          .memory_bytes = {},
          .from = kBegin,
          .to = {},
          .id = {},
          .source = {}};
}

Charge line(const std::string& resource, const char* effective, const char* list,
            const char* hours) {
  Charge charge(kDay, kDay, Costs::zero(kUsd));
  charge.resource_id = resource;
  charge.instance_type = "ten";
  charge.service_category = "Compute";
  charge.costs.effective = estimated_usd(effective);
  charge.costs.list = estimated_usd(list);
  charge.consumed_quantity = *parse_exact_decimal(hours);
  charge.consumed_unit = "Hours";
  return charge;
}

std::vector<EstimateComparisonRow> rows_of(const std::vector<Node>& nodes,
                                           const std::vector<Charge>& charges) {
  const Catalog prices = catalog();
  EstimateComparison audit(
      {.nodes = nodes, .during = kDay, .catalog = prices, .prices_as_of = kBegin, .rules = {}});
  audit.add(charges);
  return audit.nodes();
}

// "price hours commitment missing"
std::string reasons(const EstimateComparisonRow& row) {
  return to_text(row.price.amount()) + " " + to_text(row.hours.amount()) + " " +
         to_text(row.commitment.amount()) + " " + to_text(row.missing.amount());
}

std::string only(const std::vector<Node>& nodes, const std::vector<Charge>& charges) {
  const auto rows = rows_of(nodes, charges);
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? "" : reasons(rows[0]);
}

TEST(EstimateComparison, EachReasonHasItsMoney) {
  EXPECT_EQ(only({node("a")}, {line("a", "240", "240", "24")}), "0 0 0 0");
  EXPECT_EQ(only({node("a")}, {line("a", "216", "240", "24")}), "-24 0 0 0");
  EXPECT_EQ(only({node("a")}, {line("a", "100", "100", "10")}), "0 -140 0 0");
  EXPECT_EQ(only({node("a")}, {}), "0 0 0 -240");
  EXPECT_EQ(only({}, {line("a", "240", "240", "24")}), "0 0 0 240");
  EXPECT_EQ(only({node("a", "nothing that is sold")}, {line("a", "9", "9", "24")}), "0 0 0 9");
  Charge covered = line("a", "150", "240", "24");
  covered.commitment_discount_status = UsedOrUnused::kUsed;
  EXPECT_EQ(only({node("a")}, {covered}), "0 0 -90 0");
  Charge unused = line("a", "30", "0", "24");
  unused.commitment_discount_status = UsedOrUnused::kUnused;
  EXPECT_EQ(only({node("a")}, {covered, unused}), "0 0 -60 0");
}

TEST(EstimateComparison, PartsOfAMachineOverTheSameHoursAreItsHoursOnce) {
  EXPECT_EQ(only({node("a")}, {line("a", "200", "200", "24"), line("a", "40", "40", "24")}),
            "0 0 0 0");
  EXPECT_EQ(only({node("a")}, {line("a", "100", "100", "10"), line("a", "140", "140", "14")}),
            "0 0 0 0");
}

TEST(EstimateComparison, WhatSaysNothingOfMachinesIsPassedOver) {
  Charge disk = line("vol-1", "5", "5", "24");
  disk.instance_type = "";
  EXPECT_TRUE(rows_of({}, {disk}).empty());
  Charge tax = line("a", "5", "5", "24");
  tax.charge_category = ChargeCategory::kTax;
  EXPECT_EQ(only({node("a")}, {line("a", "240", "240", "24"), tax}), "0 0 0 0");
}

TEST(BilledMs, ReadsHoursHoweverTheyAreWritten) {
  Charge charge = line("a", "1", "1", "1.5");
  EXPECT_EQ(billed_ms(charge), 5'400'000U);
  charge.consumed_unit = "seconds";
  EXPECT_EQ(billed_ms(charge), 1'500U);
  charge.consumed_unit = "vCPU-Hours";
  EXPECT_EQ(billed_ms(charge), kDay.length_ms());
  charge.is_correction = true;
  EXPECT_EQ(billed_ms(charge), std::nullopt);
}

TEST(PriceFor, RoundsHalfToEven) {
  EXPECT_EQ(price_for(*parse_exact_decimal("10"), 5'400'000, kUsd), estimated_usd("15"));
  EXPECT_EQ(price_for(*parse_exact_decimal("1"), 1, kUsd), estimated_usd("0.000000277777777778"));
}

RC_GTEST_PROP(EstimateComparison, ReasonsAddUpToTheDifference, ()) {
  std::vector<Node> nodes;
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) {
    nodes.push_back(node("n" + std::to_string(i), *rc::gen::element<std::string>("ten", "odd")));
  }
  std::vector<Charge> charges;
  Money billed = Money::zero(kUsd);
  const int lines = *rc::gen::inRange(0, 30);
  for (int i = 0; i < lines; ++i) {
    Charge charge = line("n" + std::to_string(*rc::gen::inRange(0, 7)), "0", "0", "1");
    charge.costs.effective = Money::from_ticks(*rc::gen::arbitrary<std::int64_t>(), kUsd);
    charge.costs.list = Money::from_ticks(*rc::gen::arbitrary<std::int64_t>(), kUsd);
    charge.consumed_quantity = Decimal::from_ticks(*rc::gen::inRange<std::int64_t>(0, 1L << 62));
    const int status = *rc::gen::inRange(0, 3);
    if (status == 1) charge.commitment_discount_status = UsedOrUnused::kUsed;
    if (status == 2) charge.commitment_discount_status = UsedOrUnused::kUnused;
    billed += charge.costs.effective;
    charges.push_back(std::move(charge));
  }
  const auto rows = rows_of(nodes, charges);
  Money total = Money::zero(kUsd);
  for (const EstimateComparisonRow& row : rows) {
    total += row.bill;
    RC_ASSERT(row.missing + row.hours + row.commitment + row.price == row.difference());
  }
  RC_ASSERT(total == billed);
  for (const EstimateComparisonRow& row : by_instance_type(rows)) {
    RC_ASSERT(row.missing + row.hours + row.commitment + row.price == row.difference());
  }
}

}  // namespace
}  // namespace pennyweight
