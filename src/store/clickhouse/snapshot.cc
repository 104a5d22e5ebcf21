#include "store/clickhouse/snapshot.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pennyweight {

using clickhouse::Block;
using clickhouse::Client;

namespace {

// Whether a statement names sessions one by one. To look them up, a server reads every row of the
// log, of which there are five a commit; to be told them it takes some microseconds a session.
bool is_better_listed(std::uint64_t sessions, std::uint64_t commits) {
  constexpr std::uint64_t kFew = 4, kMost = 5'000, kCommitsASession = 100;
  return sessions <= kFew || (sessions <= kMost && sessions * kCommitsASession <= commits);
}

}  // namespace

Snapshot::Snapshot(ClickhouseDatabase& database, commit_log::View view)
    : database_(&database), view_(std::move(view)), imports_(view_.entries.count(kImportEntry)) {}

Result<Snapshot> Snapshot::of(ClickhouseDatabase& database) {
  Result<commit_log::View> view = database.view();
  if (!view) return std::unexpected(std::move(view.error()));
  return Snapshot(database, std::move(*view));
}

std::string Snapshot::sessions(const char* what) const {
  // What is sealed counts for ever, so a later read of these rows finds the same up to a position.
  return "SELECT session, position FROM " + database_->all("log") + " WHERE kind = 'sealed' AND " +
         "what = " + clickhouse::quoted(what) +
         " AND position <= " + std::to_string(view_.end().position);
}

std::string Snapshot::counts(const char* what, const std::string& prefix) const {
  const std::uint64_t count = view_.entries.count(what);
  if (count == 0) return "0";
  if (!is_better_listed(count, view_.entries.size())) {
    return prefix + "session GLOBAL IN (SELECT session FROM (" + sessions(what) + "))";
  }
  std::vector<std::uint64_t> listed;
  view_.entries.each(what,
                     [&](std::uint64_t, std::uint64_t session) { listed.push_back(session); });
  return prefix + "session IN " + session_list(listed);
}

std::string Snapshot::facts(std::string_view table) const {
  return database_->all(table) + " WHERE " + counts(kImportEntry);
}

std::string Snapshot::is_booked(const std::string& charge_id) const {
  if (imports_ == 0) return "1";
  return charge_id + " GLOBAL NOT IN (SELECT charge_id FROM " + facts("retired_charges") +
         " AND isNull(reversal))";
}

Result<std::vector<LedgerRun>> runs_of(Client& client, const Snapshot& snapshot) {
  std::map<std::uint64_t, std::uint64_t> positions;  // of sessions
  snapshot.view().entries.each(kRunEntry, [&](std::uint64_t position, std::uint64_t session) {
    positions[session] = position;
  });
  std::vector<LedgerRun> found;
  if (positions.empty()) return found;
  const auto take = [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const auto text = [&](std::size_t i) { return std::string(block.columns[i].text(row)); };
      const auto hash = [&](std::size_t i) { return block.columns[i].hash(row); };
      found.push_back({.run = {.scope = {ClusterId(text(1)), text(2)},
                               .policy = text(3),
                               .policy_version = hash(4),
                               .catalog_version = hash(5),
                               .time_zone = text(6),
                               .program_version = text(7),
                               .at = from_unix_ms(block.columns[8].int64(row)),
                               .postings_digest = hash(10),
                               .postings = block.columns[9].uint64(row),
                               .current = false},
                       .session = block.columns[0].uint64(row),
                       .dimensions_digest = hash(11),
                       .postings_sum = hash(12)});
    }
    return true;
  };
  const ClickhouseDatabase& database = snapshot.database();
  const Result<void> read =
      client.query("SELECT " + column_names(clickhouse_table("runs")) + " FROM " +
                       database.all("runs") + " WHERE " + snapshot.counts(kRunEntry),
                   take, database.reading());
  if (!read) return std::unexpected(read.error());
  if (found.size() != positions.size()) {
    return fail(ErrorCode::kStore, "the table runs has " + std::to_string(found.size()) +
                                       " of the " + std::to_string(positions.size()) +
                                       " runs that the log counts");
  }
  std::ranges::sort(found, [&](const LedgerRun& a, const LedgerRun& b) {
    if (a.run.scope != b.run.scope) return a.run.scope < b.run.scope;
    return positions.at(a.session) < positions.at(b.session);
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_first = i == 0 || found[i - 1].run.scope != found[i].run.scope;
    found[i].run.number = is_first ? 1 : found[i - 1].run.number + 1;
    found[i].run.current = i + 1 == found.size() || found[i + 1].run.scope != found[i].run.scope;
  }
  return found;
}

Result<std::vector<Closing>> closings_of(Client& client, const Snapshot& snapshot) {
  std::vector<Closing> found;
  const auto take = [&](const Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const auto text = [&](std::size_t i) { return std::string(block.columns[i].text(row)); };
      found.push_back({.month = text(0),
                       .at = from_unix_ms(block.columns[1].int64(row)),
                       .by = text(2),
                       .reason = text(3),
                       .last_import = block.columns[4].uint64(row),
                       .lines = block.columns[5].uint64(row),
                       .runs = block.columns[6].uint64(row),
                       .digest = block.columns[7].hash(row)});
    }
    return true;
  };
  const std::string counts = snapshot.counts(kClosingEntry);
  if (counts == "0") return found;
  const ClickhouseDatabase& database = snapshot.database();
  const Result<void> read = client.query(
      "SELECT month, closed_at, closed_by, reason, last_import, lines, runs, digest "
      "FROM " +
          database.all("closings") + " WHERE " + counts + " ORDER BY month",
      take, database.reading());
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<std::uint64_t> count_of(Client& client, const ClickhouseDatabase& database,
                               const std::string& sql) {
  std::uint64_t count = 0;
  const Result<void> read = client.query(
      sql,
      [&](const Block& block) -> Result<bool> {
        count = block.columns[0].uint64(0);
        return true;
      },
      database.reading());
  if (!read) return std::unexpected(read.error());
  return count;
}

std::string session_list(std::span<const std::uint64_t> sessions) {
  // A session is never 0.
  std::string list;
  for (const std::uint64_t session : sessions) {
    list += (list.empty() ? "" : ", ") + std::to_string(session);
  }
  return "(" + (list.empty() ? "0" : list) + ")";
}

}  // namespace pennyweight
