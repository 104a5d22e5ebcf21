// Cost queries: parameters become a plan, and any source's rows become tables.
#include "reporting/queries/costs.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace pennyweight {
namespace {

const Policy kPolicy = default_config().policy;

SummaryRow row(std::vector<std::string> keys, std::int64_t units, Currency currency) {
  Costs costs = Costs::zero(currency);
  costs.effective = Money::from_units(units, currency);
  return {{}, std::move(keys), costs, {}, {}, {}, {}, 1};
}

TEST(PlanCosts, WordsIntoAQuery) {
  CostQuery params;
  params.by = {"team,user"};
  params.filters = {"team=nlp"};
  params.dates.month = "2026-03";
  params.step = "day";
  params.as_of = *parse_instant("2026-04-01");
  params.currency = kEur;
  const CostPlan plan = plan_cost_query(params, kPolicy).value();
  EXPECT_EQ(plan.query.group_by, (std::vector<std::string>{"month", "team", "user", "kind"}));
  EXPECT_EQ(plan.query.bucket, TimeBucket::kDay);
  ASSERT_EQ(plan.query.filters.size(), 2U);
  EXPECT_EQ(plan.report.title,
            "Cost by team, user, every day, 2026-03, team=nlp, as of 2026-04-01T00:00:00Z, in "
            "EUR");
}

TEST(PlanCosts, WrongWordsAreBadValues) {
  const std::vector<CostQuery> wrong = {
      {.by = {"taem"}}, {.by = {"currency"}}, {.filters = {"team"}}, {.dates = {"2026-3", "", ""}},
      {.step = "hour"}, {.cost = "cheap"},    {.sort = "name"}};
  for (const CostQuery& params : wrong) {
    const auto plan = plan_cost_query(params, kPolicy);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::kBadValue) << plan.error().message;
  }
}

// A month of a bill begins at midnight UTC, a day where the policy's zone has it.
TEST(PlanCosts, AMonthOfABillIsToldApartFromOneOfTheCalendar) {
  Policy berlin = kPolicy;
  berlin.time_zone = TimeZone::parse("Europe/Berlin").value();
  const auto notes = [](const CostQuery& params, const Policy& policy) {
    return plan_cost_query(params, policy).value().report.notes.size();
  };
  EXPECT_EQ(notes({.by = {"month"}}, berlin), 1U);
  EXPECT_EQ(notes({.by = {"team"}, .dates = {"2026-03", "", ""}}, berlin), 1U);
  EXPECT_EQ(notes({.by = {"team"}, .step = "month"}, berlin), 0U);
  EXPECT_EQ(notes({.by = {"month"}}, kPolicy), 0U);
  const CostPlan both = plan_cost_query({.by = {"month"}, .step = "month"}, berlin).value();
  SummaryRow one = row({"2026-03", "used"}, 5, kEur);
  one.bucket = std::chrono::sys_days(std::chrono::year(2026) / 4 / 1);
  const auto tables = cost_tables(std::vector{one}, both.report);
  EXPECT_EQ(tables[0].columns[0].name, "calendar_month");
  EXPECT_EQ(tables[0].columns[1].name, "month");
  EXPECT_EQ(tables[0].notes.size(), 1U);
}

// Slurm's account is a label; "account" is the one that is billed.
TEST(PlanCosts, ADimensionOfHoldingsNamesTheRuleThatItNeeds) {
  for (const auto& [name, has] : {std::pair("slurm_account", "{slurm_account: {from: [account]}}"),
                                  std::pair("state", "{state: {from: [state]}}"),
                                  std::pair("image", "{image: {from: [image]}}"),
                                  std::pair("submitter", "{submitter: {from: [submitter, user]}}"),
                                  std::pair("label:tier", "{tier: {from: [tier]}}")}) {
    const auto plan = plan_cost_query({.by = {name}}, kPolicy);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().message.find(has), std::string::npos) << plan.error().message;
  }
}

