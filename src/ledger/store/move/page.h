// Page: some rows of a table in a move, by column.
//
// Texts are views into the reader's memory, valid until it reads the next page.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/int128.h"
#include "ledger/store/move/moved_table.h"

namespace pennyweight::move {

using TextPair = std::pair<std::string_view, std::string_view>;

// One column. Its kind decides which lists are filled; these have an entry for every row.
struct PageColumn {
  std::vector<UInt128> numbers;  // all but kText and kPairs; signed numbers are sign-extended
  std::vector<std::string_view> texts;
  std::vector<TextPair> pairs;      // of all rows, one after the other
  std::vector<std::uint32_t> ends;  // where the pairs of each row end
  std::vector<std::uint8_t>
      is_absent;  // only of nullable columns; then the row's entry has no meaning
};

struct Page {
  const MovedTable* table = nullptr;
  std::uint64_t rows = 0;
  std::vector<std::uint64_t>
      entry_numbers;                // of each row: the number of its commit among those of its kind
  std::vector<PageColumn> columns;  // as MovedTable::columns

  // Clears it and makes room for `count` rows.
  void begin(const MovedTable& of, std::uint64_t count);
};

inline UInt128 as_number(const Hash128& hash) { return UInt128{hash.high} << 64 | hash.low; }
inline Hash128 as_hash(UInt128 number) {
  return {.high = static_cast<std::uint64_t>(number >> 64),
          .low = static_cast<std::uint64_t>(number)};
}
inline UInt128 as_number(std::int64_t value) {
  return static_cast<UInt128>(static_cast<Int128>(value));
}
inline std::int64_t as_int64(UInt128 number) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number));
}

// Takes one page after another; an error stops the reading.
using PageSink = std::function<Result<void>(const Page&)>;

// The error for a value that no version of the program writes.
std::unexpected<Error> holds_nothing(const MovedTable& table, const MovedColumn& column);

}  // namespace pennyweight::move
