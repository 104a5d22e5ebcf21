#include "store/duckdb/run_session.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ledger/keeping.h"
#include "store/duckdb/books.h"
#include "store/duckdb/fact_table.h"
#include "store/duckdb/work.h"

namespace pennyweight {
namespace {

using duckdb::Appender;

constexpr std::uint64_t kFlushRows = 20 * Appender::kChunkRows;

class DuckdbRun : public RunSession {
 public:
  DuckdbRun(SessionLock lock, Appender postings, Run run, std::uint64_t run_id)
      : lock_(std::move(lock)),
        appender_(std::move(postings)),
        run_(std::move(run)),
        run_id_(run_id) {}

  void belongs_to(WorkClaim claim, WorkDone done) {
    claim_ = std::move(claim);
    done_ = std::move(done);
  }

  Result<void> append_postings(std::span<const Posting> postings) override;
  Result<void> append_dimensions(std::span<const WorkloadDimensions> workloads) override;
  Result<void> keep_previous_except(std::span<const FactId> charges) override;
  Result<Run> commit() override;

 private:
  struct Current {
    std::uint64_t run_id = 0;
    Run run;
    Hash128 dimensions_digest;
    Hash128 postings_sum;
  };
  Result<void> leave_out(std::span<const FactId> charges, SetDigest& digest,
                         const std::string& run_id);
  Result<std::optional<Current>> find_current();
  bool same_as(const Current& current) const;
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
  WorkDone done_;  // of claim_
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
    if (Result<void> done = pennyweight::append_postings(appender_, batch, run_id_); !done) {
      return done;
    }
    run_.postings += batch.size();
    unflushed_ += batch.size();
    if (unflushed_ < kFlushRows) continue;
    unflushed_ = 0;
    if (Result<void> done = appender_.flush(); !done) return done;
  }
  return {};
}

Result<void> DuckdbRun::append_dimensions(std::span<const WorkloadDimensions> workloads) {
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

Result<std::optional<DuckdbRun::Current>> DuckdbRun::find_current() {
  Result<duckdb::Statement> select = lock_.connection().prepare(
      std::string("SELECT ") + kRunColumns +
      ", run_id, postings_sum FROM runs WHERE cluster = $1 AND month = $2 AND is_current");
  if (!select) return std::unexpected(std::move(select.error()));
  select->bind_text(1, run_.scope.cluster.text()).bind_text(2, run_.scope.month);
  std::optional<Current> current;
  const Result<void> read =
      each_chunk(select->query(), [&](const duckdb::Rows& chunk) -> Result<bool> {
        current.emplace(chunk.column(13).uint64(0), run_of(chunk, 0), chunk.column(12).uuid(0),
                        chunk.column(14).uuid(0));
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return current;
}

// Writes down what is left out, and takes it off the digest of the run.
Result<void> DuckdbRun::leave_out(std::span<const FactId> charges, SetDigest& digest,
                                  const std::string& run_id) {
  if (Result<void> made = lock_.connection().execute("CREATE TEMP TABLE left_out (charge_id UUID)");
      !made) {
    return made;
  }
  Result<Appender> appender = Appender::open(lock_.connection(), "temp", "left_out");
  if (!appender) return std::unexpected(std::move(appender.error()));
  for (std::size_t begin = 0; begin < charges.size(); begin += Appender::kChunkRows) {
    const std::size_t count = std::min<std::size_t>(Appender::kChunkRows, charges.size() - begin);
    duckdb::ColumnWriter ids = appender->column(0);
    for (std::size_t row = 0; row < count; ++row) ids.set_uuid(row, charges[begin + row].hash);
    if (Result<void> done = appender->append(count); !done) return done;
  }
  if (Result<void> done = appender->close(); !done) return done;
  return each_chunk(lock_.connection().query("SELECT " + posting_columns("p.") +
                                             " FROM postings p WHERE run_id = " + run_id +
                                             " AND charge_id IN (SELECT charge_id FROM left_out)"),
                    [&](const duckdb::Rows& chunk) -> Result<bool> {
                      const Result<std::vector<Posting>> some = postings_of_chunk(chunk);
                      if (!some) return std::unexpected(some.error());
                      for (const Posting& posting : *some) digest.remove(content_hash(posting));
                      return true;
                    });
}

Result<void> DuckdbRun::keep_previous_except(std::span<const FactId> charges) {
  CHECK(!committed_, "nothing is kept after commit");
  CHECK(!std::exchange(kept_previous_, true), "a session keeps the previous run once");
  const Result<std::optional<Current>> current = find_current();
  if (!current) return std::unexpected(current.error());
  if (!*current) return fail(ErrorCode::kNotFound, kNothingToKeep);
  const Run& run = (*current)->run;
  if (!same_rules(run, run_)) return fail(ErrorCode::kConflict, kOtherRules);
  const std::string run_id = std::to_string((*current)->run_id);
  SetDigest digest = SetDigest::of(run.postings, (*current)->postings_sum);
  if (Result<void> done = leave_out(charges, digest, run_id); !done) return done;
  const std::string kept = " FROM postings p WHERE run_id = " + run_id +
                           " AND charge_id NOT IN (SELECT charge_id FROM left_out)";
  const Result<std::vector<WorkloadDimensions>> dimensions = dimensions_of_rows(
      lock_.connection().query("SELECT workload, dimension, value FROM run_dimensions WHERE "
                               "run_id = " +
                               run_id + " AND workload IN (SELECT DISTINCT p.workload" + kept +
                               ") ORDER BY workload, dimension"));
  if (!dimensions) return std::unexpected(dimensions.error());
  if (Result<void> done = append_dimensions(*dimensions); !done) return done;
  const Result<std::uint64_t> copied =
      lock_.connection().change("INSERT INTO postings SELECT " + std::to_string(run_id_) +
                                "::UBIGINT, " + posting_columns("p.") + kept);
  if (!copied) return std::unexpected(copied.error());
  if (*copied != digest.count()) {
    return fail(ErrorCode::kStore,
                "the current run has not the postings that it says it has; "
                "make a whole run");
  }
  postings_digest_.add(digest);
  run_.postings += *copied;
  return {};
}

bool DuckdbRun::same_as(const Current& current) const {
  return same_rules(current.run, run_) && current.run.postings_digest == run_.postings_digest &&
         current.run.postings == run_.postings && current.dimensions_digest == dimensions_digest_;
}

Result<void> DuckdbRun::write_dimensions() {
  Result<Appender> appender = Appender::open(lock_.connection(), "", "run_dimensions");
  if (!appender) return std::unexpected(std::move(appender.error()));
  std::uint64_t row = 0;
  static const std::vector<Labels::Entry> kNone = {{"", ""}};
  for (const auto& [workload, labels] : dimensions_) {
    for (const auto& [name, value] : labels.empty() ? kNone : labels.entries()) {
      appender->column(0).set_uint64(row, run_id_);
      appender->column(1).set_text(row, workload.text());
      appender->column(2).set_text(row, name);
      appender->column(3).set_text(row, value);
      if (++row < Appender::kChunkRows) continue;
      if (Result<void> done = appender->append(std::exchange(row, 0)); !done) return done;
    }
  }
  if (Result<void> done = appender->append(row); !done) return done;
  return appender->close();
}

Result<void> DuckdbRun::record() {
  Result<duckdb::Statement> retire = lock_.connection().prepare(
      "UPDATE runs SET is_current = false WHERE cluster = $1 AND month = $2 AND is_current");
  if (!retire) return std::unexpected(std::move(retire.error()));
  retire->bind_text(1, run_.scope.cluster.text()).bind_text(2, run_.scope.month);
  if (Result<void> done = retire->execute(); !done) return done;
  Result<duckdb::Statement> insert = lock_.connection().prepare(
      "INSERT INTO runs VALUES ($1, $2, $3, $4, true, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
      "$14)");
  if (!insert) return std::unexpected(std::move(insert.error()));
  insert->bind_uint64(1, run_id_).bind_text(2, run_.scope.cluster.text());
  insert->bind_text(3, run_.scope.month).bind_uint64(4, run_.number).bind_text(5, run_.policy);
  insert->bind_uuid(6, run_.policy_version).bind_uuid(7, run_.catalog_version);
  insert->bind_text(8, run_.time_zone).bind_text(9, run_.program_version);
  insert->bind_timestamp_ms(10, run_.at).bind_uint64(11, run_.postings);
  insert->bind_uuid(12, run_.postings_digest).bind_uuid(13, dimensions_digest_);
  insert->bind_uuid(14, postings_digest_.sum());
  return insert->execute();
}

// What was appended is taken out again, or undone with the transaction where nothing else is kept.
Result<Run> DuckdbRun::leave_unchanged(const Run& current) {
  if (!claim_) return current;
  Result<void> done =
      lock_.connection().execute("DELETE FROM postings WHERE run_id = " + std::to_string(run_id_));
  if (done) done = keep_done(lock_.connection(), done_, current.number);
  if (done) done = lock_.commit();
  if (!done) return std::unexpected(done.error().during("cannot keep what was done"));
  return current;
}

Result<Run> DuckdbRun::commit() {
  CHECK(!std::exchange(committed_, true), "a session is committed once");
  SetDigest dimensions;
  for (const auto& [workload, labels] : dimensions_) {
    dimensions.add(content_hash(WorkloadDimensions{workload, labels}));
  }
  dimensions_digest_ = dimensions.digest();
  run_.postings_digest = postings_digest_.digest();
  run_.number = 1;
  run_.current = true;
  if (Result<void> closed = appender_.close(); !closed) return std::unexpected(closed.error());
  Result<std::optional<Current>> current = find_current();
  if (!current) return std::unexpected(std::move(current.error()));
  if (claim_) {
    const auto good =
        check_claim(lock_.connection(), *claim_, *current ? (*current)->run.number : 0);
    if (!good) return std::unexpected(good.error());
  }
  if (*current) {
    if (same_as(**current)) return leave_unchanged((*current)->run);
    run_.number = (*current)->run.number + 1;
  }
  Result<void> done = write_dimensions();
  if (done) done = record();
  if (done && claim_) done = keep_done(lock_.connection(), done_, run_.number);
  if (done) done = lock_.commit();
  if (!done) return std::unexpected(done.error().during("cannot keep the run"));
  return run_;
}

}  // namespace

Run run_of(const duckdb::Rows& chunk, std::uint64_t row) {
  const auto text = [&](std::uint64_t column) {
    return std::string(chunk.column(column).text(row));
  };
  return {.scope = {ClusterId(text(0)), text(1)},
          .number = chunk.column(2).uint64(row),
          .policy = text(3),
          .policy_version = chunk.column(4).uuid(row),
          .catalog_version = chunk.column(5).uuid(row),
          .time_zone = text(6),
          .program_version = text(7),
          .at = chunk.column(8).timestamp_ms(row),
          .postings_digest = chunk.column(9).uuid(row),
          .postings = chunk.column(10).uint64(row),
          .current = chunk.column(11).boolean(row)};
}

Result<std::vector<WorkloadDimensions>> dimensions_of_rows(Result<duckdb::Rows> rows) {
  std::vector<WorkloadDimensions> found;
  const Result<void> read =
      each_chunk(std::move(rows), [&](const duckdb::Rows& chunk) -> Result<bool> {
        for (std::uint64_t row = 0; row < chunk.size(); ++row) {
          const std::string_view workload = chunk.column(0).text(row);
          if (found.empty() || found.back().workload.text() != workload) {
            found.push_back({WorkloadId(std::string(workload)), {}});
          }
          const std::string_view name = chunk.column(1).text(row);
          if (name.empty()) continue;
          const Result<void> set = found.back().dimensions.set(name, chunk.column(2).text(row));
          if (!set) return std::unexpected(set.error());
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return found;
}

namespace {

Result<std::unique_ptr<DuckdbRun>> begin(duckdb::Database& database, bool& open, const Run& run) {
  Result<SessionLock> lock = SessionLock::begin(database, open);
  if (!lock) return std::unexpected(std::move(lock.error()));
  const auto closed = is_closed(lock->connection(), run.scope.month);
  if (!closed) return std::unexpected(closed.error());
  if (*closed) return fail(ErrorCode::kConflict, month_is_closed(run.scope.month));
  const Result<std::array<std::uint64_t, 1>> last =
      counts_of<1>(lock->connection().query("SELECT coalesce(max(run_id), 0)::UBIGINT FROM runs"));
  if (!last) return std::unexpected(last.error());
  Result<Appender> postings = Appender::open(lock->connection(), "", Table<Posting>::kName);
  if (!postings) return std::unexpected(std::move(postings.error()));
  Run fresh = run;
  fresh.postings = 0;
  return std::make_unique<DuckdbRun>(std::move(*lock), std::move(*postings), std::move(fresh),
                                     (*last)[0] + 1);
}

}  // namespace

Result<std::unique_ptr<RunSession>> begin_duckdb_run(duckdb::Database& database, bool& open,
                                                     const Run& run) {
  return begin(database, open, run);
}

Result<std::unique_ptr<RunSession>> begin_duckdb_run(duckdb::Database& database, bool& open,
                                                     const Run& run, const WorkClaim& claim,
                                                     const WorkDone& done) {
  auto session = begin(database, open, run);
  if (session) (*session)->belongs_to(claim, done);
  return session;
}

}  // namespace pennyweight
