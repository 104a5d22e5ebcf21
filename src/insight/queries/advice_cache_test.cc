#include "insight/queries/advice_cache.h"

#include <gtest/gtest.h>

#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

Instant at(const char* text) { return parse_instant(text).value(); }

// A job that held a node for an hour, and a charge of March, each an import of its own.
void import_job(Store& store, const char* name, const char* begin) {
  Holding job(ClusterId("lab"), WorkloadId(name),
              Interval(at(begin), at(begin) + std::chrono::hours(1)), OnNodes{{{NodeId("a"), 1}}});
  auto session = store.begin_import(
      {.format = "slurm", .name = name, .file_hash = hash_of(name), .at = at("2026-07-01")});
  ASSERT_TRUE(session.has_value());
  ASSERT_TRUE((*session)->append_holdings(std::span(&job, 1)).has_value());
  ASSERT_TRUE((*session)->commit_on({}).has_value());
}

class AdviceCacheTest : public testing::Test {
 protected:
  // How often it was worked out after asking once more.
  int ask(Store& store, const char* month = "2026-03") {
    const auto advice = cache_.get(
        store, {.month = month, .cluster = "", .cost = "effective", .prices_at = at("2026-07-01")},
        [&]() -> Result<WorkedOutAdvice> {
          ++worked_out_;
          return WorkedOutAdvice{.clusters = {"lab"}, .proposals = {}, .gaps = {}};
        });
    EXPECT_TRUE(advice.has_value());
    EXPECT_EQ((*advice)->clusters.size(), 1u);
    return worked_out_;
  }

  AdviceCache cache_;
  int worked_out_ = 0;
};

TEST_F(AdviceCacheTest, IsKeptUntilFactsOfTheMonthChange) {
  const auto store = make_memory_store();
  import_job(*store, "1", "2026-03-05");
  EXPECT_EQ(ask(*store), 1);
  EXPECT_EQ(ask(*store), 1);
  import_job(*store, "2", "2026-06-20");  // telemetry and jobs of now
  EXPECT_EQ(ask(*store), 1);
  import_job(*store, "3", "2026-03-20");
  EXPECT_EQ(ask(*store), 2);
  EXPECT_EQ(ask(*store), 2);
  import_job(*store, "4", "2026-04-01");  // reaches into its neighbour
  EXPECT_EQ(ask(*store), 3);
  EXPECT_EQ(ask(*store, "2026-06"), 4);
  EXPECT_EQ(ask(*store), 4);
}

TEST_F(AdviceCacheTest, AnotherLedgerIsNotTakenForTheSame) {
  const auto one = make_memory_store();
  import_job(*one, "1", "2026-03-05");
  EXPECT_EQ(ask(*one), 1);
  const auto other = make_memory_store();
  import_job(*other, "9", "2026-03-05");
  EXPECT_EQ(ask(*other), 2);
  const auto empty = make_memory_store();
  EXPECT_EQ(ask(*empty), 3);
  EXPECT_EQ(ask(*empty), 4);  // nothing says which ledger it is
}

TEST_F(AdviceCacheTest, AnErrorIsNotKept) {
  const auto store = make_memory_store();
  import_job(*store, "1", "2026-03-05");
  const auto failed = cache_.get(
      *store,
      {.month = "2026-03", .cluster = "", .cost = "effective", .prices_at = at("2026-07-01")},
      [&]() -> Result<WorkedOutAdvice> { return fail(ErrorCode::kIo, "the disk is gone"); });
  EXPECT_FALSE(failed.has_value());
  EXPECT_EQ(ask(*store), 1);
}

}  // namespace
}  // namespace pennyweight
