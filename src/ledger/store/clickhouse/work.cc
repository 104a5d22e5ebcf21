#include "ledger/store/clickhouse/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/try.h"
#include "ledger/store/clickhouse/block_inserter.h"
#include "ledger/store/clickhouse/closings.h"
#include "ledger/store/clickhouse/commit_turn.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::sql_literal;

// Calls visit(block, row) for each row of a statement.
template <class Visit>
Result<void> each_row(const Scan& scan, const std::string& sql, const Visit& visit) {
  std::ignore = TRY(scan.visit(sql, [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) visit(block, row);
    return true;
  }));
  return {};
}

Instant instant_at(const Block& block, std::size_t column, std::uint64_t row) {
  return from_unix_ms(block.columns[column].int64(row));
}

std::string of_scope(const Scope& scope) {
  return " AND cluster = " + sql_literal(scope.cluster.text()) +
         " AND month = " + sql_literal(scope.month);
}

// The newest of each scope, by scope.
Result<std::vector<WorkClaim>> newest_claims(const Scan& scan, const std::string& which = {}) {
  return scan.records<WorkClaim>("WHERE " + scan.snapshot().counts(kClaimEntry) + which +
                                 " ORDER BY cluster, month, number DESC LIMIT 1 BY cluster, month");
}

Result<std::optional<WorkClaim>> newest_claim(const Scan& scan, const Scope& scope) {
  auto found = TRY(newest_claims(scan, of_scope(scope)));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

Result<std::vector<WorkCompletion>> newest_completions(const Scan& scan) {
  return scan.records<WorkCompletion>(
      "WHERE (" + scan.snapshot().counts(kRunEntry) + ") OR (" +
      scan.snapshot().counts(kDoneEntry) +
      ") ORDER BY cluster, month, claim DESC LIMIT 1 BY cluster, month");
}

Result<void> add_heartbeats(const Scan& scan, std::vector<ClaimState>& claims) {
  std::vector<std::uint64_t> open;
  std::map<std::uint64_t, ClaimState*> by_number;
  for (ClaimState& state : claims) {
    if (state.is_over) continue;
    open.push_back(state.claim.number);
    by_number[state.claim.number] = &state;
  }
  if (open.empty()) return {};
  return each_row(
      scan,
      "SELECT claim, toUInt64(count()), max(sign_at), max(is_over) FROM " + scan.all("work_signs") +
          " WHERE claim IN " + session_list(open) + " GROUP BY claim",
      [&](const Block& block, std::uint64_t row) {
        ClaimState& state = *by_number.at(block.columns[0].uint64(row));
        state.heartbeats = block.columns[1].uint64(row);
        state.last_heartbeat = std::max(state.last_heartbeat, instant_at(block, 2, row));
        state.is_over = block.columns[3].boolean(row);
      });
}

// The rows of a plan share a number. One of them is its head, which is written last: a plan without
// a head is incomplete.
Result<std::vector<WorkPlan>> newest_plans(const Scan& scan) {
  std::vector<WorkPlan> plans;
  const std::size_t first_scope_column = 1 + clickhouse_io::Schema::of<WorkPlan>().columns().size();
  const std::string newest = fmt::format(
      "SELECT plan FROM {} WHERE is_head ORDER BY month, imports DESC, planned_at DESC, plan "
      "LIMIT 1 BY month",
      scan.all("work_plans"));
  std::ignore = TRY(scan.visit(
      fmt::format("SELECT is_head, {}, {} FROM {} WHERE plan GLOBAL IN ({}) ORDER BY month, "
                  "is_head DESC, cluster",
                  clickhouse_record_columns<WorkPlan>(), clickhouse_record_columns<PlannedScope>(),
                  scan.all("work_plans"), newest),
      [&](const Block& block) -> Result<bool> {
        std::vector<WorkPlan> heads = TRY(records_of<WorkPlan>(block, 1));
        std::vector<PlannedScope> scopes = TRY(records_of<PlannedScope>(block, first_scope_column));
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          if (block.columns[0].boolean(row)) {
            plans.push_back(std::move(heads[row]));
          } else {
            plans.back().scopes.push_back(std::move(scopes[row]));
          }
        }
        return true;
      }));
  return plans;
}

