// live_tables(): the rows of both windows, their sum, their order, and what fits a terminal.
#include "reporting/live/live_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace pennyweight {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Instant kTableNow = *parse_instant("2026-03-04T08:05:00Z");
const Interval kTableWindow(kTableNow - minutes(5), kTableNow);

Money euro_cents(std::int64_t cents) {
  return Money::from_ticks(Int128{Money::kTicksPerUnit} * cents / 100, kEur);
}

GpuTime cards(std::uint64_t count, milliseconds length) {
  return GpuTime::of(UInt128{72'072'000} * count * static_cast<std::uint64_t>(length.count()));
}

// Holds GPUs at 3 an hour each for this long; half of it is idle where observed.
LiveShare share(const std::string& workload, std::uint64_t gpus, milliseconds length,
                const std::string& team, bool is_seen = true) {
  const milliseconds in_window = std::min<milliseconds>(length, minutes(5));
  LiveShare one{.workload = WorkloadId(workload),
                .labels = {},
                .dimensions = {},
                .nodes = {NodeId("n1"), NodeId("n2"), NodeId("n3")},
                .gpus = {},
                .device = "gpu",
                .since = kTableNow - length,
                .running = true,
                .cost = {},
                .idle_cost = {},
                .gpu_time = cards(gpus, in_window),
                .observed_time = is_seen ? cards(gpus, in_window) : GpuTime(),
                .idle_time = is_seen ? cards(gpus, in_window / 2) : GpuTime()};
  const Int128 ticks =
      Int128{Money::kTicksPerUnit} * 3 * static_cast<Int128>(gpus) * in_window.count() / 3'600'000;
  one.cost = Money::from_ticks(ticks, kEur);
  one.idle_cost = Money::from_ticks(is_seen ? ticks / 2 : 0, kEur);
  EXPECT_TRUE(one.dimensions.set("team", team));
  EXPECT_TRUE(one.labels.set("owner_kind", "Job"));
  return one;
}

LiveShare unallocated() {
  LiveShare one = share("", 0, minutes(5), "", false);
  one.since.reset();
  one.running = false;
  one.cost = euro_cents(100);
  one.dimensions = {};
  return one;
}

LiveView view_of(std::vector<LiveShare> shares, std::uint64_t gpus = 8) {
  LiveCosts recent{.window = kTableWindow,
                   .shares = std::move(shares),
                   .notes = {},
                   .nodes_unpriced = 0,
                   .price_per_hour = euro_cents(static_cast<std::int64_t>(300 * gpus)),
                   .gpus = gpus};
  LiveView view{.at = kTableNow, .clusters = {}};
  view.clusters.emplace(
      ClusterId("lab"),
      LiveCluster{.cluster = ClusterId("lab"), .recent = std::move(recent), .today = {}});
  return view;
}

std::vector<std::string> workloads(const Table& table) {
  std::vector<std::string> names;
  for (const Row& row : table.rows) names.push_back(std::get<std::string>(row[0]));
  return names;
}

std::size_t column(const Table& table, std::string_view name) {
  const auto at = std::ranges::find(table.columns, name, &Column::name);
  EXPECT_NE(at, table.columns.end()) << name;
  return static_cast<std::size_t>(at - table.columns.begin());
}

Cell at(const Table& table, std::size_t row, std::string_view name) {
  return table.rows.at(row).at(column(table, name));
}

TEST(LiveTable, AJobThatBeganAMomentAgoLeavesTheSumAtThePriceOfTheNodes) {
  const LiveView view =
      view_of({unallocated(), share("a", 2, seconds(7), "nlp"), share("b", 1, hours(3), "vision")});
  const std::vector<Table> tables = live_tables(view, {.shown = {"team"}});
  ASSERT_EQ(tables.size(), 1u);
  const Table& table = tables[0];
  EXPECT_THAT(workloads(table), ElementsAre("(nobody)", "a", "b"));
  EXPECT_EQ(at(table, 1, "cost_per_hour"), Cell(euro_cents(600)));
  EXPECT_EQ(at(table, 1, "idle_per_hour"), Cell(euro_cents(300)));
  EXPECT_EQ(at(table, 2, "cost_per_hour"), Cell(euro_cents(300)));
  EXPECT_EQ(at(table, 0, "cost_per_hour"), Cell(euro_cents(1500)));
  EXPECT_EQ(at(table, 0, "gpus"), Cell(std::string("5")));
  EXPECT_EQ(table.total->at(column(table, "cost_per_hour")), Cell(euro_cents(2400)));
  EXPECT_EQ(table.total->at(column(table, "gpus")), Cell(std::string("8")));
  EXPECT_EQ(at(table, 1, "nodes"), Cell(std::string("n1,n2,n3")));
  EXPECT_EQ(at(table, 1, "since"), Cell(std::string("2026-03-04T08:04:53Z")));
  EXPECT_EQ(table.title,
            "Running at 2026-03-04T08:05:00Z: 2 workloads on 3 of 8 GPUs, 24.00 EUR an hour, 4.50 "
            "of it idle, 15.00 unallocated");
}

