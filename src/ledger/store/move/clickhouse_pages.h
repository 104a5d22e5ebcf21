// Pages to and from ClickHouse's tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/clickhouse/block.h"
#include "ledger/store/move/page.h"

namespace pennyweight::move {

// The number of each session's commit.
using EntryNumbers = std::unordered_map<std::uint64_t, std::uint64_t>;

// "session, a, b_keys, b_values": what page_of reads.
std::string clickhouse_page_columns(const MovedTable& table);
// Some rows of a block with those columns. Fails if a session is not in `numbers`.
Result<void> page_of(const clickhouse::Block& block, std::uint64_t begin, std::uint64_t count,
                     const MovedTable& table, const EntryNumbers& numbers, Page& page);

// Divides the rows of a piece into one block for each partition of its table, since a server takes
// such a block as a whole or not at all. Blocks are sorted by month.
class PartitionedBlocks {
 public:
  explicit PartitionedBlocks(const MovedTable& table) : table_(&table) {}
  // `sessions`: of each row.
  void add(const Page& page, const std::vector<std::uint64_t>& sessions);

  struct Block {
    std::string bytes;  // as Client::insert takes it, of the columns of the table's TableSpec
    std::uint64_t rows = 0;
  };
  std::vector<Block> take();

 private:
  // The partition of a row: "2026-03", or "" if the table has no partitions.
  void months_of(const Page& page, std::vector<std::string>& months) const;
  void add_rows(const Page& page, const std::vector<std::uint64_t>& sessions,
                const std::vector<std::uint32_t>& rows, clickhouse::BlockWriter& block) const;

  const MovedTable* table_;
  std::map<std::string, clickhouse::BlockWriter> blocks_;  // by month
};

}  // namespace pennyweight::move
