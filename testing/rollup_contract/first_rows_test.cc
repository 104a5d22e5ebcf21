// The first rows of an answer equal (==) the first of all rows, in the same order, and the
// remainder equals the sum of all others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "ledger/store/duckdb/duckdb_store.h"
#include "ledger/store_rules.h"
#include "reporting/rollup/answer_cache.h"
#include "testing/memory_store/memory_store.h"
#include "testing/rollup_contract/made_ledger.h"

namespace pennyweight::rollup {
namespace {

using ::testing::Eq;
using ::testing::IsEmpty;
using Rows = std::vector<SummaryRow>;
using Order = PageRequest::Order;

// ---- the slow way: all rows, sorted and cut off

void add(SummaryRow& sum, const SummaryRow& row) {
  sum.costs += row.costs;
  sum.gpu_time += row.gpu_time;
  sum.idle_time += row.idle_time;
}

bool is_owner(const SummaryRow& row) {
  return std::ranges::none_of(row.keys.begin(), row.keys.end() - 1,
                              [](const std::string& key) { return key.empty(); });
}

const Money& cost_of(const SummaryRow& row, Cost cost) {
  switch (cost) {
    case Cost::kEffective:
      return row.costs.effective;
    case Cost::kBilled:
      return row.costs.billed;
    case Cost::kList:
      return row.costs.list;
    case Cost::kContracted:
      return row.costs.contracted;
  }
  return row.costs.effective;
}

// Without the costs that were not asked for.
SummaryRow only_requested(SummaryRow row, const OwnersRequest& asked) {
  const Costs all = row.costs;
  row.costs = Costs::zero(all.currency());
  row.costs.effective = all.effective;
  for (const Cost cost : asked.costs) {
    if (cost == Cost::kBilled) row.costs.billed = all.billed;
    if (cost == Cost::kList) row.costs.list = all.list;
    if (cost == Cost::kContracted) row.costs.contracted = all.contracted;
  }
  row.memory_time = {};
  row.observed_time = {};
  row.postings = 0;
  return row;
}

using OwnerGroup = std::pair<std::optional<std::chrono::sys_days>, Currency>;

OwnerGroup part_of(const SummaryRow& row) { return {row.bucket, row.costs.currency()}; }

TopOwners owners_of(const Rows& all, const OwnersRequest& asked) {
  std::map<std::tuple<OwnerGroup, std::vector<std::string>>, SummaryRow> merged;
  for (SummaryRow row : all) {
    if (is_owner(row)) row.keys.back() = "";
    const auto [at, is_new] = merged.try_emplace({part_of(row), row.keys}, row);
    if (!is_new) add(at->second, row);
  }
  std::map<OwnerGroup, Rows> owners;
  TopOwners found;
  for (const auto& [key, row] : merged) {
    if (row.keys.back().empty() && is_owner(row)) {
      owners[part_of(row)].push_back(row);
    } else {
      found.rows.push_back(only_requested(row, asked));
    }
  }
  for (auto& [part, rows] : owners) {
    if (!asked.by_key) {
      std::ranges::stable_sort(rows, std::ranges::greater(), [&](const SummaryRow& row) {
        return cost_of(row, asked.costs.front()).ticks();
      });
    }
    std::optional<SummaryRow> others;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i < asked.count) {
        found.rows.push_back(only_requested(rows[i], asked));
      } else if (others) {
        add(*others, rows[i]);
      } else {
        others = rows[i];
      }
    }
    if (!others) continue;
    others->keys.clear();
    found.others.push_back({only_requested(*others, asked), rows.size() - asked.count});
  }
  std::ranges::sort(found.rows,
                    [](const SummaryRow& a, const SummaryRow& b) { return comes_before(a, b); });
  return found;
}

Rows list_of(Rows all, const PageRequest& asked) {
  std::erase_if(all, [&](const SummaryRow& row) { return !row.keys[0].starts_with(asked.prefix); });
  std::ranges::stable_sort(all, std::ranges::greater(), [&](const SummaryRow& row) {
    return asked.order == Order::kEffective ? row.costs.effective.ticks()
           : asked.order == Order::kGpuTime ? static_cast<Int128>(row.gpu_time.count())
                                            : Int128{0};
  });
  if (asked.order == Order::kKey) return all;
  for (SummaryRow& row : all) {
    const Money effective = row.costs.effective;
    row.costs = Costs::zero(effective.currency());
    row.costs.effective = effective;
    if (asked.order != Order::kGpuTime) row.gpu_time = {};
    row.idle_time = {};
    row.memory_time = {};
    row.observed_time = {};
    row.postings = 0;
  }
  return all;
}

// ---- the rollup, compared to it

void expect_owners(Rollup& rollup, Store& store, const SummaryQuery& query,
                   const OwnersRequest& asked) {
  const auto found = must(rollup.owners(query, asked));
  ASSERT_TRUE(found.has_value());
  const Rows all = must(store.summarise(query));
  const TopOwners expected = owners_of(all, asked);
  EXPECT_EQ(found->rows, expected.rows) << fingerprint(query, asked);
  ASSERT_EQ(found->others.size(), expected.others.size()) << fingerprint(query, asked);
  for (std::size_t i = 0; i < expected.others.size(); ++i) {
    EXPECT_EQ(found->others[i].sum, expected.others[i].sum) << fingerprint(query, asked);
    EXPECT_EQ(found->others[i].count, expected.others[i].count) << fingerprint(query, asked);
  }
  std::map<Currency, Costs> shown, whole;
  const auto add_to = [&](std::map<Currency, Costs>& sums, const SummaryRow& row) {
    const auto currency = row.costs.currency();
    sums.try_emplace(currency, Costs::zero(currency)).first->second +=
        only_requested(row, asked).costs;
  };
  for (const SummaryRow& row : all) add_to(whole, row);
  for (const SummaryRow& row : found->rows) add_to(shown, row);
  for (const TopOwners::Remainder& others : found->others) add_to(shown, others.sum);
  EXPECT_EQ(shown, whole) << fingerprint(query, asked);
}

