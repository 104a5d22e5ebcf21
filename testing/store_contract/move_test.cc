// A moved ledger is the same ledger: every query gives the same answer as before the move, however
// often the move was interrupted.
#include "ledger/store/move/move.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "ledger/store/move/clickhouse_source.h"
#include "ledger/store/move/clickhouse_target.h"
#include "ledger/store/move/duckdb_source.h"
#include "ledger/store/move/duckdb_target.h"
#include "testing/store_contract/stores.h"

namespace pennyweight {
namespace {

using namespace sample;
using ::testing::HasSubstr;

class RunningClock : public Clock {
 public:
  Instant now() override {
    return at("2026-04-01T00:00:00Z") + std::chrono::duration_cast<std::chrono::milliseconds>(
                                            std::chrono::steady_clock::now().time_since_epoch());
  }
};

std::uint64_t any_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// ------------------------------------------------------------------ ledgers

Charge line(const std::string& resource, std::int64_t units, const char* month) {
  Charge made = charge(resource, units);
  made.billing_account_id = "12";
  made.tags = labels({{"env", "prod"}, {"team", "ü"}});
  const Instant begin = at((std::string("2026-") + month + "-01").c_str());
  made.billing_period = made.charge_period = Interval(begin, begin + std::chrono::days(28));
  if (units % 3 == 0) made.pricing_category = PricingCategory::kDynamic;
  if (units % 2 == 0) made.consumed_quantity = Decimal::from_ticks(-1);
  return made;
}

void import_facts(Store& store, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto session = must(store.begin_import(source("facts.csv")));
  must(session->append_nodes(std::vector{node("n1"), node("n2", "p4")}));
  must(session->append_gpus(std::vector{gpu("GPU-1"), gpu("GPU-2")}));
  must(session->append_holdings(std::vector{holding("a", "2026-03-01", "2026-03-02"),
                                            holding("b", "2026-03-01", "2026-03-03", false)}));
  std::vector<Usage> usages;
  for (std::uint64_t i = 0; i < 200; ++i) {
    usages.push_back(usage("GPU-" + std::to_string(i % 3), "2026-02-27"));
    usages.back().at += std::chrono::minutes(random() % 9000) + std::chrono::seconds(i);
    usages.back().throttled_ms = i % 2 == 0 ? std::optional<std::uint64_t>() : std::optional(i);
  }
  must(session->append_usages(usages));
  must(session->append_outages(std::vector{outage("n1", "2026-03-01", "2026-03-04")}));
  must(session->append_corrections(std::vector{correction("moved", 7)}));
  must(session->append_outcomes(
      std::vector{outcome("a", "2026-03-04", 5), outcome("b", "2026-02-04", 6)}));
  must(session->append_rejected(
      std::vector<RejectedRow>{{"facts.csv", 17, "cost", "is no number", "a;b;c"}}));
  must(session->commit());
}

void import_bill(Store& store, DeliveryStyle style, const std::vector<Charge>& lines,
                 std::uint64_t file) {
  ImportSource from = source("bill-" + std::to_string(file) + ".csv");
  from.style = style;
  from.file_hash = {file, file};
  from.reason = "delivery " + std::to_string(file);
  const auto session = must(store.begin_import(from));
  must(session->append_charges(lines));
  must(session->commit());
}

void allocate(Store& store, const std::string& month, const std::string& workload, int hour,
              const std::string& cluster = "philly") {
  pennyweight::Run made = run(cluster, "policy of " + workload);
  made.scope.month = month;
  made.at += std::chrono::hours(hour);
  std::vector<Posting> postings;
  for (const Charge& charge : charges_of(store, month)) {
    postings.push_back(posting(charge.id, workload, charge.costs));
    postings.back().weight = UInt128{1} << 100;
    if (hour % 2 == 0) postings.back().holding = FactId{{7, 8}};
  }
  keep_run(store, made, postings,
           {{WorkloadId(workload), labels({{"team", "x"}, {"user", "u"}})},
            {WorkloadId("bare"), Labels()}});
}

// Everything that a ledger can contain: restated and closed months, several runs of a scope,
// invoices.
void fill(Store& store, std::uint64_t seed = 1) {
  import_facts(store, seed);
  import_bill(store, DeliveryStyle::kReplacement,
              {line("a", 10, "02"), line("b", 20, "02"), line("b", 20, "02"), line("c", 3, "03")},
              1);
  allocate(store, "2026-02", "w", 1);
  allocate(store, "2026-03", "w", 2);
  must(store.close_month({.month = "2026-02",
                          .at = at("2026-04-03T08:00:00Z"),
                          .by = "ann",
                          .reason = "paid",
                          .last_import = 0,
                          .lines = 0,
                          .runs = 0,
                          .digest = {}}));
  must(store.issue_invoices(std::vector<IssuedInvoice>{
      {"PW-1", "2026-02", "acme", at("2026-04-03"), "{\"a\":1}", {1, 1}, ""},
      {"PW-2", "2026-02", "bolt", at("2026-04-03"), "{\"b\":2}", {2, 2}, ""}}));
  import_bill(store, DeliveryStyle::kReplacement,
              {line("a", 11, "02"), line("b", 20, "02"), line("d", 4, "03")}, 2);
  import_bill(store, DeliveryStyle::kGuarded, {line("d", 5, "03")}, 3);  // set aside
  allocate(store, "2026-03", "v", 3);
  must(store.issue_invoices(std::vector<IssuedInvoice>{
      {"PW-3", "2026-02", "acme", at("2026-04-09"), "{\"c\":3}", {3, 3}, "PW-1"}}));
}

void grow(Store& store) {
  import_bill(store, DeliveryStyle::kDelta, {line("late", 6, "03")}, 4);
  allocate(store, "2026-03", "u", 4);
}

// ------------------------------------------------------------------ answers

std::string of_run(const pennyweight::Run& run) {
  return run.scope.cluster.text() + " " + run.scope.month + " " + std::to_string(run.number) + " " +
         run.policy + " " + to_text(run.policy_version) + to_text(run.catalog_version) + " " +
         run.time_zone + " " + run.program_version + " " + to_text(run.at) + " " +
         to_text(run.postings_digest) + " " + std::to_string(run.postings) +
         (run.current ? " current" : "");
}
std::string of_import(const ImportRecord& record) {
  std::string text = std::to_string(record.number) + " " + record.source.format + " " +
                     record.source.name + " " + to_text(record.source.file_hash) + " " +
                     to_text(record.source.at) + " " + std::string(to_text(record.source.style)) +
                     " " + record.source.reason;
  for (const std::uint64_t count :
       {record.charges, record.holdings, record.nodes, record.gpus, record.usages, record.outages,
        record.corrections, record.outcomes, record.rejected, record.restated.removed,
        record.restated.reversed, record.restated.late}) {
    text += " " + std::to_string(count);
  }
  return text;
}
std::string of_overview(const StoreOverview& view) {
  std::string text;
  for (const std::uint64_t count :
       {view.charges, view.holdings, view.nodes, view.gpus, view.usages, view.outages,
        view.corrections, view.outcomes, view.postings, view.imports, view.rejected}) {
    text += " " + std::to_string(count);
  }
  for (const auto* names : {&view.clusters, &view.months}) {
    for (const std::string& name : *names) text += " " + name;
  }
  return text;
}
template <class Value, class Text>
std::vector<std::string> texts_of(const std::vector<Value>& values, const Text& text) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(text(value));
  return texts;
}

void expect_same(Store& a, Store& b) {
  EXPECT_EQ(texts_of(must(a.imports()), of_import), texts_of(must(b.imports()), of_import));
  EXPECT_EQ(texts_of(must(a.runs()), of_run), texts_of(must(b.runs()), of_run));
  EXPECT_EQ(of_overview(must(a.overview())), of_overview(must(b.overview())));
  EXPECT_EQ(charges_of(a), charges_of(b));
  EXPECT_EQ(must(a.nodes()), must(b.nodes()));
  EXPECT_EQ(must(a.gpus()), must(b.gpus()));
  const Interval always(at("2026-01-01"), at("2026-12-01"));
  EXPECT_EQ(holdings_of(a, always), holdings_of(b, always));
  EXPECT_EQ(usages_of(a, always), usages_of(b, always));
  EXPECT_EQ(outcomes_of(a, always), outcomes_of(b, always));
  const ClusterId philly("philly");
  EXPECT_EQ(must(a.outages(philly, always)), must(b.outages(philly, always)));
  EXPECT_EQ(must(a.corrections(philly, always)), must(b.corrections(philly, always)));
  EXPECT_EQ(must(a.rejected_rows(1000)), must(b.rejected_rows(1000)));
  EXPECT_EQ(must(a.closings()), must(b.closings()));
  EXPECT_EQ(must(a.issued_invoices()), must(b.issued_invoices()));
  EXPECT_EQ(must(a.restated_charges("")), must(b.restated_charges("")));
  const auto gone_a = must(a.retired_charges("")), gone_b = must(b.retired_charges(""));
  ASSERT_EQ(gone_a.size(), gone_b.size());
  for (std::size_t i = 0; i < gone_a.size(); ++i) {
    EXPECT_EQ(gone_a[i].charge, gone_b[i].charge);
    EXPECT_EQ(gone_a[i].import_number, gone_b[i].import_number);
    EXPECT_EQ(gone_a[i].taken_back, gone_b[i].taken_back);
  }
  for (const pennyweight::Run& made : must(a.runs())) {
    EXPECT_EQ(postings_in(a, made.scope), postings_in(b, made.scope));
    EXPECT_EQ(must(a.dimensions_of(made.scope)), must(b.dimensions_of(made.scope)));
    const SummaryQuery query = {.group_by = {"month", "team", "workload", "charge"},
                                .as_of = made.at};
    EXPECT_EQ(must(a.summarise(query)), must(b.summarise(query)));
  }
  const auto lines_a = lines_of(a), lines_b = lines_of(b);
  ASSERT_EQ(lines_a.size(), lines_b.size());
  for (std::size_t i = 0; i < lines_a.size(); ++i) {
    EXPECT_EQ(lines_a[i].charge, lines_b[i].charge);
    EXPECT_EQ(lines_a[i].posted, lines_b[i].posted);
    EXPECT_EQ(must(a.postings_of(lines_a[i].charge.id)), must(b.postings_of(lines_b[i].charge.id)));
  }
}

// ------------------------------------------------------------------ moves

// A target that fails at a given step, like a program that is killed there.
class Breaking : public move::LedgerTarget {
 public:
  Breaking(move::LedgerTarget& target, int steps) : target_(target), left_(steps) {}
  std::string name() const override { return target_.name(); }
  const move::MoveState& found() const override { return target_.found(); }
  Result<void> begin_stage(std::uint64_t number, const move::CopyStage& stage) override {
    return step([&] { return target_.begin_stage(number, stage); });
  }
  Result<void> begin_piece(const move::PieceKey& key, const move::MovedTable& table) override {
    return step([&] { return target_.begin_piece(key, table); });
  }
  Result<void> add(const move::Page& page) override {
    return step([&] { return target_.add(page); });
  }
  Result<void> end_piece(const move::Tally& tally) override {
    return step([&] { return target_.end_piece(tally); });
  }
  Result<void> wait() override {
    return step([&] { return target_.wait(); });
  }
  Result<void> read(const move::MovedTable& table, const move::CommitHistory& history,
                    const move::PageSink& sink) override {
    return step([&] { return target_.read(table, history, sink); });
  }
  Result<void> finish(const move::CommitHistory& history) override {
    return step([&] { return target_.finish(history); });
  }

