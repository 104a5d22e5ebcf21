// The ledger's thread of `serve`, cycle by cycle under a clock that is moved by hand: what reaches
// the ledger, when a day is settled, and what remains after a restart.
#include "app/daemon/live_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "app/context/context.h"
#include "app/daemon/ledger_thread.h"
#include "app/daemon/shared_ledger.h"
#include "core/interruption.h"
#include "core/try.h"
#include "reporting/rollup/rollup.h"

namespace pennyweight {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;

const Instant kMorning = *parse_instant("2026-03-04T08:00:00Z");

Node machine() {
  return {.cluster = ClusterId("lab"),
          .name = NodeId("n1"),
          .provider_id = {},
          .instance_type = {},
          .region = {},
          .pool = PoolId(""),
          .gpu_model = "NVIDIA A100-SXM4-40GB",
          .gpu_count = 4,
          .cpu_milli = {},
          .memory_bytes = {},
          .from = kMorning,
          .to = {},
          .id = {},
          .source = {}};
}

Holding job(Instant begin, Instant end, bool ended) {
  Holding holding(ClusterId("lab"), WorkloadId("7"), Interval(begin, end),
                  OnNodes{{{NodeId("n1"), 2}}});
  holding.ended = ended;
  EXPECT_TRUE(holding.labels.set("user", "ann"));
  EXPECT_TRUE(holding.labels.set("account", "nlp"));
  return holding;
}

class FakeSource : public LiveSource {
 public:
  const ClusterId& cluster() const override { return cluster_; }
  std::string kind() const override { return "fake"; }
  CollectedFacts collect() override { return std::exchange(next, {}); }
  void confirm_stored() override { ++times_kept; }
  bool is_ready() const override { return true; }
  std::map<std::string, std::uint64_t> counts() const override { return {}; }

  CollectedFacts next;
  int times_kept = 0;

 private:
  const ClusterId cluster_{"lab"};
};

class LiveLedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("live_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    config_.store_path = (folder_ / "ledger.duckdb").string();
    config_.rate_card_file = "card.csv";  // so that list prices are not looked at
    auto card = RateCard::parse("gpu_model,unit,price,currency\n*,GPU-Hours,2.5,EUR\n", "card.csv");
    ASSERT_TRUE(card);
    card_ = *card;
    start();
  }
  void TearDown() override {
    ledger_.reset();
    shared_.reset();  // an open store may still write beside its file
    std::filesystem::remove_all(folder_);
  }

  void start() {
    shared_ = std::make_unique<SharedLedger>(config_);
    ledger_ =
        std::make_unique<LiveLedger>(config_, Catalog::built_in(), card_, *shared_, clock_, log_);
    const auto opened = ledger_->open();
    ASSERT_TRUE(opened) << opened.error().message;
    state_metrics_ = std::make_unique<StateMetricsSource>(ledger_->inventory());
    auto engine = live::Engine::open(
        {.folder = "",
         .stream = {.classification = {.cluster = ClusterId("lab")}, .timing = {}, .limits = {}},
         .state = state_metrics_.get()},
        clock_);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = std::move(*engine);
    told_ = std::make_unique<ServeAuditLog>([this](const audit_log::Entry& entry) -> Result<void> {
      entries_.push_back(entry);
      return {};
    });
    ledger_->begin(*engine_, *state_metrics_, {&source_}, nullptr, told_.get());
  }

  // Advances the clock, reads the running job again, and runs a cycle.
  void go_on(std::chrono::milliseconds by) {
    clock_.advance(by);
    source_.next.holdings = {job(kMorning, clock_.now(), false)};
    ledger_->cycle();
  }

  const LiveShare* share_of(const std::string& workload) {
    view_ = ledger_->view();
    if (!view_ || !view_->clusters.contains(ClusterId("lab"))) return nullptr;
    for (const LiveShare& share : view_->clusters.at(ClusterId("lab")).recent.shares) {
      if (share.workload.text() == workload) return &share;
    }
    return nullptr;
  }

  template <class Ask>
  auto in_ledger(const Ask& ask) {
    std::optional<decltype(ask(std::declval<Store&>()))> answer;
    const auto asked = shared_->with([&](Store& store) -> Result<void> {
      answer.emplace(ask(store));
      return {};
    });
    EXPECT_TRUE(asked) << (asked ? "" : asked.error().message);
    EXPECT_TRUE(*answer) << (*answer ? "" : answer->error().message);
    return **std::move(answer);
  }

