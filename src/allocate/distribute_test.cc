// distribute(): what moves, to whom, and that nothing is lost or invented on the way.
#include "allocate/distribute.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

namespace pennyweight {
namespace {

using std::chrono::sys_days;

constexpr std::int64_t kHourMs = 3'600'000;

sys_days day(unsigned of_march) {
  return sys_days(std::chrono::year(2026) / std::chrono::March / std::chrono::day(of_march));
}

Interval whole(sys_days date) { return {Instant(date), Instant(date) + std::chrono::hours(24)}; }

Money usd(const char* text) { return Money::from_decimal(*parse_exact_decimal(text), kUsd); }
Money eur(const char* text) { return Money::from_decimal(*parse_exact_decimal(text), kEur); }

// Four costs that differ, so that a mix-up shows: effective is the amount itself.
Costs costs_of(Money amount) {
  return {amount + amount, amount, amount + amount + amount, -amount};
}

Labels owner(std::initializer_list<Labels::Entry> entries) {
  Labels labels;
  for (const auto& [key, value] : entries) EXPECT_TRUE(labels.set(key, value).has_value());
  return labels;
}
Labels team(const std::string& name) {
  Labels labels;
  EXPECT_TRUE(labels.set("team", name).has_value());
  return labels;
}

SpreadRule rule(PostingKind kind, Spread how) {
  SpreadRule made;
  made.kind = kind;
  made.how = how;
  if (how != Spread::kProportional) made.dimension = "team";
  return made;
}

// A scope, written down posting by posting.
struct Scope {
  std::string cluster = "c";
  std::vector<Posting> postings;
  std::vector<WorkloadDimensions> dimensions;
  std::vector<Node> nodes;
  std::vector<Charge> charges;
  std::vector<Correction> corrections;
  std::vector<DistributionInput::Elsewhere> elsewhere;
  Policy policy;

  Scope() { policy.dimensions = {{"team", {"team"}, "(unowned)"}}; }

  Posting& post(PostingKind kind, const std::string& workload, Money amount, unsigned of_march = 1,
                Component component = Component::kGpu, const std::string& node = "") {
    postings.push_back({.charge = {},
                        .kind = kind,
                        .component = component,
                        .interval = whole(day(of_march)),
                        .day = day(of_march),
                        .node = NodeId(node),
                        .gpu = GpuId(""),
                        .workload = WorkloadId(workload),
                        .holding = std::nullopt,
                        .weight = 1,
                        .costs = costs_of(amount),
                        .gpu_time = {},
                        .memory_time = {},
                        .observed_time = {}});
    return postings.back();
  }
  Posting& used(const std::string& workload, Money amount, unsigned of_march = 1,
                Component component = Component::kGpu, const std::string& node = "") {
    return post(PostingKind::kUsed, workload, amount, of_march, component, node);
  }
  Posting& idle(Money amount, unsigned of_march = 1, Component component = Component::kGpu,
                const std::string& node = "") {
    return post(PostingKind::kUnallocated, "", amount, of_march, component, node);
  }
  void is_of(const std::string& workload, const Labels& labels) {
    dimensions.push_back({WorkloadId(workload), labels});
  }
  // Workloads "a", "b", … that belong to the teams of the same names.
  void teams(std::initializer_list<const char*> names) {
    for (const char* name : names) is_of(name, team(name));
  }
  void node(const std::string& name, const std::string& pool) {
    nodes.push_back({.cluster = ClusterId(cluster),
                     .name = NodeId(name),
                     .provider_id = {},
                     .instance_type = {},
                     .region = {},
                     .pool = PoolId(pool),
                     .gpu_model = {},
                     .cpu_milli = {},
                     .memory_bytes = {},
                     .from = Instant(day(1)),
                     .to = {},
                     .id = {},
                     .source = {}});
  }

