#include "app/context/ledger_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pennyweight {
namespace {

using ::testing::HasSubstr;

TEST(LedgerLog, IsOverlongBeyondItsLimit) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "pennyweight_ledger_log_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Config config;
  config.store_path = (folder / "x.duckdb").string();
  EXPECT_FALSE(overlong_ledger_log(config));
  const std::string log = config.store_path + ".wal";
  std::ofstream(log).put('\n');
  std::filesystem::resize_file(log, kLedgerLogBytesMax);
  EXPECT_FALSE(overlong_ledger_log(config));
  std::filesystem::resize_file(log, kLedgerLogBytesMax + (16u << 20));
  EXPECT_THAT(overlong_ledger_log(config).value_or(""), HasSubstr("x.duckdb.wal, is 48 MiB"));
  EXPECT_THAT(overlong_ledger_log_advice(config), HasSubstr("x.duckdb.rescue"));
  config.store_address = "clickhouse://a:8123/b";
  EXPECT_FALSE(overlong_ledger_log(config));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pennyweight