 private:
  Result<void> step(const std::function<Result<void>()>& work) {
    if (left_-- == 0) return fail(ErrorCode::kIo, "the program was ended");
    return work();
  }
  move::LedgerTarget& target_;
  int left_;
};

void ignore(const move::MoveProgress&) {}

Result<move::MoveOutcome> moved(move::LedgerSource& source, move::LedgerTarget& target,
                                int steps = -1) {
  Breaking breaking(target, steps);
  return move::move_ledger(source, breaking, ignore);
}

// The places that ledgers are moved to and from, for one store.
class Move : public ::testing::TestWithParam<std::string> {
 protected:
  bool on_servers() const { return GetParam() != "duckdb"; }
  std::string file(const std::string& name) const { return folder_.file(name); }
  static move::DuckdbLocation at_file(const std::string& path) {
    return {.path = path, .memory_bytes_max = 256u << 20, .threads = 1};
  }
  move::ClickhouseLocation at_servers() {
    if (!pending_) pending_ = std::make_unique<ServerLedger>(server_address(GetParam()));
    return {.address = pending_->address(),
            .clock = &clock_,
            .seed = any_number(),
            .takeover_wait = std::chrono::milliseconds(200)};
  }
  std::unique_ptr<move::LedgerTarget> target() {
    if (on_servers()) return must(move::open_clickhouse_target(at_servers()));
    return must(move::open_duckdb_target(at_file(file("there.duckdb"))));
  }
  std::unique_ptr<move::LedgerSource> source_there() {
    if (on_servers()) return must(move::open_clickhouse_source(at_servers()));
    return must(move::open_duckdb_source(at_file(file("there.duckdb"))));
  }
  std::unique_ptr<Store> open_there() {
    return on_servers() ? pending_->open() : open_file(file("there.duckdb"));
  }
  std::unique_ptr<move::LedgerSource> source_here() {
    return must(move::open_duckdb_source(at_file(file("here.duckdb"))));
  }
  void fill_here(std::uint64_t seed = 1) { fill(*open_file(file("here.duckdb")), seed); }

