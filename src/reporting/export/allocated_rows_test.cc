// What is divided adds up: every summable column of an origin, to the last digit.
#include "reporting/export/allocated_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/split.h"
#include "reporting/export/focus_csv.h"
#include "reporting/export/unit_prices.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;

Interval march() { return {*parse_instant("2026-03-01"), *parse_instant("2026-04-01")}; }

Charge listed_line(Decimal list) {
  Charge charge(march(), Interval(*parse_instant("2026-03-05"), *parse_instant("2026-03-06")),
                Costs::zero(kUsd));
  charge.costs.list = Money::from_decimal(list, kUsd);
  charge.sku_id = "SKU";
  charge.sku_price_id = "PRICE";
  charge.service_provider_name = "AWS";
  return charge;
}

ChargeShare share_of(const Charge& charge, std::string owner, const Costs& costs) {
  return {.charge = charge.id,
          .scope = 0,
          .owner = {.id = owner, .name = owner, .tags = {}},
          .kinds = kind_bit(owner.empty() ? PostingKind::kUnallocated : PostingKind::kUsed),
          .costs = costs,
          .held_idle_billed = Money::zero(kUsd),
          .held_idle_effective = Money::zero(kUsd),
          .gpu_time = {},
          .weight = 1,
          .interval = charge.charge_period};
}

std::vector<ChargeShare> divide(const Charge& charge, const std::vector<Weight>& weights) {
  const auto billed = split(charge.costs.billed, weights);
  const auto effective = split(charge.costs.effective, weights);
  const auto list = split(charge.costs.list, weights);
  const auto contracted = split(charge.costs.contracted, weights);
  std::vector<ChargeShare> shares;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    shares.push_back(share_of(charge, i == 0 ? "" : "job-" + std::to_string(i),
                              {billed[i], effective[i], list[i], contracted[i]}));
    shares.back().weight = weights[i];
  }
  return shares;
}

RunDescription a_run() {
  return {.method_id = "pennyweight-0f",
          .cluster = "lab",
          .basis = "max",
          .policy_version = "0f",
          .number = 3};
}

struct Written {
  FocusTable table;
  std::vector<FocusRow> rows;

  const FocusCell& at(std::size_t row, std::string_view column) const {
    return rows[row][table.column_index(column)];
  }
  std::string text(std::size_t row, std::string_view column) const {
    const auto* text = std::get_if<std::string>(&at(row, column));
    return text == nullptr ? "" : *text;
  }
  Int128 sum(std::string_view column) const {
    Int128 total = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) total += std::get<Decimal>(at(i, column)).ticks();
    return total;
  }
};

Written write(FocusVersion version, const Charge& charge, std::span<const ChargeShare> shares) {
  Written written{FocusTable(version, Fidelity::kConformant, allocation_columns(version, true)),
                  {}};
  EXPECT_TRUE(written.table.note({&charge, 1}));
  written.table.fix_columns();
  AllocatedRows rows(written.table, {a_run()});
  const auto done = rows.write(charge, shares, [&](const FocusRow& row) {
    written.rows.push_back(row);
    return Result<void>{};
  });
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return written;
}

Decimal any_decimal() {
  const auto size = *rc::gen::arbitrary<std::int64_t>();
  const auto scale = *rc::gen::inRange<std::int64_t>(1, 1'000'000);
  return Decimal::from_ticks(Int128{size} * scale);
}

// As a judge of the file works it out: (price + 1) × 10^-12 is forgiven.
bool is_product(const Written& written, std::size_t row, std::string_view price,
                std::string_view cost) {
  const auto number = [&](std::string_view column) {
    return std::get<Decimal>(written.at(row, column));
  };
  const auto product = multiply(number(price), number("PricingQuantity"), Rounding::kHalfEven);
  if (!product) return false;
  const Int128 miss = product->ticks() - number(cost).ticks();
  return (miss < 0 ? -miss : miss) <=
         (number(price).ticks() + Decimal::kTicksPerUnit) / 1'000'000'000'000;
}

