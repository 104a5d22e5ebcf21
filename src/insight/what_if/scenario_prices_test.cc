// What a scenario takes from the catalogues, on two A100 nodes of March 2026: a line of the
// scenario, and what the month costs then, worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "insight/what_if/bought_commitments.h"
#include "insight/what_if/commitments.h"
#include "insight/what_if/list_prices.h"
#include "insight/what_if/model_speed.h"
#include "insight/what_if/scenario_facts.h"
#include "insight/what_if/scenario_text.h"

namespace pennyweight::what_if {
namespace {

const Interval kPricedMarch{*parse_instant("2026-03-01T00:00:00Z"),
                            *parse_instant("2026-04-01T00:00:00Z")};

// Two nodes of eight A100, a line a day each at 480.00 USD: 20.00 an hour.
struct PricedFleet {
  std::vector<Charge> charges;
  std::vector<Node> nodes;
  std::vector<Gpu> gpus;
  Catalog catalog = Catalog::built_in();
  std::uint64_t ids = 0;

  PricedFleet() {
    for (const std::string name : {"a-1", "a-2"}) add_node(name);
  }
  Node& add_node(const std::string& name) {
    Node& node = nodes.emplace_back(Node{.cluster = ClusterId("lab"),
                                         .name = NodeId(name),
                                         .provider_id = "i-" + name,
                                         .instance_type = "p4d.24xlarge",
                                         .region = "us-east-1",
                                         .pool = PoolId(name == "a-1" ? "train" : "serve"),
                                         .gpu_model = "A100-SXM4-40GB",
                                         .gpu_count = 8,
                                         .cpu_milli = {},
                                         .memory_bytes = {},
                                         .from = kPricedMarch.begin(),
                                         .to = {},
                                         .id = {},
                                         .source = {}});
    node.id = numbered(hash_of("node"), ++ids);
    for (int day = 0; day < 31; ++day) {
      add_line("i-" + name, kPricedMarch.begin() + std::chrono::hours(24 * day), 24, 480);
    }
    return node;
  }
  Charge& add_line(const std::string& resource, Instant begin, int hours, int cost) {
    const Money money = Money::from_units(cost, kUsd);
    Charge& charge =
        charges.emplace_back(kPricedMarch, Interval(begin, begin + std::chrono::hours(hours)),
                             Costs{money, money, money, money});
    charge.resource_id = resource;
    charge.service_category = "Compute";
    charge.pricing_category = PricingCategory::kStandard;
    charge.id = numbered(hash_of("line"), ++ids);
    return charge;
  }
  // A commitment covers the first node's first day, for 300.00.
  void cover_first_day() {
    Charge& charge = charges.front();
    charge.costs.billed = Money::zero(kUsd);
    charge.costs.effective = Money::from_units(300, kUsd);
    charge.commitment_discount_id = "ri-1";
    charge.commitment_discount_status = UsedOrUnused::kUsed;
    charge.pricing_category = PricingCategory::kCommitted;
  }
  ClusterMonth month() const {
    return {.cluster = ClusterId("lab"),
            .charges = charges,
            .nodes = nodes,
            .gpus = gpus,
            .holdings = {},
            .catalog = catalog};
  }
};

Result<FoundRate> rate_of_march(Currency from, Currency to, Date date) {
  const auto rates = ExchangeRates::parse("date,from,to,rate\n2026-02-27,USD,EUR,0.9\n", "rates");
  EXPECT_TRUE(rates.has_value());
  return rates->rate_on(from, to, date, {});
}

struct Priced {
  std::vector<Charge> charges;
  std::vector<ListedPrice> prices;
  std::vector<BoughtCommitment> commitments;
};

Result<Priced> priced(const PricedFleet& fleet, std::string_view line) {
  const auto texts = parse_scenario_line(line);
  if (!texts) return std::unexpected(texts.error());
  const auto scenario = parse_scenario(*texts);
  if (!scenario) return std::unexpected(scenario.error());
  const auto replaced = replace_models(fleet.month(), kPricedMarch, *scenario);
  if (!replaced) return std::unexpected(replaced.error());
  ClusterMonth month = fleet.month();
  month.nodes = replaced->nodes;
  auto facts = change_fleet(month, kPricedMarch, *scenario, {}, rate_of_march);
  if (!facts) return std::unexpected(facts.error());
  auto charges = change_commitments(std::move(facts->charges), scenario->commitments, {});
  if (!charges) return std::unexpected(charges.error());
  const FleetView view(facts->nodes, facts->gpus, month.catalog, month.join_rules);
  auto bought = buy_commitments(*std::move(charges), month, view, kPricedMarch, *scenario, {});
  if (!bought) return std::unexpected(bought.error());
  return Priced{std::move(bought->charges), std::move(facts->prices),
                std::move(bought->commitments)};
}

// "32672.971296 USD": what all lines cost, by currency; or why not.
std::string bill(const PricedFleet& fleet, std::string_view line,
                 Money Costs::* cost = &Costs::effective) {
  const auto result = priced(fleet, line);
  if (!result) return result.error().message;
  std::map<Currency, Money> sums;
  for (const Charge& charge : result->charges) {
    const Money& amount = charge.costs.*cost;
    sums.try_emplace(amount.currency(), Money::zero(amount.currency())).first->second += amount;
  }
  std::string text;
  for (const auto& [currency, sum] : sums) {
    if (sum.is_zero()) continue;
    text += (text.empty() ? "" : " + ") + to_text(sum.amount()) + " " + currency.text();
  }
  return text;
}

TEST(ScenarioPrices, ListPricesAreTheHoursThatTheBillCharges) {
  const PricedFleet fleet;
  // 2 nodes x 744 h = 29,760 as it was.
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "29760 USD"},
      {"list-price=same", "32672.971296 USD"},                            // 21.957642
      {"list-price=aws", "32672.971296 USD"},                             // the same type
      {"list-price=p4d.24xlarge", "32672.971296 USD"},                    // named
      {"list-price=same:tier=spot", "14627.04 USD"},                      // 9.83
      {"list-price=same:date=2022-07-01", "48765.6288 USD"},              // 32.7726
      {"list-price=same:pool=train", "31216.485648 USD"},                 // one node of them
      {"list-price=gcp:tier=spot,region=us-central1", "21473.0304 USD"},  // 14.4308
      {"list-price=same;price=50%", "16336.485648 USD"},                  // percent of it
      {"list-price=same:currency=EUR", "29405.6741664 EUR"},              // at 0.9
      {"list-price=same:currency=EUR,pool=train", "14702.8370832 EUR + 14880 USD"},
      {"list-price=same;nodes=-1", "16336.485648 USD"},
      {"list-price=same;nodes=+1", "49009.456944 USD"},
      // A type with other GPUs than the node has: by the GPU.
      {"list-price=a2-highgpu-1g:tier=spot,region=us-central1", "21473.0304 USD"},
      // With other GPUs the price is of these.
      {"replace-model=A100-SXM4-40GB=H100-SXM5-80GB;bound=compute", "29760 USD"},
  };
  for (const auto& [line, expected] : cases) EXPECT_EQ(bill(fleet, line), expected) << line;
}

