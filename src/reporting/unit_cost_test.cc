#include "reporting/unit_cost.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "reporting/unit_cost_tables.h"

namespace pennyweight {
namespace {

const ClusterId kUnitCluster("c");

Money usd(std::int64_t units) { return Money::from_units(units, kUsd); }
Money exact(const char* text) { return Money::from_decimal(*parse_exact_decimal(text), kUsd); }

WorkloadDimensions given(const char* workload,
                         std::initializer_list<std::pair<const char*, const char*>> entries) {
  Labels labels;
  for (const auto& [key, value] : entries) EXPECT_TRUE(labels.set(key, value));
  return {WorkloadId(workload), labels};
}

Outcome outcome(const char* workload, std::string_view measure, std::uint64_t count,
                std::initializer_list<std::pair<const char*, const char*>> labels = {}) {
  const Instant begin = *parse_instant("2026-03-01T00:00:00Z");
  Outcome counted(kUnitCluster, WorkloadId(workload), std::string(measure),
                  *Interval::of(begin, begin + std::chrono::minutes(1)), count);
  for (const auto& [key, value] : labels) EXPECT_TRUE(counted.labels.set(key, value));
  return counted;
}

void cost(UnitCosts& costs, const char* workload, PostingKind kind, Money amount) {
  costs.add_cost(kUnitCluster, WorkloadId(workload), kind, amount);
}

const UnitCostRow* find(const UnitCostReport& report, const char* key) {
  const auto row = std::ranges::find(report.rows, key, &UnitCostRow::key);
  return row == report.rows.end() ? nullptr : &*row;
}

// Two servers of nlp, a training job of nlp, a server of cv that nobody asked, and one of which no
// bill knows.
UnitCosts fleet(const char* by) {
  UnitCosts costs(by);
  const WorkloadDimensions dimensions[] = {
      given("s/a", {{"team", "nlp"}, {"user", "ann"}}),
      given("s/b", {{"team", "nlp"}, {"user", "ann"}}),
      given("train", {{"team", "nlp"}, {"user", "bob"}}),
      given("s/v", {{"team", "cv"}}),
      given("(team=nlp,user=ann)", {{"team", "nlp"}, {"user", "ann"}}),
      given("(team=ops)", {{"team", "ops"}})};
  costs.add_dimensions(kUnitCluster, dimensions);
  using enum PostingKind;
  cost(costs, "s/a", kUsed, usd(30));
  cost(costs, "s/a", kHeldIdle, usd(10));
  cost(costs, "s/b", kUsed, usd(20));
  cost(costs, "train", kUsed, usd(500));
  cost(costs, "s/v", kUsed, usd(7));
  // Idle that a rule moved: from nobody to the owners.
  cost(costs, "", kUnallocated, usd(100));
  cost(costs, "", kUnallocated, usd(-16));
  cost(costs, "(team=nlp,user=ann)", kUnallocated, usd(12));
  cost(costs, "(team=ops)", kUnallocated, usd(4));
  cost(costs, "", kShared, usd(6));
  cost(costs, "", kShared, usd(-6));
  cost(costs, "(team=nlp,user=ann)", kShared, usd(6));
  for (const auto& each :
       {outcome("s/a", kOutputTokens, 3'000'000), outcome("s/b", kOutputTokens, 1'000'000),
        outcome("s/a", kRequests, 40, {{"user", "eve"}}), outcome("s/a", kRequests, 10),
        outcome("s/v", kRequests, 0), outcome("s/gone", kRequests, 9)}) {
    costs.add_outcome(each);
  }
  return costs;
}

TEST(UnitCost, OfAMillionTokensByTeam) {
  const auto reports = fleet("team").report(kOutputTokens);
  ASSERT_EQ(reports.size(), 1U);
  const UnitCostRow* nlp = find(reports[0], "nlp");
  ASSERT_NE(nlp, nullptr);
  EXPECT_EQ(nlp->cost, (UnitCostBreakdown{usd(50), usd(22), usd(6)}));
  EXPECT_EQ(nlp->without_outcomes.total(), usd(500)) << "training is no token's cost";
  EXPECT_EQ(nlp->count, 4'000'000U);
  EXPECT_EQ(without_idle(*nlp, 1'000'000)->rounded(18), exact("12.5"));
  EXPECT_EQ(with_idle(*nlp, 1'000'000)->rounded(18), usd(18));
  EXPECT_EQ(why_no_unit_cost(*nlp), "");

  const UnitCostRow* cv = find(reports[0], "cv");
  ASSERT_NE(cv, nullptr);
  EXPECT_EQ(with_idle(*cv, 1), std::nullopt);
  EXPECT_EQ(why_no_unit_cost(*cv), "cost without outcomes");
  EXPECT_EQ(find(reports[0], "ops")->without_outcomes.total(), usd(4))
      << "an owner without workloads";
  EXPECT_EQ(find(reports[0], "(unallocated)")->without_outcomes.total(), usd(84));
  EXPECT_EQ(reports[0].total->cost.total() + reports[0].total->without_outcomes.total(), usd(673));
}

TEST(UnitCost, TheOwnersIdleGoesByCost) {
  const auto reports = fleet("workload").report(kOutputTokens);
  // 40 and 20 of their own: 12 of idle is 8 and 4.
  EXPECT_EQ(find(reports[0], "s/a")->cost.idle, usd(18));
  EXPECT_EQ(find(reports[0], "s/b")->cost.idle, usd(4));
}

TEST(UnitCost, NullAndNotZero) {
  const auto reports = fleet("workload").report(kRequests);
  const UnitCostRow* nobody_asked = find(reports[0], "s/v");
  EXPECT_EQ(without_idle(*nobody_asked, 1), std::nullopt);
  EXPECT_EQ(why_no_unit_cost(*nobody_asked), "counted none");
  const UnitCostRow* gone = find(reports[0], "s/gone");
  EXPECT_EQ(gone->count_without_cost, 9U);
  EXPECT_EQ(without_idle(*gone, 1), std::nullopt);
  EXPECT_EQ(why_no_unit_cost(*gone), "outcomes without cost");
  const auto tables = unit_cost_tables(
      reports, {.period_label = "2026-03", .by = "workload", .per = {}, .digits = 18, .top = {}});
  const std::string json = render_json(tables);
  EXPECT_NE(json.find("\"workload\": \"s/gone\", \"measure\": \"requests\", \"count\": 9, "
                      "\"used_cost\": null, \"unit_cost_without_idle\": null"),
            std::string::npos)
      << json;
  const std::string csv = render_csv(tables);
  EXPECT_NE(csv.find("outcomes without cost"), std::string::npos) << csv;
}

TEST(UnitCost, OutcomesThatNameTheUserDivideTheirWorkload) {
  const auto reports = fleet("user").report(kRequests);
  // 40 of 50 requests of s/a were eve's; the rest belongs to the workload's own user.
  const UnitCostRow* eve = find(reports[0], "eve");
  ASSERT_NE(eve, nullptr);
  EXPECT_EQ(eve->cost.used, usd(24));
  EXPECT_EQ(eve->count, 40U);
  EXPECT_EQ(find(reports[0], "ann")->cost.used, usd(6));
  EXPECT_EQ(find(reports[0], "ann")->without_outcomes.used, usd(20)) << "s/b has no requests";
}

TEST(UnitCost, OutcomesOfNoBillHaveNoCurrency) {
  UnitCosts costs("team");
  EXPECT_TRUE(costs.report(kRequests).empty());
  costs.add_outcome(outcome("a", kRequests, 3));
  const auto reports = costs.report(kRequests);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].currency, std::nullopt);
  EXPECT_EQ(reports[0].total->count_without_cost, 3U);
  const auto tables = unit_cost_tables(
      reports, {.period_label = "all months", .by = "team", .per = {}, .digits = 6, .top = {}});
  for (const TableFormat format : {TableFormat::kText, TableFormat::kCsv, TableFormat::kJson}) {
    EXPECT_NE(render(tables, format, {}).find("outcomes without cost"), std::string::npos);
  }
}