TEST(AllocatedRows, EverySummableColumnAddsUpToTheOrigin) {
  EXPECT_TRUE(rc::check("sums of rows == origin, ratios == 1", [] {
    const Decimal list = any_decimal();
    Charge charge = listed_line(list);
    for (Money Costs::* cost : {&Costs::billed, &Costs::effective, &Costs::contracted}) {
      if (*rc::gen::arbitrary<bool>())
        charge.costs.*cost = Money::from_decimal(any_decimal(), kUsd);
    }
    // No unit price gives two signs: see TwoSignsHaveNoPrice.
    if (charge.costs.contracted.amount().is_negative() != list.is_negative()) {
      charge.costs.contracted = -charge.costs.contracted;
    }
    charge.pricing_quantity = any_decimal();
    charge.consumed_quantity = any_decimal();
    charge.commitment_discount_id = "ri-1";
    charge.other_columns =
        R"({"CommitmentDiscountQuantity":"17.5","PricingCurrency":"EUR",)"
        R"("PricingCurrencyContractedUnitPrice":"2","PricingCurrencyListUnitPrice":"3",)"
        R"("PricingCurrencyEffectiveCost":"-3.000000000000000001"})";
    std::vector<Weight> weights;
    const auto owners = *rc::gen::inRange<std::size_t>(1, 40);
    for (std::size_t i = 0; i <= owners; ++i) {
      weights.push_back(*rc::gen::inRange<std::uint32_t>(0, 1000));
    }
    weights.back() += 1;
    const std::vector<ChargeShare> shares = divide(charge, weights);
    const auto version = *rc::gen::elementOf(
        std::vector{FocusVersion::k1_2, FocusVersion::k1_3, FocusVersion::k1_4});
    const Written written = write(version, charge, shares);
    RC_ASSERT(written.rows.size() == shares.size());
    RC_ASSERT(written.sum("BilledCost") == charge.costs.billed.ticks());
    RC_ASSERT(written.sum("EffectiveCost") == charge.costs.effective.ticks());
    RC_ASSERT(written.sum("ListCost") == charge.costs.list.ticks());
    RC_ASSERT(written.sum("ContractedCost") == charge.costs.contracted.ticks());
    const Decimal quantity = *fit_prices(charge)->prices.quantity;
    RC_ASSERT(written.sum("PricingQuantity") == quantity.ticks());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      RC_ASSERT(is_product(written, i, "ListUnitPrice", "ListCost"));
      RC_ASSERT(is_product(written, i, "ContractedUnitPrice", "ContractedCost"));
    }
    RC_ASSERT(written.sum("ConsumedQuantity") == charge.consumed_quantity->ticks());
    RC_ASSERT(written.sum("CommitmentDiscountQuantity") == parse_exact_decimal("17.5")->ticks());
    RC_ASSERT(written.sum("PricingCurrencyEffectiveCost") ==
              parse_exact_decimal("-3.000000000000000001")->ticks());
    RC_ASSERT(written.sum("x_AllocatedRatio") == Decimal::from_units(1).ticks());
    const std::string prefix = version == FocusVersion::k1_2 ? "x_" : "";
    for (std::size_t i = 0; i < shares.size(); ++i) {
      RC_ASSERT(written.text(i, prefix + "AllocatedMethodId") == "pennyweight-0f");
      RC_ASSERT(written.text(i, prefix + "AllocatedResourceId") == shares[i].owner.id);
      const bool no_name =
          std::holds_alternative<std::monostate>(written.at(i, prefix + "AllocatedResourceName"));
      RC_ASSERT(no_name == shares[i].owner.id.empty());
    }
  }));
}