  std::filesystem::path folder_;
  Config config_ = default_config();
  RateCard card_;
  SimulatedClock clock_{kMorning};
  Log log_{clock_};
  FakeSource source_;
  std::unique_ptr<SharedLedger> shared_;
  std::unique_ptr<StateMetricsSource> state_metrics_;
  std::unique_ptr<live::Engine> engine_;
  std::unique_ptr<ServeAuditLog> told_;
  std::vector<audit_log::Entry> entries_;
  std::unique_ptr<LiveLedger> ledger_;
  std::shared_ptr<const LiveView> view_;
};

TEST_F(LiveLedgerTest, ShowsAJobWithinACycleAndWhatNobodyHolds) {
  source_.next.nodes = {machine()};
  go_on(minutes(5));
  const LiveShare* ann = share_of("7");
  ASSERT_NE(ann, nullptr);
  EXPECT_TRUE(ann->running);
  EXPECT_EQ(ann->labels.find("user"), "ann");
  // Two of four GPUs each; one of them gets the odd last digit.
  const LiveShare* nobody = share_of("");
  ASSERT_NE(nobody, nullptr);
  const Interval& window = view_->clusters.at(ClusterId("lab")).recent.window;
  EXPECT_EQ(window.length_ms(), 5u * 60'000);
  ASSERT_TRUE(ann->cost && nobody->cost);
  EXPECT_EQ(ann->cost->currency(), kEur);
  EXPECT_LE(ann->cost->ticks() - nobody->cost->ticks(), 1);
  EXPECT_GE(ann->cost->ticks() - nobody->cost->ticks(), -1);
  EXPECT_EQ(source_.times_kept, 1);
}

TEST_F(LiveLedgerTest, TellsTheLedgerOfAJobWhenItBeginsChangesAndEnds) {
  source_.next.nodes = {machine()};
  for (int i = 0; i < 12; ++i) go_on(minutes(1));
  const auto during = Interval(kMorning, kMorning + hours(48));
  const auto held = [&] {
    std::vector<Holding> found;
    in_ledger([&](Store& store) -> Result<bool> {
      TRY(store.scan_holdings(ClusterId("lab"), during, [&](std::span<const Holding> some) {
        found.insert(found.end(), some.begin(), some.end());
        return true;
      }));
      return true;
    });
    return found;
  };
  const auto readings = [&] {
    return in_ledger([](Store& store) { return store.overview(); }).holdings;
  };
  EXPECT_EQ(readings(), 1u);
  EXPECT_FALSE(held()[0].ended);
  for (int i = 0; i < 60; ++i) go_on(minutes(1));
  EXPECT_EQ(readings(), 2u) << "once an hour";
  clock_.advance(minutes(1));
  source_.next.holdings = {job(kMorning, clock_.now(), true)};
  ledger_->cycle();
  EXPECT_EQ(readings(), 3u);
  ASSERT_EQ(held().size(), 1u);
  EXPECT_TRUE(held()[0].ended);
  EXPECT_EQ(held()[0].held.end(), clock_.now());
}

TEST_F(LiveLedgerTest, TellsNewsTogetherWhereEachTellingIsACommit) {
  config_.live.serve.news_ms = 60'000;
  const auto imports = [&] { return in_ledger([](Store& s) { return s.imports(); }).size(); };
  source_.next.nodes = {machine()};
  go_on(seconds(10));
  EXPECT_EQ(imports(), 1u) << "the first news at once";
  const int kept = source_.times_kept;
  const Instant begun = clock_.now();
  const auto short_job = [&](bool ended) {
    Holding made = job(begun, clock_.now(), ended);
    made.workload = WorkloadId("8");
    source_.next.holdings = {made};
  };
  clock_.advance(seconds(10));
  short_job(false);
  ledger_->cycle();
  ASSERT_NE(share_of("8"), nullptr) << "it is seen before it is written";
  clock_.advance(seconds(10));
  short_job(true);
  ledger_->cycle();
  EXPECT_EQ(imports(), 1u);
  EXPECT_EQ(source_.times_kept, kept) << "what waits is not in the ledger";
  clock_.advance(seconds(40));
  ledger_->cycle();
  EXPECT_EQ(imports(), 2u);
  EXPECT_GT(source_.times_kept, kept);
  std::vector<Holding> found;
  in_ledger([&](Store& store) -> Result<bool> {
    TRY(store.scan_holdings(ClusterId("lab"), Interval(kMorning, kMorning + hours(1)),
                            [&](std::span<const Holding> some) {
                              found.insert(found.end(), some.begin(), some.end());
                              return true;
                            }));
    return true;
  });
  ASSERT_EQ(found.size(), 2u);
  const auto eighth = std::ranges::find(found, WorkloadId("8"), &Holding::workload);
  ASSERT_NE(eighth, found.end());
  EXPECT_TRUE(eighth->ended);
  EXPECT_EQ(in_ledger([](Store& store) { return store.overview(); }).rejected, 0u);
}

TEST_F(LiveLedgerTest, SettlesADayWhenItIsOver) {
  source_.next.nodes = {machine()};
  for (int i = 0; i < 16; ++i) go_on(hours(1));  // midnight
  EXPECT_EQ(in_ledger([](Store& store) { return store.overview(); }).charges, 0u)
      << "what is late of the day may still come";
  go_on(minutes(11));
  // Sixteen hours of four GPUs at 2.5, half of them held.
  const auto rows =
      in_ledger([](Store& store) { return store.summarise({.group_by = {"workload"}}); });
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].keys, ElementsAre(""));
  EXPECT_EQ(rows[0].costs.effective, Money::from_units(80, kEur));
  EXPECT_THAT(rows[1].keys, ElementsAre("7"));
  EXPECT_EQ(rows[1].costs.effective, Money::from_units(80, kEur));
  const auto totals = in_ledger([](Store& store) {
    return store.reconcile("2026-03", true, [](const LineCheck&) { return true; });
  });
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_TRUE(totals[0].exact());
  EXPECT_EQ(totals[0].billed_lines.effective, Money::from_units(160, kEur));
  // It is shown beside the job from now on.
  share_of("7");
  const auto& earlier = view_->clusters.at(ClusterId("lab")).earlier;
  EXPECT_EQ(earlier->at(WorkloadId("7")).cost, Money::from_units(80, kEur));
  // And is not settled again.
  const auto runs = in_ledger([](Store& store) { return store.runs(); }).size();
  go_on(minutes(30));
  EXPECT_EQ(in_ledger([](Store& store) { return store.runs(); }).size(), runs);
}