// Page after page, until there is no more.
void expect_pages(Rollup& rollup, Store& store, const SummaryQuery& query, PageRequest asked) {
  const Rows expected = list_of(must(store.summarise(query)), asked);
  Rows found;
  while (true) {
    const auto page = must(rollup.page(query, asked));
    ASSERT_TRUE(page.has_value());
    ASSERT_FALSE(page->is_lost);
    EXPECT_EQ(page->all, expected.size()) << fingerprint(query, asked);
    ASSERT_LE(page->rows.size(), asked.count);
    found.insert(found.end(), page->rows.begin(), page->rows.end());
    EXPECT_EQ(page->has_more, found.size() < expected.size()) << fingerprint(query, asked);
    ASSERT_LE(found.size(), expected.size()) << fingerprint(query, asked);
    if (!page->has_more) break;
    ASSERT_EQ(page->rows.size(), asked.count);
    asked.after = {found.back().keys, found.back().costs.currency()};
  }
  EXPECT_EQ(found, expected) << fingerprint(query, asked);
}

class FirstRows : public ::testing::TestWithParam<int> {};

// --gtest_filter='Seeds/FirstRows.AreTheFirstOfAllRows/7' replays one.
TEST_P(FirstRows, AreTheFirstOfAllRows) {
  Made made(static_cast<std::uint64_t>(GetParam()));
  const Folder folder;
  const auto store =
      GetParam() % 3 == 0
          ? must(open_duckdb_store({.path = folder.file("ledger.duckdb"), .threads = 1}))
          : make_memory_store();
  for (int i = 0; i < 3; ++i) made.add_bill(*store);
  for (int i = 0; i < 6; ++i) made.add_run(*store);
  const auto rollup = open(folder.file("rollup.duckdb"));
  must(rollup->refresh(*store));
  for (int i = 0; i < 60; ++i) {
    SummaryQuery query = made.query();
    OwnersRequest owners{.costs = {static_cast<Cost>(made.below(4))},
                         .by_key = made.below(4) == 0,
                         .count = static_cast<std::uint64_t>(1 + made.below(6))};
    if (made.below(3) == 0) owners.costs.push_back(static_cast<Cost>(made.below(4)));
    query.group_by.emplace_back("kind");
    expect_owners(*rollup, *store, query, owners);
    expect_owners(*rollup, *store, query, owners);  // from memory

    query.bucket = TimeBucket::kNone;
    if (made.below(2) == 0) query.group_by = {"cluster", "workload"};
    expect_pages(*rollup, *store, query,
                 {.order = static_cast<Order>(made.below(3)),
                  .prefix = made.below(3) == 0 ? made.pick({"a", "", "tr", "n", "u"}) : "",
                  .count = static_cast<std::uint64_t>(1 + made.below(5))});
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, FirstRows, ::testing::Range(0, kSeeds));

class FirstRowsOfOne : public ::testing::Test {
 protected:
  FirstRowsOfOne() {
    Made made(5);
    made.add_bill(*store_);
    for (int i = 0; i < 6; ++i) made.add_run(*store_);
    must(rollup_->refresh(*store_));
  }
  const Folder folder_;
  const std::unique_ptr<Store> store_ = make_memory_store();
  const std::unique_ptr<Rollup> rollup_ = open(folder_.file("rollup.duckdb"));
};

TEST_F(FirstRowsOfOne, APlaceThatIsNotInTheListIsLost) {
  const SummaryQuery query{.group_by = {"cluster", "workload"}};
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"philly", "nobody"}, {"nowhere", "a"}, {"a"}, {"a", "a"}}) {
    const auto page =
        must(rollup_->page(query, {.after = PageRequest::Cursor{keys, kUsd}, .count = 3}));
    EXPECT_TRUE(page->is_lost) << keys[0];
    EXPECT_THAT(page->rows, IsEmpty());
  }
}

TEST_F(FirstRowsOfOne, AllOrNone) {
  const SummaryQuery query{.bucket = TimeBucket::kDay, .group_by = {"workload", "kind"}};
  const Rows all = must(store_->summarise(query));
  PageRequest asked{.order = Order::kKey, .count = all.size(), .all_or_none = true};
  EXPECT_EQ(must(rollup_->page(query, asked))->rows, all);
  --asked.count;
  const auto none = must(rollup_->page(query, asked));
  EXPECT_THAT(none->rows, IsEmpty());
  EXPECT_EQ(none->all, all.size());
  EXPECT_TRUE(none->has_more);
}

TEST_F(FirstRowsOfOne, QueriesBeyondTheRollupGoToTheLedger) {
  EXPECT_EQ(must(rollup_->page({.group_by = {"charge"}}, {.count = 1})).has_value(), false);
  EXPECT_EQ(must(rollup_->owners({.group_by = {"charge", "kind"}}, {.count = 1})).has_value(),
            false);
  EXPECT_EQ(
      must(rollup_->owners({.group_by = {"kind"}, .as_of = Instant()}, {.count = 1})).has_value(),
      false);
}

}  // namespace
}  // namespace pennyweight::rollup
