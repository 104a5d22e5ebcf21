#include "ledger/store/duckdb/run_session.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ledger/store/duckdb/closings.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store/duckdb/work.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using duckdb::Appender;

class DuckdbRun : public RunSession {
 public:
  DuckdbRun(SessionLock lock, Appender postings, Run run, std::uint64_t run_id)
      : lock_(std::move(lock)),
        appender_(std::move(postings)),
        run_(std::move(run)),
        run_id_(run_id) {}

  void belongs_to(WorkClaim claim, WorkCompletion done) {
    claim_ = std::move(claim);
    done_ = std::move(done);
  }

  Result<void> append_postings(std::span<const Posting> postings) override;
  Result<void> append_dimensions(std::span<const WorkloadDimensions> workloads) override;
  Result<void> keep_previous_except(std::span<const FactId> charges) override;
  Result<Run> commit() override;

 private:
  Result<void> leave_out(std::span<const FactId> charges, SetDigest& digest,
                         const std::string& run_id);
  Result<std::optional<NumberedRun>> find_current();
  RunRecord new_record() const;
  Result<void> write_dimensions();
  Result<void> record();
  Result<Run> leave_unchanged(const Run& current);

  SessionLock lock_;
  Appender appender_;
  Run run_;
  std::uint64_t run_id_;
  SetDigest postings_digest_;
  Hash128 dimensions_digest_;
  std::map<WorkloadId, Labels> dimensions_;
  std::uint64_t unflushed_ = 0;
  std::optional<WorkClaim> claim_;
  WorkCompletion done_;  // of claim_
  bool kept_previous_ = false;
  bool committed_ = false;
};

Result<void> DuckdbRun::append_postings(std::span<const Posting> postings) {
  CHECK(!committed_, "nothing is appended after commit");
  std::vector<const Posting*> batch;
  for (std::size_t begin = 0; begin < postings.size(); begin += Appender::kChunkRows) {
    batch.clear();
    for (const Posting& posting : postings.subspan(
             begin, std::min<std::size_t>(Appender::kChunkRows, postings.size() - begin))) {
      postings_digest_.add(content_hash(posting));
      batch.push_back(&posting);
    }
    TRY(pennyweight::append_postings(appender_, batch, run_id_));
    run_.postings += batch.size();
    unflushed_ += batch.size();
    if (unflushed_ < kFlushRows) continue;
    unflushed_ = 0;
    TRY(appender_.flush());
  }
  return {};
}

Result<void> DuckdbRun::append_dimensions(std::span<const WorkloadDimensions> workloads) {
  CHECK(!committed_, "nothing is appended after commit");
  return add_dimensions(dimensions_, workloads);
}

