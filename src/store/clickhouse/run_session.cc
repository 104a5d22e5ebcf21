#include "store/clickhouse/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/check.h"
#include "ledger/keeping.h"
#include "store/clickhouse/books.h"
#include "store/clickhouse/outlet.h"
#include "store/clickhouse/snapshot.h"
#include "store/clickhouse/turn.h"
#include "store/clickhouse/work.h"

namespace pennyweight {
namespace {

using clickhouse::Block;

// Sums of the amounts of postings, modulo 2^128 as the engine makes them: what was sent, beside
// what the table holds.
struct PostingSums {
  static constexpr const char* kSelect =
      "count(), sum(billed_cost), sum(effective_cost), sum(list_cost), sum(contracted_cost), "
      "sum(gpu_time), sum(memory_time), sum(observed_time)";
  std::uint64_t postings = 0;
  std::array<UInt128, 7> sums{};

  void add(const Posting& posting) {
    ++postings;
    const std::array<UInt128, 7> values = {static_cast<UInt128>(posting.costs.billed.ticks()),
                                           static_cast<UInt128>(posting.costs.effective.ticks()),
                                           static_cast<UInt128>(posting.costs.list.ticks()),
                                           static_cast<UInt128>(posting.costs.contracted.ticks()),
                                           posting.gpu_time.count(),
                                           posting.memory_time.count(),
                                           posting.observed_time.count()};
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
  }
  static PostingSums of(const Block& block) {
    PostingSums read;
    read.postings = block.columns[0].uint64(0);
    for (std::size_t i = 0; i < read.sums.size(); ++i) {
      read.sums[i] = static_cast<UInt128>(block.columns[i + 1].wide(0));
    }
    return read;
  }
  bool operator==(const PostingSums&) const = default;
};

class ClickhouseRun : public RunSession {
 public:
  ClickhouseRun(ClickhouseDatabase& database, OpenMark mark, Run run)
      : database_(database),
        mark_(std::move(mark)),
        run_(std::move(run)),
        session_(database.fresh_session()),
        postings_(database, clickhouse_table(Table<Posting>::kName)),
        dimension_rows_(database, clickhouse_table("run_dimensions")) {
    run_.postings = 0;
  }

  void belongs_to(WorkClaim claim, WorkDone done) {
    claim_ = std::move(claim);
    done_ = std::move(done);
  }
  Result<void> append_postings(std::span<const Posting> postings) override;
  Result<void> append_dimensions(std::span<const WorkloadDimensions> workloads) override;
  Result<void> keep_previous_except(std::span<const FactId> charges) override;
  Result<Run> commit() override;

 private:
  Result<std::optional<LedgerRun>> find_current(const Snapshot& ledger);
  Result<std::set<std::string>> copy_postings(const LedgerRun& from,
                                              const std::set<FactId>& left_out);
  Result<void> copy_dimensions(const LedgerRun& from, const std::set<std::string>& workloads);
  bool same_as(const LedgerRun& current) const;
  Result<void> write_dimensions();
  Result<void> write_record();
  Result<void> must_be_there();
  Result<Run> write_and_commit();
  Result<Run> leave_unchanged(Turn& turn, const Run& current);

