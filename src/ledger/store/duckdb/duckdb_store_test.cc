// What is specific to a ledger in a file: how it is opened, refused, read by others, and filled.
#include "ledger/store/duckdb/duckdb_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"

namespace pennyweight {
namespace {

using ::testing::HasSubstr;

class DuckdbStoreTest : public ::testing::Test {
 protected:
  DuckdbStoreTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("pennyweight_duckdb_store_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~DuckdbStoreTest() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name = "ledger.duckdb") const {
    return (folder_ / name).string();
  }

  static Result<std::unique_ptr<Store>> open(const std::string& path, bool read_only = false) {
    return open_duckdb_store({.path = path, .threads = 1, .read_only = read_only});
  }
  // As open(), for files that must open.
  static std::unique_ptr<Store> opened(const std::string& path, bool read_only = false) {
    Result<std::unique_ptr<Store>> store = open(path, read_only);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  // Accesses the file without the store, as another program would.
  static void tamper(const std::string& path, const std::string& sql) {
    Result<duckdb::Database> database = duckdb::Database::open({.path = path, .threads = 1});
    ASSERT_TRUE(database.has_value()) << database.error().message;
    Result<duckdb::Connection> connection = database->connect();
    const Result<void> done = connection->execute(sql);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }

  static Charge charge(int number) {
    const Interval march(*parse_instant("2026-03-01"), *parse_instant("2026-04-01"));
    Charge made(march, march, Costs::zero(kUsd));
    made.costs.billed = Money::from_units(number, kUsd);
    made.resource_id = "i-" + std::to_string(number);
    made.charge_description = "a description that is too long to lie in the vector itself";
    return made;
  }
  static Result<ImportOutcome> import(Store& store, int count) {
    auto session = TRY(store.begin_import({"focus", "bill.csv", {}, Instant()}));
    for (int i = 0; i < count; ++i) {
      const Charge line = charge(i);
      TRY(session->append_charges({&line, 1}));
    }
    return session->commit();
  }
  // One posting for each charge, for its full cost.
  static void post(Store& store) {
    const pennyweight::Run run = {.scope = {ClusterId(""), "2026-03"},
                                  .policy = "p",
                                  .policy_version = {},
                                  .catalog_version = {},
                                  .time_zone = "UTC",
                                  .program_version = "0",
                                  .at = Instant(),
                                  .postings_digest = {}};
    auto session = store.begin_run(run);
    ASSERT_TRUE(session.has_value());
    ASSERT_TRUE(store.scan_charges("", [&](std::span<const Charge> charges) {
      for (const Charge& line : charges) {
        Posting posting = Table<Posting>::blank();
        posting.charge = line.id;
        posting.costs = line.costs;
        EXPECT_TRUE((*session)->append_postings({&posting, 1}).has_value());
      }
      return true;
    }));
    ASSERT_TRUE((*session)->commit().has_value());
  }

  std::filesystem::path folder_;
};

TEST_F(DuckdbStoreTest, CommittedFactsSurviveReopening) {
  {
    const auto store = opened(file());
    ASSERT_TRUE(import(*store, 100).has_value());
    post(*store);
  }
  const auto store = opened(file(), true);
  EXPECT_EQ(store->overview()->charges, 100u);
  EXPECT_EQ(store->overview()->postings, 100u);
  const auto totals = store->reconcile("", true, [](const LineCheck&) { return true; });
  EXPECT_EQ((*totals)[0].lines_off, 0u);
}

TEST_F(DuckdbStoreTest, ACorruptedPostingIsFound) {
  {
    const auto store = opened(file());
    ASSERT_TRUE(import(*store, 100).has_value());
    post(*store);
  }
  tamper(file(),
         "UPDATE postings SET list_cost = list_cost + 0.000000000000000001 "
         "WHERE charge_id = (SELECT charge_id FROM charges WHERE resource_id = 'i-42')");
  const auto store = opened(file());
  std::string off;
  const auto totals = store->reconcile("2026-03", true, [&](const LineCheck& line) {
    off += line.charge.resource_id;
    return true;
  });
  EXPECT_EQ(off, "i-42");
  EXPECT_EQ((*totals)[0].lines_off, 1u);
  EXPECT_EQ((*totals)[0].lines_unposted, 0u);
}

TEST_F(DuckdbStoreTest, WhatCannotBeReadIsAnErrorNotACrash) {
  {
    const auto store = opened(file());
    ASSERT_TRUE(import(*store, 1).has_value());
  }
  tamper(file(), "UPDATE charges SET charge_category = 'Nonsense'");
  const auto store = opened(file());
  const Result<void> scanned =
      store->scan_charges("", [](std::span<const Charge>) { return true; });
  ASSERT_FALSE(scanned.has_value());
  EXPECT_THAT(scanned.error().message, HasSubstr("charge_category"));
}

TEST_F(DuckdbStoreTest, AnAnalystCanReadIt) {
  {
    const auto store = opened(file());
    ASSERT_TRUE(import(*store, 10).has_value());
    post(*store);
  }
  tamper(file(),
         "CREATE TEMP TABLE answer AS SELECT sum(p.billed_cost) AS total FROM current_postings p "
         "JOIN charges c USING (charge_id) WHERE c.billing_month = '2026-03'; "
         "SELECT CASE WHEN total = 45 THEN 1 ELSE error('it is ' || total) END FROM answer");
}

TEST_F(DuckdbStoreTest, RefusesFilesThatAreNotItsOwn) {
  std::ofstream(file("text.csv")) << std::string(20'000, 'x');
  std::ofstream(file("short.csv")) << "a,b\n";
  tamper(file("other.duckdb"), "CREATE TABLE mine (a BIGINT)");
  opened(file("newer.duckdb")).reset();
  tamper(file("newer.duckdb"), "UPDATE schema_version SET version = 99");
  const struct {
    std::string path;
    bool read_only;
    ErrorCode code;
    const char* words;
  } cases[] = {
      {file("text.csv"), false, ErrorCode::kBadFile, "not a DuckDB database"},
      {file("short.csv"), false, ErrorCode::kBadFile, "cannot open the store"},
      {":memory:", false, ErrorCode::kConfig, "does not accept this"},
      {folder_.string(), false, ErrorCode::kBadFile, "it is a directory"},
      {file("no/such/ledger.duckdb"), false, ErrorCode::kNotFound, "does not exist"},
      {file("absent.duckdb"), true, ErrorCode::kNotFound, "there is no such file"},
      {file("other.duckdb"), false, ErrorCode::kBadFile, "of something else"},
      {file("newer.duckdb"), false, ErrorCode::kStore, "have version 99"},
      {"", false, ErrorCode::kConfig, "no path"},
  };
  for (const auto& c : cases) {
    const auto store = open(c.path, c.read_only);
    ASSERT_FALSE(store.has_value()) << c.path;
    EXPECT_EQ(store.error().code, c.code) << store.error().message;
    EXPECT_THAT(store.error().message, HasSubstr(c.words));
  }
}

TEST_F(DuckdbStoreTest, ReadOnlyIsOnlyRead) {
  opened(file()).reset();
  const auto store = opened(file(), true);
  EXPECT_THAT(import(*store, 1).error().message, HasSubstr("read only"));
  EXPECT_FALSE(store
                   ->begin_run({.scope = {ClusterId(""), ""},
                                .policy = {},
                                .policy_version = {},
                                .catalog_version = {},
                                .time_zone = {},
                                .program_version = {},
                                .at = {},
                                .postings_digest = {}})
                   .has_value());
}

// In a separate process, before this one has an engine and its threads.
int in_child(const auto& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(DuckdbStoreTest, SaysThatAnotherProcessHasTheFile) {
  const auto store = opened(file());
  EXPECT_EQ(in_child([&] {
              const auto second = open(file());
              if (second) return 1;
              return second.error().message.find("another process has the file open") ==
                             std::string::npos
                         ? 2
                         : 0;
            }),
            0);
}

// A full disk, simulated by the limit on the size of files.
TEST_F(DuckdbStoreTest, AFullDiskLeavesTheLedgerAsItWas) {
  {
    const auto store = opened(file());
    ASSERT_TRUE(import(*store, 10).has_value());
  }
  EXPECT_EQ(in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              const auto store = open(file());
              if (!store) return 0;  // refused when opening
              return import(**store, 100'000).has_value() ? 1 : 0;
            }),
            0);
  const auto store = opened(file());
  EXPECT_EQ(store->overview()->charges, 10u);
  EXPECT_EQ(store->overview()->imports, 1u);
  EXPECT_EQ(import(*store, 20)->charges.created, 10u);
}

TEST_F(DuckdbStoreTest, NumbersBeyondTheColumnsAreRefused) {
  const auto store = opened(file());
  Charge line = charge(1);
  line.costs.billed = Money::from_ticks(Decimal::kTicksMax + 1, kUsd);
  const auto session = store->begin_import({"focus", "bill.csv", {}, Instant()});
  const Result<void> appended = (*session)->append_charges({&line, 1});
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code, ErrorCode::kLimit);
  line = charge(1);
  line.resource_id = "\xff";
  EXPECT_EQ((*session)->append_charges({&line, 1}).error().code, ErrorCode::kBadValue);
}

// Every table with its columns, their types and their order, is part of the format: an older
// program reads what a newer one wrote under the same version. If this fingerprint changes,
// raise kSchemaVersion and write an upgrade.
TEST_F(DuckdbStoreTest, TheTablesAreThoseOfVersion6) {
  opened(file()).reset();
  Result<duckdb::Database> database = duckdb::Database::open({.path = file(), .threads = 1});
  ASSERT_TRUE(database) << database.error().message;
  Result<duckdb::Connection> connection = database->connect();
  ASSERT_TRUE(connection);
  std::string tables;
  const auto read = each_chunk(
      connection->query("SELECT concat_ws(' ', table_name, column_name, data_type) FROM "
                        "duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index"),
      [&](const duckdb::Rows& chunk) -> Result<bool> {
        for (std::uint64_t row = 0; row < chunk.size(); ++row) {
          tables += std::string(chunk.column(0).text(row)) + "\n";
        }
        return true;
      });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(hash_of(tables)), "0484b5390b44766fd5de1548770414b0") << tables;
}

}  // namespace
}  // namespace pennyweight