  Distribution distribute() const {
    return pennyweight::distribute({.cluster = ClusterId(cluster),
                                    .month = "2026-03",
                                    .postings = postings,
                                    .dimensions = dimensions,
                                    .nodes = nodes,
                                    .charges = charges,
                                    .corrections = corrections,
                                    .elsewhere = elsewhere,
                                    .policy = policy});
  }
};

// What each owner gets, effective, of one currency: "a" for {team: a}, "" for the bucket, else the
// workload itself.
std::map<std::string, std::string> moved(const Distribution& distribution,
                                         Currency currency = kUsd) {
  std::map<std::string, Money> sums;
  for (const Posting& posting : distribution.transfers) {
    if (posting.costs.currency() != currency) continue;
    std::string who = posting.workload.text();
    const auto labels = owner_of(posting.workload);
    if (labels && labels->entries().size() == 1 && labels->find("team")) {
      who = std::string(*labels->find("team"));
    }
    sums.try_emplace(who, Money::zero(currency)).first->second += posting.costs.effective;
  }
  std::map<std::string, std::string> texts;
  for (const auto& [who, sum] : sums) texts[who] = to_text(sum.amount());
  return texts;
}
using Moved = std::map<std::string, std::string>;

// allocation of eight cards at 3.00 an hour for a day to A, B, C, D: 576 in all, by halves of
// compute and memory (tests/cases/mini_invoice.case has the holdings).
Scope mini_invoice(Spread how) {
  Scope scope;
  scope.teams({"A", "B", "C", "D"});
  scope.used("A", usd("321.428571428571428571"));
  scope.used("B", usd("60"));
  scope.used("C", usd("34.714285714285714286"));
  scope.used("D", usd("36"));
  scope.idle(usd("84"));
  scope.idle(usd("5.142857142857142857"));
  scope.idle(usd("16.714285714285714286"));
  scope.idle(usd("18"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, how)};
  return scope;
}

// Effective cost of each team after the transfers, in order.
std::vector<Money> totals(const Scope& scope, const Distribution& distribution) {
  std::map<std::string, Money> sums;
  for (const Posting& posting : scope.postings) {
    if (posting.workload.empty()) continue;
    sums.try_emplace(posting.workload.text(), Money::zero(kUsd)).first->second +=
        posting.costs.effective;
  }
  for (const auto& [who, text] : moved(distribution)) {
    if (!who.empty()) sums.at(who) += usd(text.c_str());
  }
  std::vector<Money> values;
  for (const auto& [who, sum] : sums) values.push_back(sum);
  return values;
}

std::vector<std::string> in_ticks(const std::vector<Money>& amounts) {
  std::vector<std::string> texts;
  for (const Money& amount : amounts) texts.push_back(to_text(amount.amount()));
  return texts;
}

// 576.00 over the parties and what stays idle, by largest remainder.
std::vector<std::string> in_cents(const std::vector<Money>& amounts, Money idle) {
  std::vector<Weight> weights;
  for (const Money& amount : amounts) weights.push_back(static_cast<Weight>(amount.ticks()));
  weights.push_back(static_cast<Weight>(idle.ticks()));
  std::vector<std::string> texts;
  for (const UInt128 cents : split_units(57'600, weights)) texts.push_back(to_text(cents));
  return texts;
}

TEST(Distribute, MiniInvoiceProportional) {
  const Scope scope = mini_invoice(Spread::kProportional);
  const Distribution done = scope.distribute();
  EXPECT_EQ(moved(done), (Moved{{"", "-123.857142857142857143"},
                                {"A", "88.05010155721056195"},
                                {"B", "16.436018957345971564"},
                                {"C", "9.509410968178740691"},
                                {"D", "9.861611374407582938"}}));
  const auto sums = totals(scope, done);
  EXPECT_EQ(in_ticks(sums),
            (std::vector<std::string>{"409.478672985781990521", "76.436018957345971564",
                                      "44.223696682464454977", "45.861611374407582938"}));
  EXPECT_EQ(in_cents(sums, usd("0")),
            (std::vector<std::string>{"40948", "7644", "4422", "4586", "0"}));
  EXPECT_TRUE(done.notes.empty());
  EXPECT_EQ(done.dimensions.size(), 4u);
  EXPECT_EQ(done.dimensions[0], (WorkloadDimensions{WorkloadId("(team=A)"), team("A")}));
}

TEST(Distribute, MiniInvoiceEven) {
  const Scope scope = mini_invoice(Spread::kEven);
  const Distribution done = scope.distribute();
  EXPECT_EQ(moved(done), (Moved{{"", "-123.857142857142857143"},
                                {"A", "30.964285714285714286"},
                                {"B", "30.964285714285714286"},
                                {"C", "30.964285714285714286"},
                                {"D", "30.964285714285714285"}}));
  const auto sums = totals(scope, done);
  EXPECT_EQ(in_ticks(sums),
            (std::vector<std::string>{"352.392857142857142857", "90.964285714285714286",
                                      "65.678571428571428572", "66.964285714285714285"}));
  // B and D have the same fraction of a cent but for a tick: the cent goes to B.
  EXPECT_EQ(in_cents(sums, usd("0")),
            (std::vector<std::string>{"35239", "9097", "6568", "6696", "0"}));
}

TEST(Distribute, MiniInvoiceKept) {
  const Scope scope = mini_invoice(Spread::kKeep);
  const Distribution done = scope.distribute();
  EXPECT_TRUE(done.transfers.empty());
  EXPECT_TRUE(done.notes.empty());
  EXPECT_EQ(in_cents(totals(scope, done), usd("123.857142857142857143")),
            (std::vector<std::string>{"32143", "6000", "3471", "3600", "12386"}));
}

// The three methods of an AWS cost category's split charge rule
// (docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_CostCategorySplitChargeRule.html)
// : by the cost of each target, by stated percentages, evenly. Amounts are chosen here.
TEST(Distribute, SplitChargeRulesOfAwsCostCategories) {
  struct Case {
    const char* name;
    Spread how;
    std::vector<FixedPart> parts;
    Moved want;
  };
  const auto part = [](const char* value, std::int64_t percent) {
    return FixedPart{value, Decimal::from_units(percent)};
  };
  const Case cases[] = {
      {"PROPORTIONAL",
       Spread::kProportional,
       {},
       {{"", "-1000"}, {"engineering", "600"}, {"finops", "100"}, {"marketing", "300"}}},
      {"EVEN",
       Spread::kEven,
       {},
       {{"", "-1000"},
        {"engineering", "333.333333333333333334"},
        {"finops", "333.333333333333333333"},
        {"marketing", "333.333333333333333333"}}},
      {"FIXED",
       Spread::kFixed,
       {part("marketing", 25), part("engineering", 50), part("sales", 25)},
       {{"", "-1000"}, {"engineering", "500"}, {"marketing", "250"}, {"sales", "250"}}},
  };
  for (const Case& c : cases) {
    Scope scope;
    scope.teams({"engineering", "finops", "marketing"});
    scope.used("engineering", usd("6000"));
    scope.used("marketing", usd("3000"));
    scope.used("finops", usd("1000"));
    scope.post(PostingKind::kShared, "", usd("1000"), 1, Component::kWhole);
    scope.policy.spread = {rule(PostingKind::kShared, c.how)};
    scope.policy.spread[0].parts = c.parts;
    EXPECT_EQ(moved(scope.distribute()), c.want) << c.name;
  }
}

TEST(Distribute, EvenIsByValueAndWithinAValueByWhatIsPaid) {
  Scope scope;
  scope.is_of("1", owner({{"team", "a"}, {"user", "ann"}}));
  scope.is_of("2", owner({{"team", "a"}, {"user", "bob"}}));
  scope.is_of("3", owner({{"team", "b"}, {"user", "cat"}}));
  scope.is_of("4", owner({{"user", "dan"}}));
  scope.used("1", usd("3"));
  scope.used("2", usd("1"));
  scope.used("3", usd("1000"));
  scope.used("4", usd("1"));
  scope.idle(usd("12"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kEven)};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-12"},
                                              {"(team=a,user=ann)", "3"},
                                              {"(team=a,user=bob)", "1"},
                                              {"(team=b,user=cat)", "4"},
                                              {"(user=dan)", "4"}}));
  scope.policy.spread[0].dimension = "";  // each owner is a value
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-12"},
                                              {"(team=a,user=ann)", "3"},
                                              {"(team=a,user=bob)", "3"},
                                              {"(team=b,user=cat)", "3"},
                                              {"(user=dan)", "3"}}));
}

