#include "ledger/store/clickhouse/commit_turn.h"

#include <algorithm>

#include "core/check.h"
#include "core/try.h"
#include "ledger/store/clickhouse/snapshot.h"

namespace pennyweight {

Result<CommitTurn> CommitTurn::begin(ClickhouseDatabase& database) {
  std::unique_ptr<commit_log::CommitLog> log = database.log();
  commit_log::View view = TRY(log->begin());
  return CommitTurn(std::move(log), std::move(view));
}

CommitTurn::~CommitTurn() {
  // A failed release does no harm: the turn expires by itself.
  if (log_ && log_->has_turn()) static_cast<void>(log_->release());
}

bool CommitTurn::has_new_entries(const commit_log::View& since,
                                 std::span<const std::string_view> kinds) const {
  CHECK(since.entries.size() <= view_.entries.size(), "what counts once counts for ever");
  for (std::uint64_t index = since.entries.size(); index < view_.entries.size(); ++index) {
    if (std::ranges::find(kinds, view_.entries[index].what) != kinds.end()) return true;
  }
  return false;
}

Result<commit_log::Entry> CommitTurn::put(std::uint64_t session, const char* what) {
  Result<commit_log::Entry> entry = log_->commit(session, what);
  if (entry || !log_->in_doubt()) return entry;
  return std::unexpected(
      entry.error().during("it is not known whether this was committed; check whether it is there, "
                           "and run the command again if it is not"));
}

Result<void> CommitTurn::commit(std::uint64_t session, const char* what) {
  const commit_log::Entry entry = TRY(put(session, what));
  if (entry.what == what) return {};
  // A session has only one entry.
  return fail(ErrorCode::kStore,
              "the program was silent for so long that its rows were swept away, and nothing was "
              "committed; run it again");
}

Result<bool> CommitTurn::condemn(std::uint64_t session) {
  const commit_log::Entry entry = TRY(put(session, kCondemnedEntry));
  return entry.what == kCondemnedEntry;
}

}  // namespace pennyweight