TEST(AllocatedRows, AnEffectiveCostThatFocusForbidsIsARowOfItsOwn) {
  Charge charge = listed_line(Decimal::from_units(4));
  charge.charge_category = ChargeCategory::kPurchase;
  charge.commitment_discount_id = "cud-1";
  charge.costs.billed = Money::from_units(3, kUsd);
  charge.costs.effective = Money::from_units(3, kUsd);
  const Written whole = write(FocusVersion::k1_4, charge, {});
  ASSERT_EQ(whole.rows.size(), 2u);
  EXPECT_EQ(whole.sum("EffectiveCost"), Decimal::from_units(3).ticks());
  EXPECT_EQ(whole.sum("BilledCost"), Decimal::from_units(3).ticks());
  EXPECT_EQ(std::get<Decimal>(whole.at(0, "EffectiveCost")), Decimal());
  EXPECT_EQ(whole.text(1, "ChargeCategory"), "Adjustment");
  EXPECT_EQ(whole.text(1, kEffectiveCostOf), whole.text(0, kOriginChargeId));
  EXPECT_NE(whole.text(1, kOriginChargeId), whole.text(0, kOriginChargeId));
  const Written divided = write(FocusVersion::k1_4, charge, divide(charge, {1, 2}));
  ASSERT_EQ(divided.rows.size(), 4u);
  EXPECT_EQ(divided.sum("EffectiveCost"), Decimal::from_units(3).ticks());
  EXPECT_EQ(divided.sum("x_AllocatedRatio"), Decimal::from_units(2).ticks());
  EXPECT_EQ(std::get<Decimal>(divided.at(3, "EffectiveCost")), Decimal::from_units(2));
}

TEST(AllocatedRows, ATaxWhoseEffectiveCostIsNotItsBilledCost) {
  Charge charge = listed_line(Decimal());
  charge.charge_category = ChargeCategory::kTax;
  charge.costs.billed = Money::from_units(3, kUsd);
  charge.costs.effective = Money::from_units(5, kUsd);
  EXPECT_EQ(write(FocusVersion::k1_3, charge, {}).rows.size(), 1u);
  const Written written = write(FocusVersion::k1_4, charge, {});
  ASSERT_EQ(written.rows.size(), 2u);
  EXPECT_EQ(std::get<Decimal>(written.at(0, "EffectiveCost")), Decimal::from_units(3));
  EXPECT_EQ(std::get<Decimal>(written.at(1, "EffectiveCost")), Decimal::from_units(2));
}

TEST(AllocatedRows, TwoSignsHaveNoPrice) {
  Charge charge = listed_line(Decimal::from_units(4));
  charge.costs.contracted = -Money::from_units(4, kUsd);
  FocusTable table(FocusVersion::k1_4, Fidelity::kConformant,
                   allocation_columns(FocusVersion::k1_4, false));
  ASSERT_TRUE(table.note({&charge, 1}));
  table.fix_columns();
  AllocatedRows rows(table, {a_run()});
  const auto written = rows.write(charge, {}, [](const FocusRow&) { return Result<void>{}; });
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("ListCost is 4"));
  // A credit needs no price: its name goes with it.
  charge.charge_category = ChargeCategory::kCredit;
  const Written credit = write(FocusVersion::k1_4, charge, {});
  EXPECT_EQ(credit.text(0, "SkuPriceId"), "");
  EXPECT_EQ(credit.text(0, kReplacedValues), R"({"SkuPriceId":"PRICE"})");
}

TEST(AllocatedRows, RatiosAreWholePartsAndAddUp) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint32_t>& counts) {
    if (counts.empty()) return;
    const auto ratios = weight_ratios({counts.begin(), counts.end()});
    UInt128 sum = 0;
    for (const UInt128 ratio : ratios) sum += ratio;
    RC_ASSERT(sum == kRatioParts);
  }));
}

