#include "server/access/lock_out.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>

#include "core/clock.h"
#include "server/access/schema.h"

namespace pennyweight::access {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

SqlDatabase empty_database() {
  auto database = SqlDatabase::open(":memory:");
  CHECK(database.has_value(), "SQLite keeps tables in memory");
  CHECK(migrate_schema(*database).has_value(), "the schema is right");
  return *std::move(database);
}

bool is_waiting(SqlDatabase& database, std::string_view key, Instant now) {
  return lock_out_left(database, key, now).value().count() > 0;
}

LockOutRule fixed_rule(std::uint32_t failures_max) {
  return {.failures_max = failures_max,
          .within = minutes(15),
          .first = minutes(15),
          .most = minutes(15)};
}

TEST(LockOut, AddressesThatAreCountedTogether) {
  const std::pair<const char*, const char*> rows[] = {
      {"10.1.2.3", "10.1.2.3"},
      {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
      {"2001:db8:1:2::", "2001:db8:1:2::/64"},
      {"2001:db8:1:3::1", "2001:db8:1:3::/64"},
      {"::1", "::/64"},
      {"fe80::1%eth0", "fe80::/64"},
      {"::ffff:10.1.2.3", "10.1.2.3"},
      {"::ffff:a01:203", "10.1.2.3"},
      {"unix socket", "unix socket"},
      {"", ""},
  };
  for (const auto& [peer, group] : rows) EXPECT_EQ(address_group(peer), group) << peer;
}

TEST(LockOut, TheFifthLocksAndTheLockEnds) {
  SqlDatabase database = empty_database();
  const LockOutRule rule = fixed_rule(5);
  const Instant begin = from_unix_seconds(1'700'000'000);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(is_waiting(database, "ana", begin), false);
    ASSERT_TRUE(count_failure(database, "ana", begin, rule));
  }
  EXPECT_EQ(is_waiting(database, "ana", begin), true);
  EXPECT_EQ(is_waiting(database, "bo", begin), false);
  // Going on does not make it longer.
  ASSERT_TRUE(count_failure(database, "ana", begin + minutes(14), rule));
  EXPECT_EQ(is_waiting(database, "ana", begin + minutes(15) - std::chrono::milliseconds(1)), true);
  EXPECT_EQ(is_waiting(database, "ana", begin + minutes(15)), false);
  ASSERT_TRUE(count_failure(database, "ana", begin + minutes(15), rule));
  EXPECT_EQ(is_waiting(database, "ana", begin + minutes(15)), false);
}

TEST(LockOut, IsForgiven) {
  SqlDatabase database = empty_database();
  const LockOutRule rule = fixed_rule(2);
  const Instant now = from_unix_seconds(1'700'000'000);
  for (const char* key : {"ana", "ana", "bo", "bo", "cy"}) {
    ASSERT_TRUE(count_failure(database, key, now, rule));
  }
  ASSERT_TRUE(clear_failures(database, "ana"));
  ASSERT_TRUE(clear_failures(database, "cy"));
  EXPECT_EQ(is_waiting(database, "ana", now), false);
  EXPECT_EQ(is_waiting(database, "bo", now), true);
  ASSERT_TRUE(count_failure(database, "cy", now, rule));
  EXPECT_EQ(is_waiting(database, "cy", now), false);
}

TEST(LockOut, TablesHaveAnEnd) {
  SqlDatabase database = empty_database();
  auto transaction = SqlTransaction::begin(database);
  ASSERT_TRUE(transaction);
  const LockOutRule rule = fixed_rule(1);
  const Instant now = from_unix_seconds(1'700'000'000);
  ASSERT_TRUE(database.change(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) "
      "INSERT INTO lock_outs SELECT CAST('k' || i AS BLOB), ?2 + i FROM n",
      {kLockOutsKeptMax, unix_ms(now)}));
  ASSERT_TRUE(database.change(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) "
      "INSERT INTO failures (key, at) SELECT CAST('k' || i AS BLOB), ?2 FROM n",
      {kFailuresKeptMax + 50, unix_ms(now)}));
  ASSERT_TRUE(count_failure(database, "new", now, rule));
  EXPECT_EQ(database.integer("SELECT count(*) FROM lock_outs", {}), kLockOutsKeptMax);
  EXPECT_LE(database.integer("SELECT count(*) FROM failures", {})->value(), kFailuresKeptMax);
  EXPECT_EQ(is_waiting(database, "new", now), true);
  EXPECT_EQ(is_waiting(database, "k1", now), false);  // the one that would have ended first
  EXPECT_EQ(is_waiting(database, "k2", now), true);
}

// The rule said once more, the plain way, over any sequence of failures, waits and successes.
RC_GTEST_PROP(LockOut, IsWhatTheRuleSays, ()) {
  SqlDatabase database = empty_database();
  const LockOutRule rule{.failures_max = *rc::gen::inRange<std::uint32_t>(1, 6),
                         .within = minutes(*rc::gen::inRange(5, 200)),
                         .first = seconds(*rc::gen::inRange(1, 900)),
                         .most = minutes(15)};
  SimulatedClock clock(from_unix_seconds(1'700'000'000));
  std::deque<Instant> failures;
  std::optional<Instant> until;
  const auto is_locked = [&] { return until && clock.now() < *until; };
  const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  for (const int step : steps) {
    if (step == 0) {
      RC_ASSERT(clear_failures(database, "ana").has_value());
      failures.clear();
      until.reset();
    } else if (step < 15) {
      clock.advance(seconds(step * 60));
    } else if (step == 15) {
      clock.advance(minutes(15));
    } else {
      RC_ASSERT(count_failure(database, "ana", clock.now(), rule).has_value());
      RC_ASSERT(count_failure(database, std::string(1, static_cast<char>(step)), clock.now(), rule)
                    .has_value());
      if (!is_locked()) {
        failures.push_back(clock.now());
        while (failures.front() + rule.within <= clock.now()) failures.pop_front();
        std::chrono::milliseconds wait = rule.first;
        for (std::size_t i = rule.failures_max; i < failures.size(); ++i) wait *= 2;
        if (failures.size() >= rule.failures_max) until = clock.now() + std::min(wait, rule.most);
      }
    }
    RC_ASSERT((is_waiting(database, "ana", clock.now()) == is_locked()));
  }
}

}  // namespace
}  // namespace pennyweight::access
