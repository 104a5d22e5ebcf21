// distribute(): what each rule moves, to whom and how much, in worked numbers.
#include "allocation/distribute.h"

#include "allocation/distribute_test_scope.h"

namespace pennyweight::distribute_test {
namespace {

// allocation of eight cards at 3.00 an hour for a day to A, B, C, D: 576 in all, by halves of
// compute and memory (tests/cases/mini_invoice.case has the holdings).
TestScope mini_invoice(Spread how) {
  TestScope scope;
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
std::vector<Money> totals(const TestScope& scope, const Distribution& distribution) {
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
  const TestScope scope = mini_invoice(Spread::kProportional);
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
  const TestScope scope = mini_invoice(Spread::kEven);
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
  const TestScope scope = mini_invoice(Spread::kKeep);
  const Distribution done = scope.distribute();
  EXPECT_TRUE(done.transfers.empty());
  EXPECT_TRUE(done.notes.empty());
  EXPECT_EQ(in_cents(totals(scope, done), usd("123.857142857142857143")),
            (std::vector<std::string>{"32143", "6000", "3471", "3600", "12386"}));
}

// The three methods of an AWS cost category's split charge rule (the AWS Cost Management API
// reference, CostCategorySplitChargeRule): by the cost of each target, by stated percentages,
// evenly. Amounts are chosen here.
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
    TestScope scope;
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

// AWS split cost allocation gives what a machine has unused to its pods by what each has of the
// same resource (docs.aws.amazon.com/cur/latest/userguide/example-split-cost-allocation-data.html).
// An m5.xlarge at 9 : 1 is 4 * 9 + 16 = 52 parts, here 52 USD. p1 has one vCPU and 4 GB, p2 two and
// 4; one vCPU and 8 GB are unused: (9+4) + 9/3 + 8/2 = 20, and (18+4) + 9*2/3 + 8/2 = 32.
TEST(Distribute, AwsSplitCostAllocationOfWhatIsUnused) {
  TestScope scope;
  scope.teams({"p1", "p2"});
  scope.used("p1", usd("9"), 1, Component::kCpu, "i-1");
  scope.used("p1", usd("4"), 1, Component::kMemory, "i-1");
  scope.used("p2", usd("18"), 1, Component::kCpu, "i-1");
  scope.used("p2", usd("4"), 1, Component::kMemory, "i-1");
  scope.idle(usd("9"), 1, Component::kCpu, "i-1");
  scope.idle(usd("8"), 1, Component::kMemory, "i-1");
  scope.used("p1", usd("100"), 1, Component::kMemory, "i-2");  // another machine's are its own
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  scope.policy.spread[0].within = SpreadWithin::kNode;
  scope.policy.spread[0].measure = SpreadMeasure::kComponentCost;
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-17"}, {"p1", "7"}, {"p2", "10"}}));
}

TEST(Distribute, EvenIsByValueAndWithinAValueByWhatIsPaid) {
  TestScope scope;
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
  TestScope scope;
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
                "spread rule 1 (unallocated, fixed within cluster): 10 USD in 1 bucket is not "
                "spread, since none of its parts is positive; the first one is on 2026-03-01"});
}

TEST(Distribute, ANamedMeasureIsTheTableOfThePolicy) {
  TestScope scope;
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
  TestScope scope;
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
      {SpreadMeasure::kComponentCost, {{"", "-8"}, {"a", "2"}, {"b", "6"}}},
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
  TestScope scope;
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
  TestScope scope;
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
  TestScope scope;
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
  TestScope scope;
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
  EXPECT_EQ(
      done.notes,
      std::vector<std::string>{
          "spread rule 1 (unallocated, proportional within node): 1 EUR and 49 USD in 3 "
          "buckets are not spread, since no owner there has a share of its measure; the first "
          "one is on 2026-03-01 in n1"});
}

TEST(Distribute, OverTheMonthTheHoldersOfTheMonthBearEachDay) {
  TestScope scope;
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
  TestScope scope;
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
  TestScope scope;
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
  TestScope scope;
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
  TestScope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("1"));
  scope.post(PostingKind::kHeldIdle, "b", usd("1"));
  scope.post(PostingKind::kHeldIdle, "", usd("6"));
  scope.policy.spread = {rule(PostingKind::kHeldIdle, Spread::kProportional)};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-6"}, {"a", "3"}, {"b", "3"}}));
}