TEST(Distribute, FixedPartsGoToOwnersOrToTheValueAlone) {
  Scope scope;
  scope.is_of("1", owner({{"team", "a"}, {"user", "ann"}}));
  scope.is_of("2", owner({{"team", "a"}, {"user", "bob"}}));
  scope.used("1", usd("3"));
  scope.used("2", usd("1"));
  scope.idle(usd("10"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kFixed)};
  auto& parts = scope.policy.spread[0].parts;
  parts = {{"z", *parse_exact_decimal("0.2")}, {"a", *parse_exact_decimal("0.8")}};
  const Moved want = {
      {"", "-10"}, {"(team=a,user=ann)", "6"}, {"(team=a,user=bob)", "2"}, {"z", "2"}};
  EXPECT_EQ(moved(scope.distribute()), want);
  // Only the ratio counts; a value that is stated twice has both parts; nothing is none.
  parts = {{"z", Decimal::from_units(1)},
           {"a", Decimal::from_units(1)},
           {"a", Decimal::from_units(3)},
           {"nobody", Decimal()}};
  EXPECT_EQ(moved(scope.distribute()), want);
  parts = {{"a", Decimal()}};
  const Distribution none = scope.distribute();
  EXPECT_TRUE(none.transfers.empty());
  EXPECT_EQ(none.notes,
            std::vector<std::string>{
                "spread rule 1 (unallocated, fixed within cluster): 10 USD of 1 bucket stay, since "
                "none of its parts is positive; the first is of 2026-03-01"});
}

TEST(Distribute, ANamedMeasureIsTheTableOfThePolicy) {
  Scope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("100"));
  scope.used("b", usd("1"));
  scope.idle(usd("10"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  SpreadRule& spread = scope.policy.spread[0];
  spread.measure = SpreadMeasure::kNamed;
  spread.named = "support tickets";
  spread.dimension = "team";
  spread.parts = {{"a", Decimal::from_units(3)}, {"b", Decimal::from_units(17)}};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-10"}, {"a", "1.5"}, {"b", "8.5"}}));
}

TEST(Distribute, EachMeasureWeighsByItsOwn) {
  Scope scope;
  scope.teams({"a", "b", "c"});
  Posting& first = scope.used("a", usd("1"));
  first.gpu_time = GpuTime::of(300);
  first.memory_time = MemoryTime::of(1);
  scope.used("a", usd("60"), 1, Component::kCpu);
  Posting& second = scope.post(PostingKind::kHeldIdle, "b", usd("3"));
  second.gpu_time = GpuTime::of(100);
  second.memory_time = MemoryTime::of(7);
  scope.used("b", usd("20"), 1, Component::kCpu);
  scope.used("c", usd("16"), 1, Component::kMemory);
  scope.idle(usd("8"));
  struct Case {
    SpreadMeasure measure;
    Moved want;
  };
  const Case cases[] = {
      {SpreadMeasure::kGpuCost, {{"", "-8"}, {"a", "2"}, {"b", "6"}}},
      {SpreadMeasure::kCpuCost, {{"", "-8"}, {"a", "6"}, {"b", "2"}}},
      {SpreadMeasure::kCost, {{"", "-8"}, {"a", "4.88"}, {"b", "1.84"}, {"c", "1.28"}}},
      {SpreadMeasure::kGpuTime, {{"", "-8"}, {"a", "6"}, {"b", "2"}}},
      {SpreadMeasure::kMemoryTime, {{"", "-8"}, {"a", "1"}, {"b", "7"}}},
  };
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  for (const Case& c : cases) {
    scope.policy.spread[0].measure = c.measure;
    EXPECT_EQ(moved(scope.distribute()), c.want) << static_cast<int>(c.measure);
  }
}

TEST(Distribute, WithinNodePoolAndCluster) {
  Scope scope;
  scope.node("n1", "p");
  scope.node("n2", "p");
  scope.node("n3", "q");
  scope.teams({"a", "b", "c"});
  scope.used("a", usd("1"), 1, Component::kGpu, "n1");
  scope.used("b", usd("1"), 1, Component::kGpu, "n2");
  scope.used("c", usd("2"), 1, Component::kGpu, "n3");
  scope.idle(usd("8"), 1, Component::kGpu, "n1");
  scope.idle(usd("16"), 1, Component::kGpu, "n3");
  struct Case {
    SpreadWithin within;
    Moved want;
  };
  const Case cases[] = {
      {SpreadWithin::kNode, {{"", "-24"}, {"a", "8"}, {"c", "16"}}},
      {SpreadWithin::kPool, {{"", "-24"}, {"a", "4"}, {"b", "4"}, {"c", "16"}}},
      {SpreadWithin::kCluster, {{"", "-24"}, {"a", "6"}, {"b", "6"}, {"c", "12"}}},
  };
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  for (const Case& c : cases) {
    scope.policy.spread[0].within = c.within;
    EXPECT_EQ(moved(scope.distribute()), c.want) << static_cast<int>(c.within);
  }
  // The node stays on the transfer only where the bucket is a node's.
  scope.policy.spread[0].within = SpreadWithin::kNode;
  for (const Posting& posting : scope.distribute().transfers) EXPECT_FALSE(posting.node.empty());
  scope.policy.spread[0].within = SpreadWithin::kPool;
  for (const Posting& posting : scope.distribute().transfers) EXPECT_TRUE(posting.node.empty());
}

TEST(Distribute, WhatNamesNoNodeIsSpreadOverItsPoolOrTheCluster) {
  Scope scope;
  scope.node("n1", "p");
  scope.node("n2", "q");
  scope.teams({"a", "b"});
  scope.used("a", usd("3"), 1, Component::kGpu, "n1");
  scope.used("b", usd("1"), 1, Component::kGpu, "n2");
  Charge unused(whole(day(1)), whole(day(1)), Costs::zero(kUsd));
  unused.pool = "q";
  unused.id = {{.high = 0, .low = 7}};
  scope.charges = {unused};
  scope.idle(usd("4")).charge = unused.id;
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  scope.policy.spread[0].within = SpreadWithin::kPool;
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-4"}, {"b", "4"}}));
  scope.policy.spread[0].within = SpreadWithin::kNode;
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-4"}, {"a", "3"}, {"b", "1"}}));
}

TEST(Distribute, ANodeThatChangesPoolsIsInTheOneOfThatTime) {
  Scope scope;
  scope.node("n1", "p");
  scope.node("n1", "q");
  scope.nodes[1].from = Instant(day(2));
  scope.node("n2", "p");
  scope.teams({"a", "b"});
  for (const unsigned d : {1u, 2u}) {
    scope.used("a", usd("1"), d, Component::kGpu, "n1");
    scope.used("b", usd("1"), d, Component::kGpu, "n2");
    scope.idle(usd("2"), d, Component::kGpu, "n1");
  }
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  scope.policy.spread[0].within = SpreadWithin::kPool;
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-4"}, {"a", "3"}, {"b", "1"}}));
}

TEST(Distribute, ANodeThatNobodyHeldKeepsItsIdleAndANoteSaysSo) {
  Scope scope;
  scope.teams({"a"});
  scope.used("a", usd("1"), 1, Component::kGpu, "n1");
  scope.idle(usd("8"), 1, Component::kGpu, "n1");
  scope.idle(usd("24.5"), 2, Component::kGpu, "n2");
  scope.idle(usd("24.5"), 1, Component::kGpu, "n2");
  scope.idle(eur("1"), 1, Component::kGpu, "n1");
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  scope.policy.spread[0].within = SpreadWithin::kNode;
  const Distribution done = scope.distribute();
  EXPECT_EQ(moved(done), (Moved{{"", "-8"}, {"a", "8"}}));
  EXPECT_EQ(done.notes,
            std::vector<std::string>{
                "spread rule 1 (unallocated, proportional within node): 1 EUR and 49 USD of 3 "
                "buckets stay, since nobody there has any of its measure; the first is of "
                "2026-03-01 in n1"});
}

TEST(Distribute, OverTheMonthTheHoldersOfTheMonthBearEachDay) {
  Scope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("1"), 1);
  scope.used("b", usd("3"), 2);
  scope.idle(usd("4"), 1);
  scope.idle(usd("8"), 3);  // a day on which nobody held anything
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  scope.policy.spread[0].over = SpreadOver::kMonth;
  const Distribution month = scope.distribute();
  EXPECT_EQ(moved(month), (Moved{{"", "-12"}, {"a", "3"}, {"b", "9"}}));
  std::map<sys_days, Money> by_day;
  for (const Posting& posting : month.transfers) {
    by_day.try_emplace(posting.day, usd("0")).first->second += posting.costs.effective;
    EXPECT_TRUE(posting.interval == whole(posting.day));
  }
  EXPECT_EQ(by_day, (std::map<sys_days, Money>{{day(1), usd("0")}, {day(3), usd("0")}}));

  scope.policy.spread[0].over = SpreadOver::kDay;
  const Distribution daily = scope.distribute();
  EXPECT_EQ(moved(daily), (Moved{{"", "-4"}, {"a", "4"}}));
  EXPECT_EQ(daily.notes.size(), 1u);
}

