#include "ledger/store/clickhouse/log/entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace pennyweight::commit_log {
namespace {

using testing::ElementsAre;
using testing::Pair;

Entries some(std::uint64_t count) {
  Entries entries;
  for (std::uint64_t i = 1; i <= count; ++i) {
    entries.add(1 + i / 2, 10 * i, i % 100 == 0 ? "closing" : "import");
  }
  return entries;
}

TEST(Entries, AreGivenAsTheyWereAdded) {
  Entries none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.count("import"), 0u);
  EXPECT_EQ(none.find(10), 0u);
  EXPECT_EQ(none.begin(), none.end());

  const Entries entries = some(2'500);
  EXPECT_EQ(entries.size(), 2'500u);
  for (const std::uint64_t index :
       std::vector<std::uint64_t>{0, 98, 99, 1'023, 1'024, 2'047, 2'048, 2'499}) {
    EXPECT_EQ(entries[index], (Entry{index + 1, 1 + (index + 1) / 2, 10 * (index + 1),
                                     index % 100 == 99 ? "closing" : "import"}));
  }
  EXPECT_EQ(entries.back().position, 2'500u);
  EXPECT_EQ(entries.count("closing"), 25u);
  EXPECT_EQ(entries.count("import"), 2'475u);
  EXPECT_EQ(entries.count("run"), 0u);
  EXPECT_EQ(entries.find(20'480), 2'047u);
  EXPECT_EQ(entries.find(25'000), 2'499u);
  EXPECT_EQ(entries.find(5), 2'500u) << "nobody's";
  EXPECT_EQ(std::ranges::count(entries, "closing", &Entry::what), 25);
}

TEST(Entries, OfOneKindAreVisitedInTheirOrder) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  const auto visit = [&](std::uint64_t position, std::uint64_t session) {
    seen.emplace_back(position, session);
  };
  some(299).each("closing", visit);
  EXPECT_THAT(seen, ElementsAre(Pair(100, 1'000), Pair(200, 2'000)));
  seen.clear();
  some(299).each("closing", visit, 100);
  EXPECT_THAT(seen, ElementsAre(Pair(200, 2'000)));
  seen.clear();
  some(299).each("run", visit);
  EXPECT_THAT(seen, ElementsAre());
}

TEST(Entries, ACopyGoesItsOwnWay) {
  for (const std::uint64_t count : std::vector<std::uint64_t>{0, 1, 1'023, 1'024, 1'500}) {
    Entries first = some(count);
    Entries second = first;
    for (int i = 0; i < 1'100; ++i) {
      first.add(900, 1, "import");
      second.add(900, 2, "run");
    }
    EXPECT_EQ(first.size(), count + 1'100);
    EXPECT_EQ(first.find(1), count);
    EXPECT_EQ(first.find(2), first.size());
    EXPECT_EQ(first.count("run"), 0u);
    EXPECT_EQ(second.find(2), count);
    EXPECT_EQ(second.find(1), second.size());
    EXPECT_EQ(second.count("run"), 1'100u);
    EXPECT_EQ(second.count("closing"), count / 100);
  }
}

}  // namespace
}  // namespace pennyweight::commit_log
