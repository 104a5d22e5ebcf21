#include "store/duckdb/work.h"

#include <string>
#include <utility>

#include "duckdb/appender.h"
#include "ledger/keeping.h"
#include "store/duckdb/books.h"
#include "store/duckdb/column_io.h"
#include "store/duckdb/fact_table.h"

namespace pennyweight {
namespace {

using duckdb::Appender;
using duckdb::Connection;
using duckdb::Rows;
using duckdb::Statement;

constexpr const char* kClaimColumns =
    "number, cluster, month, worker, claimed_at, lease_ms, run, signs, last_sign, given_back";

Scope scope_at(const Rows& chunk, std::uint64_t column, std::uint64_t row) {
  return {ClusterId(std::string(chunk.column(column).text(row))),
          std::string(chunk.column(column + 1).text(row))};
}

ClaimState claim_at(const Rows& chunk, std::uint64_t row) {
  return {.claim = {.number = chunk.column(0).uint64(row),
                    .scope = scope_at(chunk, 1, row),
                    .worker = std::string(chunk.column(3).text(row)),
                    .at = chunk.column(4).timestamp_ms(row),
                    .lease = std::chrono::milliseconds(chunk.column(5).uint64(row)),
                    .run = chunk.column(6).uint64(row)},
          .signs = chunk.column(7).uint64(row),
          .last_sign = chunk.column(8).timestamp_ms(row),
          .over = chunk.column(9).boolean(row)};
}

// Calls visit(chunk, row) for each row.
template <class Visit>
Result<void> each_row(Result<Rows> rows, const Visit& visit) {
  return each_chunk(std::move(rows), [&](const Rows& chunk) -> Result<bool> {
    for (std::uint64_t row = 0; row < chunk.size(); ++row) visit(chunk, row);
    return true;
  });
}

Result<std::uint64_t> count(Connection& connection, const std::string& sql) {
  const auto counted = counts_of<1>(connection.query(sql));
  if (!counted) return std::unexpected(counted.error());
  return (*counted)[0];
}

Result<std::optional<ClaimState>> newest_claim(Connection& connection, const Scope& scope) {
  Result<Statement> select =
      connection.prepare(std::string("SELECT ") + kClaimColumns +
                         " FROM work_claims WHERE cluster = $1 AND month = $2");
  if (!select) return std::unexpected(std::move(select.error()));
  select->bind_text(1, scope.cluster.text()).bind_text(2, scope.month);
  std::optional<ClaimState> newest;
  const Result<void> read = each_row(select->query(), [&](const Rows& chunk, std::uint64_t row) {
    newest = claim_at(chunk, row);
  });
  if (!read) return std::unexpected(read.error());
  return newest;
}

// Of a scope the newest of each is kept.
Result<void> forget(Connection& connection, const char* table, const Scope& scope) {
  Result<Statement> remove = connection.prepare(std::string("DELETE FROM ") + table +
                                                " WHERE cluster = $1 AND month = $2");
  if (!remove) return std::unexpected(std::move(remove.error()));
  return remove->bind_text(1, scope.cluster.text()).bind_text(2, scope.month).execute();
}

Result<void> read_plans(Connection& connection, std::vector<WorkPlan>& plans) {
  Result<void> read = each_row(
      connection.query("SELECT month, imports, join_rules, began_at, planned_at FROM work_plans "
                       "ORDER BY month"),
      [&](const Rows& chunk, std::uint64_t row) {
        plans.push_back({.month = std::string(chunk.column(0).text(row)),
                         .imports = chunk.column(1).uint64(row),
                         .join_rules = chunk.column(2).uuid(row),
                         .began = chunk.column(3).timestamp_ms(row),
                         .at = chunk.column(4).timestamp_ms(row),
                         .scopes = {}});
      });
  if (!read) return read;
  auto plan = plans.begin();
  return each_row(
      connection.query("SELECT month, cluster, line_count, lines, reach_from, reach_to "
                       "FROM work_plan_scopes ORDER BY month, cluster"),
      [&](const Rows& chunk, std::uint64_t row) {
        while (plan != plans.end() && plan->month != chunk.column(0).text(row)) ++plan;
        CHECK(plan != plans.end(), "a plan is kept together with its scopes");
        std::optional<Interval> reach;
        if (!chunk.column(4).is_null(row)) {
          reach.emplace(chunk.column(4).timestamp_ms(row), chunk.column(5).timestamp_ms(row));
        }
        plan->scopes.push_back({.cluster = ClusterId(std::string(chunk.column(1).text(row))),
                                .count = chunk.column(2).uint64(row),
                                .lines = chunk.column(3).uuid(row),
                                .reach = reach});
      });
}

}  // namespace

Result<WorkBook> work_of(Connection& connection) {
  WorkBook work;
  work.is_alone = true;
  const auto imports = count(connection, "SELECT coalesce(max(number), 0)::UBIGINT FROM imports");
  if (!imports) return std::unexpected(imports.error());
  work.imports = *imports;
  Result<void> read =
      each_row(connection.query("SELECT claim, cluster, month, run, imports, lines, join_rules, "
                                "elsewhere, began_at, done_at FROM work_done ORDER BY cluster, "
                                "month"),
               [&](const Rows& chunk, std::uint64_t row) {
                 work.done.push_back({.claim = chunk.column(0).uint64(row),
                                      .scope = scope_at(chunk, 1, row),
                                      .run = chunk.column(3).uint64(row),
                                      .seen = {.imports = chunk.column(4).uint64(row),
                                               .lines = chunk.column(5).uuid(row),
                                               .join_rules = chunk.column(6).uuid(row),
                                               .elsewhere = chunk.column(7).uuid(row)},
                                      .began = chunk.column(8).timestamp_ms(row),
                                      .at = chunk.column(9).timestamp_ms(row)});
               });
  if (read) {
    auto done = work.done.begin();
    read = each_row(connection.query(std::string("SELECT ") + kClaimColumns +
                                     " FROM work_claims ORDER BY cluster, month"),
                    [&](const Rows& chunk, std::uint64_t row) {
                      ClaimState& state = work.claims.emplace_back(claim_at(chunk, row));
                      while (done != work.done.end() && done->scope < state.claim.scope) ++done;
                      state.over = state.over ||
                                   (done != work.done.end() && done->claim == state.claim.number);
                    });
  }
  if (read) read = read_plans(connection, work.plans);
  if (!read) return std::unexpected(read.error());
  return work;
}

Result<std::vector<Touched>> touched_since(Connection& connection, std::uint64_t after) {
  std::vector<Touched> found;
  const Result<void> read = each_chunk(
      connection.query(
          "SELECT t.touched, t.cluster, t.day, t.first, t.last, i.imported_at FROM ("
          "SELECT touched, cluster, day, min(import_number) AS first, max(import_number) AS last "
          "FROM import_touches WHERE import_number > " +
          std::to_string(after) +
          " GROUP BY touched, cluster, day) t JOIN imports i ON i.number = t.first"),
      [&](const Rows& chunk) -> Result<bool> {
        for (std::uint64_t row = 0; row < chunk.size(); ++row) {
          const auto what = parse_touch(chunk.column(0).text(row));
          if (!what) return fail(ErrorCode::kStore, "an import touched what no version knows");
          found.push_back({.place = {*what, ClusterId(std::string(chunk.column(1).text(row))),
                                     chunk.column(2).date(row)},
                           .first = chunk.column(3).uint64(row),
                           .last = chunk.column(4).uint64(row),
                           .first_at = chunk.column(5).timestamp_ms(row)});
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  std::ranges::sort(found, {}, &Touched::place);
  return found;
}

Result<std::optional<WorkClaim>> claim_work(Connection& connection, const ClaimAsked& asked) {
  const auto closed = is_closed(connection, asked.scope.month);
  if (!closed) return std::unexpected(closed.error());
  if (*closed) return fail(ErrorCode::kConflict, month_is_closed(asked.scope.month));
  const auto newest = newest_claim(connection, asked.scope);
  if (!newest) return std::unexpected(newest.error());
  if ((*newest ? (*newest)->claim.number : 0) != asked.known) return std::nullopt;
  const auto last = count(connection, "SELECT coalesce(max(number), 0)::UBIGINT FROM work_claims");
  if (!last) return std::unexpected(last.error());
  Result<Statement> select = connection.prepare(
      "SELECT coalesce(max(number), 0)::UBIGINT FROM runs WHERE cluster = $1 AND month = $2 AND "
      "is_current");
  if (!select) return std::unexpected(std::move(select.error()));
  select->bind_text(1, asked.scope.cluster.text()).bind_text(2, asked.scope.month);
  const auto run = counts_of<1>(select->query());
  if (!run) return std::unexpected(run.error());
  WorkClaim claim = {.number = *last + 1,
                     .scope = asked.scope,
                     .worker = asked.worker,
                     .at = asked.at,
                     .lease = asked.lease,
                     .run = (*run)[0]};
  if (auto done = forget(connection, "work_claims", claim.scope); !done) {
    return std::unexpected(done.error());
  }
  Result<Statement> insert = connection.prepare(
      "INSERT INTO work_claims VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $5, false)");
  if (!insert) return std::unexpected(std::move(insert.error()));
  insert->bind_uint64(1, claim.number).bind_text(2, claim.scope.cluster.text());
  insert->bind_text(3, claim.scope.month).bind_text(4, claim.worker);
  insert->bind_timestamp_ms(5, claim.at);
  insert->bind_uint64(6, static_cast<std::uint64_t>(claim.lease.count()));
  insert->bind_uint64(7, claim.run);
  if (auto done = insert->execute(); !done) return std::unexpected(done.error());
  return claim;
}

Result<void> sign_work(Connection& connection, const WorkClaim& claim, Instant at, bool over) {
  Result<Statement> update = connection.prepare(
      "UPDATE work_claims SET signs = signs + 1, last_sign = greatest(last_sign, $2), given_back = "
      "given_back OR $3 WHERE number = $1");
  if (!update) return std::unexpected(std::move(update.error()));
  return update->bind_uint64(1, claim.number).bind_timestamp_ms(2, at).bind_bool(3, over).execute();
}

Result<void> keep_plan(Connection& connection, const WorkPlan& plan) {
  Result<Statement> select = connection.prepare(
      "SELECT coalesce(max(imports), 0)::UBIGINT FROM work_plans WHERE month = $1");
  if (!select) return std::unexpected(std::move(select.error()));
  const auto newest = counts_of<1>(select->bind_text(1, plan.month).query());
  if (!newest) return std::unexpected(newest.error());
  if ((*newest)[0] > plan.imports) return {};
  for (const char* table : {"work_plans", "work_plan_scopes"}) {
    Result<Statement> remove =
        connection.prepare(std::string("DELETE FROM ") + table + " WHERE month = $1");
    if (!remove) return std::unexpected(std::move(remove.error()));
    if (auto done = remove->bind_text(1, plan.month).execute(); !done) return done;
  }
  Result<Statement> insert =
      connection.prepare("INSERT INTO work_plans VALUES ($1, $2, $3, $4, $5)");
  if (!insert) return std::unexpected(std::move(insert.error()));
  insert->bind_text(1, plan.month).bind_uint64(2, plan.imports).bind_uuid(3, plan.join_rules);
  insert->bind_timestamp_ms(4, plan.began).bind_timestamp_ms(5, plan.at);
  if (auto done = insert->execute(); !done) return done;
  Result<Statement> scopes =
      connection.prepare("INSERT INTO work_plan_scopes VALUES ($1, $2, $3, $4, $5, $6)");
  if (!scopes) return std::unexpected(std::move(scopes.error()));
  for (const PlannedScope& scope : plan.scopes) {
    scopes->bind_text(1, plan.month).bind_text(2, scope.cluster.text());
    scopes->bind_uint64(3, scope.count).bind_uuid(4, scope.lines);
    if (scope.reach) {
      scopes->bind_timestamp_ms(5, scope.reach->begin()).bind_timestamp_ms(6, scope.reach->end());
    } else {
      scopes->bind_null(5).bind_null(6);
    }
    if (auto done = scopes->execute(); !done) return done;
  }
  return {};
}

Result<void> check_claim(Connection& connection, const WorkClaim& claim, std::uint64_t current) {
  const auto newest = newest_claim(connection, claim.scope);
  if (!newest) return std::unexpected(newest.error());
  const WorkClaim holder = *newest ? (*newest)->claim : WorkClaim();
  if (holder.number != claim.number) {
    return fail(ErrorCode::kConflict, claim_is_lost(claim, holder));
  }
  if (current != claim.run) return fail(ErrorCode::kConflict, run_came_between(claim, current));
  return {};
}

Result<void> keep_done(Connection& connection, const WorkDone& done, std::uint64_t run) {
  if (auto gone = forget(connection, "work_done", done.scope); !gone) return gone;
  Result<Statement> insert =
      connection.prepare("INSERT INTO work_done VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)");
  if (!insert) return std::unexpected(std::move(insert.error()));
  insert->bind_uint64(1, done.claim).bind_text(2, done.scope.cluster.text());
  insert->bind_text(3, done.scope.month).bind_uint64(4, run).bind_uint64(5, done.seen.imports);
  insert->bind_uuid(6, done.seen.lines).bind_uuid(7, done.seen.join_rules);
  insert->bind_uuid(8, done.seen.elsewhere).bind_timestamp_ms(9, done.began);
  return insert->bind_timestamp_ms(10, done.at).execute();
}

Result<void> keep_touched(Connection& connection, std::uint64_t import,
                          std::span<const TouchedPlace> places) {
  Result<Appender> appender = Appender::open(connection, "", "import_touches");
  if (!appender) return std::unexpected(std::move(appender.error()));
  std::uint64_t row = 0;
  for (const TouchedPlace& place : places) {
    appender->column(0).set_uint64(row, import);
    appender->column(1).set_text(row, to_text(place.what));
    appender->column(2).set_text(row, place.cluster.text());
    appender->column(3).set_date(row, place.day);
    if (++row < Appender::kChunkRows) continue;
    if (auto done = appender->append(std::exchange(row, 0)); !done) return done;
  }
  if (auto done = appender->append(row); !done) return done;
  return appender->close();
}

}  // namespace pennyweight
