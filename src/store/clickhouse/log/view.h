// View: what the rows of the log say: which sessions count, in which order, and where the log goes
// on. Pure: every reader of the same rows is told the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "store/clickhouse/log/register.h"

namespace pennyweight::commit_log {

struct Entry {
  std::uint64_t position = 0;  // 1, 2, … without gaps
  std::uint64_t turn = 0;      // never less than that of the position before
  std::uint64_t session = 0;
  std::string what;
  bool operator==(const Entry&) const = default;
};

struct View {
  std::vector<Entry> entries;        // those that count, by position
  std::vector<std::uint64_t> voids;  // sessions of entries whose position is another's, sorted: as
                                     // far as rows show it; what counts is told by entries alone
};

// What counts by these rows, in time that grows with their number. An Error of kStore where they
// can't all have been written by this protocol, or some are missing.
Result<View> view_of(const std::vector<Row>& rows);

// Adds to a view what rows say that were read later; from the turn of its last entry on is enough.
// After an Error the view is as before.
Result<void> extend(View& view, const std::vector<Row>& rows);

// Where the log stands beyond what is sealed. The pointers are into `rows`.
struct Standing {
  std::uint64_t highest_turn = 0;  // of any row; 0: there are none
  const Row* open = nullptr;       // the opening of the highest turn that was opened
  const Row* unsealed = nullptr;   // the entry behind the last sealed one that `open` goes on from
                                   // or that is of its turn; there is never more than one
  // Something is missing that was there before something that is not: the read ran beside the
  // writing of them, and another one will show it.
  bool torn = false;
};
// REQUIRES: `sealed` was extended by `rows`, which begin at the turn of its last entry or before.
Standing standing_of(const std::vector<Row>& rows, const View& sealed);

}  // namespace pennyweight::commit_log
