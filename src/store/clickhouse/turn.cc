#include "store/clickhouse/turn.h"

#include <algorithm>

#include "core/check.h"
#include "store/clickhouse/snapshot.h"

namespace pennyweight {

Result<Turn> Turn::begin(ClickhouseDatabase& database) {
  std::unique_ptr<commit_log::CommitLog> log = database.log();
  Result<commit_log::View> view = log->begin();
  if (!view) return std::unexpected(std::move(view.error()));
  return Turn(std::move(log), std::move(*view));
}

Turn::~Turn() {
  // That it could not be given back is no harm: it ends by itself.
  if (log_ && log_->has_turn()) static_cast<void>(log_->release());
}

bool Turn::has_news(const commit_log::View& since, std::span<const std::string_view> kinds) const {
  CHECK(since.entries.size() <= view_.entries.size(), "what counts once counts for ever");
  for (std::uint64_t index = since.entries.size(); index < view_.entries.size(); ++index) {
    if (std::ranges::find(kinds, view_.entries[index].what) != kinds.end()) return true;
  }
  return false;
}

Result<commit_log::Entry> Turn::put(std::uint64_t session, const char* what) {
  Result<commit_log::Entry> entry = log_->commit(session, what);
  if (entry || !log_->in_doubt()) return entry;
  return std::unexpected(entry.error().during(
      "it is not known whether this was committed; look whether it is there, and do it again if it "
      "is not"));
}

Result<void> Turn::commit(std::uint64_t session, const char* what) {
  const Result<commit_log::Entry> entry = put(session, what);
  if (!entry) return std::unexpected(entry.error());
  if (entry->what == what) return {};
  // A session has one entry.
  return fail(ErrorCode::kStore,
              "so long was nothing heard of it that what it wrote was swept away, and nothing was "
              "committed; do it again");
}

Result<bool> Turn::condemn(std::uint64_t session) {
  const Result<commit_log::Entry> entry = put(session, kCondemnedEntry);
  if (!entry) return std::unexpected(entry.error());
  return entry->what == kCondemnedEntry;
}

}  // namespace pennyweight