TEST(Distribute, TheFirstRuleThatMatchesDecides) {
  Scope scope;
  scope.teams({"a"});
  scope.used("a", usd("1"));
  scope.idle(usd("4"));
  scope.policy.spread = {rule(PostingKind::kStranded, Spread::kProportional),
                         rule(PostingKind::kUnallocated, Spread::kKeep),
                         rule(PostingKind::kUnallocated, Spread::kProportional)};
  EXPECT_TRUE(scope.distribute().transfers.empty());
  std::swap(scope.policy.spread[1], scope.policy.spread[2]);
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-4"}, {"a", "4"}}));
}

TEST(Distribute, SharedLinesByWhatTheChargeIs) {
  Scope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("1"));
  scope.used("b", usd("3"));
  const auto line = [&](std::uint64_t id, const char* category, const char* service,
                        ChargeCategory what, const char* amount) {
    Charge charge(whole(day(1)), whole(day(1)), Costs::zero(kUsd));
    charge.service_category = category;
    charge.service_name = service;
    charge.charge_category = what;
    charge.id = {{.high = 0, .low = id}};
    scope.charges.push_back(charge);
    scope.post(PostingKind::kShared, "", usd(amount), 1, Component::kWhole).charge = charge.id;
  };
  line(3, "Networking", "Amazon VPC", ChargeCategory::kUsage, "100");
  line(1, "Other", "Premium Support", ChargeCategory::kPurchase, "40");
  line(2, "Other", "Tax", ChargeCategory::kTax, "8");
  SpreadRule support = rule(PostingKind::kShared, Spread::kEven);
  support.service_name = "Premium*";
  SpreadRule tax = rule(PostingKind::kShared, Spread::kProportional);
  tax.charge_category = "Tax";
  tax.service_category = "Other";
  SpreadRule network = rule(PostingKind::kShared, Spread::kFixed);
  network.service_category = "Networking";
  network.parts = {{"a", Decimal::from_units(1)}};

  scope.policy.spread = {support};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-40"}, {"a", "20"}, {"b", "20"}}));
  scope.policy.spread = {tax};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-8"}, {"a", "2"}, {"b", "6"}}));
  scope.policy.spread = {support, tax, network};
  const Distribution all = scope.distribute();
  EXPECT_EQ(moved(all), (Moved{{"", "-148"}, {"a", "122"}, {"b", "26"}}));
  // Three rules, three transfers: each adds up to zero by itself.
  std::map<FactId, Money> by_id;
  for (const Posting& posting : all.transfers) {
    by_id.try_emplace(posting.charge, usd("0")).first->second += posting.costs.effective;
  }
  EXPECT_EQ(by_id.size(), 3u);
  for (const auto& [id, sum] : by_id) EXPECT_TRUE(sum.is_zero());
}