TEST_F(LiveLedgerTest, TellsTheAuditLogWhatItDid) {
  source_.next.nodes = {machine()};
  for (int i = 0; i < 59; ++i) go_on(minutes(1));
  EXPECT_TRUE(entries_.empty()) << "once an hour";
  for (int i = 0; i < 2; ++i) go_on(minutes(1));
  ASSERT_EQ(entries_.size(), 1u);
  EXPECT_EQ(entries_[0].action, "import");
  EXPECT_THAT(entries_[0].after, testing::HasSubstr("\"nodes\":1"));
  entries_.clear();
  for (int i = 0; i < 16; ++i) go_on(hours(1));
  std::vector<std::string> changes;
  for (const audit_log::Entry& entry : entries_) {
    EXPECT_EQ(entry.actor, "serve");
    if (entry.action != "import") changes.push_back(entry.action + " of " + entry.subject);
  }
  EXPECT_THAT(changes,
              ElementsAre("price of month 2026-03", "allocate of cluster lab, month 2026-03"));
  entries_.clear();
  ledger_->last_cycle();
  EXPECT_LE(entries_.size(), 1u);
}

TEST_F(LiveLedgerTest, GoesOnAfterARestart) {
  source_.next.nodes = {machine()};
  go_on(minutes(5));
  ledger_.reset();
  start();
  EXPECT_TRUE(ledger_->inventory().node(ClusterId("lab"), NodeId("n1")));
  go_on(minutes(1));
  ASSERT_NE(share_of("7"), nullptr);
  EXPECT_EQ(share_of("7")->since, kMorning);
  EXPECT_EQ(in_ledger([](Store& store) { return store.overview(); }).rejected, 0u);
}

