// What `serve` records in a real audit log: how often, how much, and after it was killed.
#include "app/daemon/serve_audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <tuple>

#include "core/clock.h"
#include "core/try.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;

const Instant kStart = *parse_instant("2026-03-04T08:00:00Z");

class ServeAuditLogTest : public testing::Test {
 protected:
  void SetUp() override {
    // A folder of its own: the key and the signed head lie beside the log.
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("serve_trail_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    auto opened = audit_log::AuditLog::open((folder_ / "trail").string(), clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    audit_log_ = std::move(*opened);
    start();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // As a `serve` that begins.
  void start() {
    told_ = std::make_unique<ServeAuditLog>([this](audit_log::Entry entry) -> Result<void> {
      if (is_full_) return fail(ErrorCode::kIo, "the disk is full");
      std::ignore = TRY(audit_log_->append(std::move(entry)));
      return {};
    });
  }
  // An import of so many nodes.
  ImportOutcome import(std::uint32_t nodes, const char* format = "live") {
    auto session = *store_->begin_import(
        {.format = format, .name = "records", .file_hash = {}, .at = clock_.now()});
    for (std::uint32_t i = 0; i < nodes; ++i) {
      const Node node{.cluster = ClusterId("lab"),
                      .name = NodeId("n" + std::to_string(++nodes_)),
                      .provider_id = {},
                      .instance_type = {},
                      .region = {},
                      .pool = PoolId(""),
                      .gpu_model = "A100",
                      .gpu_count = 8,
                      .cpu_milli = {},
                      .memory_bytes = {},
                      .from = kStart,
                      .to = {},
                      .id = {},
                      .source = {}};
      EXPECT_TRUE(session->append_nodes({&node, 1}));
    }
    return *session->commit();
  }
  // "action subject after" of the entries, the oldest first.
  std::vector<std::string> entries() {
    std::vector<std::string> texts;
    const auto page = audit_log_->entries(0, 1000, {});
    EXPECT_TRUE(page);
    for (const audit_log::Entry& entry : *page) {
      EXPECT_EQ(entry.actor, "serve");
      EXPECT_EQ(entry.peer, "");
      texts.insert(texts.begin(), entry.action + " | " + entry.subject + " | " + entry.after);
    }
    return texts;
  }

  SimulatedClock clock_{kStart};
  std::filesystem::path folder_;
  std::unique_ptr<audit_log::AuditLog> audit_log_;
  std::unique_ptr<Store> store_ = make_memory_store();
  std::unique_ptr<ServeAuditLog> told_;
  bool is_full_ = false;
  std::uint32_t nodes_ = 0;
};

TEST_F(ServeAuditLogTest, SumsImportsUpAndTellsThemOnceAnHour) {
  for (int i = 0; i < 60; ++i) {
    told_->add_import(import(i % 2 == 0 ? 2 : 0), clock_.now());
    ASSERT_TRUE(told_->record_due(clock_.now(), false));
    clock_.advance(minutes(1));
  }
  EXPECT_TRUE(entries().empty());
  ASSERT_TRUE(told_->record_due(clock_.now(), false));
  EXPECT_THAT(
      entries(),
      ElementsAre(R"(import | imports 1 to 59 | {"format":"live","imports":30,)"
                  R"("from":"2026-03-04T08:00:00Z","to":"2026-03-04T08:58:00Z","nodes":60})"));
  // An import that changes nothing is not recorded, whatever the hour.
  told_->add_import(import(0), clock_.now());
  ASSERT_TRUE(told_->record_due(clock_.now(), true));
  EXPECT_EQ(entries().size(), 1u);
  // And at the end without waiting.
  told_->add_import(import(1), clock_.now());
  ASSERT_TRUE(told_->record_due(clock_.now(), true));
  EXPECT_EQ(entries().size(), 2u);
  EXPECT_THAT(entries()[1], testing::StartsWith(R"(import | import 62 | {"format":"live")"));
}

TEST_F(ServeAuditLogTest, TellsChangesAtOnceAndInTheirOrder) {
  told_->add_import(import(1), clock_.now());
  told_->add_event({.action = "price", .subject = "month 2026-03", .before = "", .after = "{}"});
  told_->add_event({.action = "allocate", .subject = "cluster lab", .before = "", .after = "{}"});
  ASSERT_TRUE(told_->record_due(clock_.now(), false));
  EXPECT_THAT(entries(), ElementsAre("price | month 2026-03 | {}", "allocate | cluster lab | {}"));
}

TEST_F(ServeAuditLogTest, KeepsWhatCanNotBeToldYet) {
  is_full_ = true;
  told_->add_import(import(3), clock_.now());
  for (std::size_t i = 0; i < ServeAuditLog::kWaitingMax + 7; ++i) {
    told_->add_event({.action = "allocate", .subject = "x", .before = "", .after = "{}"});
  }
  EXPECT_FALSE(told_->record_due(clock_.now(), true));
  EXPECT_TRUE(entries().empty());
  is_full_ = false;
  ASSERT_TRUE(told_->record_due(clock_.now(), true));
  EXPECT_EQ(audit_log_->head()->number, ServeAuditLog::kWaitingMax + 2);
  const auto last = *audit_log_->entries(0, 2, {});
  EXPECT_EQ(last[0].action, "import");
  EXPECT_EQ(last[1].action, "left_out");
  EXPECT_EQ(last[1].after, R"({"changes":7})");
  ASSERT_TRUE(told_->record_due(clock_.now(), true));
  EXPECT_EQ(audit_log_->head()->number, ServeAuditLog::kWaitingMax + 2);
}

TEST_F(ServeAuditLogTest, TellsWhatAKilledServeHadNoTimeToTell) {
  told_->add_import(import(1), clock_.now());
  ASSERT_TRUE(told_->record_due(clock_.now(), true));
  import(2);  // and then it was killed
  import(5, "inventory");
  import(4);
  clock_.advance(minutes(5));
  start();
  ASSERT_TRUE(told_->find_unrecorded_imports(*store_, *audit_log_));
  told_->add_import(import(1), clock_.now());
  ASSERT_TRUE(told_->record_due(clock_.now(), true));
  ASSERT_EQ(entries().size(), 2u);
  EXPECT_EQ(entries()[1],
            R"(import | imports 2 to 5 | {"format":"live","imports":3,)"
            R"("from":"2026-03-04T08:00:00Z","to":"2026-03-04T08:05:00Z","nodes":7})");
  // Each is recorded once.
  start();
  ASSERT_TRUE(told_->find_unrecorded_imports(*store_, *audit_log_));
  ASSERT_TRUE(told_->record_due(clock_.now(), true));
  EXPECT_EQ(entries().size(), 2u);
}

TEST(LastImportOf, IsTheNumberAtTheEndOfASubject) {
  EXPECT_EQ(last_import_of("imports 17 to 77"), 77u);
  EXPECT_EQ(last_import_of("import 77"), 77u);
  for (const char* none : {"", "import", "import x", "month 2026-03", "import -1", "import 1 "}) {
    EXPECT_FALSE(last_import_of(none)) << none;
  }
}

}  // namespace
}  // namespace pennyweight