TEST(LiveTable, AJobWithATimeLimitSaysWhatItCostsUntilThen) {
  LiveShare limited = share("a", 2, hours(3), "nlp");
  EXPECT_TRUE(limited.labels.set("time_limit_minutes", "270"));
  LiveShare over = share("b", 1, hours(3), "nlp");
  EXPECT_TRUE(over.labels.set("time_limit_minutes", "170"));
  const LiveView view = view_of({unallocated(), limited, over, share("c", 1, hours(1), "nlp")});
  const Table table = live_tables(view, {.shown = {"team"}})[0];
  EXPECT_THAT(workloads(table), ElementsAre("(nobody)", "a", "b", "c"));
  // Two GPUs at 3 an hour, for another hour and a half.
  EXPECT_EQ(at(table, 1, "ends_by"), Cell(std::string("2026-03-04T09:35:00Z")));
  EXPECT_EQ(at(table, 1, "cost_to_limit"), Cell(euro_cents(900)));
  EXPECT_EQ(at(table, 2, "cost_to_limit"), Cell(euro_cents(0)));
  EXPECT_EQ(at(table, 3, "cost_to_limit"), Cell());
  EXPECT_EQ(table.total->at(column(table, "gpus")), Cell(std::string("8")));
  const Table without = live_tables(view_of({share("c", 1, hours(1), "nlp")}), {})[0];
  EXPECT_EQ(std::ranges::find(without.columns, "ends_by", &Column::name), without.columns.end());
}

TEST(LiveTable, BusyIsThePartOfTheObservedTime) {
  LiveShare half_seen = share("a", 2, minutes(5), "nlp");
  half_seen.observed_time = cards(1, minutes(5));
  half_seen.idle_time = cards(1, std::chrono::seconds(150));
  const Table table =
      live_tables(view_of({half_seen, share("b", 1, minutes(5), "nlp", false)}), {})[0];
  const auto used = std::get<Ratio>(at(table, 0, "busy"));
  EXPECT_EQ(used.part * 2, used.whole);
  EXPECT_EQ(at(table, 1, "busy"), Cell());
}

TEST(LiveTable, OrdersPutTheMostFirstAndNobodyBeforeAll) {
  LiveShare busy = share("c", 1, minutes(1), "nlp");
  busy.idle_time = GpuTime();
  const LiveView view = view_of(
      {unallocated(), share("a", 2, hours(1), "nlp"), share("b", 3, minutes(9), "nlp"), busy});
  const auto order = [&](std::string_view name) {
    LiveQuery query;
    query.order = *parse_live_order(name);
    return workloads(live_tables(view, query)[0]);
  };
  EXPECT_THAT(order("cost"), ElementsAre("(nobody)", "b", "a", "c"));
  EXPECT_THAT(order("gpus"), ElementsAre("(nobody)", "b", "a", "c"));
  EXPECT_THAT(order("idle"), ElementsAre("(nobody)", "b", "a", "c"));
  EXPECT_THAT(order("since"), ElementsAre("(nobody)", "c", "b", "a"));
  EXPECT_THAT(order("busy"), ElementsAre("(nobody)", "c", "a", "b"));
  EXPECT_THAT(order("workload"), ElementsAre("(nobody)", "a", "b", "c"));
  EXPECT_FALSE(parse_live_order("price"));
}

TEST(LiveTable, FiltersAndColumnsAreDimensionsOrLabels) {
  const LiveView view =
      view_of({unallocated(), share("a", 2, hours(1), "nlp"), share("b", 3, hours(1), "vision")});
  LiveQuery query{.shown = {"owner_kind"}};
  ASSERT_TRUE(query.filter.set("team", "vision"));
  const Table table = live_tables(view, query)[0];
  EXPECT_THAT(workloads(table), ElementsAre("b"));
  EXPECT_EQ(at(table, 0, "owner_kind"), Cell(std::string("Job")));
  EXPECT_EQ(table.total->at(column(table, "cost_per_hour")), Cell(euro_cents(900)));
}

