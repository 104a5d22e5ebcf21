#include "ledger/store/duckdb/work.h"

#include <string>
#include <utility>

#include "core/duckdb/appender.h"
#include "core/try.h"
#include "ledger/store/duckdb/closings.h"
#include "ledger/store/duckdb/column_io.h"
#include "ledger/store/duckdb/fact_table.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

using duckdb::Appender;
using duckdb::Connection;
using duckdb::Rows;
using duckdb::Statement;

Result<std::optional<ClaimState>> newest_claim(Connection& connection, const Scope& scope) {
  Statement select = TRY(connection.prepare("SELECT " + record_columns<ClaimState>() +
                                            " FROM work_claims WHERE cluster = $1 AND month = $2"));
  select.bind_text(1, scope.cluster.text()).bind_text(2, scope.month);
  std::vector<ClaimState> found = TRY(all_records<ClaimState>(select.query()));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

// A scope has one row in each table; a newer row replaces it.
Result<void> remove_row(Connection& connection, const char* table, const Scope& scope) {
  Statement remove = TRY(connection.prepare(std::string("DELETE FROM ") + table +
                                            " WHERE cluster = $1 AND month = $2"));
  return remove.bind_text(1, scope.cluster.text()).bind_text(2, scope.month).execute();
}

Result<std::vector<WorkPlan>> read_plans(Connection& connection) {
  std::vector<WorkPlan> plans = TRY(all_records<WorkPlan>(connection.query(
      "SELECT " + record_columns<WorkPlan>() + " FROM work_plans ORDER BY month")));
  auto plan = plans.begin();
  TRY(each_chunk(connection.query("SELECT month, " + record_columns<PlannedScope>() +
                                  " FROM work_plan_scopes ORDER BY month, cluster"),
                 [&](const Rows& chunk) -> Result<bool> {
                   std::vector<PlannedScope> scopes = TRY(records_of<PlannedScope>(chunk, 1));
                   const duckdb::Column months = chunk.column(0);
                   for (std::uint64_t row = 0; row < chunk.size(); ++row) {
                     while (plan != plans.end() && plan->month != months.text(row)) ++plan;
                     CHECK(plan != plans.end(), "a plan is saved together with its scopes");
                     plan->scopes.push_back(std::move(scopes[row]));
                   }
                   return true;
                 }));
  return plans;
}

}  // namespace

Result<WorkRecords> read_work_records(Connection& connection) {
  WorkRecords work;
  work.is_alone = true;
  work.imports =
      TRY(count_of(connection.query("SELECT coalesce(max(number), 0)::UBIGINT FROM imports")));
  work.done = TRY(all_records<WorkCompletion>(connection.query(
      "SELECT " + record_columns<WorkCompletion>() + " FROM work_done ORDER BY cluster, month")));
  work.claims = TRY(all_records<ClaimState>(connection.query(
      "SELECT " + record_columns<ClaimState>() + " FROM work_claims ORDER BY cluster, month")));
  auto done = work.done.begin();
  for (ClaimState& state : work.claims) {
    while (done != work.done.end() && done->scope < state.claim.scope) ++done;
    const bool is_completed = done != work.done.end() && done->claim == state.claim.number;
    state.is_over = state.is_over || is_completed;
  }
  work.plans = TRY(read_plans(connection));
  return work;
}

Result<std::vector<InvalidatedScope>> invalidated_since(Connection& connection,
                                                        std::uint64_t after) {
  std::vector<InvalidatedScope> found;
  const std::string columns = record_columns<Invalidation>();
  TRY(each_chunk(
      connection.query(
          "SELECT t.first, t.last, i.imported_at, " + record_columns<Invalidation>("t.") +
          " FROM (SELECT " + columns +
          ", min(import_number) AS first, max(import_number) AS last FROM import_touches WHERE "
          "import_number > " +
          std::to_string(after) + " GROUP BY " + columns +
          ") t JOIN imports i ON i.number = t.first"),
      [&](const Rows& chunk) -> Result<bool> {
        const std::vector<Invalidation> some = TRY(records_of<Invalidation>(chunk, 3));
        for (std::uint64_t row = 0; row < chunk.size(); ++row) {
          found.push_back({.invalidation = some[row],
                           .first_import = chunk.column(0).uint64(row),
                           .last_import = chunk.column(1).uint64(row),
                           .first_imported_at = chunk.column(2).timestamp_ms(row)});
        }
        return true;
      }));
  std::ranges::sort(found, {}, &InvalidatedScope::invalidation);
  return found;
}

