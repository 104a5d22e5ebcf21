#include "ledger/store/clickhouse/log/commit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "core/try.h"

namespace pennyweight::commit_log {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

// A list in memory. A test sets when it fails, what happens before an append or a read, and which
// rows a read may miss because they arrived while it ran.
class List : public LogStorage {
 public:
  Result<void> append(const LogRow& row) override {
    ++appends;
    if (before_append) before_append(row);
    if (failing > 0) {
      --failing;
      if (done_although) rows.push_back(row);
      return fail(ErrorCode::kStore, "connection broken off");
    }
    rows.push_back(row);
    return {};
  }
  Result<std::vector<LogRow>> read(const LogPosition& since) override {
    ++reads;
    return some([&](const LogRow& row) { return row.turn >= since.turn; });
  }
  Result<void> seals(const LogPosition& since, const SealSink& sink) override {
    ++seal_reads;
    const auto found = TRY(some([&](const LogRow& row) {
      return row.kind == RowKind::kSealed && row.turn >= since.turn &&
             row.position >= since.position;
    }));
    for (const LogRow& row : found) sink({row.position, row.turn, row.session, row.what});
    return {};
  }
  template <class IsAskedFor>
  Result<std::vector<LogRow>> some(const IsAskedFor& is_asked_for) {
    if (before_read) before_read();
    const std::set<std::size_t> missed = std::exchange(missed_once, {});
    if (failing_reads > 0) {
      --failing_reads;
      return fail(ErrorCode::kStore, "nobody answers");
    }
    std::vector<LogRow> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (is_asked_for(rows[i]) && !missed.contains(i)) found.push_back(rows[i]);
    }
    return found;
  }
  std::vector<LogRow> rows;
  std::set<std::size_t> missed_once;  // by index
  std::function<void()> before_read;
  std::function<void(const LogRow&)> before_append;
  int failing = 0, failing_reads = 0, appends = 0, reads = 0, seal_reads = 0;
  bool done_although = false;
};

