// View: what the rows of the log say: which sessions count, in which order, and where the log
// continues. Pure: every reader of the same rows gets the same view.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ledger/store/clickhouse/log/entries.h"
#include "ledger/store/clickhouse/log/log_storage.h"

namespace pennyweight::commit_log {

struct View {
  Entries entries;          // those that count, by position
  LogPosition end() const;  // the last of them
};

// Seals as they are read, in any order and some of them twice, in little more memory than the
// entries themselves; then a view is extended by them. Those from the turn of its last entry on are
// enough. Used once.
class SealCollector {
 public:
  // `view` lives longer, and nobody else changes it.
  explicit SealCollector(View& view) : view_(view), known_(view.entries.size()) {}
  void take(const SealedEntry& seal);
  // Adds what was sealed behind the last entry. An Error of kStore where the seals can't all have
  // been written by this protocol, or some are missing; then the view is as before.
  Result<void> finish();

 private:
  struct Packed {
    std::uint64_t session = 0;
    std::uint64_t turn = 0;  // 0: a gap
    std::size_t kind = 0;    // of kinds_
    bool operator==(const Packed&) const = default;
  };
  static constexpr std::uint64_t kBlock = 1024;
  using Block = std::vector<Packed>;  // as far as seals were seen; full but for the last one

  std::size_t kind_of(std::string_view what);
  Result<void> check() const;

  View& view_;
  std::uint64_t known_;
  std::map<std::uint64_t, Block> blocks_;  // of the positions behind known_
  Block* block_ = nullptr;                 // the one that was asked for last
  std::uint64_t block_number_ = 0;
  std::vector<std::string> kinds_;
  std::optional<std::uint64_t> contradicted_;  // a position with more than one entry, or no turn
};

// What counts by these rows, in time that grows with their number. Errors as of SealCollector.
Result<View> view_of(const std::vector<LogRow>& rows);

// Adds to a view what rows say that were read later; from the turn of its last entry on is enough.
// After an Error the view is as before.
Result<void> extend(View& view, const std::vector<LogRow>& rows);

// Where the log stands beyond what is sealed. The pointers are into `rows`.
struct LogTail {
  std::uint64_t highest_turn = 0;    // of any row; 0: there are none
  const LogRow* open = nullptr;      // the opening of the highest turn that was opened
  const LogRow* unsealed = nullptr;  // the entry behind the last sealed one that `open` goes on
                                     // from or that is of its turn; there is never more than one
  // Something is missing that was there before something that is not: the read ran beside the
  // writing of them, and another one will show it.
  bool torn = false;
};
// REQUIRES: `sealed` was extended by `rows`, which begin at the turn of its last entry or before.
LogTail find_log_tail(const std::vector<LogRow>& rows, const View& sealed);

}  // namespace pennyweight::commit_log
