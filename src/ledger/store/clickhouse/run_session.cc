#include "ledger/store/clickhouse/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/try.h"
#include "ledger/store/clickhouse/block_inserter.h"
#include "ledger/store/clickhouse/closings.h"
#include "ledger/store/clickhouse/commit_turn.h"
#include "ledger/store/clickhouse/snapshot.h"
#include "ledger/store/clickhouse/work.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using clickhouse::Block;

// Sums of the amounts of postings, modulo 2^128 as the engine computes them; they compare what was
// sent with what the table contains.
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
  ClickhouseRun(ClickhouseDatabase& database, SessionGuard mark, Run run)
      : database_(database),
        mark_(std::move(mark)),
        run_(std::move(run)),
        session_(database.fresh_session()),
        postings_(database, clickhouse_table(Table<Posting>::kName)),
        dimension_rows_(database, clickhouse_table("run_dimensions")) {
    run_.postings = 0;
  }

  void belongs_to(WorkClaim claim, WorkCompletion done) {
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
  RunRecord new_record() const;
  Result<void> write_dimensions();
  Result<void> write_record();
  Result<void> must_be_there();
  Result<Run> write_and_commit();
  Result<Run> leave_unchanged(CommitTurn& turn, const Run& current);

  ClickhouseDatabase& database_;
  SessionGuard mark_;
  Run run_;
  std::uint64_t session_;
  BlockInserter postings_, dimension_rows_;
  PostingSums sums_;
  SetDigest postings_digest_;
  Hash128 dimensions_digest_;
  std::map<WorkloadId, Labels> dimensions_;
  std::optional<std::uint64_t> kept_;  // the session of the run whose postings are partly kept
  std::optional<WorkClaim> claim_;
  WorkCompletion done_;  // of claim_
  bool committed_ = false;
};

Result<void> ClickhouseRun::append_postings(std::span<const Posting> postings) {
  CHECK(!committed_, "nothing is appended after commit");
  std::vector<const Posting*> piece;
  for (std::size_t begin = 0; begin < postings.size();) {
    const std::size_t count = std::min<std::size_t>(postings.size() - begin, postings_.room());
    piece.clear();
    for (const Posting& posting : postings.subspan(begin, count)) piece.push_back(&posting);
    TRY(add_postings(postings_.block(), session_, piece));
    for (const Posting* posting : piece) {
      postings_digest_.add(content_hash(*posting));
      sums_.add(*posting);
    }
    TRY(postings_.added(count));
    begin += count;
  }
  run_.postings += postings.size();
  return {};
}

Result<void> ClickhouseRun::append_dimensions(std::span<const WorkloadDimensions> workloads) {
  CHECK(!committed_, "nothing is appended after commit");
  return add_dimensions(dimensions_, workloads);
}

Result<std::optional<LedgerRun>> ClickhouseRun::find_current(const Snapshot& ledger) {
  const ClickhouseDatabase::Loan client = database_.lend();
  std::vector<LedgerRun> runs = TRY(runs_of(*client, ledger));
  const auto current = std::ranges::find_if(runs, [&](const LedgerRun& kept) {
    return kept.run.scope == run_.scope && kept.run.current;
  });
  if (current == runs.end()) return std::nullopt;
  return std::move(*current);
}

// Copies the kept postings, and returns their workloads.
Result<std::set<std::string>> ClickhouseRun::copy_postings(const LedgerRun& from,
                                                           const std::set<FactId>& left_out) {
  std::set<std::string> workloads;
  SetDigest all;
  std::vector<Posting> kept;
  const ClickhouseDatabase::Loan client = database_.lend();
  TRY(client->query(
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
        TRY(append_postings(kept));
        return true;
      },
      database_.reading()));
  if (all.count() != from.run.postings || all.sum() != from.postings_sum) {
    return fail(ErrorCode::kStore,
                "the current run does not have the postings that it states; make a whole run");
  }
  return workloads;
}

Result<void> ClickhouseRun::copy_dimensions(const LedgerRun& from,
                                            const std::set<std::string>& workloads) {
  std::map<std::string, Labels> found;
  const ClickhouseDatabase::Loan client = database_.lend();
  TRY(client->query(
      fmt::format("SELECT {} FROM {} WHERE session = {}",
                  clickhouse_record_columns<DimensionRecord>(), database_.all("run_dimensions"),
                  from.session),
      [&](const Block& block) -> Result<bool> {
        const std::vector<DimensionRecord> records = TRY(records_of<DimensionRecord>(block));
        for (const DimensionRecord& record : records) {
          if (!workloads.contains(record.workload)) continue;
          Labels& labels = found[record.workload];
          if (record.dimension.empty()) continue;
          TRY(labels.set(record.dimension, record.value));
        }
        return true;
      },
      database_.reading()));
  std::vector<WorkloadDimensions> dimensions;
  for (auto& [workload, labels] : found) {
    dimensions.push_back({WorkloadId(workload), std::move(labels)});
  }
  return append_dimensions(dimensions);
}