  TemporaryFolder folder_;
  RunningClock clock_;
  std::unique_ptr<ServerLedger> pending_;
};
INSTANTIATE_TEST_SUITE_P(Stores, Move, ::testing::ValuesIn(persistent_stores()), store_name);

TEST_P(Move, ThereAndBack) {
  fill_here();
  const auto there = must(moved(*source_here(), *target()));
  EXPECT_EQ(there.differences, std::vector<std::string>());
  EXPECT_EQ(there.found, 0u);
  expect_same(*open_file(file("here.duckdb")), *open_there());
  // Files left by attempts that were killed while they created the file.
  const std::vector<std::string> left = {file("back.duckdb.moving.making-1"),
                                         file("back.duckdb.moving.making-1.wal")};
  for (const std::string& one : left) std::ofstream(one) << "begun";
  const auto back = move::open_duckdb_target(at_file(file("back.duckdb")));
  must(moved(*source_there(), **back));
  expect_same(*open_file(file("here.duckdb")), *open_file(file("back.duckdb")));
  EXPECT_FALSE(std::filesystem::exists(file("back.duckdb.moving")));
  for (const std::string& one : left) EXPECT_FALSE(std::filesystem::exists(one)) << one;
}

TEST_P(Move, AnEmptyLedger) {
  open_file(file("here.duckdb"));
  must(moved(*source_here(), *target()));
  expect_same(*open_file(file("here.duckdb")), *open_there());
}

TEST_P(Move, ResumesWhereItWasInterrupted) {
  fill_here();
  // Interrupted every few steps, until one attempt finishes.
  int attempts = 0, steps = 3;
  std::uint64_t found = 0;
  while (true) {
    ASSERT_LT(++attempts, 100);
    const auto to = target();
    const auto done = moved(*source_here(), *to, steps);
    if (done) {
      found = done->found;
      break;
    }
    EXPECT_THAT(done.error().message, HasSubstr("was ended"));
    steps += 5;
  }
  EXPECT_GT(attempts, 5);
  EXPECT_GT(found, 200u);
  expect_same(*open_file(file("here.duckdb")), *open_there());
}

TEST_P(Move, NewCommitsDuringAMoveAreCopied) {
  fill_here();
  ASSERT_FALSE(moved(*source_here(), *target(), 40));
  grow(*open_file(file("here.duckdb")));
  must(moved(*source_here(), *target()));
  expect_same(*open_file(file("here.duckdb")), *open_there());
}

TEST_P(Move, AnotherSourceIsRefused) {
  fill_here();
  ASSERT_FALSE(moved(*source_here(), *target(), 40));
  fill(*open_file(file("other.duckdb")), 2);
  const auto other = must(move::open_duckdb_source(at_file(file("other.duckdb"))));
  const auto refused = moved(*other, *target());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("begun from another ledger"));
}