Result<std::optional<NumberedRun>> DuckdbRun::find_current() {
  duckdb::Statement select = TRY(lock_.connection().prepare(
      "SELECT " + run_columns() + " FROM runs WHERE cluster = $1 AND month = $2 AND is_current"));
  select.bind_text(1, run_.scope.cluster.text()).bind_text(2, run_.scope.month);
  std::vector<NumberedRun> found = TRY(read_runs(select.query()));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

// Records what is left out, and removes it from the digest of the run.
Result<void> DuckdbRun::leave_out(std::span<const FactId> charges, SetDigest& digest,
                                  const std::string& run_id) {
  TRY(lock_.connection().execute("CREATE TEMP TABLE left_out (charge_id UUID)"));
  Appender appender = TRY(Appender::open(lock_.connection(), "temp", "left_out"));
  for (std::size_t begin = 0; begin < charges.size(); begin += Appender::kChunkRows) {
    const std::size_t count = std::min<std::size_t>(Appender::kChunkRows, charges.size() - begin);
    duckdb::ColumnWriter ids = appender.column(0);
    for (std::size_t row = 0; row < count; ++row) ids.set_uuid(row, charges[begin + row].hash);
    TRY(appender.append(count));
  }
  TRY(appender.close());
  return each_chunk(lock_.connection().query("SELECT " + posting_columns("p.") +
                                             " FROM postings p WHERE run_id = " + run_id +
                                             " AND charge_id IN (SELECT charge_id FROM left_out)"),
                    [&](const duckdb::Rows& chunk) -> Result<bool> {
                      const std::vector<Posting> some = TRY(postings_of_chunk(chunk));
                      for (const Posting& posting : some) digest.remove(content_hash(posting));
                      return true;
                    });
}

Result<void> DuckdbRun::keep_previous_except(std::span<const FactId> charges) {
  CHECK(!committed_, "nothing is kept after commit");
  CHECK(!std::exchange(kept_previous_, true), "a session keeps the previous run once");
  const std::optional<NumberedRun> current = TRY(find_current());
  if (!current) return fail(ErrorCode::kNotFound, kNothingToKeep);
  const RunRecord& record = current->record;
  if (!same_rules(record.run, run_)) return fail(ErrorCode::kConflict, kOtherRules);
  const std::string run_id = std::to_string(current->run_id);
  SetDigest digest = SetDigest::of(record.run.postings, record.postings_sum);
  TRY(leave_out(charges, digest, run_id));
  const std::string kept = " FROM postings p WHERE run_id = " + run_id +
                           " AND charge_id NOT IN (SELECT charge_id FROM left_out)";
  const std::vector<WorkloadDimensions> dimensions = TRY(
      dimensions_of_rows(lock_.connection().query("SELECT " + record_columns<DimensionRecord>() +
                                                  " FROM run_dimensions WHERE run_id = " + run_id +
                                                  " AND workload IN (SELECT DISTINCT p.workload" +
                                                  kept + ") ORDER BY workload, dimension")));
  TRY(append_dimensions(dimensions));
  const Result<std::uint64_t> copied =
      lock_.connection().change("INSERT INTO postings SELECT " + std::to_string(run_id_) +
                                "::UBIGINT, " + posting_columns("p.") + kept);
  if (!copied) return std::unexpected(copied.error());
  if (*copied != digest.count()) {
    return fail(ErrorCode::kStore,
                "the current run does not have the postings that it states; make a whole run");
  }
  postings_digest_.add(digest);
  run_.postings += *copied;
  return {};
}

RunRecord DuckdbRun::new_record() const {
  return {run_, dimensions_digest_, postings_digest_.sum()};
}

Result<void> DuckdbRun::write_dimensions() {
  Appender appender = TRY(Appender::open(lock_.connection(), "", Table<DimensionRecord>::kName));
  // Records repeat the workload for each dimension, so only a few of them are in memory at once.
  std::vector<DimensionRecord> records;
  const auto append = [&]() -> Result<void> {
    TRY(append_records(appender, std::span<const DimensionRecord>(records), run_id_));
    records.clear();
    return {};
  };
  for (const auto& [workload, labels] : dimensions_) {
    if (labels.empty()) records.push_back({workload.text(), "", ""});
    for (const auto& [name, value] : labels.entries()) {
      records.push_back({workload.text(), name, value});
    }
    if (records.size() >= 8 * Appender::kChunkRows) TRY(append());
  }
  TRY(append());
  return appender.close();
}

Result<void> DuckdbRun::record() {
  duckdb::Statement retire = TRY(lock_.connection().prepare(
      "UPDATE runs SET is_current = false WHERE cluster = $1 AND month = $2 AND is_current"));
  retire.bind_text(1, run_.scope.cluster.text()).bind_text(2, run_.scope.month);
  TRY(retire.execute());
  return duckdb_io::RowInsert(Table<RunRecord>::kName)
      .number("run_id", run_id_)
      .number("number", run_.number)
      .flag("is_current", true)
      .add(new_record())
      .execute(lock_.connection());
}

// Deletes what was appended, or rolls the transaction back if nothing else is kept.
Result<Run> DuckdbRun::leave_unchanged(const Run& current) {
  if (!claim_) return current;
  Result<void> done =
      lock_.connection().execute("DELETE FROM postings WHERE run_id = " + std::to_string(run_id_));
  if (done) done = save_completion(lock_.connection(), done_, current.number);
  if (done) done = lock_.commit();
  if (!done) return std::unexpected(done.error().during("cannot keep what was done"));
  return current;
}

Result<Run> DuckdbRun::commit() {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  dimensions_digest_ = dimensions_digest(dimensions_);
  run_.postings_digest = postings_digest_.digest();
  run_.number = 1;
  run_.current = true;
  TRY(appender_.close());
  const std::optional<NumberedRun> current = TRY(find_current());
  if (claim_) {
    TRY(check_claim(lock_.connection(), *claim_, current ? current->record.run.number : 0));
  }
  if (current) {
    if (is_same_run(current->record, new_record())) return leave_unchanged(current->record.run);
    run_.number = current->record.run.number + 1;
  }
  Result<void> done = write_dimensions();
  if (done) done = record();
  if (done && claim_) done = save_completion(lock_.connection(), done_, run_.number);
  if (done) done = lock_.commit();
  if (!done) return std::unexpected(done.error().during("cannot keep the run"));
  return run_;
}

}  // namespace