TEST(LiveTable, ALimitLeavesTheTotalOfAll) {
  const LiveView view = view_of({unallocated(), share("a", 2, hours(1), "nlp")});
  const Table table = live_tables(view, {.limit = 1})[0];
  EXPECT_THAT(workloads(table), ElementsAre("(nobody)"));
  EXPECT_EQ(table.total->at(column(table, "cost_per_hour")), Cell(euro_cents(2400)));
  EXPECT_THAT(table.notes, ElementsAre("1 of 2 rows; the total is of all"));
}

TEST(LiveTable, WhatHasNoPriceSaysNothing) {
  LiveShare unpriced = share("a", 2, hours(1), "nlp");
  unpriced.cost.reset();
  unpriced.idle_cost.reset();
  LiveView view = view_of({unpriced});
  view.clusters.at(ClusterId("lab")).recent.price_per_hour.reset();
  const Table table = live_tables(view, {})[0];
  EXPECT_EQ(at(table, 0, "cost_per_hour"), Cell());
  EXPECT_EQ(at(table, 0, "gpus"), Cell(std::string("2")));
  EXPECT_EQ(table.total->at(column(table, "cost_per_hour")), Cell());
}

TEST(LiveTable, PodsOfOneNameShowTheGpusOfOne) {
  LiveShare set = share("set-0", 2, minutes(4), "nlp");
  set.since =
      kTableNow - minutes(20);  // of the first pod; the second came after a pause of a minute
  set.held_ms = 240'000;
  const Table table = live_tables(view_of({unallocated(), set}), {})[0];
  EXPECT_EQ(at(table, 1, "gpus"), Cell(std::string("2")));
  EXPECT_EQ(at(table, 1, "cost_per_hour"), Cell(euro_cents(600)));
}

TEST(LiveTable, WhatEndedIsShownOnRequestWithoutAnHour) {
  LiveShare over = share("a", 2, hours(1), "nlp");
  over.running = false;
  LiveView view = view_of({unallocated(), over});
  EXPECT_THAT(workloads(live_tables(view, {})[0]), ElementsAre("(nobody)"));
  const Table table = live_tables(view, {.ended = true})[0];
  EXPECT_THAT(workloads(table), ElementsAre("(nobody)", "a"));
  EXPECT_EQ(at(table, 1, "cost_per_hour"), Cell());
  // Its GPUs are free again.
  EXPECT_EQ(at(table, 0, "cost_per_hour"), Cell(euro_cents(2400)));
}

TEST(LiveTable, WhatEndedRanUpToItsEndAndNotUpToNow) {
  LiveShare over = share("a", 2, hours(1), "nlp");
  over.running = false;
  over.until = kTableNow - minutes(2);
  const Table table =
      live_tables(view_of({unallocated(), over}), {.ended = true, .for_people = true})[0];
  EXPECT_EQ(at(table, 1, "since"), Cell(std::string("58 min")));
}

TEST(LiveTable, ANarrowTerminalGoesWithoutTheLeastTelling) {
  const LiveView view = view_of({unallocated(), share("team-with-a-long-name/pretraining-7b-x2x5q",
                                                      2, hours(27), "research-and-development")});
  LiveQuery query{.shown = {"team", "user"}, .for_people = true};
  for (const std::size_t width : {80u, 100u, 120u, 160u, 300u}) {
    SCOPED_TRACE(width);
    query.style.width = width;
    Table table = live_tables(view, query)[0];
    column(table, "cost_per_hour");
    column(table, "busy");
    table.title.clear();
    std::istringstream rows(render_text(table, query.style));
    for (std::string row; std::getline(rows, row);) EXPECT_LE(display_width(row), width);
  }
  const std::string wide = render_text(live_tables(view, query)[0], query.style);
  EXPECT_THAT(wide, HasSubstr("unallocated"));
  EXPECT_THAT(wide, HasSubstr("1 d 3 h"));
  EXPECT_THAT(wide, HasSubstr("n1,n2 +1"));
  EXPECT_THAT(wide, HasSubstr("this month"));
  query.style.width = 80;
  EXPECT_THAT(render_text(live_tables(view, query)[0], query.style), Not(HasSubstr("this month")));
}

TEST(LiveTable, Durations) {
  EXPECT_EQ(duration_text(milliseconds(-5)), "0 s");
  EXPECT_EQ(duration_text(seconds(59)), "59 s");
  EXPECT_EQ(duration_text(minutes(59) + seconds(59)), "59 min");
  EXPECT_EQ(duration_text(hours(3) + minutes(12)), "3 h 12 min");
  EXPECT_EQ(duration_text(hours(99)), "4 d 3 h");
}

}  // namespace
}  // namespace pennyweight
