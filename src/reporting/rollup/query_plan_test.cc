// From which tables a plan is answered.
#include "reporting/rollup/query_plan.h"

#include <gtest/gtest.h>

namespace pennyweight::rollup {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

std::int32_t number(sys_days day) {
  return static_cast<std::int32_t>(day.time_since_epoch().count());
}

// Two clusters with a month each, February to April of one and March of the other.
RollupState a_state() {
  RollupState state;
  state.complete = true;
  Dictionary& names = state.names;
  for (const char* text : {"team", "user", "nlp", "ann"}) {
    names.texts.number_of(std::string_view(text));
  }
  const Number team = *names.texts.find(std::string_view("team"));
  const Number user = *names.texts.find(std::string_view("user"));
  names.dimensions = {team, user};
  names.sets.number_of(LabelSet{{team, *names.texts.find(std::string_view("nlp"))},
                                {user, *names.texts.find(std::string_view("ann"))}});
  state.scopes.push_back({.number = 1,
                          .scope = {ClusterId("a"), "2026-03"},
                          .first_day = number(year(2026) / 2 / 27),
                          .last_day = number(year(2026) / 4 / 2)});
  state.scopes.push_back({.number = 2,
                          .scope = {ClusterId("b"), "2026-03"},
                          .first_day = number(year(2026) / 3 / 5),
                          .last_day = number(year(2026) / 3 / 20)});
  for (std::size_t i = 0; i < kGrains.size(); ++i) state.rows[i] = 100 * (i + 1);
  return state;
}

std::string scans_of(const SummaryQuery& query) {
  const RollupState state = a_state();
  const auto plan = QueryPlan::of(state, query);
  if (!plan) return "the ledger";
  std::string text;
  for (const GrainScan& scan : plan->scans) {
    const auto first = scan.grain->by_day ? scan.first : first_day_of_month(scan.first);
    const auto last = scan.grain->by_day ? scan.last : first_day_of_month(scan.last + 1) - 1;
    const auto date = [](std::int32_t day) {
      return to_text(Instant(sys_days(std::chrono::days(day)))).substr(5, 5);
    };
    text += std::string(scan.grain->table) + " " + date(first) + "..." + date(last) + "; ";
  }
  return text;
}

TEST(QuestionTest, IsAnsweredFromTheSmallestTableThatHasIt) {
  EXPECT_EQ(scans_of({}), "facet_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"service"}}), "facet_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"team"}}), "value_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"team"}, .filters = {{"team", {"nlp"}, false}}}),
            "value_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"team", "user"}}), "set_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"team"}, .filters = {{"service", {"EC2"}, false}}}),
            "all_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"node"}}), "place_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"node", "team"}}), "all_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"workload"}}), "all_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.group_by = {"nobody knows it"}}), "facet_month 02-01...04-30; ");
  EXPECT_EQ(scans_of({.bucket = TimeBucket::kDay, .group_by = {"team"}}),
            "value_day 02-27...04-02; ");
  EXPECT_EQ(scans_of({.bucket = TimeBucket::kWeek, .group_by = {"team", "user"}}),
            "all_day 02-27...04-02; ");
}

TEST(QuestionTest, WholeMonthsAreReadByMonth) {
  const auto between = [](sys_days first, sys_days last) {
    return scans_of({.first_day = first, .last_day = last});
  };
  EXPECT_EQ(between(year(2026) / 3 / 1, year(2026) / 3 / 31), "facet_month 03-01...03-31; ");
  EXPECT_EQ(between(year(2026) / 3 / 2, year(2026) / 3 / 31), "facet_day 03-02...03-31; ");
  EXPECT_EQ(between(year(2026) / 3 / 1, year(2026) / 3 / 30), "facet_day 03-01...03-30; ");
  EXPECT_EQ(between(year(2025) / 1 / 9, year(2026) / 3 / 30),
            "facet_day 03-01...03-30; facet_month 02-01...02-28; ");
  EXPECT_EQ(between(year(2026) / 2 / 28, year(2026) / 4 / 1),
            "facet_day 02-28...02-28; facet_day 04-01...04-01; facet_month 03-01...03-31; ");
  // Before the first and after the last day there is nothing to cut off.
  EXPECT_EQ(between(year(2026) / 2 / 27, year(2026) / 4 / 2), "facet_month 02-01...04-30; ");
  EXPECT_EQ(between(year(2026) / 5 / 1, year(2026) / 5 / 31), "");
  EXPECT_EQ(between(year(2026) / 3 / 9, year(2026) / 3 / 8), "");
  EXPECT_EQ(scans_of({.filters = {{"cluster", {"b"}, false}}}), "facet_month 03-01...03-31; ");
  EXPECT_EQ(
      scans_of({.last_day = sys_days(year(2026) / 3 / 20), .filters = {{"cluster", {"a"}, true}}}),
      "facet_month 03-01...03-31; ");
}

TEST(QuestionTest, LinesAndEarlierInstantsAreTheLedgers) {
  EXPECT_EQ(scans_of({.group_by = {"charge"}}), "the ledger");
  EXPECT_EQ(scans_of({.filters = {{"charge", {"x"}, false}}}), "the ledger");
  EXPECT_EQ(scans_of({.as_of = Instant()}), "the ledger");
}

TEST(StateTest, MonthsAndDays) {
  for (std::int32_t day = -40'000; day < 40'000; day += 13) {
    const std::int32_t month = month_of_day(day);
    EXPECT_LE(first_day_of_month(month), day);
    EXPECT_GT(first_day_of_month(month + 1), day);
  }
  EXPECT_EQ(month_of_day(0), 0);
  EXPECT_EQ(first_day_of_month(-12), -365);
}

}  // namespace
}  // namespace pennyweight::rollup
