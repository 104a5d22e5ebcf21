#include "store/clickhouse/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "ledger/keeping.h"
#include "store/clickhouse/books.h"
#include "store/clickhouse/outlet.h"
#include "store/clickhouse/turn.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::quoted;

// Calls visit(block, row) for each row of a statement.
template <class Visit>
Result<void> each_row(const Scan& scan, const std::string& sql, const Visit& visit) {
  const Result<bool> read = scan.visit(sql, [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) visit(block, row);
    return true;
  });
  if (!read) return std::unexpected(read.error());
  return {};
}

std::string text_at(const Block& block, std::size_t column, std::uint64_t row) {
  return std::string(block.columns[column].text(row));
}
Instant instant_at(const Block& block, std::size_t column, std::uint64_t row) {
  return from_unix_ms(block.columns[column].int64(row));
}
Scope scope_at(const Block& block, std::size_t column, std::uint64_t row) {
  return {ClusterId(text_at(block, column, row)), text_at(block, column + 1, row)};
}

std::string of_scope(const Scope& scope) {
  return " AND cluster = " + quoted(scope.cluster.text()) + " AND month = " + quoted(scope.month);
}

// The newest of each scope, by scope.
Result<std::vector<WorkClaim>> newest_claims(const Scan& scan, const std::string& which = {}) {
  std::vector<WorkClaim> found;
  const Result<void> read =
      each_row(scan,
               "SELECT number, cluster, month, worker, claimed_at, lease_ms, run FROM " +
                   scan.all("work_claims") + " WHERE " + scan.snapshot().counts(kClaimEntry) +
                   which + " ORDER BY cluster, month, number DESC LIMIT 1 BY cluster, month",
               [&](const Block& block, std::uint64_t row) {
                 found.push_back({.number = block.columns[0].uint64(row),
                                  .scope = scope_at(block, 1, row),
                                  .worker = text_at(block, 3, row),
                                  .at = instant_at(block, 4, row),
                                  .lease = std::chrono::milliseconds(block.columns[5].uint64(row)),
                                  .run = block.columns[6].uint64(row)});
               });
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<std::optional<WorkClaim>> newest_claim(const Scan& scan, const Scope& scope) {
  auto found = newest_claims(scan, of_scope(scope));
  if (!found) return std::unexpected(std::move(found.error()));
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::vector<WorkDone>> newest_done(const Scan& scan) {
  std::vector<WorkDone> found;
  const Result<void> read = each_row(
      scan,
      "SELECT claim, cluster, month, run, imports, lines, join_rules, elsewhere, began_at, done_at "
      "FROM " +
          scan.all("work_done") + " WHERE (" + scan.snapshot().counts(kRunEntry) + ") OR (" +
          scan.snapshot().counts(kDoneEntry) +
          ") ORDER BY cluster, month, claim DESC LIMIT 1 BY cluster, month",
      [&](const Block& block, std::uint64_t row) {
        found.push_back({.claim = block.columns[0].uint64(row),
                         .scope = scope_at(block, 1, row),
                         .run = block.columns[3].uint64(row),
                         .seen = {.imports = block.columns[4].uint64(row),
                                  .lines = block.columns[5].hash(row),
                                  .join_rules = block.columns[6].hash(row),
                                  .elsewhere = block.columns[7].hash(row)},
                         .began = instant_at(block, 8, row),
                         .at = instant_at(block, 9, row)});
      });
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<void> add_signs(const Scan& scan, std::vector<ClaimState>& claims) {
  std::vector<std::uint64_t> open;
  std::map<std::uint64_t, ClaimState*> by_number;
  for (ClaimState& state : claims) {
    if (state.over) continue;
    open.push_back(state.claim.number);
    by_number[state.claim.number] = &state;
  }
  if (open.empty()) return {};
  return each_row(scan,
                  "SELECT claim, toUInt64(count()), max(sign_at), max(is_over) FROM " +
                      scan.all("work_signs") + " WHERE claim IN " + session_list(open) +
                      " GROUP BY claim",
                  [&](const Block& block, std::uint64_t row) {
                    ClaimState& state = *by_number.at(block.columns[0].uint64(row));
                    state.signs = block.columns[1].uint64(row);
                    state.last_sign = std::max(state.last_sign, instant_at(block, 2, row));
                    state.over = block.columns[3].boolean(row);
                  });
}

// A plan's rows have a number of their own, and a head that tells of the plan.
Result<std::vector<WorkPlan>> newest_plans(const Scan& scan) {
  std::vector<WorkPlan> plans;
  const std::string newest = fmt::format(
      "SELECT plan FROM {} WHERE is_head ORDER BY month, imports DESC, planned_at DESC, plan "
      "LIMIT 1 BY month",
      scan.all("work_plans"));
  const Result<void> read = each_row(
      scan,
      fmt::format("SELECT month, is_head, imports, join_rules, began_at, planned_at, cluster, "
                  "line_count, lines, reach_from, reach_to FROM {} WHERE plan GLOBAL IN ({}) ORDER "
                  "BY month, is_head DESC, cluster",
                  scan.all("work_plans"), newest),
      [&](const Block& block, std::uint64_t row) {
        if (block.columns[1].boolean(row)) {
          plans.push_back({.month = text_at(block, 0, row),
                           .imports = block.columns[2].uint64(row),
                           .join_rules = block.columns[3].hash(row),
                           .began = instant_at(block, 4, row),
                           .at = instant_at(block, 5, row),
                           .scopes = {}});
          return;
        }
        plans.back().scopes.push_back(
            {.cluster = ClusterId(text_at(block, 6, row)),
             .count = block.columns[7].uint64(row),
             .lines = block.columns[8].hash(row),
             .reach = Interval::of(instant_at(block, 9, row), instant_at(block, 10, row))});
      });
  if (!read) return std::unexpected(read.error());
  return plans;
}

Result<void> write_claim(ClickhouseDatabase& database, std::uint64_t session,
                         const WorkClaim& claim) {
  Outlet outlet(database, clickhouse_table("work_claims"));
  clickhouse::BlockWriter& block = outlet.block();
  block.column(0).add_uint64(session);
  block.column(1).add_uint64(claim.number);
  block.column(2).add_text(claim.scope.cluster.text());
  block.column(3).add_text(claim.scope.month);
  block.column(4).add_text(claim.worker);
  block.column(5).add_int64(unix_ms(claim.at));
  block.column(6).add_uint64(static_cast<std::uint64_t>(claim.lease.count()));
  block.column(7).add_uint64(claim.run);
  Result<void> done = outlet.added(1);
  if (done) done = outlet.flush();
  if (done) done = must_hold(database, "work_claims", session, 1);
  return done;
}

// The number of the current run of a scope; 0: it has none.
Result<std::uint64_t> current_number(const Scan& scan, const Scope& scope) {
  const auto runs = scan.runs();
  if (!runs) return std::unexpected(runs.error());
  const auto current = std::ranges::find_if(
      *runs, [&](const LedgerRun& kept) { return kept.run.current && kept.run.scope == scope; });
  return current == runs->end() ? 0 : current->run.number;
}

}  // namespace

Result<WorkBook> clickhouse_work(const Scan& scan) {
  WorkBook work;
  work.imports = scan.snapshot().imports();
  auto claims = newest_claims(scan);
  if (!claims) return std::unexpected(std::move(claims.error()));
  auto done = newest_done(scan);
  if (!done) return std::unexpected(std::move(done.error()));
  auto plans = newest_plans(scan);
  if (!plans) return std::unexpected(std::move(plans.error()));
  std::map<Scope, std::uint64_t> done_claims;
  for (const WorkDone& one : *done) done_claims[one.scope] = one.claim;
  for (WorkClaim& claim : *claims) {
    const auto found = done_claims.find(claim.scope);
    const bool is_done = found != done_claims.end() && found->second == claim.number;
    const Instant at = claim.at;
    work.claims.push_back({.claim = std::move(claim), .last_sign = at, .over = is_done});
  }
  if (auto added = add_signs(scan, work.claims); !added) return std::unexpected(added.error());
  work.done = std::move(*done);
  work.plans = std::move(*plans);
  return work;
}

Result<std::vector<Touched>> clickhouse_touched(const Scan& scan, std::uint64_t after) {
  std::vector<Touched> found;
  if (after >= scan.snapshot().imports()) return found;
  // The places in the log of the imports that follow, and of `after` itself.
  std::vector<std::uint64_t> places;
  std::uint64_t number = 0, after_position = 0;
  scan.snapshot().view().entries.each(kImportEntry, [&](std::uint64_t position, std::uint64_t) {
    if (++number > after) places.push_back(position);
    if (number == after) after_position = position;
  });
  const auto number_at = [&](std::uint64_t position) {
    const auto place = std::ranges::lower_bound(places, position);
    CHECK(place != places.end() && *place == position, "what was asked for is of these imports");
    return after + 1 + static_cast<std::uint64_t>(place - places.begin());
  };
  // ALL: a session has one entry, and since 2019 ANY takes but one row of each side.
  const Result<bool> read = scan.visit(
      fmt::format("SELECT touched, cluster, day, min(position), max(position), "
                  "argMin(touched_at, position) FROM {} GLOBAL ALL INNER JOIN (SELECT session, "
                  "position FROM ({}) WHERE position > {}) AS s USING (session) "
                  "GROUP BY touched, cluster, day",
                  scan.all("import_touches"), scan.snapshot().sessions(kImportEntry),
                  after_position),
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          const auto what = parse_touch(block.columns[0].text(row));
          if (!what) return fail(ErrorCode::kStore, "an import touched what no version knows");
          const std::chrono::sys_days day{std::chrono::days(block.columns[2].int32(row))};
          found.push_back({.place = {*what, ClusterId(text_at(block, 1, row)), day},
                           .first = number_at(block.columns[3].uint64(row)),
                           .last = number_at(block.columns[4].uint64(row)),
                           .first_at = instant_at(block, 5, row)});
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  std::ranges::sort(found, {}, &Touched::place);
  return found;
}

Result<std::optional<WorkClaim>> claim_clickhouse_work(ClickhouseDatabase& database, bool& open,
                                                       const ClaimAsked& asked) {
  const Result<OpenMark> mark = OpenMark::set(open);
  if (!mark) return std::unexpected(mark.error());
  // Most who are too late see it without a turn.
  const Result<Scan> before = Scan::begin(database);
  if (!before) return std::unexpected(before.error());
  const auto is_free = [&](const Scan& scan) -> Result<bool> {
    const auto closed = closed_months(database, scan.snapshot());
    if (!closed) return std::unexpected(closed.error());
    if (closed->contains(asked.scope.month)) {
      return fail(ErrorCode::kConflict, month_is_closed(asked.scope.month));
    }
    const auto newest = newest_claim(scan, asked.scope);
    if (!newest) return std::unexpected(newest.error());
    return (*newest ? (*newest)->number : 0) == asked.known;
  };
  Result<bool> free = is_free(*before);
  if (!free) return std::unexpected(free.error());
  if (!*free) return std::nullopt;
  Result<Turn> turn = Turn::begin(database);
  if (!turn) return std::unexpected(std::move(turn.error()));
  const Scan now(database, Snapshot(database, turn->view()));
  free = is_free(now);
  if (!free) return std::unexpected(free.error());
  if (!*free) return std::nullopt;
  const auto run = current_number(now, asked.scope);
  if (!run) return std::unexpected(run.error());
  WorkClaim claim = {.number = turn->view().entries.count(kClaimEntry) + 1,
                     .scope = asked.scope,
                     .worker = asked.worker,
                     .at = asked.at,
                     .lease = asked.lease,
                     .run = *run};
  const std::uint64_t session = database.fresh_session();
  Result<void> done = write_claim(database, session, claim);
  if (done) done = turn->commit(session, kClaimEntry);
  if (!done) return std::unexpected(done.error().during("cannot claim " + asked.scope.month));
  return claim;
}

Result<void> sign_clickhouse_work(ClickhouseDatabase& database, const WorkClaim& claim, Instant at,
                                  bool over) {
  Outlet outlet(database, clickhouse_table("work_signs"));
  clickhouse::BlockWriter& block = outlet.block();
  block.column(0).add_uint64(claim.number);
  block.column(1).add_uint64(database.fresh_session());
  block.column(2).add_int64(unix_ms(at));
  block.column(3).add_bool(over);
  const Result<void> done = outlet.added(1);
  return done ? outlet.flush() : done;
}

Result<void> keep_clickhouse_plan(ClickhouseDatabase& database, const WorkPlan& plan) {
  const std::uint64_t number = database.fresh_session();
  Outlet outlet(database, clickhouse_table("work_plans"));
  const auto add = [&](bool is_head, const PlannedScope& scope) {
    clickhouse::BlockWriter& block = outlet.block();
    block.column(0).add_uint64(number);
    block.column(1).add_text(plan.month);
    block.column(2).add_bool(is_head);
    block.column(3).add_uint64(plan.imports);
    block.column(4).add_hash(plan.join_rules);
    block.column(5).add_int64(unix_ms(plan.began));
    block.column(6).add_int64(unix_ms(plan.at));
    block.column(7).add_text(scope.cluster.text());
    block.column(8).add_uint64(scope.count);
    block.column(9).add_hash(scope.lines);
    block.column(10).add_int64(scope.reach ? unix_ms(scope.reach->begin()) : 0);
    block.column(11).add_int64(scope.reach ? unix_ms(scope.reach->end()) : 0);
    return outlet.added(1);
  };
  Result<void> done = {};
  for (const PlannedScope& scope : plan.scopes) done = done ? add(false, scope) : done;
  // Its head is there once the rest of it is.
  if (done) done = outlet.flush();
  if (!done) return done;
  const ClickhouseDatabase::Loan client = database.lend();
  const auto held = count_of(
      *client, database,
      fmt::format("SELECT count() FROM {} WHERE plan = {}", database.all("work_plans"), number));
  if (!held) return std::unexpected(held.error());
  if (*held != plan.scopes.size()) {
    return fail(ErrorCode::kStore, "the plan of " + plan.month + " did not arrive as a whole");
  }
  done = add(true, {.cluster = ClusterId(""), .count = 0, .lines = {}, .reach = {}});
  if (done) done = outlet.flush();
  return done;
}

Result<void> check_clickhouse_claim(ClickhouseDatabase& database, const Snapshot& ledger,
                                    const WorkClaim& claim, std::uint64_t current) {
  const auto newest = newest_claim(Scan(database, ledger), claim.scope);
  if (!newest) return std::unexpected(newest.error());
  const WorkClaim holder = newest->value_or(WorkClaim());
  if (holder.number != claim.number) {
    return fail(ErrorCode::kConflict, claim_is_lost(claim, holder));
  }
  if (current != claim.run) return fail(ErrorCode::kConflict, run_came_between(claim, current));
  return {};
}

Result<void> write_done(ClickhouseDatabase& database, std::uint64_t session, const WorkDone& done,
                        std::uint64_t run) {
  Outlet outlet(database, clickhouse_table("work_done"));
  clickhouse::BlockWriter& block = outlet.block();
  block.column(0).add_uint64(session);
  block.column(1).add_uint64(done.claim);
  block.column(2).add_text(done.scope.cluster.text());
  block.column(3).add_text(done.scope.month);
  block.column(4).add_uint64(run);
  block.column(5).add_uint64(done.seen.imports);
  block.column(6).add_hash(done.seen.lines);
  block.column(7).add_hash(done.seen.join_rules);
  block.column(8).add_hash(done.seen.elsewhere);
  block.column(9).add_int64(unix_ms(done.began));
  block.column(10).add_int64(unix_ms(done.at));
  Result<void> written = outlet.added(1);
  if (written) written = outlet.flush();
  if (written) written = must_hold(database, "work_done", session, 1);
  return written;
}

Result<void> write_touched(ClickhouseDatabase& database, std::uint64_t session, Instant at,
                           std::span<const TouchedPlace> places) {
  if (places.empty()) return {};
  Outlet outlet(database, clickhouse_table("import_touches"));
  for (const TouchedPlace& place : places) {
    clickhouse::BlockWriter& block = outlet.block();
    block.column(0).add_uint64(session);
    block.column(1).add_text(to_text(place.what));
    block.column(2).add_text(place.cluster.text());
    block.column(3).add_int32(static_cast<std::int32_t>(place.day.time_since_epoch().count()));
    block.column(4).add_int64(unix_ms(at));
    if (auto done = outlet.added(1); !done) return done;
  }
  if (auto done = outlet.flush(); !done) return done;
  return must_hold(database, "import_touches", session, outlet.rows());
}

}  // namespace pennyweight
