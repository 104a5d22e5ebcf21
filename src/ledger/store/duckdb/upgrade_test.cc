// A ledger of version 2 has the same content after its upgrade to this version. Its tables, created
// by the SQL of version 2, are filled with the facts of a current ledger.
#include "ledger/store/duckdb/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/try.h"
#include "ledger/store/duckdb/duckdb_store.h"
#include "ledger/store/duckdb/fact_table.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;

class UpgradeTest : public testing::Test {
 protected:
  UpgradeTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("pennyweight_upgrade_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~UpgradeTest() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  static std::unique_ptr<Store> opened(const std::string& path) {
    auto store = open_duckdb_store({.path = path, .threads = 1});
    if (!store) throw std::runtime_error(store.error().message);
    return *std::move(store);
  }
  static void run(const std::string& path, const std::string& sql) {
    auto database = duckdb::Database::open({.path = path, .threads = 1});
    ASSERT_TRUE(database) << database.error().message;
    auto connection = database->connect();
    const auto done = connection->execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
  static std::uint64_t count(const std::string& path, const std::string& sql) {
    auto database = duckdb::Database::open({.path = path, .threads = 1});
    auto connection = database->connect();
    const Result<std::array<std::uint64_t, 1>> counted = counts_of<1>(connection->query(sql));
    if (!counted) throw std::runtime_error(counted.error().message);
    return (*counted)[0];
  }

  // Identical lines, and samples: the facts that are stored differently now.
  static Result<ImportOutcome> import(Store& store) {
    auto session = TRY(store.begin_import({"focus", "bill.csv", {}, Instant()}));
    const Interval march(*parse_instant("2026-03-01"), *parse_instant("2026-04-01"));
    for (int i = 0; i < 500; ++i) {
      Charge line(march, march, Costs::zero(kUsd));
      line.resource_id = "i-" + std::to_string(i % 100);
      line.costs.billed = Money::from_units(i % 200, kUsd);
      TRY(session->append_charges({&line, 1}));
    }
    for (int i = 0; i < 5000; ++i) {
      Usage usage = Table<Usage>::blank();
      usage.cluster = ClusterId("c");
      usage.gpu = GpuId("GPU-1");
      usage.at = march.begin() + std::chrono::seconds(i);
      usage.gpu_util_ppm = i;
      if (i % 2 == 0) usage.memory_used_bytes = 7;
      TRY(session->append_usages({&usage, 1}));
    }
    return session->commit();
  }
  // One posting for each line.
  static void post(Store& store) {
    auto session = store.begin_run({.scope = {ClusterId(""), "2026-03"},
                                    .policy = "p",
                                    .policy_version = {},
                                    .catalog_version = {},
                                    .time_zone = "UTC",
                                    .program_version = "0",
                                    .at = Instant(),
                                    .postings_digest = {}});
    ASSERT_TRUE(session);
    ASSERT_TRUE(store.scan_charges("", [&](std::span<const Charge> charges) {
      for (const Charge& line : charges) {
        Posting posting = Table<Posting>::blank();
        posting.charge = line.id;
        posting.costs = line.costs;
        EXPECT_TRUE((*session)->append_postings({&posting, 1}));
      }
      return true;
    }));
    ASSERT_TRUE((*session)->commit());
  }
  // Two files with the same facts: a current one, and one as version 2 stored them.
  void make_both() {
    {
      const auto store = opened(file("now.duckdb"));
      ASSERT_TRUE(import(*store));
      post(*store);
    }
    std::ifstream sql(TEST_DATA "/store/version-2.sql");
    std::stringstream tables;
    tables << sql.rdbuf();
    ASSERT_NE(tables.str(), "");
    std::string fill =
        tables.str() + "ATTACH " + duckdb::quote_text(file("now.duckdb")) + " AS now (READ_ONLY); ";
    const std::pair<const char*, const char*> kinds[] = {
        {"charges", "* EXCLUDE (booked_month, content, ordinal, takes_back)"},
        {"usages",
         "* EXCLUDE (span_ms, part, tensor_active_ppm, dram_active_ppm, memory_reserved_bytes, "
         "temperature_celsius, sm_clock_mhz, pcie_bytes_per_second, nvlink_bytes_per_second, "
         "energy_used_millijoules, activity_max_ppm, memory_used_max_bytes, power_max_milliwatts, "
         "throttled_ms, xid_errors, last_xid, ecc_errors) REPLACE (uuid() AS content)"},
        {"postings", "*"},
        {"runs", "*"},
        {"imports", "* EXCLUDE (style, reason, removed, reversed, late, outcomes, statement)"}};
    for (const auto& [table, columns] : kinds) {
      fill += std::string("INSERT INTO ") + table + " BY NAME SELECT " + columns + " FROM now." +
              table + "; ";
    }
    run(file("old.duckdb"), fill + "DETACH now");
  }

  std::filesystem::path folder_;
};

TEST_F(UpgradeTest, TheLedgerSaysTheSame) {
  make_both();
  opened(file("old.duckdb")).reset();
  const std::string attach = "ATTACH " + duckdb::quote_text(file("now.duckdb")) + " AS now; ";
  for (const char* table :
       {"charges",        "holdings",         "nodes",           "gpus",       "usages",
        "outages",        "corrections",      "outcomes",        "postings",   "runs",
        "run_dimensions", "imports",          "retired_charges", "closings",   "invoices",
        "rejected_rows",  "work_claims",      "work_done",       "work_plans", "work_plan_scopes",
        "booked_charges", "current_postings", "schema_version"}) {
    auto database = duckdb::Database::open({.path = file("old.duckdb"), .threads = 1});
    auto connection = database->connect();
    ASSERT_TRUE(connection->execute(attach));
    const auto differ = [&](const std::string& one, const std::string& other) {
      const Result<std::array<std::uint64_t, 1>> counted =
          counts_of<1>(connection->query("SELECT count(*)::UBIGINT FROM (SELECT * FROM " + one +
                                         " EXCEPT ALL SELECT * FROM " + other + ")"));
      return counted ? std::to_string((*counted)[0]) : counted.error().message;
    };
    // By position, so that the order of columns is checked as well.
    EXPECT_EQ(differ(table, std::string("now.") + table), "0") << table;
    EXPECT_EQ(differ(std::string("now.") + table, table), "0") << table;
  }
}

TEST_F(UpgradeTest, TheSameFactsComeAgainWithoutHarm) {
  make_both();
  const auto store = opened(file("old.duckdb"));
  const auto outcome = import(*store);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->charges.created, 0U);
  EXPECT_EQ(outcome->charges.existing, 500U);
  EXPECT_EQ(outcome->usages.created, 0U);
  EXPECT_EQ(outcome->usages.existing, 5000U);
  EXPECT_EQ(outcome->rejected, 0U);
  EXPECT_TRUE((*store->reconcile("", false, [](const LineCheck&) { return true; }))[0].exact());
}

