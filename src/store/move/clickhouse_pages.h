// Pages to and from ClickHouse's tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "clickhouse/block.h"
#include "store/move/page.h"

namespace pennyweight::move {

// Whose session is which: the number of its act, by the session's.
using ActNumbers = std::unordered_map<std::uint64_t, std::uint64_t>;

// "session, a, b_keys, b_values": what page_of reads.
std::string clickhouse_page_columns(const MovedTable& table);
// Some rows of a block whose columns are those. An Error where a session is none of `numbers`.
Result<void> page_of(const clickhouse::Block& block, std::uint64_t begin, std::uint64_t count,
                     const MovedTable& table, const ActNumbers& numbers, Page& page);

// The rows of a piece as blocks, each of one partition of its table, since that is what a server
// takes whole or not at all. Blocks come in the order of their months.
class PieceBlocks {
 public:
  explicit PieceBlocks(const MovedTable& table) : table_(&table) {}
  // `sessions`: of each row.
  void add(const Page& page, const std::vector<std::uint64_t>& sessions);

  struct Block {
    std::string bytes;  // as Client::insert takes it, of the columns of the table's TableSpec
    std::uint64_t rows = 0;
  };
  std::vector<Block> take();

 private:
  // Of a row: "2026-03", or nothing where the table has no partitions.
  void months_of(const Page& page, std::vector<std::string>& months) const;
  void add_rows(const Page& page, const std::vector<std::uint64_t>& sessions,
                const std::vector<std::uint32_t>& rows, clickhouse::BlockWriter& block) const;

  const MovedTable* table_;
  std::map<std::string, clickhouse::BlockWriter> blocks_;  // by month
};

}  // namespace pennyweight::move
