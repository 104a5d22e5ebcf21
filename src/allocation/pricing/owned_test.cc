#include "allocation/pricing/owned.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/split.h"

namespace pennyweight {
namespace {

constexpr std::string_view kOwnedHeader =
    "cluster,node,purchase,salvage,currency,in_service,life_months,retired,"
    "cost_of_capital_percent,power_watts,pue,tariff_per_kwh,colo_per_kw_month,"
    "operations_per_month,support_per_month\n";

Date owned_day(std::string_view text) { return parse_date(text).value(); }

std::vector<OwnedAsset> assets_of(std::string_view rows) {
  auto assets = parse_owned_assets(std::string(kOwnedHeader) + std::string(rows), "assets.csv");
  EXPECT_TRUE(assets.has_value()) << assets.error().message;
  return assets ? *std::move(assets) : std::vector<OwnedAsset>();
}

// Eight H100 bought for 320,000, with a residual value of a quarter after three years.
OwnedAsset worked_example() {
  return assets_of("gpu,node-1,320000,80000,USD,2026-01-01,36,,6,10200,1.2,0.08,200,1500,\n")
      .front();
}

struct Sum {
  Money depreciation, capital, power, colocation, operations, total;
};

Sum sum_of(const std::vector<OwnedDay>& days) {
  const Money none = Money::zero(kUsd);
  Sum sum{none, none, none, none, none, none};
  for (const OwnedDay& d : days) {
    sum.depreciation += d.depreciation;
    sum.capital += d.capital;
    sum.power += d.power;
    sum.colocation += d.colocation;
    sum.operations += d.operations;
    sum.total += d.total();
  }
  return sum;
}

std::string text(Money money) { return to_text(money.amount()); }

TEST(Owned, RowsThatAreRefused) {
  struct Case {
    std::string_view rows;
    std::string_view want;  // prefix of the message
  };
  const Case cases[] = {
      {",n,1,0,USD,2026-01-01,36,,,,,,,,\n", "assets.csv:2: cluster is missing"},
      {"c,,1,0,USD,2026-01-01,36,,,,,,,,\n", "assets.csv:2: node is missing"},
      {"c,n,,0,USD,2026-01-01,36,,,,,,,,\n", "assets.csv:2: purchase: "},
      {"c,n,-1,0,USD,2026-01-01,36,,,,,,,,\n", "assets.csv:2: purchase -1 is outside"},
      {"c,n,1000000000001,0,USD,2026-01-01,36,,,,,,,,\n", "assets.csv:2: purchase 1000000000001"},
      {"c,n,1,2,USD,2026-01-01,36,,,,,,,,\n", "assets.csv:2: salvage 2 is above the purchase 1"},
      {"c,n,1,0,usd,2026-01-01,36,,,,,,,,\n", "assets.csv:2: currency: "},
      {"c,n,1,0,USD,2026,36,,,,,,,,\n", "assets.csv:2: in_service: "},
      {"c,n,1,0,USD,2026-01-01,0,,,,,,,,\n", "assets.csv:2: life_months is 0"},
      {"c,n,1,0,USD,2026-01-01,601,,,,,,,,\n", "assets.csv:2: life_months: "},
      {"c,n,1,0,USD,2026-01-01,1.5,,,,,,,,\n", "assets.csv:2: life_months: "},
      {"c,n,1,0,USD,2026-01-01,36,2026-01-01,,,,,,,\n", "assets.csv:2: retired 2026-01-01 is not"},
      {"c,n,1,0,USD,2026-01-01,36,,1001,,,,,,\n", "assets.csv:2: cost_of_capital_percent 1001"},
      {"c,n,1,0,USD,2026-01-01,36,,,1.0001,,,,,\n", "assets.csv:2: power_watts has more than"},
      {"c,n,1,0,USD,2026-01-01,36,,,100,0.9,0.1,,,\n", "assets.csv:2: pue 0.9 is below 1"},
      {"c,n,1,0,USD,2026-01-01,36,,,100,,0.1,,,\n", "assets.csv:2: tariff_per_kwh needs"},
      {"c,n,1,0,USD,2026-01-01,36,,,,1.2,0.1,,,\n", "assets.csv:2: tariff_per_kwh needs"},
      {"c,n,1,0,USD,2026-01-01,36,,,,,,200,,\n", "assets.csv:2: colo_per_kw_month needs"},
      {"c,n,1,0,USD,2026-01-01,36,,,,,,,x,\n", "assets.csv:2: operations_per_month: "},
      {"c,n,1,0,USD,2026-01-01,36,,,,,,,,\nc,n,2,0,USD,2027-01-01,36,,,,,,,,\n",
       "assets.csv:3: n is already in service according to assets.csv:2"},
  };
  for (const Case& c : cases) {
    const auto assets =
        parse_owned_assets(std::string(kOwnedHeader) + std::string(c.rows), "assets.csv");
    ASSERT_FALSE(assets.has_value()) << c.rows;
    EXPECT_EQ(assets.error().message.substr(0, c.want.size()), c.want) << c.rows;
  }
  // The same name in another cluster, and again after the first one was retired.
  EXPECT_EQ(assets_of("c,n,1,0,USD,2026-01-01,36,2027-01-01,,,,,,,\n"
                      "c,n,2,0,USD,2027-01-01,36,,,,,,,,\nd,n,2,0,USD,2026-01-01,36,,,,,,,,\n")
                .size(),
            3u);
}

TEST(Owned, TheWorkedExample) {
  const OwnedAsset asset = worked_example();
  EXPECT_EQ(to_text(end_of_life(asset)), "2029-01-01");  // 1,096 days: 2028 is a leap year
  const auto march = owned_days(asset, owned_day("2026-03-01"), owned_day("2026-04-01"), {});
  ASSERT_EQ(march.size(), 31u);
  const OwnedDay& first = march.front();
  EXPECT_EQ(text(first.depreciation), "218.978102189781021898");  // 240,000 / 1,096
  EXPECT_EQ(text(first.capital), "50.478952104789521048");        // 307,080.29… x 6 % / 365
  EXPECT_EQ(text(first.power), "23.5008");                        // 10.2 x 24 x 1.2 x 0.08
  EXPECT_EQ(text(first.colocation), "65.806451612903225807");     // 10.2 x 200 / 31
  EXPECT_EQ(text(first.operations), "48.387096774193548388");     // 1,500 / 31
  EXPECT_EQ(text(first.support), "0");
  EXPECT_EQ(to_text(first.kwh), "244.8");
  EXPECT_FALSE(first.measured);
  const Sum sum = sum_of(march);
  EXPECT_EQ(text(sum.depreciation), "6788.321167883211678838");
  EXPECT_EQ(text(sum.capital), "1548.10918908109189081");
  EXPECT_EQ(text(sum.power), "728.5248");
  EXPECT_EQ(text(sum.colocation), "2040");
  EXPECT_EQ(text(sum.operations), "1500");
  EXPECT_EQ(text(sum.total), "12604.955156964303569648");  // 2.12 a GPU-hour
  EXPECT_TRUE(sum.total ==
              sum.depreciation + sum.capital + sum.power + sum.colocation + sum.operations);
}

TEST(Owned, TheDaysOfALifeAddUpToWhatIsWrittenOff) {
  const OwnedAsset asset = worked_example();
  const auto life = owned_days(asset, owned_day("2020-01-01"), end_of_life(asset), {});
  ASSERT_EQ(life.size(), 1096u);
  EXPECT_TRUE(sum_of(life).depreciation == asset.purchase - asset.salvage);
  // The amounts of a split into equal parts, day by day.
  const std::vector<Weight> even(1096, 1);
  const auto shares = split(asset.purchase - asset.salvage, even);
  for (std::size_t i = 0; i < life.size(); ++i) {
    ASSERT_TRUE(life[i].depreciation == shares[i]) << i;
  }
}

TEST(Owned, AfterItsLifeAndAfterItIsRetired) {
  OwnedAsset asset = worked_example();
  const auto later = owned_days(asset, owned_day("2029-01-01"), owned_day("2029-01-02"), {});
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(text(later.front().depreciation), "0");
  EXPECT_EQ(text(later.front().capital), "13.150684931506849315");  // 80,000 x 6 % / 365
  EXPECT_EQ(text(later.front().power), "23.5008");
  asset.retired = owned_day("2029-01-02");
  EXPECT_EQ(owned_days(asset, owned_day("2029-01-01"), owned_day("2029-02-01"), {}).size(), 1u);
  EXPECT_TRUE(owned_days(asset, owned_day("2025-12-01"), owned_day("2026-01-01"), {}).empty());
}

TEST(Owned, MeasuredEnergyTakesThePlaceOfTheNominal) {
  const auto energy = parse_energy(
      "cluster,node,day,kwh\ngpu,node-1,2026-03-02,100.5\nother,node-1,2026-03-01,1\n", "e.csv");
  ASSERT_TRUE(energy.has_value());
  const auto days =
      owned_days(worked_example(), owned_day("2026-03-01"), owned_day("2026-03-03"), *energy);
  EXPECT_EQ(text(days[0].power), "23.5008");
  EXPECT_EQ(text(days[1].power), "9.648");  // 100.5 x 1.2 x 0.08
  EXPECT_EQ(to_text(days[1].kwh), "100.5");
  EXPECT_FALSE(days[0].measured);
  EXPECT_TRUE(days[1].measured);
}

TEST(Owned, EnergyRowsThatAreRefused) {
  for (const std::string_view rows :
       {"c,n,2026-03-01,-1\n", "c,n,2026-03-01,1000001\n", "c,n,2026-03-01,\n", ",n,2026-03-01,1\n",
        "c,,2026-03-01,1\n", "c,n,2026-03-01T00:00,1\n", "c,n,2026-03-01,1\nc,n,2026-03-01,1\n"}) {
    const auto energy = parse_energy("cluster,node,day,kwh\n" + std::string(rows), "e.csv");
    ASSERT_FALSE(energy.has_value()) << rows;
    EXPECT_TRUE(energy.error().message.starts_with("e.csv:")) << energy.error().message;
  }
}

TEST(Owned, LivesEndOnTheDayTheyBegan) {
  const auto end_of = [](std::string_view begin, std::uint32_t months) {
    OwnedAsset asset;
    asset.in_service = owned_day(begin);
    asset.life_months = months;
    return to_text(end_of_life(asset));
  };
  EXPECT_EQ(end_of("2026-01-15", 12), "2027-01-15");
  EXPECT_EQ(end_of("2026-01-31", 1), "2026-02-28");
  EXPECT_EQ(end_of("2024-02-29", 12), "2025-02-28");
  EXPECT_EQ(end_of("2026-12-31", 2), "2027-02-28");
}

// Any asset, split at any day: the depreciation before and after adds up to the whole.
RC_GTEST_PROP(OwnedProperty, LivesAddUpHoweverTheyAreCut, ()) {
  OwnedAsset asset = worked_example();
  asset.salvage = Money::from_ticks(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000), kUsd);
  asset.purchase = asset.salvage +
                   Money::from_ticks(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000), kUsd);
  asset.in_service += std::chrono::days(*rc::gen::inRange(0, 5000));
  asset.life_months = *rc::gen::inRange<std::uint32_t>(1, 80);
  const Date end = end_of_life(asset);
  const Date cut = asset.in_service + std::chrono::days(*rc::gen::inRange<std::int64_t>(
                                          0, (end - asset.in_service).count() + 1));
  Money sum = Money::zero(kUsd);
  for (const auto& part : {owned_days(asset, asset.in_service, cut, {}),
                           owned_days(asset, cut, end + std::chrono::days(40), {})}) {
    for (const OwnedDay& d : part) {
      RC_ASSERT(!d.depreciation.is_negative() && !d.capital.is_negative());
      sum += d.depreciation;
    }
  }
  RC_ASSERT(sum == asset.purchase - asset.salvage);
}

// A month's amounts are distributed over its days completely, whatever its length.
RC_GTEST_PROP(OwnedProperty, MonthsAddUp, ()) {
  OwnedAsset asset = worked_example();
  asset.operations_per_month =
      Decimal::from_ticks(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000));
  const auto month = std::chrono::year_month(std::chrono::year(2026), std::chrono::month(1)) +
                     std::chrono::months(*rc::gen::inRange(0, 100));
  const Date first = month / std::chrono::day(1);
  const Date end = (month + std::chrono::months(1)) / std::chrono::day(1);
  const Sum sum = sum_of(owned_days(asset, first, end, {}));
  RC_ASSERT(sum.operations.amount() == asset.operations_per_month);
  RC_ASSERT(text(sum.colocation) == "2040");
}

}  // namespace
}  // namespace pennyweight