TEST_F(LiveLedgerTest, ReadsPricesAgainWhenTheirFileChanges) {
  const std::filesystem::path file = folder_ / "card.csv";
  config_.rate_card_file = file.string();
  auto written = std::filesystem::file_time_type::clock::now() - hours(9);
  const auto write = [&](const char* text) {
    std::ofstream(file) << text;
    std::filesystem::last_write_time(file, written += minutes(1));
  };
  write("gpu_model,unit,price,currency\n*,GPU-Hours,2.5,EUR\n");
  start();
  source_.next.nodes = {machine()};
  for (int i = 0; i < 16; ++i) go_on(hours(1));
  go_on(minutes(11));  // the first day is settled
  const auto hour_cost = [&] {
    const LiveShare* share = share_of("7");
    return share != nullptr && share->cost ? *share->cost : Money::zero(kEur);
  };
  const Money before = hour_cost();  // of the last five minutes
  write("gpu_model,unit,price,currency\n*,GPU-Hours,5,EUR\n");
  go_on(minutes(1));
  EXPECT_EQ(hour_cost(), before + before) << "what runs now";
  go_on(minutes(10));  // the day was settled eleven minutes ago
  const auto of_the_day = [&] {
    const auto rows =
        in_ledger([](Store& store) { return store.summarise({.group_by = {"workload"}}); });
    return rows.size() == 2 ? rows[1].costs.effective : Money::zero(kEur);
  };
  EXPECT_EQ(of_the_day(), Money::from_units(160, kEur)) << "and this month's days";
  write("gpu_model,unit,price\n");
  go_on(minutes(1));
  EXPECT_EQ(hour_cost(), before + before) << "a file that can't be read changes no price";
  EXPECT_EQ(ledger_->counts().at("failures"), 1u);
  go_on(minutes(1));
  EXPECT_EQ(ledger_->counts().at("failures"), 1u) << "and is reported once";
}

TEST_F(LiveLedgerTest, MakesAViewOnlyWhenSomebodyLooks) {
  ledger_->make_views_on_demand();
  source_.next.nodes = {machine()};
  go_on(seconds(10));
  const Instant first = ledger_->view()->at;
  EXPECT_EQ(first, clock_.now());
  for (int i = 0; i < 9; ++i) go_on(seconds(10));
  EXPECT_EQ(ledger_->view()->at, first) << "nobody looked";
  EXPECT_EQ(ledger_->fresh_view(minutes(2)), ledger_->view()) << "it is new enough";
  clock_.advance(seconds(20));
  std::shared_ptr<const LiveView> seen;
  std::thread reader([&] { seen = ledger_->fresh_view(seconds(10)); });
  while (!ledger_->wants_view()) std::this_thread::yield();
  ledger_->cycle();
  reader.join();
  EXPECT_EQ(seen->at, clock_.now());
  EXPECT_FALSE(ledger_->wants_view());
}

TEST_F(LiveLedgerTest, KeepsFactsThatItCannotWrite) {
  source_.next.nodes = {machine()};
  // There is a folder in place of the ledger.
  shared_->close();
  std::filesystem::remove(config_.store_path);
  std::filesystem::create_directories(config_.store_path);
  go_on(minutes(1));
  EXPECT_FALSE(ledger_->is_writing());
  EXPECT_EQ(source_.times_kept, 0);
  std::filesystem::remove_all(config_.store_path);
  clock_.advance(minutes(1));
  ledger_->cycle();
  EXPECT_TRUE(ledger_->is_writing());
  EXPECT_EQ(source_.times_kept, 2);
  const auto overview = in_ledger([](Store& store) { return store.overview(); });
  EXPECT_EQ(overview.nodes, 1u);
  EXPECT_EQ(overview.holdings, 1u);
}

// A rollup whose refresh fails as often as it is told to.
class FailingRollup : public rollup::Rollup {
 public:
  Result<bool> refresh(Store&) override {
    ++tries;
    if (failures == 0) return true;
    --failures;
    return fail(ErrorCode::kLimit, "Out of Memory Error: could not allocate /a/file");
  }
  Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery&) override {
    return std::nullopt;
  }
  Result<std::vector<Value>> values_of(const SummaryQuery&, const std::string&, const std::string&,
                                       std::size_t) override {
    return std::vector<Value>();
  }
  std::optional<std::uint64_t> version() const override { return 1; }

  int tries = 0;
  int failures = 0;
};

