#include "app/alerting/alert_service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/context/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/date.h"
#include "core/instant.h"
#include "core/money.h"

namespace pennyweight {
namespace {

// Nobody hears of alerts at first: the state says that nothing is known, not that nothing is wrong.
TEST(AlertService, SaysWhetherItEvaluatesAnything) {
  const Config config;
  SimulatedClock clock(*parse_instant("2026-03-04T10:00:00Z"));
  Log log(clock);
  std::vector<Budget> budgets;
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("alert_service_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  AlertService service(config,
                       {.summarise = [](const SummaryQuery&) -> Result<std::vector<SummaryRow>> {
                          return std::vector<SummaryRow>();
                        },
                        .live = {},
                        .budgets = [&]() -> Result<std::vector<Budget>> { return budgets; }},
                       clock, log, (folder / "alerts.json").string());
  EXPECT_FALSE(service.now().is_evaluated);
  service.run_once();
  EXPECT_FALSE(service.now().is_evaluated);
  budgets = {{.name = "run", .amounts = {{*parse_date("2026-03-01"), Money::from_units(5, kUsd)}}}};
  service.run_once();
  EXPECT_TRUE(service.now().is_evaluated);
  budgets.clear();
  service.run_once();
  EXPECT_FALSE(service.now().is_evaluated);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pennyweight