// The number of the current run of a scope; 0 if it has none.
Result<std::uint64_t> current_number(const Scan& scan, const Scope& scope) {
  const auto runs = TRY(scan.runs());
  const auto current = std::ranges::find_if(
      runs, [&](const LedgerRun& kept) { return kept.run.current && kept.run.scope == scope; });
  return current == runs.end() ? 0 : current->run.number;
}

}  // namespace

Result<WorkRecords> read_clickhouse_work(const Scan& scan) {
  WorkRecords work;
  work.imports = scan.snapshot().imports();
  auto claims = TRY(newest_claims(scan));
  auto done = TRY(newest_completions(scan));
  auto plans = TRY(newest_plans(scan));
  std::map<Scope, std::uint64_t> done_claims;
  for (const WorkCompletion& one : done) done_claims[one.scope] = one.claim;
  for (WorkClaim& claim : claims) {
    const auto found = done_claims.find(claim.scope);
    const bool is_done = found != done_claims.end() && found->second == claim.number;
    const Instant at = claim.at;
    work.claims.push_back({.claim = std::move(claim), .last_heartbeat = at, .is_over = is_done});
  }
  TRY(add_heartbeats(scan, work.claims));
  work.done = std::move(done);
  work.plans = std::move(plans);
  return work;
}

Result<std::vector<InvalidatedScope>> clickhouse_invalidated_scopes(const Scan& scan,
                                                                    std::uint64_t after) {
  std::vector<InvalidatedScope> found;
  if (after >= scan.snapshot().imports()) return found;
  // The log positions of the imports after `after`, and of `after` itself.
  std::vector<std::uint64_t> positions;
  std::uint64_t number = 0, after_position = 0;
  scan.snapshot().view().entries.each(kImportEntry, [&](std::uint64_t position, std::uint64_t) {
    if (++number > after) positions.push_back(position);
    if (number == after) after_position = position;
  });
  const auto number_at = [&](std::uint64_t position) {
    const auto found_at = std::ranges::lower_bound(positions, position);
    CHECK(found_at != positions.end() && *found_at == position, "the import was asked for");
    return after + 1 + static_cast<std::uint64_t>(found_at - positions.begin());
  };
  const std::string columns = clickhouse_record_columns<Invalidation>();
  // ALL: since 2019 ANY would return only one row of each side. A session has only one entry.
  std::ignore = TRY(scan.visit(
      fmt::format("SELECT min(position), max(position), argMin(touched_at, position), {} FROM {} "
                  "GLOBAL ALL INNER JOIN (SELECT session, position FROM ({}) WHERE position > {}) "
                  "AS s USING (session) GROUP BY {}",
                  columns, scan.all("import_touches"), scan.snapshot().sessions(kImportEntry),
                  after_position, columns),
      [&](const Block& block) -> Result<bool> {
        const std::vector<Invalidation> some = TRY(records_of<Invalidation>(block, 3));
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          found.push_back({.invalidation = some[row],
                           .first_import = number_at(block.columns[0].uint64(row)),
                           .last_import = number_at(block.columns[1].uint64(row)),
                           .first_imported_at = instant_at(block, 2, row)});
        }
        return true;
      }));
  std::ranges::sort(found, {}, &InvalidatedScope::invalidation);
  return found;
}

Result<std::optional<WorkClaim>> claim_clickhouse_work(ClickhouseDatabase& database, bool& open,
                                                       const ClaimRequest& request) {
  const SessionGuard guard = TRY(SessionGuard::set(open));
  // Most callers that are too late find out here, without a turn.
  const Scan before = TRY(Scan::begin(database));
  const auto is_free = [&](const Scan& scan) -> Result<bool> {
    const auto closed = TRY(closed_months(database, scan.snapshot()));
    if (closed.contains(request.scope.month)) {
      return fail(ErrorCode::kConflict, month_is_closed(request.scope.month));
    }
    const auto newest = TRY(newest_claim(scan, request.scope));
    return (newest ? newest->number : 0) == request.newest_known;
  };
  Result<bool> free = is_free(before);
  if (!free) return std::unexpected(free.error());
  if (!*free) return std::nullopt;
  CommitTurn turn = TRY(CommitTurn::begin(database));
  const Scan now(database, Snapshot(database, turn.view()));
  free = is_free(now);
  if (!free) return std::unexpected(free.error());
  if (!*free) return std::nullopt;
  const auto run = TRY(current_number(now, request.scope));
  WorkClaim claim = {.number = turn.view().entries.count(kClaimEntry) + 1,
                     .scope = request.scope,
                     .worker = request.worker,
                     .at = request.at,
                     .lease = request.lease,
                     .run = run};
  const std::uint64_t session = database.fresh_session();
  Result<void> done = insert_record(database, session, claim);
  if (done) done = turn.commit(session, kClaimEntry);
  if (!done) return std::unexpected(done.error().during("cannot claim " + request.scope.month));
  return claim;
}