Result<std::optional<WorkClaim>> claim_work(Connection& connection, const ClaimRequest& request) {
  const auto closed = TRY(is_closed(connection, request.scope.month));
  if (closed) return fail(ErrorCode::kConflict, month_is_closed(request.scope.month));
  const auto newest = TRY(newest_claim(connection, request.scope));
  if ((newest ? newest->claim.number : 0) != request.newest_known) return std::nullopt;
  const std::uint64_t last =
      TRY(count_of(connection.query("SELECT coalesce(max(number), 0)::UBIGINT FROM work_claims")));
  Statement select = TRY(connection.prepare(
      "SELECT coalesce(max(number), 0)::UBIGINT FROM runs WHERE cluster = $1 AND month = $2 AND "
      "is_current"));
  select.bind_text(1, request.scope.cluster.text()).bind_text(2, request.scope.month);
  const std::uint64_t run = TRY(count_of(select.query()));
  WorkClaim claim = {.number = last + 1,
                     .scope = request.scope,
                     .worker = request.worker,
                     .at = request.at,
                     .lease = request.lease,
                     .run = run};
  TRY(remove_row(connection, Table<WorkClaim>::kName, claim.scope));
  const ClaimState state = {.claim = claim, .last_heartbeat = claim.at};
  TRY(duckdb_io::RowInsert(Table<ClaimState>::kName).add(state).execute(connection));
  return claim;
}

Result<void> record_heartbeat(Connection& connection, const WorkClaim& claim, Instant at,
                              bool over) {
  Statement update = TRY(connection.prepare(
      "UPDATE work_claims SET signs = signs + 1, last_sign = greatest(last_sign, $2), given_back = "
      "given_back OR $3 WHERE number = $1"));
  return update.bind_uint64(1, claim.number).bind_timestamp_ms(2, at).bind_bool(3, over).execute();
}

Result<void> save_plan(Connection& connection, const WorkPlan& plan) {
  Statement select = TRY(connection.prepare(
      "SELECT coalesce(max(imports), 0)::UBIGINT FROM work_plans WHERE month = $1"));
  const std::uint64_t newest = TRY(count_of(select.bind_text(1, plan.month).query()));
  if (newest > plan.imports) return {};
  for (const char* table : {"work_plans", "work_plan_scopes"}) {
    Statement remove =
        TRY(connection.prepare(std::string("DELETE FROM ") + table + " WHERE month = $1"));
    TRY(remove.bind_text(1, plan.month).execute());
  }
  TRY(duckdb_io::RowInsert(Table<WorkPlan>::kName).add(plan).execute(connection));
  for (const PlannedScope& scope : plan.scopes) {
    TRY(duckdb_io::RowInsert(Table<PlannedScope>::kName)
            .text_value("month", plan.month)
            .add(scope)
            .execute(connection));
  }
  return {};
}

Result<void> check_claim(Connection& connection, const WorkClaim& claim, std::uint64_t current) {
  const auto newest = TRY(newest_claim(connection, claim.scope));
  const WorkClaim holder = newest ? newest->claim : WorkClaim();
  if (holder.number != claim.number) {
    return fail(ErrorCode::kConflict, claim_lost_message(claim, holder));
  }
  if (current != claim.run)
    return fail(ErrorCode::kConflict, run_superseded_message(claim, current));
  return {};
}

Result<void> save_completion(Connection& connection, const WorkCompletion& done,
                             std::uint64_t run) {
  WorkCompletion completion = done;
  completion.run = run;
  TRY(remove_row(connection, Table<WorkCompletion>::kName, done.scope));
  return duckdb_io::RowInsert(Table<WorkCompletion>::kName).add(completion).execute(connection);
}

Result<void> save_invalidations(Connection& connection, std::uint64_t import,
                                std::span<const Invalidation> invalidations) {
  Appender appender = TRY(Appender::open(connection, "", Table<Invalidation>::kName));
  TRY(append_records(appender, invalidations, import));
  return appender.close();
}

}  // namespace pennyweight