class CommitLogTest : public testing::Test {
 protected:
  Clock clock(milliseconds off = {}) {
    return {.now = [this, off] { return now + off; },
            .sleep = [this](milliseconds time) { now += time; }};
  }
  CommitLog writer(std::uint64_t seed, milliseconds off = {}) {
    return CommitLog(list, clock(off), {}, seed);
  }
  static std::vector<std::uint64_t> sessions(const Result<View>& view) {
    std::vector<std::uint64_t> found;
    for (const Entry& entry : view.value().entries) found.push_back(entry.session);
    return found;
  }
  LogRow others(RowKind kind, std::uint64_t turn, std::uint64_t writer) const {
    return LogRow{.kind = kind, .turn = turn, .writer = writer, .at = now};
  }
  void other_claims(std::uint64_t turn) {
    list.rows.push_back(others(RowKind::kClaim, turn, 1'000 + turn));
  }
  // Adds the rows of another writer that has won `turn` and opens it after `base`.
  void other_opens(std::uint64_t turn, std::uint64_t base, std::uint64_t base_turn) {
    LogRow open = others(RowKind::kOpen, turn, 1'000 + turn);
    open.position = base;
    open.prefix = std::to_string(base_turn);
    list.rows.push_back(open);
  }

  List list;
  Instant now = from_unix_seconds(1'800'000'000);
};

TEST_F(CommitLogTest, OneWriterCommitsAndEverybodySeesIt) {
  CommitLog log = writer(1);
  EXPECT_THAT(sessions(log.begin()), ElementsAre());
  EXPECT_TRUE(log.has_turn());
  EXPECT_EQ(log.commit(11, "import").value(), (Entry{1, 1, 11, "import"}));
  EXPECT_EQ(log.commit(12, "run").value(), (Entry{2, 1, 12, "run"}));
  ASSERT_TRUE(log.release());
  EXPECT_FALSE(log.has_turn());
  EXPECT_THAT(sessions(writer(2).read()), ElementsAre(11, 12));
  EXPECT_THAT(sessions(log.begin()), ElementsAre(11, 12));
  EXPECT_EQ(log.commit(13, "import").value(), (Entry{3, 2, 13, "import"}));
}

TEST_F(CommitLogTest, ACommitCostsFiveAppendsAndFourReads) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  ASSERT_TRUE(log.commit(11, "import"));
  ASSERT_TRUE(log.release());
  EXPECT_EQ(list.appends, 5);
  EXPECT_EQ(list.reads, 4);
  EXPECT_EQ(list.seal_reads, 1) << "what was there before, once";
}

TEST_F(CommitLogTest, ANewWriterReadsTheSealsAndTheRowsOfTheLastTurn) {
  CommitLog first = writer(1);
  for (std::uint64_t session = 1; session <= 100; ++session) {
    ASSERT_TRUE(first.begin());
    ASSERT_TRUE(first.commit(session, "import"));
    ASSERT_TRUE(first.release());
  }
  // Nothing else of earlier turns is needed.
  std::erase_if(list.rows,
                [](const LogRow& row) { return row.turn < 100 && row.kind != RowKind::kSealed; });
  CommitLog second = writer(2);
  EXPECT_EQ(second.read()->entries.size(), 100u);
  EXPECT_EQ(list.reads, 400) << "a reader asks for seals alone";
  CommitLog third = writer(3);
  ASSERT_TRUE(third.begin());
  EXPECT_EQ(third.commit(101, "import")->position, 101u);
  EXPECT_EQ(second.read()->entries.size(), 101u);
}

TEST_F(CommitLogTest, AnEntryThatCountsAlreadyStaysWhereItIs) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  const Entry first = log.commit(11, "import").value();
  ASSERT_TRUE(log.commit(12, "import"));
  EXPECT_EQ(log.commit(11, "import").value(), first);
  EXPECT_THAT(sessions(log.read()), ElementsAre(11, 12));
}

TEST_F(CommitLogTest, KnownEntriesAreNotReadAgain) {
  CommitLog first = writer(1);
  for (const std::uint64_t session : {11U, 12U}) {
    ASSERT_TRUE(first.begin());
    ASSERT_TRUE(first.commit(session, "import"));
    ASSERT_TRUE(first.release());
  }
  const View view = first.read().value();
  std::erase_if(list.rows, [](const LogRow& row) { return row.turn < 2; });
  EXPECT_FALSE(writer(2).read()) << "position 1 is missing";
  CommitLog second = writer(3);
  second.start_from(view);
  EXPECT_THAT(sessions(second.begin()), ElementsAre(11, 12));
  EXPECT_EQ(second.commit(13, "import")->position, 3u);
}

TEST_F(CommitLogTest, WaitsForATurnThatIsUsed) {
  CommitLog first = writer(1);
  ASSERT_TRUE(first.begin());
  CommitLog second(list, clock(), {.patience = milliseconds(10'000)}, 2);
  const Result<View> refused = second.begin();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kStore);
  EXPECT_THAT(refused.error().message, HasSubstr("another writer has the turn (turn 1)"));
  ASSERT_TRUE(first.release());
  EXPECT_TRUE(second.begin());
}

TEST_F(CommitLogTest, TakesOverAfterTheLeaseOfASilentWriter) {
  CommitLog first = writer(1);
  ASSERT_TRUE(first.begin());
  ASSERT_TRUE(first.commit(11, "import"));
  const Instant before = now;
  CommitLog second = writer(2);
  EXPECT_THAT(sessions(second.begin()), ElementsAre(11));
  EXPECT_GE(now - before, milliseconds(30'000));
  EXPECT_LE(now - before, milliseconds(33'000));
  // The first writer finds out when it continues.
  const Result<Entry> late = first.commit(12, "import");
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("does not count"));
  EXPECT_FALSE(first.in_doubt());
  EXPECT_FALSE(first.has_turn());
  EXPECT_TRUE(second.commit(21, "import"));
  EXPECT_THAT(sessions(first.read()), ElementsAre(11, 21));
}

TEST_F(CommitLogTest, AWriterThatSendsHeartbeatsKeepsItsTurn) {
  CommitLog first = writer(1);
  ASSERT_TRUE(first.begin());
  const int appends = list.appends;
  ASSERT_TRUE(first.alive());
  EXPECT_EQ(list.appends, appends) << "nothing to be said yet";
  CommitLog second(list,
                   {.now = [this] { return now; },
                    .sleep =
                        [&](milliseconds time) {
                          now += time;
                          ASSERT_TRUE(first.alive());
                        }},
                   {}, 2);
  EXPECT_FALSE(second.begin());
  EXPECT_TRUE(first.commit(11, "import"));
}

TEST_F(CommitLogTest, AClockThatGoesMinutesAheadTakesNoTurnAway) {
  CommitLog first = writer(1);
  ASSERT_TRUE(first.begin());
  CommitLog second(list, clock(milliseconds(300'000)), {.patience = milliseconds(20'000)}, 2);
  EXPECT_FALSE(second.begin());
}

TEST_F(CommitLogTest, ATurnThatEndedLongAgoIsNotWaitedFor) {
  CommitLog first = writer(1);
  ASSERT_TRUE(first.begin());
  now += milliseconds(3'600'000);
  const Instant before = now;
  EXPECT_TRUE(writer(2).begin());
  EXPECT_EQ(now, before);
}

TEST_F(CommitLogTest, OfTwoThatClaimATurnNobodyWaitsOutTheLease) {
  bool once = false;
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kClaim || once) return;
    once = true;
    list.rows.push_back(others(RowKind::kClaim, row.turn, 2));
    // it saw both claims, and gave way
    list.rows.push_back(others(RowKind::kRelease, row.turn, 2));
  };
  CommitLog log = writer(1);
  const Instant before = now;
  ASSERT_TRUE(log.begin());
  EXPECT_LT(now - before, milliseconds(1'000));
  EXPECT_EQ(log.commit(11, "import")->turn, 2u);
}

TEST_F(CommitLogTest, ATurnClaimedBehindOursIsLostBeforeAnythingIsWritten) {
  bool once = false;
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kOpen || once) return;
    once = true;
    other_claims(row.turn + 1);
    other_opens(row.turn + 1, 0, 0);
    list.rows.push_back(others(RowKind::kRelease, row.turn + 1, 1'000 + row.turn + 1));
  };
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  EXPECT_EQ(log.commit(11, "import")->turn, 3u);
}

TEST_F(CommitLogTest, AnEntryThatALaterTurnWentOnFromCounts) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  bool once = false;
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kEntry || once) return;
    once = true;
    list.rows.push_back(row);
    other_claims(2);
    other_opens(2, 1, 1);
  };
  const Result<Entry> entry = log.commit(11, "import");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->position, 1u);
  EXPECT_FALSE(log.has_turn()) << "the turn is the other's";
  EXPECT_THAT(sessions(writer(3).read()), ElementsAre(11));
}

TEST_F(CommitLogTest, AnEntryThatALaterTurnLeftOutDoesNot) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kEntry) return;
    other_claims(2);
    other_opens(2, 0, 0);
  };
  const Result<Entry> entry = log.commit(11, "import");
  ASSERT_FALSE(entry);
  EXPECT_FALSE(log.in_doubt());
  EXPECT_THAT(sessions(writer(3).read()), ElementsAre());
}