Result<void> record_clickhouse_heartbeat(ClickhouseDatabase& database, const WorkClaim& claim,
                                         Instant at, bool over) {
  const TableSpec& table = clickhouse_table(Table<HeartbeatRecord>::kName);
  const HeartbeatRecord record = {claim.number, database.fresh_session(), at, over};
  const HeartbeatRecord* const pointer = &record;
  BlockInserter inserter(database, table);
  clickhouse_io::ColumnFiller<HeartbeatRecord> filler(inserter.block(), {&pointer, 1});
  Table<HeartbeatRecord>::list(filler);
  TRY(inserter.added(1));
  return inserter.flush();
}

Result<void> save_clickhouse_plan(ClickhouseDatabase& database, const WorkPlan& plan) {
  const std::uint64_t number = database.fresh_session();
  BlockInserter inserter(database, clickhouse_table("work_plans"));
  const auto add = [&](bool is_head, const PlannedScope& scope) {
    const WorkPlan* const head = &plan;
    const PlannedScope* const pointer = &scope;
    clickhouse_io::ColumnFiller<WorkPlan> filler(inserter.block(), {&head, 1});
    filler.each([&](auto& column, auto, const WorkPlan&) { column.add_uint64(number); });
    Table<WorkPlan>::list_month(filler);
    filler.each([&](auto& column, auto, const WorkPlan&) { column.add_bool(is_head); });
    Table<WorkPlan>::list_rest(filler);
    clickhouse_io::ColumnFiller<PlannedScope> scope_filler(inserter.block(), {&pointer, 1},
                                                           filler.next_column());
    Table<PlannedScope>::list(scope_filler);
    return inserter.added(1);
  };
  Result<void> done = {};
  for (const PlannedScope& scope : plan.scopes) done = done ? add(false, scope) : done;
  // The head exists once the other rows do.
  if (done) done = inserter.flush();
  if (!done) return done;
  const ClickhouseDatabase::Loan client = database.lend();
  const auto held = TRY(count_of(
      *client, database,
      fmt::format("SELECT count() FROM {} WHERE plan = {}", database.all("work_plans"), number)));
  if (held != plan.scopes.size()) {
    return fail(ErrorCode::kStore, "the plan of " + plan.month + " did not arrive as a whole");
  }
  done = add(true, {.cluster = ClusterId(""), .count = 0, .lines = {}, .reach = {}});
  if (done) done = inserter.flush();
  return done;
}

Result<void> check_clickhouse_claim(ClickhouseDatabase& database, const Snapshot& ledger,
                                    const WorkClaim& claim, std::uint64_t current) {
  const auto newest = TRY(newest_claim(Scan(database, ledger), claim.scope));
  const WorkClaim holder = newest.value_or(WorkClaim());
  if (holder.number != claim.number) {
    return fail(ErrorCode::kConflict, claim_lost_message(claim, holder));
  }
  if (current != claim.run)
    return fail(ErrorCode::kConflict, run_superseded_message(claim, current));
  return {};
}

Result<void> write_completion(ClickhouseDatabase& database, std::uint64_t session,
                              const WorkCompletion& done, std::uint64_t run) {
  WorkCompletion completion = done;
  completion.run = run;
  return insert_record(database, session, completion);
}

Result<void> write_invalidations(ClickhouseDatabase& database, std::uint64_t session, Instant at,
                                 std::span<const Invalidation> invalidations) {
  if (invalidations.empty()) return {};
  const TableSpec& table = clickhouse_table(Table<Invalidation>::kName);
  BlockInserter inserter(database, table);
  const std::size_t last = table.columns.size() - 1;
  for (const Invalidation& invalidation : invalidations) {
    add_record(inserter.block(), session, invalidation);
    inserter.block().column(last).add_int64(unix_ms(at));
    TRY(inserter.added(1));
  }
  TRY(inserter.flush());
  return verify_row_count(database, table.name, session, inserter.rows());
}

}  // namespace pennyweight