TEST(Distribute, SystemPodsAreOverheadAndNoOwners) {
  Scope scope;
  scope.is_of("kube-system/dns", team("platform"));
  scope.teams({"a", "b"});
  scope.used("a", usd("1"));
  scope.used("b", usd("1"));
  scope.post(PostingKind::kOverhead, "kube-system/dns", usd("4"));
  scope.post(PostingKind::kOverhead, "", usd("2"));
  scope.policy.spread = {rule(PostingKind::kOverhead, Spread::kProportional)};
  const Distribution done = scope.distribute();
  EXPECT_EQ(moved(done), (Moved{{"", "-6"}, {"a", "3"}, {"b", "3"}}));
  for (const Posting& posting : done.transfers) EXPECT_EQ(posting.kind, PostingKind::kOverhead);
}

TEST(Distribute, HeldIdleOfAHolderStaysWithIt) {
  Scope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("1"));
  scope.post(PostingKind::kHeldIdle, "b", usd("1"));
  scope.post(PostingKind::kHeldIdle, "", usd("6"));
  scope.policy.spread = {rule(PostingKind::kHeldIdle, Spread::kProportional)};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-6"}, {"a", "3"}, {"b", "3"}}));
}

TEST(Distribute, ASumBelowZeroBearsNothing) {
  Scope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("1"));
  scope.used("b", usd("2"));
  scope.used("b", usd("-5"));
  scope.idle(usd("6"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-6"}, {"a", "6"}}));
}

TEST(Distribute, CurrenciesNeverMix) {
  Scope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("1")).gpu_time = GpuTime::of(3);
  scope.used("b", eur("3"));
  scope.used("b", usd("1")).gpu_time = GpuTime::of(1);
  scope.idle(usd("8"));
  scope.idle(eur("9"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  EXPECT_EQ(moved(scope.distribute(), kUsd), (Moved{{"", "-8"}, {"a", "4"}, {"b", "4"}}));
  EXPECT_EQ(moved(scope.distribute(), kEur), (Moved{{"", "-9"}, {"b", "9"}}));
  // Time is told on one charge, of whatever currency, and counts for every bucket.
  scope.policy.spread[0].measure = SpreadMeasure::kGpuTime;
  EXPECT_EQ(moved(scope.distribute(), kUsd), (Moved{{"", "-8"}, {"a", "6"}, {"b", "2"}}));
  EXPECT_EQ(moved(scope.distribute(), kEur), (Moved{{"", "-9"}, {"a", "6.75"}, {"b", "2.25"}}));
}

TEST(Distribute, TheScopeOfNoClusterSpreadsOverTheOwnersOfAll) {
  Scope east;
  east.teams({"a"});
  east.used("a", usd("1"), 1).gpu_time = GpuTime::of(5);
  east.used("a", usd("1"), 1);
  east.used("a", usd("1"), 2);
  east.idle(usd("50"), 1);
  Scope west;
  west.cluster = "west";
  west.teams({"b"});
  west.used("b", usd("6"), 1);
  const auto of_east = owners_of(east.postings, east.dimensions);
  const DistributionInput::Elsewhere first = {.owner = team("a"),
                                              .day = day(1),
                                              .component = Component::kGpu,
                                              .effective = usd("2"),
                                              .gpu_time = GpuTime::of(5),
                                              .memory_time = {}};
  ASSERT_EQ(of_east.size(), 2u);
  EXPECT_TRUE(of_east[0] == first);

  Scope none;
  none.cluster = "";
  none.elsewhere = of_east;
  for (const auto& paid : owners_of(west.postings, west.dimensions)) none.elsewhere.push_back(paid);
  none.post(PostingKind::kShared, "", usd("8"), 1, Component::kWhole, "gateway");
  none.policy.spread = {rule(PostingKind::kShared, Spread::kProportional)};
  none.policy.spread[0].within = SpreadWithin::kNode;  // no cluster, no nodes
  EXPECT_EQ(moved(none.distribute()), (Moved{{"", "-8"}, {"a", "2"}, {"b", "6"}}));
  none.policy.spread[0].over = SpreadOver::kMonth;
  EXPECT_EQ(moved(none.distribute()),
            (Moved{{"", "-8"}, {"a", "2.666666666666666667"}, {"b", "5.333333333333333333"}}));
}

TEST(Distribute, AWorkloadWithoutDimensionsIsTheOwnerWithoutAny) {
  Scope scope;
  scope.used("x", usd("1"));
  scope.idle(usd("2"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-2"}, {"()", "2"}}));
}

Correction correction(const char* name, const char* begin, const char* end, Labels from, Labels to,
                      Money amount) {
  Correction made(ClusterId("c"), name, {*parse_instant(begin), *parse_instant(end)}, amount);
  made.from = std::move(from);
  made.to = std::move(to);
  return made;
}

TEST(Corrections, MoveAllFourCostsFromOwnerToOwner) {
  Scope scope;
  scope.corrections = {
      correction("one day", "2026-03-05", "2026-03-06", team("a"), team("b"), usd("10"))};
  const Distribution done = scope.distribute();
  ASSERT_EQ(done.transfers.size(), 2u);
  const Money ten = usd("10");
  EXPECT_EQ(done.transfers[0].workload, WorkloadId("(team=a)"));
  EXPECT_TRUE(done.transfers[0].costs == (Costs{-ten, -ten, -ten, -ten}));
  EXPECT_EQ(done.transfers[1].workload, WorkloadId("(team=b)"));
  EXPECT_TRUE(done.transfers[1].costs == (Costs{ten, ten, ten, ten}));
  for (const Posting& posting : done.transfers) {
    EXPECT_EQ(posting.kind, PostingKind::kUsed);
    EXPECT_EQ(posting.component, Component::kWhole);
    EXPECT_EQ(posting.day, day(5));
    EXPECT_TRUE(posting.interval == whole(day(5)));
    EXPECT_EQ(posting.charge, transfer_id(ClusterId("c"), "2026-03", "correction one day"));
  }
  EXPECT_EQ(done.dimensions.size(), 2u);
  EXPECT_TRUE(done.notes.empty());
}

TEST(Corrections, FromAndToTheUnallocatedBucket) {
  Scope scope;
  scope.corrections = {
      correction("x", "2026-03-05", "2026-03-06", {}, team("b"), usd("10")),
      correction("y", "2026-03-05", "2026-03-06", team("b"), {}, usd("4")),
  };
  const Distribution done = scope.distribute();
  EXPECT_EQ(moved(done), (Moved{{"", "-6"}, {"b", "6"}}));
  for (const Posting& posting : done.transfers) {
    EXPECT_EQ(posting.kind,
              posting.workload.empty() ? PostingKind::kUnallocated : PostingKind::kUsed);
  }
}

TEST(Corrections, EachMonthPostsItsOwnDaysAndTogetherTheWhole) {
  Scope scope;
  scope.corrections = {
      correction("spring", "2026-02-27", "2026-03-03T12:00:00Z", team("a"), team("b"), usd("10"))};
  const Distribution march = scope.distribute();
  // 4.5 days: two in February, two and a half in March.
  EXPECT_EQ(moved(march), (Moved{{"a", "-5.555555555555555555"}, {"b", "5.555555555555555555"}}));
  EXPECT_EQ(march.notes,
            std::vector<std::string>{"correction 'spring': 4.444444444444444445 USD of its 10 USD "
                                     "are booked on days of other months"});
  DistributionInput february{.cluster = ClusterId("c"),
                             .month = "2026-02",
                             .postings = {},
                             .dimensions = {},
                             .corrections = scope.corrections,
                             .policy = scope.policy};
  EXPECT_EQ(moved(distribute(february)),
            (Moved{{"a", "-4.444444444444444445"}, {"b", "4.444444444444444445"}}));
  february.month = "2026-01";
  EXPECT_TRUE(distribute(february).transfers.empty());
  EXPECT_TRUE(distribute(february).notes.empty());
}

TEST(Corrections, LocalDaysAreTheZones) {
  Scope scope;
  scope.policy.time_zone = TimeZone::parse("America/New_York").value();
  // The local 8 March has 23 hours: summer time begins.
  scope.corrections = {correction("dst", "2026-03-08T05:00:00Z", "2026-03-10T04:00:00Z", team("a"),
                                  team("b"), usd("47"))};
  std::map<sys_days, Money> to_b;
  for (const Posting& posting : scope.distribute().transfers) {
    if (posting.workload == WorkloadId("(team=b)")) to_b.emplace(posting.day, posting.costs.billed);
  }
  EXPECT_EQ(to_b, (std::map<sys_days, Money>{{day(8), usd("23")}, {day(9), usd("24")}}));
}

TEST(Corrections, WhatCantBeMadeIsSaid) {
  Scope scope;
  scope.is_of("w", owner({{"old", "x"}}));
  scope.policy.owners = {{.priority = 0, .when = {}, .set = {{"client", "acme"}}}};
  const auto moving = [](const char* name, Labels from, Labels to) {
    return correction(name, "2026-03-05", "2026-03-06", std::move(from), std::move(to), usd("1"));
  };
  scope.corrections = {
      moving("unknown", team("a"), owner({{"tema", "b"}})),
      moving("same", team("a"), team("a")),
      moving("known by a workload", team("a"), owner({{"old", "y"}})),
      moving("known by a rule", team("a"), owner({{"client", "acme"}})),
      moving("of another cluster", team("a"), team("b")),
  };
  scope.corrections.back().cluster = ClusterId("d");
  const Distribution done = scope.distribute();
  EXPECT_EQ(moved(done), (Moved{{"a", "-2"}, {"(old=y)", "1"}, {"(client=acme)", "1"}}));
  EXPECT_EQ(done.notes,
            (std::vector<std::string>{
                "correction 'same': not made: it moves money from an owner to itself",
                "correction 'unknown': not made: no rule and no workload has the dimension 'tema'; "
                "name one that the policy has, or add it there"}));
}

TEST(OwnerWorkload, SaysItsDimensionsAndReadsBack) {
  EXPECT_EQ(owner_workload({}).text(), "()");
  EXPECT_EQ(owner_workload(owner({{"user", "ann"}, {"team", "nlp"}})).text(),
            "(team=nlp,user=ann)");
  EXPECT_EQ(owner_workload(owner({{"a,b", "(x=1)%\n"}})).text(), "(a%2Cb=%28x%3D1%29%25%0A)");
  for (const char* bad : {"", "(", ")", "team=nlp", "(team)", "(team=nlp", "(b=1,a=2)", "(a=1,a=1)",
                          "(a=1,)", "(a=%2c)", "(a=%41)", "(a=%4)", "(a=%)", "(a=b=c)"}) {
    EXPECT_FALSE(owner_of(WorkloadId(bad)).has_value()) << bad;
  }
}

RC_GTEST_PROP(OwnerWorkload, ReadsBackWhateverTheNamesAre, ()) {
  const auto entries = *rc::gen::arbitrary<std::map<std::string, std::string>>();
  Labels labels;
  for (const auto& [key, value] : entries) {
    if (!labels.set(key, value)) RC_DISCARD("past the limits of labels");
  }
  const auto back = owner_of(owner_workload(labels));
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == labels);
}

// ---- Properties over scopes made from a seed ---------------------------------------------------

class ScopeMaker {
 public:
  explicit ScopeMaker(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  Money any_money(Currency currency) {
    const auto ticks = static_cast<Int128>(random_() >> below(64)) * (below(5) == 0 ? 1'000 : 1);
    return Money::from_ticks(below(6) == 0 ? -ticks : ticks, currency);
  }

  SpreadRule any_rule(PostingKind kind) {
    SpreadRule made;
    made.kind = kind;
    made.how = static_cast<Spread>(below(4));
    made.within = static_cast<SpreadWithin>(below(3));
    made.over = static_cast<SpreadOver>(below(2));
    made.measure = static_cast<SpreadMeasure>(below(6));
    made.dimension = below(2) == 0 ? "team" : "user";
    for (std::uint64_t i = below(4); i > 0; --i) {
      made.parts.push_back(
          {fmt::format("t{}", below(6)), Decimal::from_ticks(static_cast<Int128>(below(1000)))});
    }
    return made;
  }

  Scope make() {
    Scope scope;
    for (int n = 0; n < 4; ++n) scope.node(fmt::format("n{}", n), n % 2 == 0 ? "p" : "q");
    const std::uint64_t workloads = 1 + below(8);
    for (std::uint64_t w = 0; w < workloads; ++w) {
      Labels labels = team(fmt::format("t{}", below(4)));
      if (below(2) == 0) labels = owner({{"team", "t1"}, {"user", fmt::format("u{}", below(3))}});
      scope.is_of(fmt::format("w{}", w), labels);
    }
    const Currency currencies[] = {kUsd, kUsd, kUsd, kEur};
    for (std::uint64_t p = below(60); p > 0; --p) {
      const auto kind = static_cast<PostingKind>(below(7));
      const bool is_held = kind == PostingKind::kUsed || below(3) == 0;
      const bool may_be_held = kind == PostingKind::kUsed || kind == PostingKind::kHeldIdle ||
                               kind == PostingKind::kOverhead;
      Posting& posting = scope.post(
          kind, may_be_held && is_held ? fmt::format("w{}", below(workloads)) : "",
          any_money(currencies[below(4)]), 1 + static_cast<unsigned>(below(3)),
          static_cast<Component>(below(4)), below(3) == 0 ? "" : fmt::format("n{}", below(4)));
      const Currency currency = posting.costs.currency();
      posting.costs = {any_money(currency), posting.costs.effective, any_money(currency),
                       any_money(currency)};
      posting.gpu_time = GpuTime::of(below(1'000'000));
      posting.memory_time = MemoryTime::of(below(1'000'000'000));
      const auto begin = static_cast<std::int64_t>(below(20));
      posting.interval = {Instant(posting.day) + std::chrono::milliseconds(begin * kHourMs),
                          Instant(posting.day) + std::chrono::milliseconds((begin + 2) * kHourMs)};
    }
    for (int kind = 1; kind < 7; ++kind) {
      if (below(5) > 0) scope.policy.spread.push_back(any_rule(static_cast<PostingKind>(kind)));
    }
    if (below(3) == 0) {
      scope.corrections.push_back(correction("moved", "2026-03-01T07:00:00Z", "2026-03-03",
                                             team("t0"), team("t9"), any_money(kUsd)));
    }
    return scope;
  }

  template <class T>
  void shuffle(std::vector<T>& all) {
    std::shuffle(all.begin(), all.end(), random_);
  }

 private:
  std::mt19937_64 random_;
};

Costs negative(const Costs& costs) {
  return {-costs.billed, -costs.effective, -costs.list, -costs.contracted};
}

RC_GTEST_PROP(DistributeProperty, EveryTransferAddsUpToZeroInFourCostsOnItsDay, (std::uint64_t s)) {
  const Distribution done = ScopeMaker(s).make().distribute();
  std::map<std::pair<FactId, sys_days>, Costs> sums;
  for (const Posting& posting : done.transfers) {
    const Costs none = Costs::zero(posting.costs.currency());
    sums.try_emplace({posting.charge, posting.day}, none).first->second += posting.costs;
    RC_ASSERT(posting.gpu_time == GpuTime());
    RC_ASSERT(posting.memory_time == MemoryTime());
    RC_ASSERT(whole(posting.day).overlap(posting.interval) == posting.interval);
  }
  for (const auto& [id, sum] : sums) RC_ASSERT(sum == Costs::zero(sum.currency()));
}

// A transfer whose kind has a rule takes the whole bucket out, whatever the costs are.
RC_GTEST_PROP(DistributeProperty, ABucketIsMovedWholeOrStays, (std::uint64_t s)) {
  Scope scope = ScopeMaker(s).make();
  scope.corrections.clear();
  const Distribution done = scope.distribute();
  using Key = std::tuple<PostingKind, Component, Currency, sys_days>;
  std::map<Key, std::vector<Costs>> buckets;  // of a cluster: whole; else its parts by place
  for (SpreadRule& spread : scope.policy.spread) spread.within = SpreadWithin::kCluster;
  const Distribution whole_cluster = scope.distribute();
  std::map<Key, Costs> in_cluster;
  for (const Posting& posting : scope.postings) {
    const bool counts = posting.kind == PostingKind::kOverhead || posting.workload.empty();
    if (!counts || posting.kind == PostingKind::kUsed) continue;
    const Key key{posting.kind, posting.component, posting.costs.currency(), posting.day};
    in_cluster.try_emplace(key, Costs::zero(posting.costs.currency())).first->second +=
        posting.costs;
  }
  for (const Posting& posting : whole_cluster.transfers) {
    if (!posting.workload.empty()) continue;
    const Key key{posting.kind, posting.component, posting.costs.currency(), posting.day};
    RC_ASSERT(in_cluster.at(key) == negative(posting.costs));
  }
}

RC_GTEST_PROP(DistributeProperty, TheOrderOfTheInputMeansNothing, (std::uint64_t s)) {
  ScopeMaker maker(s);
  Scope scope = maker.make();
  const Distribution before = scope.distribute();
  maker.shuffle(scope.postings);
  maker.shuffle(scope.dimensions);
  maker.shuffle(scope.nodes);
  maker.shuffle(scope.corrections);
  const Distribution after = scope.distribute();
  RC_ASSERT(before.transfers == after.transfers);
  RC_ASSERT(before.dimensions == after.dimensions);
  RC_ASSERT(before.notes == after.notes);
}

// Posting by posting, a credit for everything idle gives everything idle back.
RC_GTEST_PROP(DistributeProperty, ACreditMirrorsTheChargeItUndoes, (std::uint64_t s)) {
  Scope scope = ScopeMaker(s).make();
  scope.corrections.clear();
  const Distribution charged = scope.distribute();
  for (Posting& posting : scope.postings) {
    const bool is_bucket = posting.kind == PostingKind::kOverhead || posting.workload.empty();
    if (is_bucket) posting.costs = negative(posting.costs);
  }
  const Distribution credited = scope.distribute();
  RC_ASSERT(charged.transfers.size() == credited.transfers.size());
  for (std::size_t i = 0; i < charged.transfers.size(); ++i) {
    RC_ASSERT(charged.transfers[i].workload == credited.transfers[i].workload);
    RC_ASSERT(charged.transfers[i].costs == negative(credited.transfers[i].costs));
  }
}

// The owners of one cluster-wide bucket, with the weights given to them.
struct OneBucket {
  std::vector<std::uint64_t> paid;
  Int128 idle;

  Scope scope(Spread how, std::uint64_t scale = 1) const {
    Scope made;
    for (std::size_t i = 0; i < paid.size(); ++i) {
      const std::string name = fmt::format("t{:03}", i);
      made.is_of(name, team(name));
      made.used(name, Money::from_ticks(static_cast<Int128>(paid[i]) * scale, kUsd));
    }
    made.idle(Money::from_ticks(idle, kUsd));
    made.policy.spread = {rule(PostingKind::kUnallocated, how)};
    return made;
  }
  std::map<std::string, Int128> shares(Spread how, std::uint64_t scale = 1) const {
    std::map<std::string, Int128> ticks;
    for (const Posting& posting : scope(how, scale).distribute().transfers) {
      if (posting.workload.empty()) continue;
      ticks[posting.workload.text()] = posting.costs.effective.ticks();
    }
    return ticks;
  }
};

OneBucket any_bucket() {
  OneBucket bucket;
  bucket.paid = *rc::gen::container<std::vector<std::uint64_t>>(
      rc::gen::inRange<std::uint64_t>(0, 1'000'000));
  bucket.idle = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
  return bucket;
}
std::string name_of(std::size_t i) { return fmt::format("(team=t{:03})", i); }

RC_GTEST_PROP(DistributeProperty, ProportionalIsWithinATickOfTheExactShare, ()) {
  const OneBucket bucket = any_bucket();
  Int128 sum = 0;
  for (const std::uint64_t paid : bucket.paid) sum += paid;
  auto shares = bucket.shares(Spread::kProportional);
  for (std::size_t i = 0; i < bucket.paid.size() && sum > 0; ++i) {
    const Int128 off = shares[name_of(i)] * sum - bucket.idle * Int128{bucket.paid[i]};
    RC_ASSERT(off < sum && off > -sum);
    if (bucket.paid[i] == 0) RC_ASSERT(shares[name_of(i)] == 0);  // a dummy bears nothing
    for (std::size_t j = 0; j < i; ++j) {                         // equals pay the same but a tick
      if (bucket.paid[i] != bucket.paid[j]) continue;
      const Int128 apart = shares[name_of(j)] - shares[name_of(i)];
      RC_ASSERT(apart == 0 || apart == 1);
    }
  }
}

RC_GTEST_PROP(DistributeProperty, EvenIsEqualButForATick, ()) {
  const OneBucket bucket = any_bucket();
  auto shares = bucket.shares(Spread::kEven);
  Int128 least = bucket.idle, most = 0, sum = 0;
  for (std::size_t i = 0; i < bucket.paid.size(); ++i) {
    const Int128 share = shares[name_of(i)];
    if (bucket.paid[i] == 0) {
      RC_ASSERT(share == 0);
      continue;
    }
    least = std::min(least, share);
    most = std::max(most, share);
    sum += share;
  }
  if (sum > 0) {
    RC_ASSERT(most - least <= 1);
    RC_ASSERT(sum == bucket.idle);
  }
}

RC_GTEST_PROP(DistributeProperty, OnlyTheRatioOfWhatIsPaidCounts, ()) {
  const OneBucket bucket = any_bucket();
  const auto scale = *rc::gen::inRange<std::uint64_t>(1, 1'000'000'000);
  RC_ASSERT(bucket.shares(Spread::kProportional) == bucket.shares(Spread::kProportional, scale));
  RC_ASSERT(bucket.shares(Spread::kEven) == bucket.shares(Spread::kEven, scale));
}

// A million postings of 500 owners on 1,000 nodes in a month: a sketch, with room for a slow
// machine and for sanitizers.
TEST(Distribute, AMillionPostingsInSeconds) {
  Scope scope;
  ScopeMaker maker(1);
  scope.postings.reserve(1'000'000);
  for (int w = 0; w < 20'000; ++w) {
    scope.is_of(fmt::format("namespace/workload-{}", w),
                owner({{"team", fmt::format("team-{}", w % 50)},
                       {"user", fmt::format("user-{}", w % 500)}}));
  }
  for (int p = 0; p < 1'000'000; ++p) {
    const bool is_idle = p % 10 == 0;
    const auto of_march = 1 + static_cast<unsigned>(maker.below(31));
    scope.post(is_idle ? PostingKind::kUnallocated : PostingKind::kUsed,
               is_idle ? "" : fmt::format("namespace/workload-{}", maker.below(20'000)),
               Money::from_ticks(static_cast<Int128>(maker.below(1'000'000'000'000'000)), kUsd),
               of_march, static_cast<Component>(maker.below(3)),
               fmt::format("node-{}", maker.below(1'000)));
  }
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  for (const auto within : {SpreadWithin::kCluster, SpreadWithin::kNode}) {
    scope.policy.spread[0].within = within;
    const auto begin = std::chrono::steady_clock::now();
    const Distribution done = scope.distribute();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    RecordProperty(within == SpreadWithin::kNode ? "within_node_ms" : "within_cluster_ms",
                   static_cast<int>(took.count() * 1000));
    EXPECT_GT(done.transfers.size(), 40'000u);
    EXPECT_LT(took.count(), 20.0);
  }
}

}  // namespace
}  // namespace pennyweight