// The format of version 4: everything except the work that programs share.
TEST_F(UpgradeTest, ALedgerBeforeWorkersGetsTheirTables) {
  {
    const auto store = opened(file("four.duckdb"));
    ASSERT_TRUE(import(*store));
    post(*store);
  }
  run(file("four.duckdb"),
      "DROP TABLE import_touches; DROP TABLE work_claims; DROP TABLE work_done; "
      "DROP TABLE work_plans; DROP TABLE work_plan_scopes; ALTER TABLE imports DROP COLUMN "
      "statement; "
      "UPDATE schema_version SET version = 4");
  const auto store = opened(file("four.duckdb"));
  const auto work = store->work_records();
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_EQ(work->imports, 1U);
  EXPECT_TRUE(work->claims.empty());
  EXPECT_TRUE(store->invalidated_scopes(0)->empty());
  const auto claim = store->claim_work({.scope = {ClusterId(""), "2026-03"},
                                        .worker = "w",
                                        .at = Instant(),
                                        .lease = std::chrono::seconds(60)});
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ((*claim)->run, 1U);
}

// The format of version 5: imports without statements.
TEST_F(UpgradeTest, ALedgerBeforeStatementsGetsTheirColumn) {
  {
    const auto store = opened(file("five.duckdb"));
    ASSERT_TRUE(import(*store));
  }
  run(file("five.duckdb"),
      "ALTER TABLE imports DROP COLUMN statement; UPDATE schema_version SET version = 5");
  const auto store = opened(file("five.duckdb"));
  EXPECT_EQ(import(*store)->charges.existing, 500U);
  const auto imports = store->imports();
  ASSERT_TRUE(imports) << imports.error().message;
  EXPECT_EQ((*imports)[0].statement, "");
}

TEST_F(UpgradeTest, AllOrNothing) {
  make_both();
  // A line whose id was never assigned.
  run(file("old.duckdb"),
      "UPDATE charges SET charge_id = (left(charge_id::VARCHAR, 24) || '0123456789ab')::UUID WHERE "
      "charge_id = (SELECT max(charge_id) FROM charges WHERE resource_id = 'i-7')");
  const auto refused = open_duckdb_store({.path = file("old.duckdb"), .threads = 1});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("from version 2 to 6"));
  EXPECT_EQ(count(file("old.duckdb"), "SELECT max(version)::UBIGINT FROM schema_version"), 2U);
  EXPECT_EQ(count(file("old.duckdb"),
                  "SELECT count(*)::UBIGINT FROM duckdb_columns() WHERE table_name IN "
                  "('outcomes', 'closings', 'charges_upgraded') OR column_name = 'booked_month'"),
            0U);
}

TEST_F(UpgradeTest, AReaderIsToldHowToUpgrade) {
  make_both();
  const auto refused =
      open_duckdb_store({.path = file("old.duckdb"), .threads = 1, .read_only = true});
  EXPECT_THAT(refused.error().message, HasSubstr("open it once for writing"));
}

}  // namespace
}  // namespace pennyweight
