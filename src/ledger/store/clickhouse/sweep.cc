#include "ledger/store/clickhouse/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/try.h"
#include "ledger/store/clickhouse/block_inserter.h"
#include "ledger/store/clickhouse/commit_turn.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/snapshot.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using Sessions = std::set<std::uint64_t>;

constexpr const char* kNotes = "strays";

// The tables whose rows belong to a session and are visible only if it counts.
std::vector<std::string> swept_tables() {
  std::vector<std::string> names;
  for (const TableSpec& table : clickhouse_tables()) {
    const bool has_session = !table.columns.empty() && table.columns.front().name == "session";
    if (has_session && table.name != kNotes) names.push_back(table.name);
  }
  return names;
}

Result<void> visit(ClickhouseDatabase& database, const std::string& sql,
                   const clickhouse::Client::Sink& sink) {
  const ClickhouseDatabase::Loan client = database.lend();
  return client->query(sql, sink, database.reading());
}

// The sessions that have rows, by table.
Result<std::map<std::string, Sessions>> sessions_with_rows(ClickhouseDatabase& database) {
  std::map<std::string, Sessions> found;
  for (const std::string& table : swept_tables()) {
    TRY(visit(database, "SELECT DISTINCT session FROM " + database.all(table),
              [&](const Block& block) -> Result<bool> {
                for (std::uint64_t row = 0; row < block.rows; ++row) {
                  found[table].insert(block.columns[0].uint64(row));
                }
                return true;
              }));
  }
  return found;
}

// When each session was first noted.
Result<std::map<std::uint64_t, Instant>> noted_sessions(ClickhouseDatabase& database) {
  std::map<std::uint64_t, Instant> noted;
  TRY(visit(database,
            "SELECT session, min(noted_at) FROM " + database.all(kNotes) + " GROUP BY session",
            [&](const Block& block) -> Result<bool> {
              for (std::uint64_t row = 0; row < block.rows; ++row) {
                noted[block.columns[0].uint64(row)] = from_unix_ms(block.columns[1].int64(row));
              }
              return true;
            }));
  return noted;
}

Result<void> note(ClickhouseDatabase& database, const std::vector<std::uint64_t>& sessions,
                  Instant now) {
  BlockInserter inserter(database, clickhouse_table(kNotes));
  for (const std::uint64_t session : sessions) {
    inserter.block().column(0).add_uint64(session);
    inserter.block().column(1).add_int64(unix_ms(now));
    TRY(inserter.added(1));
  }
  return inserter.flush();
}

// Condemns the sessions and returns those now condemned; a session that has come to count meanwhile
// is left alone.
Result<Sessions> condemn(ClickhouseDatabase& database, const std::vector<std::uint64_t>& sessions) {
  Sessions condemned;
  if (sessions.empty()) return condemned;
  CommitTurn turn = TRY(CommitTurn::begin(database));
  for (const std::uint64_t session : sessions) {
    TRY(turn.alive());
    const Result<bool> done = turn.condemn(session);
    if (!done) return std::unexpected(done.error());
    if (*done) condemned.insert(session);
  }
  return condemned;
}

// The deletions that this server was asked for and has not finished. 18.16 skips a part that was
// the last to reach its quorum until its partition is written again, so this may stay so.
Result<std::vector<std::string>> unfinished_deletions(ClickhouseDatabase& database,
                                                      const std::string& table) {
  const std::string name = local(database.layout(), table);
  std::vector<std::string> commands;
  TRY(visit(
      database,
      fmt::format("SELECT command FROM system.mutations WHERE concat(database, '.', table) = {} "
                  "AND is_done = 0",
                  clickhouse::sql_literal(name)),
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          commands.emplace_back(block.columns[0].text(row));
        }
        return true;
      }));
  return commands;
}

// Asks the servers to delete the rows of these sessions, except those of an unfinished deletion.
// Returns the sessions that it asked for.
Result<Sessions> delete_rows(ClickhouseDatabase& database, const std::string& table,
                             const Sessions& sessions) {
  Sessions named;
  if (sessions.empty()) return named;
  Sessions being_deleted;
  const std::vector<std::string> commands = TRY(unfinished_deletions(database, table));
  for (const std::string& command : commands) {
    being_deleted.merge(numbers_in(command));
  }
  std::ranges::set_difference(sessions, being_deleted, std::inserter(named, named.end()));
  if (named.empty()) return named;
  const std::vector<std::uint64_t> list(named.begin(), named.end());
  const TableLayout& layout = database.layout();
  const ClickhouseDatabase::Loan client = database.lend();
  TRY(client->execute(
      fmt::format("ALTER TABLE {}{} DELETE WHERE session IN {}", local(layout, table),
                  layout.is_cluster() ? " ON CLUSTER " + layout.cluster : "", session_list(list))));
  return named;
}

Result<SweepResult> sweep(ClickhouseDatabase& database, Instant now,
                          std::chrono::milliseconds patience) {
  const auto rows = TRY(sessions_with_rows(database));
  const auto noted = TRY(noted_sessions(database));
  // Read after the rows, so that it contains every session that has come to count meanwhile.
  const auto view = TRY(database.view());
  Sessions counted, condemned;
  for (const commit_log::Entry& entry : view.entries) {
    (entry.what == kCondemnedEntry ? condemned : counted).insert(entry.session);
  }

  Sessions strays;
  for (const auto& [table, sessions] : rows) {
    for (const std::uint64_t session : sessions) {
      if (!counted.contains(session) && !condemned.contains(session)) strays.insert(session);
    }
  }
  std::vector<std::uint64_t> fresh, old;
  for (const std::uint64_t session : strays) {
    const auto since = noted.find(session);
    if (since == noted.end()) {
      fresh.push_back(session);
    } else if (now - since->second >= patience && old.size() < kCondemnedAtOnceMax) {
      old.push_back(session);
    }
  }
  TRY(note(database, fresh, now));
  const Sessions gone = TRY(condemn(database, old));
  condemned.insert(gone.begin(), gone.end());

  Sessions cleared;
  for (const auto& [table, sessions] : rows) {
    Sessions doomed;
    std::ranges::set_intersection(sessions, condemned, std::inserter(doomed, doomed.end()));
    const Sessions named = TRY(delete_rows(database, table, doomed));
    cleared.insert(named.begin(), named.end());
  }
  // The notes of sessions that count or are condemned.
  Sessions settled;
  for (const auto& [session, _] : noted) {
    if (!strays.contains(session) || gone.contains(session)) settled.insert(session);
  }
  std::ignore = TRY(delete_rows(database, kNotes, settled));
  return SweepResult{
      .waiting = strays.size() - gone.size(), .condemned = gone.size(), .cleared = cleared.size()};
}

}  // namespace

std::set<std::uint64_t> numbers_in(std::string_view text) {
  std::set<std::uint64_t> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    std::uint64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.insert(number);
    at = next == at ? at + 1 : next;
  }
  return numbers;
}

Result<SweepResult> sweep_clickhouse(const ClickhouseOptions& options,
                                     std::chrono::milliseconds patience) {
  auto database = ClickhouseDatabase::open(options);
  Result<SweepResult> swept =
      database ? sweep(**database, options.clock->now(), patience)
               : Result<SweepResult>(std::unexpected(std::move(database.error())));
  if (swept) return swept;
  return std::unexpected(
      swept.error().during("cannot sweep " + clickhouse::shown(options.address)));
}

}  // namespace pennyweight
