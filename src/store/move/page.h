// Page: some rows of a table on their way from one keeper to another, column by column.
//
// Texts are views of what they were read from and live as long as that: until the reader goes on to
// the next page.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/int128.h"
#include "store/move/moved_table.h"

namespace pennyweight::move {

using TextPair = std::pair<std::string_view, std::string_view>;

// One column. Which of the lists is filled goes by its kind; each then has an entry for every row.
struct PageColumn {
  std::vector<UInt128> numbers;  // all but kText and kPairs; what is signed with its sign extended
  std::vector<std::string_view> texts;
  std::vector<TextPair> pairs;          // of all rows, one after the other
  std::vector<std::uint32_t> ends;      // where the pairs of each row end
  std::vector<std::uint8_t> is_absent;  // of a nullable column alone; the entry then means nothing
};

struct Page {
  const MovedTable* table = nullptr;
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> acts;  // of each row: the number of its act among those of its kind
  std::vector<PageColumn> columns;  // as MovedTable::columns

  // Room for so many rows; what was in it is gone.
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

// Takes page after page; an Error ends the reading.
using PageSink = std::function<Result<void>(const Page&)>;

// What a table holds where no version wrote that.
std::unexpected<Error> holds_nothing(const MovedTable& table, const MovedColumn& column);

}  // namespace pennyweight::move