  ClickhouseDatabase& database_;
  OpenMark mark_;
  Run run_;
  std::uint64_t session_;
  Outlet postings_, dimension_rows_;
  PostingSums sums_;
  SetDigest postings_digest_;
  Hash128 dimensions_digest_;
  std::map<WorkloadId, Labels> dimensions_;
  std::optional<std::uint64_t> kept_;  // the session of the run of which a part was kept
  std::optional<WorkClaim> claim_;
  WorkDone done_;  // of claim_
  bool committed_ = false;
};

Result<void> ClickhouseRun::append_postings(std::span<const Posting> postings) {
  CHECK(!committed_, "nothing is appended after commit");
  std::vector<const Posting*> piece;
  for (std::size_t begin = 0; begin < postings.size();) {
    const std::size_t count = std::min<std::size_t>(postings.size() - begin, postings_.room());
    piece.clear();
    for (const Posting& posting : postings.subspan(begin, count)) piece.push_back(&posting);
    if (auto done = add_postings(postings_.block(), session_, piece); !done) return done;
    for (const Posting* posting : piece) {
      postings_digest_.add(content_hash(*posting));
      sums_.add(*posting);
    }
    if (auto done = postings_.added(count); !done) return done;
    begin += count;
  }
  run_.postings += postings.size();
  return {};
}

Result<void> ClickhouseRun::append_dimensions(std::span<const WorkloadDimensions> workloads) {
  CHECK(!committed_, "nothing is appended after commit");
  for (const WorkloadDimensions& entry : workloads) {
    const auto [kept, created] = dimensions_.try_emplace(entry.workload, entry.dimensions);
    if (!created && kept->second != entry.dimensions) {
      return fail(ErrorCode::kConflict, "workload " + entry.workload.text() +
                                            " was given two sets of dimensions in one run");
    }
  }
  return {};
}

Result<std::optional<LedgerRun>> ClickhouseRun::find_current(const Snapshot& ledger) {
  const ClickhouseDatabase::Loan client = database_.lend();
  Result<std::vector<LedgerRun>> runs = runs_of(*client, ledger);
  if (!runs) return std::unexpected(std::move(runs.error()));
  const auto current = std::ranges::find_if(*runs, [&](const LedgerRun& kept) {
    return kept.run.scope == run_.scope && kept.run.current;
  });
  if (current == runs->end()) return std::nullopt;
  return std::move(*current);
}

// Gives the workloads of what was kept.
Result<std::set<std::string>> ClickhouseRun::copy_postings(const LedgerRun& from,
                                                           const std::set<FactId>& left_out) {
  std::set<std::string> workloads;
  SetDigest all;
  std::vector<Posting> kept;
  const ClickhouseDatabase::Loan client = database_.lend();
  const Result<void> read = client->query(
      fmt::format("SELECT {} FROM {} WHERE session = {}", clickhouse_posting_columns(),
                  database_.all(Table<Posting>::kName), from.session),
      [&](const Block& block) -> Result<bool> {
        Result<std::vector<Posting>> some = postings_of(block);
        if (!some) return std::unexpected(std::move(some.error()));
        kept.clear();
        for (Posting& posting : *some) {
          all.add(content_hash(posting));
          if (left_out.contains(posting.charge)) continue;
          workloads.insert(posting.workload.text());
          kept.push_back(std::move(posting));
        }
        if (Result<void> done = append_postings(kept); !done) {
          return std::unexpected(done.error());
        }
        return true;
      },
      database_.reading());
  if (!read) return std::unexpected(read.error());
  if (all.count() != from.run.postings || all.sum() != from.postings_sum) {
    return fail(ErrorCode::kStore,
                "the current run has not the postings that it says it has; make a whole run");
  }
  return workloads;
}

Result<void> ClickhouseRun::copy_dimensions(const LedgerRun& from,
                                            const std::set<std::string>& workloads) {
  std::map<std::string, Labels> found;
  const ClickhouseDatabase::Loan client = database_.lend();
  const Result<void> read = client->query(
      fmt::format("SELECT workload, dimension, value FROM {} WHERE session = {}",
                  database_.all("run_dimensions"), from.session),
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          const std::string workload(block.columns[0].text(row));
          if (!workloads.contains(workload)) continue;
          Labels& labels = found[workload];
          const std::string_view name = block.columns[1].text(row);
          if (name.empty()) continue;
          if (auto set = labels.set(name, block.columns[2].text(row)); !set) {
            return std::unexpected(set.error());
          }
        }
        return true;
      },
      database_.reading());
  if (!read) return read;
  std::vector<WorkloadDimensions> dimensions;
  for (auto& [workload, labels] : found) {
    dimensions.push_back({WorkloadId(workload), std::move(labels)});
  }
  return append_dimensions(dimensions);
}

Result<void> ClickhouseRun::keep_previous_except(std::span<const FactId> charges) {
  CHECK(!committed_, "nothing is kept after commit");
  CHECK(!kept_, "a session keeps the previous run once");
  const Result<Snapshot> ledger = Snapshot::of(database_);
  if (!ledger) return std::unexpected(ledger.error());
  const auto current = find_current(*ledger);
  if (!current) return std::unexpected(current.error());
  if (!*current) return fail(ErrorCode::kNotFound, kNothingToKeep);
  if (!same_rules((*current)->run, run_)) return fail(ErrorCode::kConflict, kOtherRules);
  kept_ = (*current)->session;
  const auto workloads = copy_postings(**current, {charges.begin(), charges.end()});
  if (!workloads) return std::unexpected(workloads.error());
  return copy_dimensions(**current, *workloads);
}

bool ClickhouseRun::same_as(const LedgerRun& current) const {
  return same_rules(current.run, run_) && current.run.postings_digest == run_.postings_digest &&
         current.run.postings == run_.postings && current.dimensions_digest == dimensions_digest_;
}

Result<void> ClickhouseRun::write_dimensions() {
  static const std::vector<Labels::Entry> kNone = {{"", ""}};
  for (const auto& [workload, labels] : dimensions_) {
    for (const auto& [name, value] : labels.empty() ? kNone : labels.entries()) {
      clickhouse::BlockWriter& block = dimension_rows_.block();
      block.column(0).add_uint64(session_);
      block.column(1).add_text(workload.text());
      block.column(2).add_text(name);
      block.column(3).add_text(value);
      if (Result<void> done = dimension_rows_.added(1); !done) return done;
    }
  }
  return dimension_rows_.flush();
}

