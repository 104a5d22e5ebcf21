// Every number of a device, by hand: means by time, maxima, sums, the last XID; and events alone.
#include "reporting/queries/device_health.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reporting/queries/usage_query.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;

Usage span_of_gpu(const char* gpu, const char* at, std::uint32_t ms) {
  return {.cluster = ClusterId("lab"),
          .node = NodeId("n1"),
          .gpu = GpuId(gpu),
          .mig_instance = {},
          .mig_profile = {},
          .model = "H100",
          .at = *parse_instant(at),
          .gpu_util_ppm = {},
          .engine_active_ppm = {},
          .sm_active_ppm = {},
          .memory_used_bytes = {},
          .memory_total_bytes = {},
          .power_milliwatts = {},
          .energy_millijoules = {},
          .workload = WorkloadId(""),
          .span_ms = ms,
          .id = {},
          .source = {}};
}

class DeviceHealth : public testing::Test {
 protected:
  DeviceHealth() {
    Usage warm = span_of_gpu("GPU-1", "2026-03-01T10:00:00Z", 60'000);
    warm.temperature_celsius = 60;
    warm.power_milliwatts = 300'000;
    warm.power_max_milliwatts = 420'000;
    warm.xid_errors = 2;
    warm.last_xid = 79;
    Usage hot = span_of_gpu("GPU-1", "2026-03-01T10:01:00Z", 30'000);
    hot.temperature_celsius = 90;
    hot.power_milliwatts = 600'000;
    hot.power_max_milliwatts = 700'000;
    hot.throttled_ms = 30'000;
    hot.xid_errors = 1;
    hot.last_xid = 48;
    Usage other = span_of_gpu("GPU-2", "2026-03-01T10:00:00Z", 60'000);
    other.temperature_celsius = 40;
    other.xid_errors = 0;
    // What a container used is no number of its GPU.
    Usage container = span_of_gpu("GPU-2", "2026-03-01T10:00:00Z", 60'000);
    container.workload = WorkloadId("ml/a");
    container.of_workload = true;
    container.gpu_util_ppm = 900'000;
    const auto session = store_->begin_import({.format = "test",
                                               .name = "test",
                                               .file_hash = {},
                                               .at = *parse_instant("2026-03-02T00:00:00Z")});
    EXPECT_TRUE(session);
    // The GPU says that there is such a cluster.
    EXPECT_TRUE((*session)->append_gpus(std::vector{Gpu{.cluster = ClusterId("lab"),
                                                        .node = NodeId("n1"),
                                                        .uuid = GpuId("GPU-1"),
                                                        .index = 0,
                                                        .model = "H100",
                                                        .memory_bytes = {},
                                                        .mig_instances = {},
                                                        .from = warm.at,
                                                        .to = {},
                                                        .id = {},
                                                        .source = {}}}));
    EXPECT_TRUE((*session)->append_usages(std::vector{warm, hot, other, container}));
    EXPECT_TRUE((*session)->commit());
  }

  void add(const std::vector<Usage>& usages) {
    const auto session = store_->begin_import({.format = "test",
                                               .name = "more",
                                               .file_hash = {},
                                               .at = *parse_instant("2026-03-03T00:00:00Z")});
    ASSERT_TRUE(session);
    ASSERT_TRUE((*session)->append_usages(usages));
    ASSERT_TRUE((*session)->commit());
  }
  Result<Table> ask(const std::string& show, const std::string& step = "none",
                    std::vector<std::string> by = {"gpu"}) {
    return query_usage(*store_,
                       {.by = std::move(by),
                        .filters = filters_,
                        .dates = {.month = "2026-03", .from = {}, .to = {}},
                        .step = step,
                        .scope = scope_,
                        .show = show},
                       policy_, *parse_instant("2026-03-05T00:00:00Z"));
  }
  std::string csv(const std::string& show, const std::string& step = "none",
                  std::vector<std::string> by = {"gpu"}) {
    const auto table = ask(show, step, std::move(by));
    return table ? render_csv({*table}) : table.error().message;
  }
  // The values of a column, one a row.
  std::vector<Cell> column(const Table& table, const std::string& name) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name != name) continue;
      for (const Row& row : table.rows) cells.push_back(row[i]);
    }
    return cells;
  }
  static std::vector<Cell> numbers(std::vector<std::uint64_t> values) {
    return {values.begin(), values.end()};
  }

  const std::unique_ptr<Store> store_ = make_memory_store();
  Policy policy_;
  std::vector<std::string> filters_;
  std::vector<SummaryFilter> scope_;
};

TEST_F(DeviceHealth, MeansByTimeMaximaSumsAndTheLastXid) {
  const auto table = ask("health");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows.size(), 2u);
  // (60 x 60 s + 90 x 30 s) / 90 s, and so on.
  EXPECT_EQ(column(*table, "temperature_celsius"), numbers({70, 40}));
  EXPECT_EQ(column(*table, "temperature_peak_celsius"), numbers({90, 40}));
  EXPECT_EQ(column(*table, "power_milliwatts")[0], Cell(std::uint64_t{400'000}));
  EXPECT_EQ(column(*table, "power_max_milliwatts")[0], Cell(std::uint64_t{700'000}));
  EXPECT_EQ(column(*table, "power_milliwatts")[1], Cell()) << "not known, and not 0";
  EXPECT_EQ(column(*table, "throttled_ms")[0], Cell(std::uint64_t{30'000}));
  EXPECT_EQ(column(*table, "xid_errors"), numbers({3, 0}));
  EXPECT_EQ(column(*table, "last_xid")[0], Cell(std::uint64_t{48}));
  EXPECT_EQ(column(*table, "gpu_util_ppm")[1], Cell());
  EXPECT_EQ(ask("health", "minute")->rows.size(), 3u);
  EXPECT_EQ(ask("health", "day", {"node"})->rows.size(), 1u);
}

TEST_F(DeviceHealth, EventsAreWhenTheyWere) {
  EXPECT_EQ(csv("events"),
            "from,cluster,node,gpu,throttled_ms,xid_errors,last_xid,ecc_errors\n"
            "2026-03-01T10:00:00Z,lab,n1,GPU-1,,2,79,\n"
            "2026-03-01T10:01:00Z,lab,n1,GPU-1,30000,1,48,\n");
  filters_ = {"gpu=GPU-2"};
  EXPECT_EQ(ask("events")->rows.size(), 0u);
}

// Seven instances with 4 of 5 GB each are no card with 4 of 5 GB.
TEST_F(DeviceHealth, WhatMigInstancesHaveIsNotTheirCards) {
  std::vector<Usage> usages;
  for (int i = 1; i <= 7; ++i) {
    Usage& usage = usages.emplace_back(span_of_gpu("GPU-3", "2026-03-01T10:00:00Z", 60'000));
    usage.mig_instance = std::to_string(i);
    usage.memory_used_bytes = 4'000'000'000 + static_cast<std::uint64_t>(i);
    usage.memory_total_bytes = 5'000'000'000;
    usage.engine_active_ppm = 500'000;
    usage.power_milliwatts = 350'000;  // of the card, repeated
  }
  Usage& card = usages.emplace_back(span_of_gpu("GPU-3", "2026-03-01T10:01:00Z", 60'000));
  card.power_milliwatts = 450'000;
  card.xid_errors = 1;
  Usage& whole = usages.emplace_back(span_of_gpu("GPU-1", "2026-03-01T10:00:00Z", 60'000));
  whole.part = 1;
  whole.memory_used_bytes = 70;
  add(usages);
  const std::string note = "'instance' is one of the dimensions";

  const auto table = ask("health");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(column(*table, "memory_used_bytes"), (std::vector<Cell>{std::uint64_t{70}, {}, {}}));
  EXPECT_EQ(column(*table, "memory_total_bytes")[2], Cell());
  EXPECT_EQ(column(*table, "engine_active_ppm")[2], Cell());
  EXPECT_EQ(column(*table, "xid_errors"), numbers({3, 0, 1}));
  EXPECT_NE(column(*table, "power_milliwatts")[2], Cell());
  ASSERT_EQ(table->notes.size(), 1u);
  EXPECT_THAT(table->notes[0], HasSubstr(note));

  // Together with cards that have none, the mean would be of neither.
  EXPECT_EQ(column(*ask("health", "none", {"node"}), "memory_used_bytes")[0], Cell());

  const auto instances = ask("health", "none", {"gpu", "instance"});
  ASSERT_EQ(instances->rows.size(), 10u) << "GPU-1, GPU-2, GPU-3 and its seven";
  EXPECT_TRUE(instances->notes.empty());
  EXPECT_EQ(column(*instances, "memory_used_bytes")[9], Cell(std::uint64_t{4'000'000'007}));
  EXPECT_EQ(column(*instances, "memory_total_bytes")[9], Cell(std::uint64_t{5'000'000'000}));
  EXPECT_TRUE(ask("events")->notes.empty());

  filters_ = {"instance=3"};
  const auto one = ask("health");
  EXPECT_EQ(column(*one, "memory_used_bytes"), numbers({4'000'000'003}));
  EXPECT_TRUE(one->notes.empty());
  filters_ = {"instance=3,4"};
  EXPECT_EQ(column(*ask("health"), "memory_used_bytes"), std::vector<Cell>{{}});
}

TEST_F(DeviceHealth, MoreRowsThanAnAnswerHoldsAreRefusedWithTheRemedy) {
  const auto told = [&](const DeviceHealthQuery& query) {
    const auto table = query_device_health(
        *store_, query, policy_,
        Interval(*parse_instant("2026-03-01T00:00:00Z"), *parse_instant("2026-03-03T00:00:00Z")));
    return table ? fmt::format("{} rows", table->rows.size()) : table.error().message;
  };
  EXPECT_EQ(DeviceHealthQuery().rows_max, 100'000u);
  DeviceHealthQuery query;
  query.by = {"gpu"};
  query.step = UsageStep::kMinute;
  query.rows_max = 3;
  EXPECT_EQ(told(query), "3 rows");
  query.rows_max = 2;
  EXPECT_EQ(told(query),
            "the health of GPUs is told in at most 2 rows, and these are more; ask for a longer "
            "step, fewer dimensions, fewer GPUs by a filter, or for a shorter time");
  query.filters = {{"gpu", {"GPU-1"}, false}};
  EXPECT_EQ(told(query), "2 rows");
  query.step = UsageStep::kNone;
  query.events_only = true;
  EXPECT_EQ(told(query), "2 rows");
  query.rows_max = 1;
  EXPECT_EQ(told(query),
            "the health of GPUs is told in at most 1 rows, and these are more; ask for fewer GPUs "
            "by a filter, or for a shorter time");
}

TEST_F(DeviceHealth, WhatIsNotOfDevicesIsRefused) {
  EXPECT_THAT(csv("health", "none", {"workload"}), HasSubstr("not known by 'workload'"));
  EXPECT_THAT(csv("events", "hour"), HasSubstr("leave out the step"));
  EXPECT_THAT(csv("heat"), HasSubstr("use use, health or events"));
  filters_ = {"user=ann"};
  EXPECT_THAT(csv("health"), HasSubstr("not known by 'user'"));
  filters_.clear();
  scope_ = {{"team", {"nlp"}, false}};
  EXPECT_THAT(csv("health"), HasSubstr("limited to a scope"));
  EXPECT_THAT(csv("events"), HasSubstr("limited to a scope"));
}

}  // namespace
}  // namespace pennyweight
