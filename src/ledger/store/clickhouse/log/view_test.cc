#include "ledger/store/clickhouse/log/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace pennyweight::commit_log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LogRow claim(std::uint64_t turn, std::uint64_t writer) {
  return LogRow{.kind = RowKind::kClaim, .turn = turn, .writer = writer};
}
LogRow open(std::uint64_t turn, std::uint64_t base, std::uint64_t base_turn) {
  return LogRow{.kind = RowKind::kOpen,
                .turn = turn,
                .writer = turn,
                .position = base,
                .prefix = std::to_string(base_turn)};
}
LogRow entry(std::uint64_t turn, std::uint64_t position, std::uint64_t session) {
  return LogRow{.kind = RowKind::kEntry,
                .turn = turn,
                .writer = turn,
                .position = position,
                .session = session,
                .what = "import"};
}
LogRow sealed(std::uint64_t turn, std::uint64_t position, std::uint64_t session) {
  LogRow row = entry(turn, position, session);
  row.kind = RowKind::kSealed;
  return row;
}

std::vector<std::uint64_t> sessions(const Result<View>& view) {
  std::vector<std::uint64_t> found;
  for (const Entry& entry : view.value().entries) found.push_back(entry.session);
  return found;
}

TEST(View, NothingCountsInAnEmptyLog) {
  EXPECT_THAT(sessions(view_of({})), IsEmpty());
  const LogTail standing = find_log_tail({}, {});
  EXPECT_EQ(standing.highest_turn, 0u);
  EXPECT_EQ(standing.open, nullptr);
  EXPECT_FALSE(standing.torn);
}

TEST(View, OnlyWhatIsSealedCountsInTheOrderOfPositions) {
  const std::vector<LogRow> rows = {sealed(2, 2, 12), claim(1, 1),      open(1, 0, 0),
                                    entry(1, 1, 11),  sealed(1, 1, 11), entry(2, 3, 13),
                                    open(2, 1, 1),    entry(2, 2, 12),  sealed(2, 2, 12)};
  EXPECT_THAT(sessions(view_of(rows)), ElementsAre(11, 12));
  EXPECT_EQ(view_of(rows)->entries[1], (Entry{2, 2, 12, "import"}));
}

TEST(View, AnEntryWhosePositionIsAnothersDoesNotCountUntilItIsCommittedAgain) {
  std::vector<LogRow> rows = {open(1, 0, 0), entry(1, 1, 11), open(2, 0, 0), entry(2, 1, 21),
                              sealed(2, 1, 21)};
  View view = view_of(rows).value();
  EXPECT_THAT(sessions(view), ElementsAre(21));
  rows = {open(2, 0, 0), entry(2, 2, 11), sealed(2, 2, 11)};
  ASSERT_TRUE(extend(view, rows));
  EXPECT_THAT(sessions(view), ElementsAre(21, 11));
  // Reading everything again gives the same.
  rows.insert(rows.end(), {entry(1, 1, 11), entry(2, 1, 21), sealed(2, 1, 21)});
  EXPECT_THAT(sessions(view_of(rows)), ElementsAre(21, 11));
}

TEST(View, RowsThatNoWriterWroteAreAnError) {
  const auto words = [](const std::vector<LogRow>& rows) {
    const Result<View> view = view_of(rows);
    return view ? "taken" : view.error().message;
  };
  EXPECT_THAT(words({sealed(1, 1, 11), sealed(1, 1, 12)}), HasSubstr("contradicts itself"));
  EXPECT_THAT(words({sealed(1, 1, 11), sealed(2, 1, 11)}), HasSubstr("at position 1"));
  EXPECT_THAT(words({sealed(2, 1, 11), sealed(1, 2, 12)}), HasSubstr("at position 2"));
  EXPECT_THAT(words({sealed(1, 0, 11)}), HasSubstr("contradicts itself"));
  EXPECT_THAT(words({sealed(0, 1, 11)}), HasSubstr("contradicts itself"));
  EXPECT_THAT(words({sealed(1, 1, 11), sealed(1, 3, 13), claim(1, 1)}),
              HasSubstr("lacks position 2"));
  EXPECT_THAT(words({sealed(1, ~std::uint64_t{0}, 11)}), HasSubstr("are missing"));

  View view = view_of({sealed(1, 1, 11)}).value();
  EXPECT_FALSE(extend(view, {sealed(1, 1, 12)}));
  EXPECT_FALSE(extend(view, {sealed(1, 2, 12), sealed(1, 2, 13)}));
  EXPECT_FALSE(extend(view, {sealed(1, 2, 12), sealed(1, 4, 14), claim(1, 1)}));
  EXPECT_EQ(view.entries.size(), 1u);
}