TEST_F(CommitLogTest, WhereTheClaimerDiedTheWriterTakesATurnToFindOut) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  bool once = false;
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kEntry || once) return;
    once = true;
    list.rows.push_back(others(RowKind::kClaim, 2, 2));
  };
  const Instant before = now;
  EXPECT_TRUE(log.commit(11, "import"));
  EXPECT_GE(now - before, milliseconds(30'000));
  EXPECT_FALSE(log.has_turn());
  EXPECT_EQ(list.rows.back().kind, RowKind::kRelease);
  EXPECT_THAT(sessions(writer(3).read()), ElementsAre(11));
}

// Turn 2 was opened late by a writer that had not read the entry; turn 3 was claimed by one that
// had.
TEST_F(CommitLogTest, AnOpeningBelowALaterClaimDecidesNothing) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kEntry) return;
    other_claims(2);
    list.rows.push_back(row);
    other_claims(3);
    other_opens(2, 0, 0);
    list.before_append = nullptr;
    list.before_read = [this, left = 3]() mutable {
      if (--left == 0) other_opens(3, 1, 1);
    };
  };
  EXPECT_TRUE(log.commit(11, "import"));
}

// The same, but the first read that shows the opening of turn 2 misses the claim of turn 3, which
// was written while the read ran.
TEST_F(CommitLogTest, AnOpeningThatCameWhileItWasReadDecidesNothing) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kEntry) return;
    other_claims(2);
    list.before_append = nullptr;
    list.before_read = [this, read = 0]() mutable {
      ++read;
      if (read == 3) {
        other_claims(3);
        list.missed_once = {list.rows.size() - 1};
        other_opens(2, 0, 0);
      }
      if (read == 4) other_opens(3, 1, 1);
    };
  };
  EXPECT_TRUE(log.commit(11, "import"));
  EXPECT_GE(list.reads, 5);
}

// The append was interrupted; the read that shows its row misses an earlier claim.
TEST_F(CommitLogTest, AnEntryThatCameWhileItWasReadIsNotSafeYet) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kEntry) return;
    list.failing = 1;
    list.done_although = true;
    list.missed_once = {list.rows.size()};
    other_claims(2);
    list.before_append = nullptr;
    list.before_read = [this, read = 0]() mutable {
      if (++read == 2) other_opens(2, 0, 0);
    };
  };
  EXPECT_FALSE(log.commit(11, "import"));
  EXPECT_FALSE(log.in_doubt());
  EXPECT_THAT(sessions(log.read()), ElementsAre());
}

