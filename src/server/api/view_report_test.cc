#include "server/api/view_report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"

namespace pennyweight::api {
namespace {

std::string due(access::ViewPeriod every, const char* sent_until, const char* today,
                const char* complete_until) {
  const auto complete = parse_date(complete_until);
  const auto period =
      due_period({.every = every, .receiver = {}, .sent_until = sent_until, .problem = {}},
                 *parse_date(today), complete ? std::optional(*complete) : std::nullopt);
  return period ? to_text(period->first) + " " + to_text(period->second) : "";
}

TEST(ViewReport, EachWholePeriodIsDueOnceItsCostsAreThere) {
  using enum access::ViewPeriod;
  struct Row {
    access::ViewPeriod every;
    const char* sent_until;
    const char* today;
    const char* complete_until;
    const char* due;
  };
  const Row rows[] = {
      {kDay, "", "2026-03-01", "2026-02-28", "2026-02-28 2026-02-28"},
      {kDay, "2026-02-28", "2026-03-01", "2026-02-28", ""},
      {kDay, "2026-02-28", "2026-03-02", "2026-03-01", "2026-03-01 2026-03-01"},
      // 2026-03-02 is a Monday.
      {kWeek, "", "2026-03-01", "2026-02-28", "2026-02-16 2026-02-22"},
      {kWeek, "", "2026-03-02", "2026-03-01", "2026-02-23 2026-03-01"},
      {kWeek, "2026-03-01", "2026-03-08", "2026-03-07", ""},
      {kWeek, "2026-03-01", "2026-03-09", "2026-03-08", "2026-03-02 2026-03-08"},
      {kMonth, "", "2024-03-31", "2024-03-30", "2024-02-01 2024-02-29"},
      {kMonth, "2026-02-28", "2026-03-31", "2026-03-30", ""},
      {kMonth, "", "2026-01-01", "2025-12-31", "2025-12-01 2025-12-31"},
      {kMonth, "2027-01-31", "2026-03-01", "2026-02-28", ""},
      // What was missed is made up for, the earliest first, a week of days at most.
      {kDay, "2026-02-26", "2026-03-01", "2026-02-28", "2026-02-27 2026-02-27"},
      {kDay, "2026-01-01", "2026-03-01", "2026-02-28", "2026-02-22 2026-02-22"},
      {kWeek, "2026-02-15", "2026-03-04", "2026-03-03", "2026-02-16 2026-02-22"},
      // Costs that come two days late.
      {kDay, "", "2026-03-05", "2026-03-03", "2026-03-03 2026-03-03"},
      {kDay, "2026-03-03", "2026-03-05", "2026-03-03", ""},
      // Without costs a period is sent when it is over for more than three days.
      {kDay, "", "2026-03-05", "", "2026-03-01 2026-03-01"},
      {kDay, "2026-03-01", "2026-03-05", "2026-02-20", ""},
      {kDay, "2026-03-01", "2026-03-06", "2026-02-20", "2026-03-02 2026-03-02"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(due(row.every, row.sent_until, row.today, row.complete_until), row.due)
        << row.sent_until << " " << row.today << " " << row.complete_until;
  }
}

TEST(ViewReport, GroupsAsThePageDoes) {
  std::ifstream examples("tests/web_units/usual_grouping.txt");
  std::size_t tried = 0;
  for (std::string line; std::getline(examples, line);) {
    if (line.starts_with("#")) continue;
    const auto first = line.find('|'), last = line.rfind('|');
    ASSERT_TRUE(first < last) << line;
    Policy policy;
    std::istringstream dimensions(line.substr(0, first));
    policy.dimensions.clear();
    for (std::string name; dimensions >> name;) {
      policy.dimensions.emplace_back().dimension = name;
    }
    std::istringstream words(line.substr(first + 1, last - first - 1));
    std::vector<std::string> filters;
    for (std::string filter; words >> filter;) filters.push_back(filter);
    EXPECT_EQ(" " + usual_grouping(policy, filters), line.substr(last + 1)) << line;
    ++tried;
  }
  EXPECT_GT(tried, 10u);
}

TEST(ViewReport, WithCostsTwoDaysLateEachDayIsSentOnce) {
  std::string sent;
  access::ViewSchedule schedule{
      .every = access::ViewPeriod::kDay, .receiver = {}, .sent_until = {}, .problem = {}};
  for (Date today = *parse_date("2026-03-10"); today < *parse_date("2026-03-15");
       today += std::chrono::days(1)) {
    while (const auto period = due_period(schedule, today, today - std::chrono::days(2))) {
      schedule.sent_until = to_text(period->second);
      sent += schedule.sent_until.substr(8) + " ";
    }
  }
  EXPECT_EQ(sent, "08 09 10 11 12 ");
}

TEST(ViewReport, OnlyViewsOfExploreAreSent) {
  const auto sendable = [](const char* query) {
    return check_sendable_view(
               {.id = 1, .user = "ana", .name = "x", .query = query, .created_at = {}})
        .has_value();
  };
  EXPECT_TRUE(sendable("/explore"));
  EXPECT_TRUE(sendable("/explore?by=team&filter=team%3Dnlp&month=2026-03"));
  for (const char* query :
       {"/", "/compare?by=team", "/explore/", "/explorer", "/exp%6Core", "/explore?by=%ZZ"}) {
    EXPECT_FALSE(sendable(query)) << query;
  }
}

}  // namespace
}  // namespace pennyweight::api
