// What /metrics says of GPUs in trouble, of places, kills and latencies.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/alerting/device_usage_testing.h"
#include "app/daemon/device_signals.h"
#include "app/daemon/place_metrics.h"
#include "core/instant.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;
using testing::Not;

Usage troubled(const std::string& gpu, std::uint64_t xids, std::uint64_t last_xid,
               std::uint64_t throttled_ms = 0) {
  Usage usage = usage_of_gpu(gpu, *parse_instant("2026-03-04T10:00:00Z"));
  usage.span_ms = 60'000;
  usage.xid_errors = xids;
  if (last_xid != 0) usage.last_xid = last_xid;
  usage.throttled_ms = throttled_ms;
  return usage;
}

TEST(DeviceSignals, XidsAreCountedByCodeAndOnlyWhereThereWereAny) {
  DeviceSignals signals;
  signals.note(std::vector{troubled("GPU-1", 2, 79), troubled("GPU-1", 1, 48),
                           troubled("GPU-1", 1, 79, 1500), troubled("GPU-2", 0, 0),
                           troubled("GPU-3", 1, 0)});
  server::MetricsText metrics;
  signals.add_metrics(metrics);
  const std::string gpu = R"({cluster="lab",node="n1",gpu="GPU-1")";
  EXPECT_THAT(metrics.text(),
              HasSubstr("pennyweight_gpu_xid_errors_total" + gpu + ",xid=\"79\"} 3\n"));
  EXPECT_THAT(metrics.text(),
              HasSubstr("pennyweight_gpu_xid_errors_total" + gpu + ",xid=\"48\"} 1\n"));
  EXPECT_THAT(metrics.text(),
              HasSubstr("pennyweight_gpu_throttled_seconds_total" + gpu + "} 1.500\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("gpu=\"GPU-3\",xid=\"\"} 1\n"));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("GPU-2")));
}

TEST(DeviceSignals, AFleetInTroubleIsBounded) {
  DeviceSignals signals;
  std::vector<Usage> all;
  for (int i = 0; i < 5'010; ++i) all.push_back(troubled(fmt::format("GPU-{:05}", i), 1, 13));
  signals.note(all);
  signals.note(all);
  server::MetricsText metrics;
  signals.add_metrics(metrics);
  EXPECT_THAT(metrics.text(), HasSubstr("node=\"\",gpu=\"(others)\",xid=\"13\"} 20\n"));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("GPU-05009")));
}

Money euros_of(std::int64_t amount) {
  return Money::from_ticks(Int128{Money::kTicksPerUnit} * amount, kEur);
}

TEST(PlaceMetrics, TheMostExpensivePlacesAndOneSumOfTheOthers) {
  LiveView view;
  LiveCluster& lab =
      view.clusters
          .emplace(
              ClusterId("lab"),
              LiveCluster{.cluster = ClusterId("lab"),
                          .recent = {.window = Interval(*parse_instant("2026-03-04T10:00:00Z"),
                                                        *parse_instant("2026-03-04T10:05:00Z")),
                                     .shares = {},
                                     .notes = {},
                                     .price_per_hour = {}},
                          .today = {}})
          .first->second;
  PlaceCosts& places = lab.recent.places;
  places.emplace(std::pair(NodeId("n1"), GpuId("")),
                 PlaceCost{euros_of(1), euros_of(0), euros_of(4)});
  places.emplace(std::pair(NodeId("n1"), GpuId("a")),
                 PlaceCost{euros_of(2), euros_of(1), euros_of(0)});
  places.emplace(std::pair(NodeId("n2"), GpuId("b")),
                 PlaceCost{euros_of(3), euros_of(3), euros_of(0)});
  places.emplace(std::pair(NodeId("n3"), GpuId("c")),
                 PlaceCost{euros_of(1), euros_of(0), euros_of(0)});
  server::MetricsText nodes, gpus, none;
  add_node_costs(view, 1, nodes);
  EXPECT_THAT(nodes.text(), HasSubstr(R"(node="n1",kind="held",currency="EUR"} 3)"));
  EXPECT_THAT(nodes.text(), HasSubstr(R"(node="n1",kind="unallocated",currency="EUR"} 4)"));
  EXPECT_THAT(nodes.text(), HasSubstr(R"x(node="(others)",kind="held",currency="EUR"} 4)x"));
  add_gpu_costs(view, 1, gpus);
  EXPECT_THAT(gpus.text(), HasSubstr(R"(node="n2",gpu="b",kind="held_idle",currency="EUR"} 3)"));
  EXPECT_THAT(gpus.text(),
              HasSubstr(R"x(node="(others)",gpu="(others)",kind="held",currency="EUR"} 3)x"));
  add_node_costs(view, 0, none);
  add_gpu_costs(view, 0, none);
  EXPECT_EQ(none.text(), "");
}

TEST(PlaceMetrics, KillsAndLatencies) {
  server::MetricsText metrics;
  add_kills({.kills = {{ClusterId("lab"), WorkloadId("ml/a"), "main",
                        *parse_instant("1970-01-01T00:00:01.5Z")}},
             .heard = {},
             .since = {}},
            metrics);
  EXPECT_THAT(metrics.text(),
              HasSubstr(R"({cluster="lab",workload="ml/a",container="main"} 1.500)"));
  const std::vector<live::LatencyReading> services = {{.cluster = ClusterId("lab"),
                                                       .service = "ml/llama",
                                                       .workload = WorkloadId("ml/a"),
                                                       .p95_ms = 1'250,
                                                       .usual_p95_ms = 0}};
  add_latencies(services, metrics);
  EXPECT_THAT(metrics.text(), HasSubstr("pennyweight_service_latency_p95_seconds{cluster=\"lab\","
                                        "service=\"ml/llama\"} 1.250\n"));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("usual_p95_seconds{")));
}

}  // namespace
}  // namespace pennyweight
