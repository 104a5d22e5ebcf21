// What only a ledger on ClickHouse promises: how it is created and opened, and that sums that do
// not fit are refused. Runs on the servers that stores.h names; without any, there are no tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/clickhouse/client.h"
#include "ledger/store/clickhouse/clickhouse_store.h"
#include "testing/store_contract/stores.h"

namespace pennyweight {
namespace {

using namespace sample;
using ::testing::HasSubstr;

std::vector<std::string> on_servers() {
  std::vector<std::string> every_store = persistent_stores();
  std::erase(every_store, "duckdb");
  return every_store;
}

class ClickhouseLedger : public ::testing::TestWithParam<std::string> {
 protected:
  // On every server, with a column like that of schema_version.
  void make_tables(const std::vector<std::string>& names) {
    clickhouse::Address servers = ledger_.address();
    servers.database = "system";
    clickhouse::Client client(servers);
    for (std::size_t i = 0; i < servers.endpoints.size(); ++i) {
      clickhouse::Call call;
      call.endpoint = i;
      const std::string& database = ledger_.address().database;
      must(client.execute("CREATE DATABASE IF NOT EXISTS " + database, call));
      for (const std::string& name : names) {
        must(client.execute(
            "CREATE TABLE " + database + "." + name + " (version UInt64) ENGINE = Memory", call));
      }
    }
  }
  // The reason why it cannot be opened.
  std::string refusal(bool read_only) {
    try {
      ledger_.open(read_only);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "it was taken for a ledger";
  }
  ServerLedger ledger_{server_address(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Stores, ClickhouseLedger, ::testing::ValuesIn(on_servers()), store_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ClickhouseLedger);

TEST_P(ClickhouseLedger, SeveralProgramsMayMakeItAtOnce) {
  std::vector<std::unique_ptr<Store>> stores(3);
  std::vector<std::string> errors(stores.size());
  {
    std::vector<std::jthread> programs;
    for (std::size_t i = 0; i < stores.size(); ++i) {
      programs.emplace_back([&, i] {
        try {
          stores[i] = ledger_.open();
        } catch (const std::exception& error) {
          errors[i] = error.what();
        }
      });
    }
  }
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  ASSERT_TRUE(stores[0] && stores[1]);
  import_charges(*stores[0], {charge("i-1", 1)});
  EXPECT_EQ(charges_of(*stores[1]).size(), 1u);
}

TEST_P(ClickhouseLedger, AMissingLedgerIsNotRead) {
  try {
    ledger_.open(true);
    ADD_FAILURE() << "an empty database was opened to be read";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("it is an empty database; import something first"));
  }
}

TEST_P(ClickhouseLedger, AReaderSeesAndDoesNotWrite) {
  import_charges(*ledger_.open(), {charge("i-1", 1)});
  const auto reader = ledger_.open(true);
  EXPECT_EQ(charges_of(*reader).size(), 1u);
  const auto refused = reader->begin_import(source());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the store was opened to be read only");
}

TEST_P(ClickhouseLedger, ADatabaseOfSomethingElseIsRefused) {
  make_tables({"orders"});
  EXPECT_THAT(refusal(false), HasSubstr("it is a ClickHouse database of something else, with a "
                                        "table \"orders\"; name another database"));
  EXPECT_THAT(refusal(true), HasSubstr("of something else"));
}

TEST_P(ClickhouseLedger, AnUnfinishedMoveIsRecognised) {
  make_tables({"moving", "charges", "schema_version"});
  for (const bool read_only : {false, true}) {
    EXPECT_THAT(refusal(read_only), HasSubstr("a `pennyweight move` to it has begun and is not "
                                              "finished"));
    EXPECT_THAT(refusal(read_only), HasSubstr("DROP DATABASE " + ledger_.address().database));
  }
  make_tables({"orders"});
  EXPECT_THAT(refusal(false), HasSubstr("of something else, with a table \"orders\""));
}

// Without its quorum, a ledger of a cluster would lose commits.
TEST_P(ClickhouseLedger, AClusterLedgerIsNotOpenedAsOneServers) {
  import_charges(*ledger_.open(), {charge("i-1", 1)});
  if (ledger_.address().cluster.empty()) return;
  ASSERT_GT(ledger_.address().endpoints.size(), 1u);
  SimulatedClock clock(at("2026-03-04"));
  ClickhouseOptions options{.address = ledger_.address(), .clock = &clock, .seed = 1};
  options.address.cluster.clear();
  ClickhouseOptions elsewhere = options;
  elsewhere.address.database += "_fresh";
  const auto fresh = open_clickhouse_store(elsewhere);
  ASSERT_FALSE(fresh);
  EXPECT_THAT(fresh.error().message, HasSubstr("can't be made at several servers"));
  options.address.endpoints.resize(1);
  for (const bool read_only : {false, true}) {
    options.read_only = read_only;
    const auto store = open_clickhouse_store(options);
    ASSERT_FALSE(store);
    EXPECT_THAT(store.error().message, HasSubstr("a ledger of a cluster: add cluster=NAME"));
  }
}

// ClickHouse adds 128-bit numbers and overflows silently; a wrong sum is worse than none.
TEST_P(ClickhouseLedger, ASumThatDoesNotFitIsRefused) {
  const Money most = Money::from_ticks(Decimal::kTicksMax, kUsd);
  const Costs zero = Costs::zero(kUsd);
  Costs much = zero, taken = zero;
  much.billed = most;
  taken.billed = -most;
  const auto store = ledger_.open();
  const auto other = run("philly", "other");
  keep_run(
      *store, run(),
      {posting({{1, 1}}, "a", much), posting({{1, 2}}, "a", much), posting({{1, 3}}, "a", taken)});
  // The sum fits, although an intermediate sum does not.
  EXPECT_EQ(must(store->summarise({}))[0].costs.billed, most);
  keep_run(*store, other, {posting({{1, 1}}, "a", much), posting({{1, 2}}, "b", much)});
  for (const SummaryQuery& query :
       {SummaryQuery{}, SummaryQuery{.group_by = {"team"}}, SummaryQuery{.group_by = {"node"}}}) {
    const auto sums = store->summarise(query);
    ASSERT_FALSE(sums);
    EXPECT_EQ(sums.error().code, ErrorCode::kLimit);
  }
  EXPECT_EQ(must(store->summarise({.group_by = {"workload"}})).size(), 2u);
}

// The same for times, each of which is checked on its own.
TEST_P(ClickhouseLedger, ASumOfTimesThatDoesNotFitIsRefused) {
  const auto lasting = [](const char* workload, GpuTime gpu, MemoryTime memory, GpuTime observed) {
    Posting made = posting({{1, 1}}, workload, Costs::zero(kUsd));
    made.gpu_time = gpu;
    made.memory_time = memory;
    made.observed_time = observed;
    return made;
  };
  const GpuTime most = GpuTime::of(static_cast<UInt128>(kInt128Max));
  const MemoryTime most_memory = MemoryTime::of(most.count());
  const Posting first = lasting("a", most, most_memory, most);
  const auto store = ledger_.open();
  keep_run(*store, run(), {first});
  EXPECT_EQ(must(store->summarise({}))[0].memory_time, most_memory);
  for (const Posting& more : {lasting("b", most, {}, {}), lasting("b", {}, most_memory, {}),
                              lasting("b", {}, {}, most)}) {
    keep_run(*store, run("philly", "other"), {first, more});
    for (const SummaryQuery& query : {SummaryQuery{}, SummaryQuery{.group_by = {"team"}}}) {
      const auto sums = store->summarise(query);
      ASSERT_FALSE(sums);
      EXPECT_EQ(sums.error().code, ErrorCode::kLimit);
    }
    EXPECT_EQ(must(store->summarise({.group_by = {"workload"}})).size(), 2u);
  }
}

}  // namespace
}  // namespace pennyweight
