#include "store/clickhouse/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "store/clickhouse/database.h"
#include "store/clickhouse/outlet.h"
#include "store/clickhouse/snapshot.h"
#include "store/clickhouse/turn.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using Sessions = std::set<std::uint64_t>;

constexpr const char* kNotes = "strays";

// Rows of these are of a session, and seen only when it counts.
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

// Which sessions have rows, by table.
Result<std::map<std::string, Sessions>> sessions_with_rows(ClickhouseDatabase& database) {
  std::map<std::string, Sessions> found;
  for (const std::string& table : swept_tables()) {
    const Result<void> read = visit(database, "SELECT DISTINCT session FROM " + database.all(table),
                                    [&](const Block& block) -> Result<bool> {
                                      for (std::uint64_t row = 0; row < block.rows; ++row) {
                                        found[table].insert(block.columns[0].uint64(row));
                                      }
                                      return true;
                                    });
    if (!read) return std::unexpected(read.error());
  }
  return found;
}

// When each was first noted.
Result<std::map<std::uint64_t, Instant>> noted_sessions(ClickhouseDatabase& database) {
  std::map<std::uint64_t, Instant> noted;
  const Result<void> read = visit(
      database, "SELECT session, min(noted_at) FROM " + database.all(kNotes) + " GROUP BY session",
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          noted[block.columns[0].uint64(row)] = from_unix_ms(block.columns[1].int64(row));
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return noted;
}

Result<void> note(ClickhouseDatabase& database, const std::vector<std::uint64_t>& sessions,
                  Instant now) {
  Outlet outlet(database, clickhouse_table(kNotes));
  for (const std::uint64_t session : sessions) {
    outlet.block().column(0).add_uint64(session);
    outlet.block().column(1).add_int64(unix_ms(now));
    if (Result<void> done = outlet.added(1); !done) return done;
  }
  return outlet.flush();
}

// Those that are condemned now; one that came to count in the meantime is left.
Result<Sessions> condemn(ClickhouseDatabase& database, const std::vector<std::uint64_t>& sessions) {
  Sessions condemned;
  if (sessions.empty()) return condemned;
  Result<Turn> turn = Turn::begin(database);
  if (!turn) return std::unexpected(std::move(turn.error()));
  for (const std::uint64_t session : sessions) {
    if (const Result<void> alive = turn->alive(); !alive) return std::unexpected(alive.error());
    const Result<bool> done = turn->condemn(session);
    if (!done) return std::unexpected(done.error());
    if (*done) condemned.insert(session);
  }
  return condemned;
}

// What the server that is asked was told to delete and has not yet. 18.16 leaves a part alone that
// was the last to reach its quorum until its partition is written again, so this may stay so.
Result<std::vector<std::string>> unfinished(ClickhouseDatabase& database,
                                            const std::string& table) {
  const std::string name = local(database.layout(), table);
  std::vector<std::string> commands;
  const Result<void> read = visit(
      database,
      fmt::format("SELECT command FROM system.mutations WHERE concat(database, '.', table) = {} "
                  "AND is_done = 0",
                  clickhouse::quoted(name)),
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          commands.emplace_back(block.columns[0].text(row));
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return commands;
}

// Has rows of these sessions deleted, but for those for which that was said before; how many.
Result<Sessions> clear(ClickhouseDatabase& database, const std::string& table,
                       const Sessions& sessions) {
  Sessions told;
  if (sessions.empty()) return told;
  const auto commands = unfinished(database, table);
  if (!commands) return std::unexpected(commands.error());
  std::string list;
  for (const std::uint64_t session : sessions) {
    const std::string number = std::to_string(session);
    const bool is_told = std::ranges::any_of(*commands, [&](const std::string& command) {
      return command.find(number) != std::string::npos;
    });
    if (is_told) continue;
    list += (list.empty() ? "" : ", ") + number;
    told.insert(session);
  }
  if (told.empty()) return told;
  const TableLayout& layout = database.layout();
  const ClickhouseDatabase::Loan client = database.lend();
  const Result<void> done = client->execute(
      fmt::format("ALTER TABLE {}{} DELETE WHERE session IN ({})", local(layout, table),
                  layout.is_cluster() ? " ON CLUSTER " + layout.cluster : "", list));
  if (!done) return std::unexpected(done.error());
  return told;
}

Result<Swept> sweep(ClickhouseDatabase& database, Instant now, std::chrono::milliseconds patience) {
  const auto rows = sessions_with_rows(database);
  if (!rows) return std::unexpected(rows.error());
  const auto noted = noted_sessions(database);
  if (!noted) return std::unexpected(noted.error());
  // Read behind the rows: what came to count meanwhile is in it.
  const auto view = database.view();
  if (!view) return std::unexpected(view.error());
  Sessions counted, condemned;
  for (const commit_log::Entry& entry : view->entries) {
    (entry.what == kCondemnedEntry ? condemned : counted).insert(entry.session);
  }

  Sessions strays;
  for (const auto& [table, sessions] : *rows) {
    for (const std::uint64_t session : sessions) {
      if (!counted.contains(session) && !condemned.contains(session)) strays.insert(session);
    }
  }
  std::vector<std::uint64_t> fresh, old;
  for (const std::uint64_t session : strays) {
    const auto since = noted->find(session);
    if (since == noted->end()) {
      fresh.push_back(session);
    } else if (now - since->second >= patience && old.size() < kCondemnedAtOnceMax) {
      old.push_back(session);
    }
  }
  if (const Result<void> done = note(database, fresh, now); !done) {
    return std::unexpected(done.error());
  }
  const Result<Sessions> gone = condemn(database, old);
  if (!gone) return std::unexpected(gone.error());
  condemned.insert(gone->begin(), gone->end());

  Sessions cleared;
  for (const auto& [table, sessions] : *rows) {
    Sessions doomed;
    std::ranges::set_intersection(sessions, condemned, std::inserter(doomed, doomed.end()));
    const Result<Sessions> told = clear(database, table, doomed);
    if (!told) return std::unexpected(told.error());
    cleared.insert(told->begin(), told->end());
  }
  // Notes of those that are settled one way or the other.
  Sessions settled;
  for (const auto& [session, _] : *noted) {
    if (!strays.contains(session) || gone->contains(session)) settled.insert(session);
  }
  if (const auto told = clear(database, kNotes, settled); !told) {
    return std::unexpected(told.error());
  }
  return Swept{.waiting = strays.size() - gone->size(),
               .condemned = gone->size(),
               .cleared = cleared.size()};
}

}  // namespace

Result<Swept> sweep_clickhouse(const ClickhouseOptions& options,
                               std::chrono::milliseconds patience) {
  auto database = ClickhouseDatabase::open(options);
  Result<Swept> swept = database ? sweep(**database, options.clock->now(), patience)
                                 : Result<Swept>(std::unexpected(std::move(database.error())));
  if (swept) return swept;
  return std::unexpected(
      swept.error().during("cannot sweep " + clickhouse::shown(options.address)));
}

}  // namespace pennyweight