TEST_F(LiveLedgerTest, TriesARollupThatFailsLessAndLessOften) {
  FailingRollup rollup;
  rollup.failures = 3;
  ledger_->begin(*engine_, *state_metrics_, {&source_}, &rollup, told_.get());
  source_.next.nodes = {machine()};
  ledger_->cycle();
  EXPECT_EQ(rollup.tries, 1);
  const auto trouble = ledger_->rollup_trouble();
  ASSERT_TRUE(trouble.has_value());
  EXPECT_EQ(trouble->why, ErrorCode::kLimit);
  EXPECT_EQ(trouble->failed_at, clock_.now());
  EXPECT_EQ(trouble->tries_again_at, clock_.now() + seconds(30));

  // Half a minute, a minute, two minutes: not at each cycle.
  const auto cycle_after = [&](std::chrono::milliseconds wait) {
    clock_.advance(wait);
    ledger_->cycle();
  };
  cycle_after(seconds(29));
  EXPECT_EQ(rollup.tries, 1);
  cycle_after(seconds(1));
  EXPECT_EQ(rollup.tries, 2);
  cycle_after(seconds(59));
  EXPECT_EQ(rollup.tries, 2);
  cycle_after(seconds(1));
  EXPECT_EQ(rollup.tries, 3);
  cycle_after(seconds(119));
  EXPECT_EQ(rollup.tries, 3);
  EXPECT_TRUE(ledger_->rollup_trouble().has_value());
  cycle_after(seconds(1));
  EXPECT_EQ(rollup.tries, 4);
  EXPECT_FALSE(ledger_->rollup_trouble().has_value());

  // The next trouble begins with a short wait again, and the longest is a quarter of an hour.
  rollup.failures = 100;
  Instant failed_at = clock_.now();
  for (const seconds wait : {seconds(30), seconds(60), seconds(120), seconds(240), seconds(480),
                             seconds(900), seconds(900)}) {
    source_.next.holdings = {job(kMorning, clock_.now() + hours(1), false)};
    clock_.advance(hours(1));
    ledger_->cycle();
    ASSERT_TRUE(ledger_->rollup_trouble().has_value());
    EXPECT_EQ(ledger_->rollup_trouble()->tries_again_at, clock_.now() + wait);
    EXPECT_GT(ledger_->rollup_trouble()->failed_at, failed_at);
    failed_at = ledger_->rollup_trouble()->failed_at;
  }
}

// A rollup whose refresh never ends by itself.
class EndlessRollup : public FailingRollup {
 public:
  Result<bool> refresh(Store&) override {
    std::atomic<bool> is_ended = false;
    const Interruptible running([&] { is_ended = true; });
    has_begun = true;
    while (!is_ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::unexpected(interrupted_error());
  }

  std::atomic<bool> has_begun = false;
};

TEST_F(LiveLedgerTest, StopsInTheMiddleOfARefresh) {
  for (const bool ends_cycles : {false, true}) {
    EndlessRollup rollup;
    ledger_->begin(*engine_, *state_metrics_, {&source_}, &rollup, told_.get());
    source_.next.nodes = {machine()};
    source_.next.holdings = {job(kMorning, clock_.now() + hours(1), false)};
    clock_.advance(hours(1));
    Interruption cycles;
    {
      const LedgerThread thread(*ledger_, *engine_, std::chrono::milliseconds(10), cycles);
      while (!rollup.has_begun) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (ends_cycles) cycles.interrupt();
      ledger_->end_refresh();
    }
    EXPECT_FALSE(ledger_->rollup_trouble().has_value());
    // What is still to be written can be.
    ledger_->last_cycle();
    EXPECT_TRUE(ledger_->is_writing());
    ledger_.reset();
    start();
  }
}

TEST_F(LiveLedgerTest, BeginsNoRefreshOnceItStops) {
  FailingRollup rollup;
  ledger_->begin(*engine_, *state_metrics_, {&source_}, &rollup, told_.get());
  ledger_->end_refresh();
  source_.next.nodes = {machine()};
  ledger_->cycle();
  EXPECT_EQ(rollup.tries, 0);
  EXPECT_FALSE(ledger_->rollup_trouble().has_value());
  EXPECT_TRUE(ledger_->is_writing());
}

}  // namespace
}  // namespace pennyweight
