// Turn: the right to commit to a ledger, and what counts while it lasts. Given back when it goes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "store/clickhouse/database.h"
#include "store/clickhouse/log/commit_log.h"

namespace pennyweight {

class Turn {
 public:
  // Waits for it. `database` lives longer.
  static Result<Turn> begin(ClickhouseDatabase& database);
  Turn(Turn&&) noexcept = default;
  Turn& operator=(Turn&&) = delete;
  ~Turn();

  const commit_log::View& view() const { return view_; }
  // Whether something of these kinds was committed since a view that was read before.
  bool has_news(const commit_log::View& since, std::span<const std::string_view> kinds) const;
  // To be called between longer statements; an Error once the turn is somebody else's.
  Result<void> alive() { return log_->alive(); }
  // Makes a session visible. The Error says whether it certainly is not, or that it is not known.
  Result<void> commit(std::uint64_t session, const char* what);
  // Takes care that a session never counts (sweep.h). False: it does already.
  Result<bool> condemn(std::uint64_t session);

 private:
  Turn(std::unique_ptr<commit_log::CommitLog> log, commit_log::View view)
      : log_(std::move(log)), view_(std::move(view)) {}
  // The session's entry: this one, or the one that it has already.
  Result<commit_log::Entry> put(std::uint64_t session, const char* what);
  std::unique_ptr<commit_log::CommitLog> log_;
  commit_log::View view_;
};

// One session at a time in a store, as long as the mark lives.
class OpenMark {
 public:
  static Result<OpenMark> set(bool& open) {
    if (open) {
      return fail(ErrorCode::kStore,
                  "an import or a run is already open in this store; finish it first");
    }
    return OpenMark(open);
  }
  OpenMark(OpenMark&& other) noexcept : open_(std::exchange(other.open_, nullptr)) {}
  OpenMark& operator=(OpenMark&&) = delete;
  ~OpenMark() {
    if (open_ != nullptr) *open_ = false;
  }

 private:
  explicit OpenMark(bool& open) : open_(&open) { open = true; }
  bool* open_;
};

}  // namespace pennyweight