TEST(UnitCost, RoundsOnceHalfToEven) {
  const auto of = [](const char* amount, std::uint64_t count, std::uint64_t per, int digits) {
    return to_text(UnitCost{exact(amount), count, per}.rounded(digits)->amount());
  };
  EXPECT_EQ(of("1", 8, 1, 2), "0.12");  // 0.125
  EXPECT_EQ(of("3", 8, 1, 2), "0.38");  // 0.375
  EXPECT_EQ(of("-1", 8, 1, 2), "-0.12");
  EXPECT_EQ(of("1", 3, 1, 18), "0.333333333333333333");
  EXPECT_EQ(of("2", 3, 1, 18), "0.666666666666666667");
  // By 18 digits first it would be 0.125 and then 0.12.
  EXPECT_EQ(of("0.125000000000000001", 1, 1, 2), "0.13");
  EXPECT_EQ(of("1", 1'000'000'000, 1'000'000, 6), "0.001");
  EXPECT_EQ(of("0", 7, 1, 3), "0");
  const Money huge = Money::from_ticks(kInt128Max, kUsd);
  EXPECT_EQ((UnitCost{huge, 1, 1'000'000}.rounded(2)), std::nullopt) << "no amount of Money";
  EXPECT_EQ((UnitCost{usd(1), static_cast<UInt128>(kInt128Max), 1}.rounded(0)), std::nullopt);
}

// Whatever the kinds, owners, labels and counts: nothing is made and nothing lost.
RC_GTEST_PROP(UnitCost, RowsAddUpToThePostings, ()) {
  static const char* const kWorkloads[] = {"a", "b", "n/c", "(team=x)", "(team=x,user=u)", ""};
  static const char* const kTeams[] = {"x", "y"};
  static const PostingKind kKinds[] = {PostingKind::kUsed,        PostingKind::kHeldIdle,
                                       PostingKind::kUnallocated, PostingKind::kStranded,
                                       PostingKind::kOverhead,    PostingKind::kUnavailable,
                                       PostingKind::kShared};
  UnitCosts costs(*rc::gen::element<std::string>("team", "user", "workload", "cluster", "model"));
  const WorkloadDimensions dimensions[] = {
      given("a", {{"team", kTeams[*rc::gen::inRange(0, 2)]}, {"user", "u"}}),
      given("b", {{"team", kTeams[*rc::gen::inRange(0, 2)]}}),
      given("n/c", {{"team", "x"}, {"user", "u"}}), given("(team=x)", {{"team", "x"}}),
      given("(team=x,user=u)", {{"team", "x"}, {"user", "u"}})};
  costs.add_dimensions(kUnitCluster, dimensions);
  Money total = Money::zero(kUsd);
  const int postings = *rc::gen::inRange(1, 25);
  for (int i = 0; i < postings; ++i) {
    const Money amount = Money::from_ticks(*rc::gen::inRange(-1000, 100'000), kUsd);
    total += amount;
    cost(costs, kWorkloads[*rc::gen::inRange(0, 6)], kKinds[*rc::gen::inRange(0, 7)], amount);
  }
  UInt128 count = 0;
  const int outcomes = *rc::gen::inRange(0, 12);
  for (int i = 0; i < outcomes; ++i) {
    const auto counted = *rc::gen::inRange<std::uint64_t>(0, 50);
    count += counted;
    auto each = outcome(kWorkloads[*rc::gen::inRange(0, 3)], kRequests, counted);
    if (*rc::gen::arbitrary<bool>()) RC_ASSERT(each.labels.set("user", "v").has_value());
    costs.add_outcome(each);
  }
  const auto reports = costs.report(kRequests);
  RC_ASSERT(reports.size() == 1U);
  Money sum = Money::zero(kUsd);
  UInt128 counted = 0;
  for (const UnitCostRow& row : reports[0].rows) {
    sum += row.cost.total() + row.without_outcomes.total();
    counted += row.count + row.count_without_cost;
    const bool has_unit_cost = with_idle(row, 1).has_value();
    RC_ASSERT(has_unit_cost == why_no_unit_cost(row).empty());
  }
  RC_ASSERT(sum == total);
  RC_ASSERT(counted == count);
  RC_ASSERT(reports[0].total->cost.total() + reports[0].total->without_outcomes.total() == total);
}

}  // namespace
}  // namespace pennyweight