TEST(ScenarioPrices, WhatTheCatalogueLacksIsSaidByName) {
  const PricedFleet fleet;
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"list-price=same:tier=committed_1y", "no committed_1y price of p4d.24xlarge"},
      {"list-price=same:date=2020-01-01", "the first is from 2022-06-23"},
      {"list-price=same:region=mars", "in region 'mars'; there is one in: us-east-1"},
      {"list-price=lambdalabs", "neither an instance type nor a provider"},
      {"list-price=exoscale", "exoscale"},
      {"list-price=p5.48xlarge", "p5.48xlarge has H100-SXM5-80GB, and node a-1 has A100-SXM4-40GB"},
      {"replace-model=A100-SXM4-40GB=H100-SXM5-80GB;list-price=same", "and node a-1 has H100"},
      {"list-price=same:currency=JPY", "JPY"},
      {"list-price=same:pool=none", "no node with GPUs in pool none"},
      {"list-price=same:model=V100-SXM2-16GB", "no node with V100-SXM2-16GB"},
      {"list-price=same;list-price=same", "would have two list prices"},
      {"list-price=same:pool=train;list-price=aws", "node a-1 would have two list prices"},
      {"list-price=same:tier=reserved", "the tiers are on_demand, spot, committed_1y"},
      {"list-price=same:date=yesterday", "the date is a day"},
      {"list-price=same:currency=euro", "the currency is a code"},
      {"list-price=same:zone=a", "write whose price"},
      {"list-price=same:tier=spot,tier=spot", "write whose price"},
      {"list-price=:tier=spot", "write whose price"},
      {"replace-model=A100-SXM4-40GB", "write which GPU model is replaced by which"},
      {"replace-model=A100-SXM4-40GB=A100-SXM4-40GB", "replaces itself"},
      {"replace-model=A100-SXM4-40GB=X9000", "GPU model 'X9000' is unknown"},
      {"replace-model=V100-SXM2-16GB=H100-SXM5-80GB", "no node with V100-SXM2-16GB"},
      {"replace-model=A100-SXM4-40GB=H100-SXM5-80GB;replace-model=A100-SXM4-40GB=L40S",
       "is replaced already"},
      {"replace-model=A100-SXM4-40GB=H100-SXM5-80GB;any-model", "can't be combined with any-model"},
      {"bound=compute", "bound changes nothing here"},
      {"replace-model=A100-SXM4-40GB=H100-SXM5-80GB;bound=0%", "write TEAM=BOUND"},
      {"replace-model=A100-SXM4-40GB=H100-SXM5-80GB;bound=-5%", "write TEAM=BOUND"},
      {"replace-model=A100-SXM4-40GB=H100-SXM5-80GB;bound=memory;bound=compute",
       "these jobs have a bound already"},
      {"commitment-buy=0@7.5", "write NODES@PRICE/TERM"},
      {"commitment-buy=-3@7.5", "write NODES@PRICE/TERM"},
      {"commitment-buy=3@-7.5", "write NODES@PRICE/TERM"},
      {"commitment-buy=3@0", "write NODES@PRICE/TERM"},
      {"commitment-buy=3@1000001", "write NODES@PRICE/TERM"},
      {"commitment-buy=100@101%", "write NODES@PRICE/TERM"},
      {"commitment-buy=3@spot", "write NODES@PRICE/TERM"},
      {"commitment-buy=3@7.5/2y", "write NODES@PRICE/TERM"},
      {"commitment-buy=3@7.5:from=2026-04-01", "begins on 2026-04-01"},
      {"commitment-buy=3@committed_1y", "no committed_1y price of p4d.24xlarge"},
      {"commitment-buy=1@7.5:pool=none", "could cover"},
      {"commitment-buy=1@7.5;cheapest-tiers=60;committed=60%", "with cheapest-tiers"},
      {"list-price=same:tier=spot;commitment-buy=1@7.5", "its nodes are spot"},
      {"spot=2%;commitment-buy=1@7.5", "its nodes are spot"},
  };
  for (const auto& [line, why] : cases) {
    EXPECT_NE(bill(fleet, line).find(why), std::string::npos) << line << ": " << bill(fleet, line);
  }
}