TEST_P(Move, AnUnfinishedLedgerCannotBeOpened) {
  fill_here();
  ASSERT_FALSE(moved(*source_here(), *target(), 60));
  if (on_servers()) {
    EXPECT_THROW(pending_->open(), std::runtime_error);
    EXPECT_THROW(pending_->open(true), std::runtime_error);
    EXPECT_FALSE(must(move::is_clickhouse_ledger(at_servers())));
  } else {
    EXPECT_THROW(open_file(file("there.duckdb.moving")), std::runtime_error);
    EXPECT_FALSE(std::filesystem::exists(file("there.duckdb")));
  }
  must(moved(*source_here(), *target()));
  expect_same(*open_file(file("here.duckdb")), *open_there());
}

TEST_P(Move, ALedgerThatWasMovedGrowsOn) {
  fill_here();
  must(moved(*source_here(), *target()));
  const auto here = open_file(file("here.duckdb")), there = open_there();
  grow(*here);
  grow(*there);
  expect_same(*here, *there);
}

TEST_P(Move, LedgersAreCompared) {
  fill_here();
  must(moved(*source_here(), *target()));
  const auto same = must(move::compare_ledgers(*source_here(), *source_there(), ignore));
  EXPECT_EQ(same.differences, std::vector<std::string>());
  EXPECT_EQ(same.tables.size(), move::moved_tables().size());
  grow(*open_there());
  const auto other = must(move::compare_ledgers(*source_here(), *source_there(), ignore));
  ASSERT_EQ(other.differences.size(), 1u);
  EXPECT_THAT(other.differences[0], HasSubstr("imports: 4 rows there, 5 here"));
}

// A target that loses a page, and one that changes a cent.
class Careless : public Breaking {
 public:
  Careless(move::LedgerTarget& target, bool loses) : Breaking(target, -1), loses_(loses) {}
  Result<void> add(const move::Page& page) override {
    if (page.table->name != "postings") return Breaking::add(page);
    if (loses_) return {};
    move::Page changed = page;
    ++changed.columns[page.table->column("billed_cost")].numbers[0];
    return Breaking::add(changed);
  }

 private:
  bool loses_;
};

TEST_P(Move, ADifferingCopyIsNoLedger) {
  fill_here();
  {
    const auto to = target();
    Careless careless(*to, GetParam() != "duckdb");
    const auto outcome = must(move::move_ledger(*source_here(), careless, ignore));
    ASSERT_FALSE(outcome.differences.empty());
    EXPECT_THAT(outcome.differences[0], HasSubstr("billed_cost"));
  }
  if (on_servers()) {
    EXPECT_THROW(pending_->open(), std::runtime_error);
  } else {
    EXPECT_FALSE(std::filesystem::exists(file("there.duckdb")));
  }
}

}  // namespace
}  // namespace pennyweight