TEST(Distribute, ASumBelowZeroBearsNothing) {
  TestScope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("1"));
  scope.used("b", usd("2"));
  scope.used("b", usd("-5"));
  scope.idle(usd("6"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-6"}, {"a", "6"}}));
}

TEST(Distribute, CurrenciesNeverMix) {
  TestScope scope;
  scope.teams({"a", "b"});
  scope.used("a", usd("1")).gpu_time = GpuTime::of(3);
  scope.used("b", eur("3"));
  scope.used("b", usd("1")).gpu_time = GpuTime::of(1);
  scope.idle(usd("8"));
  scope.idle(eur("9"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  EXPECT_EQ(moved(scope.distribute(), kUsd), (Moved{{"", "-8"}, {"a", "4"}, {"b", "4"}}));
  EXPECT_EQ(moved(scope.distribute(), kEur), (Moved{{"", "-9"}, {"b", "9"}}));
  // GPU time stands on one charge only, in any currency, and counts for every bucket.
  scope.policy.spread[0].measure = SpreadMeasure::kGpuTime;
  EXPECT_EQ(moved(scope.distribute(), kUsd), (Moved{{"", "-8"}, {"a", "6"}, {"b", "2"}}));
  EXPECT_EQ(moved(scope.distribute(), kEur), (Moved{{"", "-9"}, {"a", "6.75"}, {"b", "2.25"}}));
}

TEST(Distribute, TheScopeOfNoClusterSpreadsOverTheOwnersOfAll) {
  TestScope east;
  east.teams({"a"});
  east.used("a", usd("1"), 1).gpu_time = GpuTime::of(5);
  east.used("a", usd("1"), 1);
  east.used("a", usd("1"), 2);
  east.idle(usd("50"), 1);
  TestScope west;
  west.cluster = "west";
  west.teams({"b"});
  west.used("b", usd("6"), 1);
  const auto of_east = sum_costs_by_owner(east.postings, east.dimensions);
  const DistributionInput::OtherScopeCost first = {.owner = team("a"),
                                                   .day = day(1),
                                                   .component = Component::kGpu,
                                                   .effective = usd("2"),
                                                   .gpu_time = GpuTime::of(5),
                                                   .memory_time = {}};
  ASSERT_EQ(of_east.size(), 2u);
  EXPECT_TRUE(of_east[0] == first);

  TestScope none;
  none.cluster = "";
  none.other_scopes = of_east;
  for (const auto& paid : sum_costs_by_owner(west.postings, west.dimensions))
    none.other_scopes.push_back(paid);
  none.post(PostingKind::kShared, "", usd("8"), 1, Component::kWhole, "gateway");
  none.policy.spread = {rule(PostingKind::kShared, Spread::kProportional)};
  none.policy.spread[0].within = SpreadWithin::kNode;  // no cluster, no nodes
  EXPECT_EQ(moved(none.distribute()), (Moved{{"", "-8"}, {"a", "2"}, {"b", "6"}}));
  none.policy.spread[0].over = SpreadOver::kMonth;
  EXPECT_EQ(moved(none.distribute()),
            (Moved{{"", "-8"}, {"a", "2.666666666666666667"}, {"b", "5.333333333333333333"}}));
}

TEST(Distribute, AWorkloadWithoutDimensionsIsTheOwnerWithoutAny) {
  TestScope scope;
  scope.used("x", usd("1"));
  scope.idle(usd("2"));
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  EXPECT_EQ(moved(scope.distribute()), (Moved{{"", "-2"}, {"()", "2"}}));
}

}  // namespace
}  // namespace pennyweight::distribute_test