TEST_F(CommitLogTest, AReadThatMissesWhatALaterRowGoesOnFromIsMadeAgain) {
  CommitLog dead = writer(1);
  ASSERT_TRUE(dead.begin());
  list.before_append = [&](const LogRow& row) {
    if (row.kind != RowKind::kEntry) return;
    list.failing_reads = 1'000'000;
    list.before_append = nullptr;
  };
  ASSERT_FALSE(dead.commit(11, "import"));  // there, and nobody has sealed it
  list.failing_reads = 0;
  const std::size_t entry = 2;
  ASSERT_EQ(list.rows[entry].kind, RowKind::kEntry);
  other_claims(2);
  other_opens(2, 1, 1);
  list.rows.push_back(others(RowKind::kRelease, 2, 1'002));
  list.before_append = [&](const LogRow& row) {
    if (row.kind == RowKind::kClaim) list.missed_once = {entry};
  };
  CommitLog log = writer(3);
  EXPECT_THAT(sessions(log.begin()), ElementsAre(11));
}

TEST_F(CommitLogTest, ATurnWhoseClaimOrOpeningIsInDoubtIsNotTaken) {
  for (const RowKind kind : {RowKind::kClaim, RowKind::kOpen}) {
    list = {};
    list.done_although = true;
    list.before_append = [&](const LogRow& row) {
      if (row.kind == kind) list.failing = 1;
    };
    CommitLog log = writer(1);
    EXPECT_FALSE(log.begin());
    EXPECT_FALSE(log.has_turn());
    list.before_append = nullptr;
    const Instant before = now;
    EXPECT_TRUE(log.begin()) << "our own turns are not waited for";
    EXPECT_EQ(now, before);
  }
}

TEST_F(CommitLogTest, AnAppendThatBreaksOffIsSentAgain) {
  for (const bool done : {false, true}) {
    list = {};
    list.done_although = done;
    CommitLog log = writer(1);
    ASSERT_TRUE(log.begin());
    list.failing = 3;
    EXPECT_TRUE(log.commit(11, "import")) << done;
    list.before_append = [this](const LogRow& row) {
      if (row.kind == RowKind::kSealed) list.failing = 1;
      list.before_append = nullptr;
    };
    EXPECT_TRUE(log.commit(12, "import")) << done;
    EXPECT_THAT(sessions(writer(2).read()), ElementsAre(11, 12));
  }
}

TEST_F(CommitLogTest, AnUnknownFateIsInDoubtUntilTheNextTurn) {
  for (const bool done : {false, true}) {
    list = {};
    list.done_although = done;
    CommitLog log = writer(1);
    ASSERT_TRUE(log.begin());
    list.failing = list.failing_reads = 1'000'000;
    const Result<Entry> entry = log.commit(11, "import");
    ASSERT_FALSE(entry);
    EXPECT_THAT(entry.error().message, HasSubstr("not known whether"));
    EXPECT_TRUE(log.in_doubt());
    EXPECT_FALSE(log.has_turn());
    list.failing = list.failing_reads = 0;
    const Result<View> view = log.begin();
    EXPECT_FALSE(log.in_doubt());
    EXPECT_EQ(sessions(view).size(), done ? 1u : 0u);
    EXPECT_EQ(log.commit(11, "import")->position, 1u) << "again, and once";
    EXPECT_THAT(sessions(log.read()), ElementsAre(11));
  }
}

TEST_F(CommitLogTest, ErrorsOfTheRegisterEndBeginAtOnce) {
  list.failing_reads = 1;
  const Instant before = now;
  const Result<View> view = writer(1).begin();
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().message, "nobody answers");
  EXPECT_EQ(now, before);
}

TEST_F(CommitLogTest, ALogThatContradictsItselfIsAnError) {
  CommitLog log = writer(1);
  ASSERT_TRUE(log.begin());
  ASSERT_TRUE(log.commit(11, "import"));
  ASSERT_TRUE(log.release());
  list.rows.push_back(list.rows[3]);
  ASSERT_EQ(list.rows.back().kind, RowKind::kSealed);
  list.rows.back().session = 12;
  EXPECT_THAT(log.read().error().message, HasSubstr("contradicts itself"));
  EXPECT_FALSE(log.begin());
  EXPECT_FALSE(writer(2).read());
}

TEST_F(CommitLogTest, WithoutATurnNothingIsCommitted) {
  CommitLog log = writer(1);
  EXPECT_FALSE(log.commit(11, "import"));
  EXPECT_FALSE(log.alive());
  EXPECT_TRUE(log.release());
  EXPECT_EQ(list.appends, 0);
}

}  // namespace
}  // namespace pennyweight::commit_log