TEST(ScenarioPrices, ALineCountsByItsHoursAndNoneTwice) {
  PricedFleet fleet;
  fleet.charges.clear();
  // 15 hours of a day, 9 of it covered; a line of cores beside a line of GPUs; a credit and a tax.
  const Instant begin = kPricedMarch.begin();
  for (const int hours : {15, 9}) {
    Charge& line = fleet.add_line("i-a-1", begin, 24, 100);
    line.pricing_unit = "Hours";
    line.pricing_quantity = Decimal::from_units(hours);
  }
  fleet.add_line("i-a-2", begin, 24, 300);
  Charge& cores = fleet.add_line("i-a-2", begin, 24, 30);
  cores.pricing_unit = "vCPU-Hours";
  cores.pricing_quantity = Decimal::from_units(24 * 96);
  fleet.add_line("i-a-1", begin, 24, -7).charge_category = ChargeCategory::kCredit;
  fleet.add_line("i-a-1", begin, 24, 5).charge_category = ChargeCategory::kTax;
  // 48 h x 21.957642 - 7 + 5.
  EXPECT_EQ(bill(fleet, "list-price=same"), "1051.966816 USD");
  const auto result = priced(fleet, "list-price=same");
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->prices.size(), 1u);
  EXPECT_EQ(result->prices.front().kept_lines, 1u);  // a tax is for no devices
  EXPECT_EQ(result->prices.front().nodes, 2u);
  EXPECT_EQ(result->prices.front().rate.source, "aws-changes");
}

// A line of some hours, as its unit says them.
struct BilledHours {
  int begin;  // hour of the month
  int period;
  std::string hours;  // empty: it states none
  std::string sku = {};
  int cost = 100;
  PricingCategory pricing = PricingCategory::kStandard;
};