std::string run_columns() { return "run_id, number, is_current, " + record_columns<RunRecord>(); }

Result<std::vector<NumberedRun>> read_runs(Result<duckdb::Rows> rows) {
  std::vector<NumberedRun> found;
  TRY(each_chunk(std::move(rows), [&](const duckdb::Rows& chunk) -> Result<bool> {
    std::vector<RunRecord> records = TRY(records_of<RunRecord>(chunk, 3));
    const duckdb::Column ids = chunk.column(0), numbers = chunk.column(1);
    const duckdb::Column currents = chunk.column(2);
    for (std::uint64_t row = 0; row < chunk.size(); ++row) {
      records[row].run.number = numbers.uint64(row);
      records[row].run.current = currents.boolean(row);
      found.push_back({ids.uint64(row), std::move(records[row])});
    }
    return true;
  }));
  return found;
}

Result<std::vector<WorkloadDimensions>> dimensions_of_rows(Result<duckdb::Rows> rows) {
  std::vector<WorkloadDimensions> found;
  TRY(each_chunk(std::move(rows), [&](const duckdb::Rows& chunk) -> Result<bool> {
    const std::vector<DimensionRecord> records = TRY(records_of<DimensionRecord>(chunk));
    for (const DimensionRecord& record : records) {
      if (found.empty() || found.back().workload.text() != record.workload) {
        found.push_back({WorkloadId(record.workload), {}});
      }
      if (record.dimension.empty()) continue;
      TRY(found.back().dimensions.set(record.dimension, record.value));
    }
    return true;
  }));
  return found;
}

namespace {

Result<std::unique_ptr<DuckdbRun>> begin(duckdb::Database& database, bool& open, const Run& run) {
  SessionLock lock = TRY(SessionLock::begin(database, open));
  const auto closed = TRY(is_closed(lock.connection(), run.scope.month));
  if (closed) return fail(ErrorCode::kConflict, month_is_closed(run.scope.month));
  const std::array<std::uint64_t, 1> last = TRY(
      counts_of<1>(lock.connection().query("SELECT coalesce(max(run_id), 0)::UBIGINT FROM runs")));
  Appender postings = TRY(Appender::open(lock.connection(), "", Table<Posting>::kName));
  Run fresh = run;
  fresh.postings = 0;
  return std::make_unique<DuckdbRun>(std::move(lock), std::move(postings), std::move(fresh),
                                     last[0] + 1);
}

}  // namespace

Result<std::unique_ptr<RunSession>> begin_duckdb_run(duckdb::Database& database, bool& open,
                                                     const Run& run) {
  return begin(database, open, run);
}

Result<std::unique_ptr<RunSession>> begin_duckdb_run(duckdb::Database& database, bool& open,
                                                     const Run& run, const WorkClaim& claim,
                                                     const WorkCompletion& done) {
  auto session = begin(database, open, run);
  if (session) (*session)->belongs_to(claim, done);
  return session;
}

}  // namespace pennyweight
