#include "store/clickhouse/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

Result<void> clear(ClickhouseDatabase& database, const std::string& table,
                   const std::vector<std::uint64_t>& sessions) {
  const ClickhouseDatabase::Loan client = database.lend();
  const TableLayout& layout = database.layout();
  return client->execute(fmt::format(
      "ALTER TABLE {}{} DELETE WHERE session IN {}", local(layout, table),
      layout.is_cluster() ? " ON CLUSTER " + layout.cluster : "", session_list(sessions)));
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
    std::vector<std::uint64_t> doomed;
    std::ranges::set_intersection(sessions, condemned, std::back_inserter(doomed));
    if (doomed.empty()) continue;
    if (const Result<void> done = clear(database, table, doomed); !done) {
      return std::unexpected(done.error());
    }
    cleared.insert(doomed.begin(), doomed.end());
  }
  // Notes of those that are settled one way or the other.
  std::vector<std::uint64_t> settled;
  for (const auto& [session, _] : *noted) {
    if (!strays.contains(session) || gone->contains(session)) settled.push_back(session);
  }
  if (!settled.empty()) {
    if (const Result<void> done = clear(database, kNotes, settled); !done) {
      return std::unexpected(done.error());
    }
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