TEST(ScenarioPrices, ANodeHourHasOnePriceHoweverItsBillIsCut) {
  const std::pair<std::vector<BilledHours>, int> cases[] = {
      // Two lines of a day beside each other, and lines that divide it.
      {{{0, 24, "24"}, {0, 24, "24"}}, 24},
      {{{0, 24, "24", "core"}, {0, 24, "24", "gpu"}}, 24},
      {{{0, 24, "5", "core"}, {0, 24, "5", "gpu"}}, 5},
      {{{0, 24, "15", "a"}, {0, 24, "9", "b", 100, PricingCategory::kCommitted}}, 24},
      {{{0, 24, "15", "a"}, {0, 24, "9", "a"}}, 24},
      {{{0, 1, "0.75"}, {0, 1, "0.25"}}, 1},
      // Hours of cores, GPUs and gibibytes aren't the node's.
      {{{0, 24, "2304", "core"}, {0, 24, "192", "gpu"}, {0, 24, "", "ram"}}, 24},
      {{{0, 1, "96", "core"}, {0, 1, "8", "gpu"}, {1, 1, "96", "core"}, {1, 1, "8", "gpu"}}, 2},
      {{{0, 24, "480", "core"}, {0, 24, "5", "node"}}, 5},
      // Less hours than the period, stated.
      {{{0, 24, "5"}}, 5},
      {{{0, 24, "5"}, {0, 24, ""}}, 5},
      // Hours, days and the month over each other.
      {{{0, 744, "744"}, {0, 24, "24"}, {3, 1, "1"}, {24, 24, "24"}}, 744},
      {{{3, 1, "1"}, {3, 1, "1"}, {0, 24, "5"}}, 6},
      {{{0, 24, ""}, {12, 24, ""}, {0, 744, ""}}, 744},
      // Refunds.
      {{{0, 24, "24"}, {0, 24, "-4", "", -20}}, 20},
      {{{0, 24, "24"}, {0, 24, "-24", "", -100}, {0, 24, "24"}}, 24},
      {{{0, 24, "24", "core"},
        {0, 24, "24", "gpu"},
        {0, 24, "-2", "core", -10},
        {0, 24, "-2", "gpu", -10}},
       22},
      {{{0, 24, "24"}, {24, 24, "24"}, {0, 744, "-6", "", -20}}, 42},
      {{{0, 24, "2304", "core"},
        {0, 24, "192", "gpu"},
        {0, 24, "-2304", "core", -100},
        {0, 24, "-192", "gpu", -100},
        {24, 24, "24"}},
       24},
      {{{0, 24, ""}, {0, 24, "", "", -30}}, 24},  // a discount
      {{{0, 24, "24"}, {0, 744, "", "", -30}}, 24},
  };
  for (const auto& [lines, hours] : cases) {
    PricedFleet fleet;
    fleet.charges.clear();
    std::string text;
    for (const BilledHours& each : lines) {
      Charge& line = fleet.add_line("i-a-1", kPricedMarch.begin() + std::chrono::hours(each.begin),
                                    each.period, each.cost);
      if (!each.hours.empty()) {
        line.pricing_unit = "hour";
        line.pricing_quantity = parse_decimal(each.hours)->value;
      }
      line.sku_id = each.sku;
      line.pricing_category = each.pricing;
      text += " " + std::to_string(each.period) + ":" + each.hours + each.sku;
    }
    // 21.957642 an hour.
    const Money expected =
        Money::from_ticks(parse_decimal("21.957642")->value.ticks() * Int128{hours}, kUsd);
    EXPECT_EQ(bill(fleet, "list-price=same"), to_text(expected.amount()) + " USD") << text;
    const auto result = priced(fleet, "list-price=same");
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->prices.front().cost, expected.ticks()) << text;
  }
}

TEST(ScenarioPrices, ACommitmentIsOwedUntilItEnds) {
  PricedFleet fleet;
  fleet.cover_first_day();
  // 31 + 31 days at 480, less one of them, which costs 300.
  EXPECT_EQ(bill(fleet, ""), "29580 USD");
  EXPECT_EQ(bill(fleet, "list-price=same"), "32972.971296 USD");
  EXPECT_EQ(bill(fleet, "list-price=same;commitment-end=ri-1@2026-03-01T00:00:00Z"),
            "32672.971296 USD");
  EXPECT_EQ(bill(fleet, "list-price=same;commitment-end=ri-1@2026-03-01T12:00:00Z"),
            "32822.971296 USD");
  EXPECT_EQ(bill(fleet, "list-price=same;nodes=-1:pool=train"), "16336.485648 USD");
}