TEST(AllocatedRows, SaysByWhichMethodAndRun) {
  Charge charge = listed_line(Decimal::from_units(4));
  std::vector<ChargeShare> shares = divide(charge, {1, 3});
  shares[1].gpu_time = GpuTime::of(UInt128{72'072'000} * 3'600'000 * 5 / 2);
  const Written written = write(FocusVersion::k1_4, charge, shares);
  EXPECT_EQ(written.text(1, "AllocatedMethodDetails"),
            R"({"Elements":[{"AllocatedRatio":0.75,"UsageQuantity":2.5,"UsageUnit":"GPU-Hours"}],)"
            R"("x_Basis":"max","x_Cluster":"lab","x_PolicyVersion":"0f","x_RunNumber":3})");
  EXPECT_EQ(written.text(0, "AllocatedResourceId"), "");
  EXPECT_EQ(written.text(0, "x_PostingKind"), "unallocated");
  EXPECT_EQ(written.text(1, "HostProviderName"), "AWS");
}

TEST(AllocatedRows, WhatNoRuleDividesStaysWhole) {
  const Charge charge = listed_line(Decimal::from_units(4));
  std::vector<ChargeShare> shares = divide(charge, {1});
  shares[0].kinds = kind_bit(PostingKind::kShared);
  for (const auto& given : {shares, std::vector<ChargeShare>()}) {
    const Written written = write(FocusVersion::k1_3, charge, given);
    ASSERT_EQ(written.rows.size(), 1u);
    for (const std::string_view column : kAllocatedColumns) {
      EXPECT_TRUE(std::holds_alternative<std::monostate>(written.at(0, column))) << column;
    }
    EXPECT_EQ(written.text(0, "x_OriginChargeId"), to_text(charge.id));
  }
}

TEST(AllocatedRows, ALineThatCameDividedKeepsItsOwnWordsBeside) {
  Charge charge = listed_line(Decimal::from_units(4));
  charge.other_columns = R"({"AllocatedMethodId":"scad","x_GpuHours":"7"})";
  const Written written = write(FocusVersion::k1_4, charge, divide(charge, {1, 1}));
  EXPECT_EQ(written.text(0, "AllocatedMethodId"), "pennyweight-0f");
  EXPECT_EQ(written.text(0, "x_OriginAllocatedMethodId"), "scad");
  EXPECT_EQ(written.text(0, "x_OriginGpuHours"), "7");
}

TEST(AllocatedRows, RefusesSharesThatDoNotAddUp) {
  const Charge charge = listed_line(Decimal::from_units(4));
  std::vector<ChargeShare> shares = divide(charge, {1, 1});
  shares.pop_back();
  FocusTable table(FocusVersion::k1_4, Fidelity::kConformant,
                   allocation_columns(FocusVersion::k1_4, false));
  ASSERT_TRUE(table.note({&charge, 1}));
  table.fix_columns();
  AllocatedRows rows(table, {a_run()});
  const auto written = rows.write(charge, shares, [](const FocusRow&) { return Result<void>{}; });
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("do not add up"));
}

TEST(AllocatedRows, TransfersAreRowsOfTheirOwn) {
  const Charge nobody = listed_line(Decimal::from_units(2));
  const Money moved = Money::from_units(3, kUsd);
  const std::vector<ChargeShare> shares = {
      share_of(nobody, "", {-moved, -moved, -moved, -moved}),
      share_of(nobody, "(team=nlp)", {moved, moved, moved, moved})};
  EXPECT_TRUE(is_transfer(shares));
  EXPECT_FALSE(is_transfer(std::span(shares).first(1)));
  FocusTable table(FocusVersion::k1_4, Fidelity::kConformant,
                   allocation_columns(FocusVersion::k1_4, true));
  table.fix_columns();
  AllocatedRows rows(table, {a_run()});
  std::string csv;
  append_csv_header(csv, table.columns());
  ASSERT_TRUE(rows.write_transfer(shares, march(), [&](const FocusRow& row) {
    append_csv_row(csv, row);
    return Result<void>{};
  }));
  EXPECT_THAT(csv, HasSubstr("-3.0"));
  EXPECT_THAT(csv, HasSubstr("Adjustment"));
  EXPECT_THAT(csv, HasSubstr("(team=nlp)"));
}

}  // namespace
}  // namespace pennyweight