TEST(LogTail, TheHighestOpenTurnTellsWhereTheLogGoesOn) {
  View view = view_of({sealed(1, 1, 11)}).value();
  // Turn 1 wrote position 2, which nobody has sealed; turn 2 continued from it, turn 3 claims.
  std::vector<LogRow> rows = {open(1, 0, 0), entry(1, 1, 11), sealed(1, 1, 11), entry(1, 2, 12)};
  LogTail at = find_log_tail(rows, view);
  EXPECT_FALSE(at.torn);
  EXPECT_EQ(at.open, &rows[0]);
  EXPECT_EQ(at.unsealed, &rows[3]);

  rows.insert(rows.end(), {open(2, 2, 1), claim(3, 3)});
  at = find_log_tail(rows, view);
  EXPECT_FALSE(at.torn);
  EXPECT_EQ(at.open, &rows[4]);
  EXPECT_EQ(at.unsealed, &rows[3]);
  EXPECT_EQ(at.highest_turn, 3u);

  // A turn that left the entry out.
  rows.push_back(open(4, 1, 1));
  at = find_log_tail(rows, view);
  EXPECT_FALSE(at.torn);
  EXPECT_EQ(at.unsealed, nullptr);

  // A late opening decides nothing.
  rows.push_back(open(3, 2, 1));
  at = find_log_tail(rows, view);
  EXPECT_EQ(at.open->turn, 4u);
  EXPECT_EQ(at.unsealed, nullptr);
}

TEST(LogTail, AReadThatSawHalfOfWhatWasWrittenIsTorn) {
  const View one = view_of({sealed(1, 1, 11)}).value();
  EXPECT_TRUE(find_log_tail({}, one).torn);
  EXPECT_TRUE(find_log_tail({open(2, 2, 1)}, one).torn) << "the entry it goes on from is missing";
  EXPECT_TRUE(find_log_tail({open(2, 3, 2)}, one).torn) << "a seal is missing";
  EXPECT_TRUE(find_log_tail({open(1, 0, 0), entry(1, 3, 13)}, one).torn);
  EXPECT_TRUE(find_log_tail({open(2, 0, 0)}, one).torn) << "position 1 is of an earlier turn";
  EXPECT_TRUE(find_log_tail({open(2, 1, 7)}, one).torn);
  EXPECT_TRUE(find_log_tail({open(2, 1, 1), entry(2, 2, 12), entry(2, 2, 13)}, one).torn);
  EXPECT_FALSE(find_log_tail({open(2, 1, 1), entry(2, 2, 12), entry(2, 2, 12)}, one).torn);
}

TEST(SealCollector, TakesSealsInAnyOrderAndTwiceWhereverTheViewEnds) {
  constexpr std::uint64_t kEntries = 5'000;  // several blocks
  std::vector<SealedEntry> seals;
  for (std::uint64_t i = 1; i <= kEntries; ++i) {
    seals.push_back({i, 1 + i / 7, 1'000 + i, i % 3 == 0 ? "run" : "import"});
  }
  std::mt19937_64 random(1);
  for (const std::uint64_t known :
       std::vector<std::uint64_t>{0, 1, 1'023, 1'024, 1'025, 4'999, 5'000}) {
    View view;
    for (std::uint64_t i = 0; i < known; ++i) {
      view.entries.add(seals[i].turn, seals[i].session, seals[i].what);
    }
    std::vector<SealedEntry> some(seals.begin() + static_cast<std::ptrdiff_t>(known / 2),
                                  seals.end());
    some.insert(some.end(), seals.end() - 10, seals.end());
    std::ranges::shuffle(some, random);
    SealCollector gathering(view);
    for (const SealedEntry& seal : some) gathering.take(seal);
    ASSERT_TRUE(gathering.finish());
    ASSERT_EQ(view.entries.size(), kEntries);
    for (const Entry& entry : view.entries) {
      const SealedEntry& seal = seals[entry.position - 1];
      ASSERT_EQ(entry, (Entry{seal.position, seal.turn, seal.session, std::string(seal.what)}));
    }
    EXPECT_EQ(view.entries.count("run"), kEntries / 3);
    EXPECT_EQ(view.end().position, kEntries);
  }
}

TEST(SealCollector, ASealThatIsMissingIsAnErrorWhereverItIs) {
  for (const std::uint64_t missing : std::vector<std::uint64_t>{1, 2, 1'024, 1'025, 2'048, 2'999}) {
    View view;
    SealCollector gathering(view);
    for (std::uint64_t i = 1; i <= 3'000; ++i) {
      if (i != missing) gathering.take({i, 1, i, "import"});
    }
    const Result<void> done = gathering.finish();
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("lacks position " + std::to_string(missing) + ":"));
    EXPECT_TRUE(view.entries.empty());
  }
  View view;
  SealCollector gathering(view);
  for (std::uint64_t i = 1; i <= 3'000; ++i) {
    if (i <= 1'000 || i > 2'900) gathering.take({i, 1, i, "import"});
  }
  EXPECT_THAT(gathering.finish().error().message, HasSubstr("lacks position 1001:"));
}

TEST(View, AHundredThousandEntriesAreReadAtOnce) {
  std::vector<LogRow> rows;
  for (std::uint64_t i = 1; i <= 100'000; ++i) {
    rows.push_back(claim(i, i));
    rows.push_back(open(i, i - 1, i - 1));
    rows.push_back(entry(i, i, 1'000 + i));
    rows.push_back(sealed(i, i, 1'000 + i));
  }
  std::ranges::shuffle(rows, std::mt19937_64(1));
  const auto begin = std::chrono::steady_clock::now();
  const Result<View> view = view_of(rows);
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(view);
  EXPECT_EQ(view->entries.size(), 100'000u);
  EXPECT_EQ(view->entries.back().session, 101'000u);
  RecordProperty(
      "ms", std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

}  // namespace
}  // namespace pennyweight::commit_log