TEST(ScenarioPrices, BoughtCommitmentsCostWhatTheyCost) {
  const PricedFleet fleet;
  const std::pair<std::string_view, std::string_view> cases[] = {
      // One node of two at 12 an hour: 744 x 12 + 744 x 20.
      {"commitment-buy=1@12", "23808 USD"},
      {"commitment-buy=2@12/1y", "17856 USD"},
      // Two thirds of three are used.
      {"commitment-buy=3@12/3y", "26784 USD"},
      {"commitment-buy=3@12;nodes=-1", "26784 USD"},
      {"commitment-buy=1@12;commitment-buy=1@13", "18600 USD"},
      {"commitment-buy=1@12;commitment-buy=1@12", "17856 USD"},
      // From noon... from the 11th on: 240 h at 20 and 504 at 12, and the other node.
      {"commitment-buy=1@12:from=2026-03-11", "25728 USD"},
      {"commitment-buy=1@12:from=2026-02-11", "23808 USD"},
      {"commitment-buy=1@12:pool=serve", "23808 USD"},
      // 12 an hour pays for 20 on demand; 30 an hour for 50, of which 40 are used.
      {"commitment-buy=12@60%", "23808 USD"},
      {"commitment-buy=30@60%/1y", "22320 USD"},
      {"commitment-buy=0.6@60%", "29462.4 USD"},  // pays for 1 of 40
      {"commitment-buy=1@12;list-price=same", "25264.485648 USD"},
      {"commitment-buy=1@12;price=50%", "16368 USD"},
      {"commitment-buy=100000@1", "74400000 USD"},
  };
  for (const auto& [line, expected] : cases) EXPECT_EQ(bill(fleet, line), expected) << line;
  // What is covered keeps its cost on demand.
  EXPECT_EQ(bill(fleet, "commitment-buy=3@12", &Costs::contracted), "29760 USD");
  const auto result = priced(fleet, "commitment-buy=3@12/1y");
  ASSERT_TRUE(result.has_value());
  const BoughtCommitment& bought = result->commitments.front();
  EXPECT_EQ(bought.cost, Money::from_units(26784, kUsd));
  EXPECT_EQ(bought.unused, Money::from_units(8928, kUsd));
  EXPECT_EQ(bought.replaced, Money::from_units(29760, kUsd));
  EXPECT_EQ(bought.term_cost, Money::from_units(36 * 8760, kUsd));
}

TEST(ScenarioPrices, ACommitmentCoversANodeHourOnceWithAllItsLines) {
  PricedFleet fleet;
  fleet.charges.clear();
  // Each node at 20 an hour: by the day in two lines, one of them for the whole month.
  for (const std::string name : {"i-a-1", "i-a-2"}) {
    for (int day = 0; day < 31; ++day) {
      fleet.add_line(name, kPricedMarch.begin() + std::chrono::hours(24 * day), 24, 16 * 24);
    }
    fleet.add_line(name, kPricedMarch.begin(), 744, 4 * 744);
  }
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"commitment-buy=1@12", "23808 USD"},
      {"commitment-buy=2@12/1y", "17856 USD"},
      {"commitment-buy=3@12/3y", "26784 USD"},
      {"commitment-buy=1@12;commitment-buy=1@13", "18600 USD"},
      {"commitment-buy=1@12:from=2026-03-11", "25728 USD"},
      {"commitment-buy=12@60%", "23808 USD"},
      // 384 h of both and then the first 360 h of both, or of one.
      {"commitment-buy=2@12:from=2026-03-16;commitment-buy=1@12", "25344 USD"},
      {"commitment-buy=1@12:from=2026-03-16;commitment-buy=1@12", "20736 USD"},
  };
  for (const auto& [line, expected] : cases) {
    EXPECT_EQ(bill(fleet, line), expected) << line;
    EXPECT_EQ(bill(fleet, line, &Costs::contracted), "29760 USD") << line;
  }
}