Result<void> ClickhouseRun::write_record() {
  Outlet outlet(database_, clickhouse_table("runs"));
  clickhouse::BlockWriter& block = outlet.block();
  std::size_t column = 0;
  const auto count = [&](std::uint64_t value) { block.column(column++).add_uint64(value); };
  const auto text = [&](std::string_view value) { block.column(column++).add_text(value); };
  const auto hash = [&](const Hash128& value) { block.column(column++).add_hash(value); };
  count(session_);
  text(run_.scope.cluster.text());
  text(run_.scope.month);
  text(run_.policy);
  hash(run_.policy_version);
  hash(run_.catalog_version);
  text(run_.time_zone);
  text(run_.program_version);
  block.column(column++).add_int64(unix_ms(run_.at));
  count(run_.postings);
  hash(run_.postings_digest);
  hash(dimensions_digest_);
  hash(postings_digest_.sum());
  Result<void> done = outlet.added(1);
  if (done) done = outlet.flush();
  if (done) done = must_hold(database_, "runs", session_, 1);
  return done;
}

// The tables hold what was sent to them, in number and in amounts.
Result<void> ClickhouseRun::must_be_there() {
  PostingSums there;
  const ClickhouseDatabase::Loan client = database_.lend();
  const Result<void> read = client->query(
      fmt::format("SELECT {} FROM {} WHERE session = {}", PostingSums::kSelect,
                  database_.all(Table<Posting>::kName), session_),
      [&](const Block& block) -> Result<bool> {
        there = PostingSums::of(block);
        return true;
      },
      database_.reading());
  if (!read) return read;
  if (there != sums_) {
    return fail(ErrorCode::kStore,
                fmt::format("the table postings holds {} of the {} rows that were sent to it{}, so "
                            "nothing was committed; do it again",
                            there.postings, sums_.postings,
                            there.postings == sums_.postings ? ", with other amounts" : ""));
  }
  if (dimension_rows_.rows() == 0) return {};
  return must_hold(database_, "run_dimensions", session_, dimension_rows_.rows());
}

// What was appended never counts.
Result<Run> ClickhouseRun::leave_unchanged(Turn& turn, const Run& current) {
  if (!claim_) return current;
  const std::uint64_t session = database_.fresh_session();
  Result<void> done = write_done(database_, session, done_, current.number);
  if (done) done = turn.commit(session, kDoneEntry);
  if (!done) return std::unexpected(std::move(done.error()));
  return current;
}

Result<Run> ClickhouseRun::write_and_commit() {
  Result<void> done = postings_.flush();
  if (done) done = write_dimensions();
  if (done) done = must_be_there();
  if (!done) return std::unexpected(std::move(done.error()));
  Result<Turn> turn = Turn::begin(database_);
  if (!turn) return std::unexpected(std::move(turn.error()));
  const Snapshot ledger(database_, turn->view());
  const auto closed = closed_months(database_, ledger);
  if (!closed) return std::unexpected(closed.error());
  if (closed->contains(run_.scope.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(run_.scope.month));
  }
  const auto current = find_current(ledger);
  if (!current) return std::unexpected(current.error());
  if (kept_ && (!*current || (*current)->session != *kept_)) {
    return fail(ErrorCode::kConflict,
                "another run took the place of the one of which a part was kept; make it again");
  }
  if (claim_) {
    const auto good =
        check_clickhouse_claim(database_, ledger, *claim_, *current ? (*current)->run.number : 0);
    if (!good) return std::unexpected(good.error());
  }
  if (*current) {
    if (same_as(**current)) return leave_unchanged(*turn, (*current)->run);
    run_.number = (*current)->run.number + 1;
  }
  done = write_record();
  if (done && claim_) done = write_done(database_, session_, done_, run_.number);
  if (done) done = turn->commit(session_, kRunEntry);
  if (!done) return std::unexpected(std::move(done.error()));
  return run_;
}

Result<Run> ClickhouseRun::commit() {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  SetDigest dimensions;
  for (const auto& [workload, labels] : dimensions_) {
    dimensions.add(content_hash(WorkloadDimensions{workload, labels}));
  }
  dimensions_digest_ = dimensions.digest();
  run_.postings_digest = postings_digest_.digest();
  run_.number = 1;
  run_.current = true;
  Result<Run> kept = write_and_commit();
  if (!kept) return std::unexpected(kept.error().during("cannot keep the run"));
  return kept;
}

Result<std::unique_ptr<ClickhouseRun>> begin(ClickhouseDatabase& database, bool& open,
                                             const Run& run) {
  Result<OpenMark> mark = OpenMark::set(open);
  if (!mark) return std::unexpected(std::move(mark.error()));
  const Result<Snapshot> ledger = Snapshot::of(database);
  if (!ledger) return std::unexpected(ledger.error());
  const auto closed = closed_months(database, *ledger);
  if (!closed) return std::unexpected(closed.error());
  if (closed->contains(run.scope.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(run.scope.month));
  }
  return std::make_unique<ClickhouseRun>(database, std::move(*mark), run);
}

}  // namespace

Result<std::unique_ptr<RunSession>> begin_clickhouse_run(ClickhouseDatabase& database, bool& open,
                                                         const Run& run) {
  return begin(database, open, run);
}

Result<std::unique_ptr<RunSession>> begin_clickhouse_run(ClickhouseDatabase& database, bool& open,
                                                         const Run& run, const WorkClaim& claim,
                                                         const WorkDone& done) {
  auto session = begin(database, open, run);
  if (session) (*session)->belongs_to(claim, done);
  return session;
}

}  // namespace pennyweight
