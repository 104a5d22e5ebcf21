// Every answer of the rollup equals that of the ledger (==).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "ledger/store/duckdb/duckdb_store.h"
#include "ledger/store_rules.h"
#include "reporting/rollup/answer_cache.h"
#include "testing/memory_store/memory_store.h"
#include "testing/rollup_contract/made_ledger.h"

namespace pennyweight::rollup {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::Gt;
using ::testing::IsEmpty;

void expect_same(Rollup& rollup, Store& store, const SummaryQuery& query) {
  const auto answer = must(rollup.summarise(query));
  ASSERT_TRUE(answer.has_value()) << fingerprint(query);
  EXPECT_EQ(*answer, must(store.summarise(query))) << fingerprint(query);
}

// Each dimension alone, by each bucket.
void expect_same_by_each(Rollup& rollup, Store& store) {
  std::vector<std::string> all(std::begin(kBuiltInDimensions), std::end(kBuiltInDimensions));
  all.insert(all.end(), {"team", "user", "project", "nonsense"});
  for (const std::string& dimension : all) {
    if (!is_in_rollup(dimension)) continue;
    for (const TimeBucket bucket : {TimeBucket::kNone, TimeBucket::kDay, TimeBucket::kMonth}) {
      expect_same(rollup, store, {.bucket = bucket, .group_by = {dimension}});
    }
  }
}

class Agreement : public ::testing::TestWithParam<int> {};

// --gtest_filter='Seeds/Agreement.WithTheLedger/7' replays one.
TEST_P(Agreement, WithTheLedger) {
  Made made(static_cast<std::uint64_t>(GetParam()));
  const Folder folder;
  const auto store =
      GetParam() % 3 == 0
          ? must(open_duckdb_store({.path = folder.file("ledger.duckdb"), .threads = 1}))
          : make_memory_store();
  auto rollup = open(folder.file("rollup.duckdb"));
  EXPECT_EQ(must(rollup->summarise({})), std::nullopt) << "before the ledger was copied";
  EXPECT_EQ(rollup->version(), std::nullopt) << "what the ledger says may change unseen";
  std::optional<std::uint64_t> version;
  for (int step = 0; step < 5; ++step) {
    if (step < 3) made.add_bill(*store);
    for (int i = made.below(3); i >= 0; --i) made.add_run(*store);
    if (made.below(3) == 0) {
      rollup.reset();
      rollup = open(folder.file("rollup.duckdb"));
      EXPECT_EQ(rollup->version(), version);
    }
    if (must(rollup->refresh(*store))) {
      EXPECT_THAT(rollup->version(), Gt(version));
    }
    version = rollup->version();
    EXPECT_FALSE(must(rollup->refresh(*store))) << "nothing has changed since";
    EXPECT_EQ(rollup->version(), version);
    for (int i = 0; i < 40; ++i) expect_same(*rollup, *store, made.query());
  }
  expect_same_by_each(*rollup, *store);
}
INSTANTIATE_TEST_SUITE_P(Seeds, Agreement, ::testing::Range(0, kSeeds));

TEST(RollupTest, QueriesBeyondTheRollupGoToTheLedger) {
  const Folder folder;
  const auto store = make_memory_store();
  const auto rollup = open(folder.file("rollup.duckdb"));
  EXPECT_TRUE(must(rollup->refresh(*store)));
  EXPECT_EQ(must(rollup->summarise({})), std::vector<SummaryRow>());
  EXPECT_EQ(must(rollup->summarise({.group_by = {"charge"}})), std::nullopt);
  EXPECT_EQ(must(rollup->summarise({.filters = {{"charge", {"1"}, true}}})), std::nullopt);
  EXPECT_EQ(must(rollup->summarise({.group_by = {"charge_class"}})), std::nullopt);
  EXPECT_EQ(must(rollup->summarise({.group_by = {"tag:team"}})), std::nullopt);
  EXPECT_EQ(must(rollup->summarise({.filters = {{"tag:team", {"1"}, true}}})), std::nullopt);
  EXPECT_EQ(must(rollup->summarise({.as_of = Instant()})), std::nullopt);
}

TEST(RollupTest, ValuesAreTheCostliestFirst) {
  const Folder folder;
  const auto store = make_memory_store();
  Made made(5);
  made.add_bill(*store);
  for (int i = 0; i < 6; ++i) made.add_run(*store);
  const auto rollup = open(folder.file("rollup.duckdb"));
  must(rollup->refresh(*store));
  auto rows = must(store->summarise({.group_by = {"node"}}));
  std::erase_if(rows, [](const SummaryRow& row) { return !row.keys[0].starts_with("n"); });
  std::ranges::sort(rows, [](const SummaryRow& a, const SummaryRow& b) {
    return a.costs.effective.ticks() > b.costs.effective.ticks();
  });
  ASSERT_THAT(rows.size(), Gt(2u));
  const auto values = must(rollup->values_of({.bucket = TimeBucket::kDay}, "node", "n", 2));
  ASSERT_EQ(values.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(values[i].value, rows[i].keys[0]);
    EXPECT_EQ(values[i].effective, rows[i].costs.effective);
  }
  EXPECT_THAT(must(rollup->values_of({}, "node", "nobody", 9)), IsEmpty());
}

TEST(RollupTest, ARestoredLedgerTakesThePlaceOfAnother) {
  const Folder folder;
  Made made(11);
  const auto first = make_memory_store(), second = make_memory_store();
  for (int i = 0; i < 8; ++i) made.add_run(*first);
  for (int i = 0; i < 3; ++i) made.add_run(*second);
  const auto rollup = open(folder.file("rollup.duckdb"));
  for (Store* store : {first.get(), second.get(), first.get()}) {
    EXPECT_TRUE(must(rollup->refresh(*store)));
    expect_same_by_each(*rollup, *store);
  }
}

TEST(RollupTest, ADamagedFileIsBegunAnew) {
  const Folder folder;
  const std::string path = folder.file("rollup.duckdb");
  const auto store = make_memory_store();
  Made made(3);
  for (int i = 0; i < 5; ++i) made.add_run(*store);
  std::optional<std::uint64_t> version;
  {
    const auto rollup = open(path);
    must(rollup->refresh(*store));
    version = rollup->version();
  }
  {
    std::ofstream(path) << "this is no database, and long enough to be taken for something";
    const auto rollup = open(path);
    EXPECT_EQ(must(rollup->summarise({})), std::nullopt);
    EXPECT_EQ(rollup->version(), std::nullopt);
    EXPECT_TRUE(must(rollup->refresh(*store)));
    EXPECT_THAT(rollup->version(), Gt(version));
    expect_same_by_each(*rollup, *store);
  }
  // Bytes in the middle, as a bad disk leaves them. They are found when they are read; then the
  // ledger answers, and the next refresh starts from scratch.
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t at = 4096 * 4; at < size; at += size / 7) {
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(at));
      file << "damaged damaged damaged damaged";
    }
    const auto rollup = open(path);
    must(rollup->refresh(*store));
    for (int i = 0; i < 30; ++i) {
      const SummaryQuery query = made.query();
      const auto answer = must(rollup->summarise(query));
      if (!answer) {  // the ledger answers until the next refresh
        EXPECT_EQ(rollup->version(), std::nullopt);
        break;
      }
      EXPECT_EQ(*answer, must(store->summarise(query)));
    }
    for (int i = 0; i < 3; ++i) must(rollup->refresh(*store));
  }
}