Result<void> ClickhouseRun::keep_previous_except(std::span<const FactId> charges) {
  CHECK(!committed_, "nothing is kept after commit");
  CHECK(!kept_, "a session keeps the previous run once");
  const Snapshot ledger = TRY(Snapshot::of(database_));
  const auto current = find_current(ledger);
  if (!current) return std::unexpected(current.error());
  if (!*current) return fail(ErrorCode::kNotFound, kNothingToKeep);
  if (!same_rules((*current)->run, run_)) return fail(ErrorCode::kConflict, kOtherRules);
  kept_ = (*current)->session;
  const auto workloads = TRY(copy_postings(**current, {charges.begin(), charges.end()}));
  return copy_dimensions(**current, workloads);
}

RunRecord ClickhouseRun::new_record() const {
  return {run_, dimensions_digest_, postings_digest_.sum()};
}

Result<void> ClickhouseRun::write_dimensions() {
  const auto add = [&](const DimensionRecord& record) {
    add_record(dimension_rows_.block(), session_, record);
    return dimension_rows_.added(1);
  };
  for (const auto& [workload, labels] : dimensions_) {
    if (labels.empty()) {
      TRY(add({workload.text(), "", ""}));
    }
    for (const auto& [name, value] : labels.entries()) {
      TRY(add({workload.text(), name, value}));
    }
  }
  return dimension_rows_.flush();
}

Result<void> ClickhouseRun::write_record() {
  return insert_record(database_, session_, new_record());
}

// Verifies that the tables contain what was sent: the row counts and the sums of the amounts.
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
                            "nothing was committed; try again",
                            there.postings, sums_.postings,
                            there.postings == sums_.postings ? ", with other amounts" : ""));
  }
  if (dimension_rows_.rows() == 0) return {};
  return verify_row_count(database_, "run_dimensions", session_, dimension_rows_.rows());
}

// The appended rows never count.
Result<Run> ClickhouseRun::leave_unchanged(CommitTurn& turn, const Run& current) {
  if (!claim_) return current;
  const std::uint64_t session = database_.fresh_session();
  Result<void> done = write_completion(database_, session, done_, current.number);
  if (done) done = turn.commit(session, kDoneEntry);
  if (!done) return std::unexpected(std::move(done.error()));
  return current;
}

Result<Run> ClickhouseRun::write_and_commit() {
  Result<void> done = postings_.flush();
  if (done) done = write_dimensions();
  if (done) done = must_be_there();
  if (!done) return std::unexpected(std::move(done.error()));
  CommitTurn turn = TRY(CommitTurn::begin(database_));
  const Snapshot ledger(database_, turn.view());
  const auto closed = TRY(closed_months(database_, ledger));
  if (closed.contains(run_.scope.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(run_.scope.month));
  }
  const auto current = find_current(ledger);
  if (!current) return std::unexpected(current.error());
  if (kept_ && (!*current || (*current)->session != *kept_)) {
    return fail(
        ErrorCode::kConflict,
        "another run has replaced the one that this run keeps a part of; start the run again");
  }
  if (claim_) {
    TRY(check_clickhouse_claim(database_, ledger, *claim_, *current ? (*current)->run.number : 0));
  }
  if (*current) {
    if (is_same_run(**current, new_record())) return leave_unchanged(turn, (*current)->run);
    run_.number = (*current)->run.number + 1;
  }
  done = write_record();
  if (done && claim_) done = write_completion(database_, session_, done_, run_.number);
  if (done) done = turn.commit(session_, kRunEntry);
  if (!done) return std::unexpected(std::move(done.error()));
  return run_;
}

Result<Run> ClickhouseRun::commit() {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  dimensions_digest_ = dimensions_digest(dimensions_);
  run_.postings_digest = postings_digest_.digest();
  run_.number = 1;
  run_.current = true;
  Result<Run> kept = write_and_commit();
  if (!kept) return std::unexpected(kept.error().during("cannot keep the run"));
  return kept;
}

Result<std::unique_ptr<ClickhouseRun>> begin(ClickhouseDatabase& database, bool& open,
                                             const Run& run) {
  SessionGuard mark = TRY(SessionGuard::set(open));
  const Snapshot ledger = TRY(Snapshot::of(database));
  const auto closed = TRY(closed_months(database, ledger));
  if (closed.contains(run.scope.month)) {
    return fail(ErrorCode::kConflict, month_is_closed(run.scope.month));
  }
  return std::make_unique<ClickhouseRun>(database, std::move(mark), run);
}

}  // namespace

Result<std::unique_ptr<RunSession>> begin_clickhouse_run(ClickhouseDatabase& database, bool& open,
                                                         const Run& run) {
  return begin(database, open, run);
}

Result<std::unique_ptr<RunSession>> begin_clickhouse_run(ClickhouseDatabase& database, bool& open,
                                                         const Run& run, const WorkClaim& claim,
                                                         const WorkCompletion& done) {
  auto session = begin(database, open, run);
  if (session) (*session)->belongs_to(claim, done);
  return session;
}

}  // namespace pennyweight