TEST(QueryCosts, RatesAreAskedForOnlyWhereARowIsForeign) {
  CostQuery params;
  params.currency = kEur;
  const CostPlan plan = plan_cost_query(params, kPolicy).value();
  std::vector<SummaryRow> rows = {row({"2026-03", "nlp", "used"}, 5, kEur)};
  const auto summarise = [&](const SummaryQuery& query) -> Result<std::vector<SummaryRow>> {
    EXPECT_EQ(query.group_by, plan.query.group_by);
    return rows;
  };
  int asked = 0;
  const auto rates = [&](const Currency& foreign) -> Result<ExchangeRates> {
    ++asked;
    EXPECT_EQ(foreign, kUsd);
    return ExchangeRates::parse("date,from,to,rate\n2026-03-31,USD,EUR,0.5\n", "rates");
  };
  auto tables = query_costs(plan, summarise, rates, {}).value();
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(tables.front().notes.empty());
  rows.push_back(row({"2026-03", "cv", "used"}, 8, kUsd));
  tables = query_costs(plan, summarise, rates, {}).value();
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(std::get<Money>((*tables[0].total)[1]), Money::from_units(9, kEur));
  EXPECT_EQ(tables[0].notes.size(), 1U) << "at which rate";
}

// Who knows the first owners is asked for them alone, unless something has to be converted.
TEST(QueryCosts, FirstOwnersAreEnoughWhereOnlyTheyAreShown) {
  CostQuery params;
  params.top = 1;
  params.currency = kUsd;
  const CostPlan plan = plan_cost_query(params, kPolicy).value();
  int asked_all = 0;
  const auto summarise = [&](const SummaryQuery&) -> Result<std::vector<SummaryRow>> {
    ++asked_all;
    return std::vector<SummaryRow>{row({"2026-03", "cv", "used"}, 2, kUsd),
                                   row({"2026-03", "nlp", "used"}, 5, kUsd),
                                   row({"2026-03", "web", "used"}, 1, kUsd)};
  };
  const auto no_rates = [](const Currency&) -> Result<ExchangeRates> { return ExchangeRates(); };
  const auto all = query_costs(plan, summarise, no_rates, {}).value();
  Currency currency = kUsd;
  bool can_tell = true;
  const TopOwnersSource owners = [&](const SummaryQuery& query,
                                     const CostReport& report) -> Result<std::optional<TopOwners>> {
    EXPECT_EQ(query.group_by, report_group_by(report));
    EXPECT_EQ(report.top, 1U);
    if (!can_tell) return std::nullopt;
    return TopOwners{{row({"nlp", ""}, 5, currency)}, {{row({}, 3, currency), 2}}};
  };
  asked_all = 0;
  const auto first = query_costs(plan, summarise, no_rates, {}, owners).value();
  EXPECT_EQ(asked_all, 0);
  EXPECT_EQ(render_json(first), render_json(all));
  can_tell = false;
  EXPECT_EQ(render_json(query_costs(plan, summarise, no_rates, {}, owners).value()),
            render_json(all));
  EXPECT_EQ(asked_all, 1);
  can_tell = true;
  currency = kEur;
  ASSERT_TRUE(query_costs(plan, summarise, no_rates, {}, owners));
  EXPECT_EQ(asked_all, 2) << "each row of another currency is converted by itself";
  params.top = 0;
  ASSERT_TRUE(
      query_costs(plan_cost_query(params, kPolicy).value(), summarise, no_rates, {}, owners));
  EXPECT_EQ(asked_all, 3) << "all are shown";
}

TEST(QueryCosts, TellsWhoAnswersWhatWentWrong) {
  const CostPlan plan = plan_cost_query({}, kPolicy).value();
  const auto tables = query_costs(
      plan,
      [](const SummaryQuery&) -> Result<std::vector<SummaryRow>> {
        return fail(ErrorCode::kStore, "broken");
      },
      [](const Currency&) -> Result<ExchangeRates> { return ExchangeRates(); }, {});
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, ErrorCode::kStore);
}

}  // namespace
}  // namespace pennyweight