TEST(ScenarioPrices, WhatOneCommitmentCoversTheNextDoesNot) {
  PricedFleet fleet;
  fleet.charges.clear();
  fleet.add_line("i-a-1", kPricedMarch.begin(), 744, 14880).pricing_quantity =
      Decimal::from_units(744);  // at 20 an hour
  for (const char* line : {"commitment-buy=1@20:from=2026-03-16;commitment-buy=1@20",
                           "commitment-buy=20@100%:from=2026-03-16;commitment-buy=20@100%",
                           "commitment-buy=1@20:from=2026-03-16;commitment-buy=20@100%",
                           "commitment-buy=20@100%:from=2026-03-16;commitment-buy=1@20"}) {
    const auto result = priced(fleet, line);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    ASSERT_EQ(result->commitments.size(), 2u);
    const BoughtCommitment& later = result->commitments.front();
    const BoughtCommitment& rest = result->commitments.back();
    EXPECT_EQ(later.replaced, Money::from_units(384 * 20, kUsd)) << line;
    EXPECT_EQ(later.unused, Money::zero(kUsd)) << line;
    EXPECT_EQ(rest.replaced, Money::from_units(360 * 20, kUsd)) << line;
    EXPECT_EQ(rest.unused, Money::from_units(384 * 20, kUsd)) << line;
    for (const Charge& part : result->charges) EXPECT_FALSE(part.pricing_quantity) << line;
  }
}

TEST(ScenarioPrices, UsedAndUnusedAddUpToTheCommitment) {
  PricedFleet fleet;
  fleet.charges.clear();
  // Lines that begin and end within hours.
  for (int i = 0; i < 40; ++i) {
    Charge& line = fleet.add_line(i % 2 == 0 ? "i-a-1" : "i-a-2",
                                  kPricedMarch.begin() + std::chrono::minutes(37 * i), 1, 7 + i);
    line.costs.contracted = line.costs.effective;
  }
  for (const char* line : {"commitment-buy=1@3.337", "commitment-buy=2@0.1",
                           "commitment-buy=1.7@33%", "commitment-buy=9@71%:from=2026-03-01"}) {
    const auto result = priced(fleet, line);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    const BoughtCommitment& bought = result->commitments.front();
    Money owed = Money::zero(kUsd);
    Money contracted = Money::zero(kUsd);
    for (const Charge& charge : result->charges) {
      if (charge.commitment_discount_id == bought.id) owed += charge.costs.effective;
      contracted += charge.costs.contracted;
    }
    EXPECT_EQ(owed, bought.cost) << line;
    Money was = Money::zero(kUsd);
    for (const Charge& charge : fleet.charges) was += charge.costs.contracted;
    EXPECT_EQ(contracted, was) << line;
  }
}

TEST(ModelSpeeds, JobsTakeTheTimeOfTheirBound) {
  const GpuModel* const a100 = find_gpu_model("A100-SXM4-40GB");
  const auto ratio = [&](std::string_view line, const std::string& team,
                         const std::string& workload, std::optional<Bound> assumed = {}) {
    const auto texts = parse_scenario_line(line);
    EXPECT_TRUE(texts.has_value());
    const auto scenario = parse_scenario(*texts);
    EXPECT_TRUE(scenario.has_value()) << scenario.error().message;
    auto speeds = ModelSpeeds::of(*scenario, assumed);
    if (!speeds) return speeds.error().message;
    const TimeRatio time = speeds->use({a100}, team, workload);
    return std::to_string(time.numerator) + "/" + std::to_string(time.denominator);
  };
  const std::string h100 = "replace-model=A100-SXM4-40GB=H100-SXM5-80GB";
  EXPECT_EQ(ratio(h100 + ";bound=compute", "", "a"), "312000/989000");
  EXPECT_EQ(ratio(h100 + ";bound=memory", "", "a"), "1555/3350");
  EXPECT_EQ(ratio(h100, "", "a"), "1555/3350");  // the longer of both
  EXPECT_EQ(ratio(h100, "", "a", Bound::kCompute), "312000/989000");
  EXPECT_EQ(ratio(h100, "", "a", Bound::kMemory), "1555/3350");
  EXPECT_EQ(ratio(h100 + ";bound=compute;bound=nlp=80%", "nlp", "a"), "80/100");
  EXPECT_EQ(ratio(h100 + ";bound=nlp=80%", "cv", "a"), "1555/3350");
  EXPECT_EQ(ratio(h100 + ";bound=nlp=80%;bound=workload:t-*=compute", "nlp", "t-1"),
            "312000/989000");
  EXPECT_EQ(ratio(h100 + ";bound=nlp=unknown;bound=compute", "nlp", "t-1", Bound::kMemory),
            "1555/3350");
  // Without BF16 on one of them it is FP16; a slower model takes longer.
  EXPECT_EQ(ratio("replace-model=A100-SXM4-40GB=V100-SXM2-16GB;bound=compute", "", ""),
            "312000/125000");
}

}  // namespace
}  // namespace pennyweight::what_if
