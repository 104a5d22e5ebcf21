#include "ledger/store/clickhouse/snapshot.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/try.h"

namespace pennyweight {

using clickhouse::Block;
using clickhouse::Client;

namespace {

// Whether a statement lists sessions explicitly. Looking them up makes the server read every row of
// the log, which has five a commit; listing them costs a few microseconds a session.
bool is_better_listed(std::uint64_t sessions, std::uint64_t commits) {
  constexpr std::uint64_t kFew = 4, kMost = 5'000, kCommitsASession = 100;
  return sessions <= kFew || (sessions <= kMost && sessions * kCommitsASession <= commits);
}

}  // namespace

Snapshot::Snapshot(ClickhouseDatabase& database, commit_log::View view)
    : database_(&database), view_(std::move(view)), imports_(view_.entries.count(kImportEntry)) {}

Result<Snapshot> Snapshot::of(ClickhouseDatabase& database) {
  commit_log::View view = TRY(database.view());
  return Snapshot(database, std::move(view));
}

std::string Snapshot::sessions(const char* what) const {
  // A sealed entry counts for ever, so a later read up to the same position returns the same rows.
  return "SELECT session, position FROM " + database_->all("log") + " WHERE kind = 'sealed' AND " +
         "what = " + clickhouse::sql_literal(what) +
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
  std::map<std::uint64_t, std::uint64_t> positions;  // by session
  snapshot.view().entries.each(kRunEntry, [&](std::uint64_t position, std::uint64_t session) {
    positions[session] = position;
  });
  std::vector<LedgerRun> found;
  if (positions.empty()) return found;
  const ClickhouseDatabase& database = snapshot.database();
  TRY(client.query(
      "SELECT session, " + clickhouse_record_columns<RunRecord>() + " FROM " +
          database.all("runs") + " WHERE " + snapshot.counts(kRunEntry),
      [&](const Block& block) -> Result<bool> {
        std::vector<RunRecord> records = TRY(records_of<RunRecord>(block, 1));
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          found.push_back({std::move(records[row]), block.columns[0].uint64(row)});
        }
        return true;
      },
      database.reading()));
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
  const std::string counts = snapshot.counts(kClosingEntry);
  if (counts == "0") return found;
  const ClickhouseDatabase& database = snapshot.database();
  TRY(client.query(
      "SELECT " + clickhouse_record_columns<Closing>() + " FROM " + database.all("closings") +
          " WHERE " + counts + " ORDER BY month",
      [&](const Block& block) -> Result<bool> {
        std::vector<Closing> some = TRY(records_of<Closing>(block));
        std::ranges::move(some, std::back_inserter(found));
        return true;
      },
      database.reading()));
  return found;
}

Result<std::uint64_t> count_of(Client& client, const ClickhouseDatabase& database,
                               const std::string& sql) {
  std::uint64_t count = 0;
  TRY(client.query(
      sql,
      [&](const Block& block) -> Result<bool> {
        count = block.columns[0].uint64(0);
        return true;
      },
      database.reading()));
  return count;
}

std::string session_list(std::span<const std::uint64_t> sessions) {
  // No session is 0.
  std::string list;
  for (const std::uint64_t session : sessions) {
    list += (list.empty() ? "" : ", ") + std::to_string(session);
  }
  return "(" + (list.empty() ? "0" : list) + ")";
}

}  // namespace pennyweight