TEST(RollupTest, AForeignDatabaseIsSetAside) {
  const Folder folder;
  const std::string path = folder.file("ledger.duckdb");
  const auto store = make_memory_store();
  must(open_duckdb_store({.path = path}));
  const auto rollup = open(path);
  EXPECT_TRUE(std::filesystem::exists(path + ".set-aside"));
  EXPECT_TRUE(must(open_duckdb_store({.path = path + ".set-aside"}))->overview().has_value());
  EXPECT_TRUE(must(rollup->refresh(*store)));
}

// A query while a scope changes gives either the state before or the state after.
TEST(RollupTest, AChangeIsSeenWholeOrNotAtAll) {
  const Folder folder;
  const auto rollup = open(folder.file("rollup.duckdb"));
  Made made(21);
  const auto first = make_memory_store(), second = make_memory_store();
  for (int i = 0; i < 2; ++i) made.add_run(*first);
  for (int i = 0; i < 8; ++i) made.add_run(*second);
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0, asked = 0;
  const SummaryQuery query = {.group_by = {"cluster", "month"},
                              .filters = {{"cluster", {"philly"}}, {"month", {"2026-02"}}}};
  must(rollup->refresh(*first));
  const auto a = must(first->summarise(query)), b = must(second->summarise(query));
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] {
      SummaryQuery mine = query;
      mine.filters.push_back({"nonsense", {std::to_string(i)}, true});  // not one and the same
      while (!stop) {
        const auto answer = must(rollup->summarise(mine));
        if (!answer || (*answer != a && *answer != b && !answer->empty())) ++wrong;
        ++asked;
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    must(rollup->refresh(*second));
    must(rollup->refresh(*first));
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(asked.load(), Gt(10));
}

// A process that is killed during a refresh leaves only complete scopes.
TEST(RollupTest, SurvivesBeingKilled) {
  const Folder folder;
  const std::string path = folder.file("rollup.duckdb");
  for (const int milliseconds : {40, 90, 150, 250}) {
    const ::pid_t child = ::fork();
    if (child == 0) {
      try {
        const auto store = make_memory_store();
        Made made(static_cast<std::uint64_t>(milliseconds));
        for (int i = 0; i < 40; ++i) made.add_run(*store);
        const auto rollup = open(path);
        must(rollup->refresh(*store));
      } catch (...) {
        ::_exit(1);
      }
      ::pause();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  const auto store = make_memory_store();
  Made made(77);
  for (int i = 0; i < 12; ++i) made.add_run(*store);
  const auto rollup = open(path);
  must(rollup->refresh(*store));
  expect_same_by_each(*rollup, *store);
}

}  // namespace
}  // namespace pennyweight::rollup
