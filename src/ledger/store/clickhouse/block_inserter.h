// BlockInserter: inserts rows into a table in large blocks. A block is one INSERT, which a server
// takes as a whole or not at all, and which is sent again byte for byte if it is uncertain whether
// it arrived. So no two blocks of an inserter may be equal: a cluster would drop the second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "core/error.h"
#include "core/try.h"
#include "ledger/store/clickhouse/column_io.h"
#include "ledger/store/clickhouse/database.h"

namespace pennyweight {

class BlockInserter {
 public:
  // `database` and `table` must outlive this.
  BlockInserter(ClickhouseDatabase& database, const TableSpec& table);

  // Add at most room() rows to block(), column by column, then call added().
  clickhouse::BlockWriter& block() { return block_; }
  std::uint64_t room() const;  // at least 1
  Result<void> added(std::uint64_t rows);
  Result<void> flush();  // sends the rows that wait

  const TableSpec& table() const { return *table_; }
  std::uint64_t rows() const { return rows_; }  // in all

 private:
  std::uint64_t block_rows_max() const;
  ClickhouseDatabase* database_;
  const TableSpec* table_;
  clickhouse::BlockWriter block_;
  std::uint64_t rows_ = 0, blocks_ = 0;
};

// Fails unless the table holds exactly `rows` rows of a session. `within`: a condition that they
// all meet, which spares the engine reading others; may be empty.
Result<void> verify_row_count(ClickhouseDatabase& database, std::string_view table,
                              std::uint64_t session, std::uint64_t rows,
                              const std::string& within = {});

// Inserts one record under a session, and verifies that the table holds it.
template <class Record>
Result<void> insert_record(ClickhouseDatabase& database, std::uint64_t session,
                           const Record& record) {
  BlockInserter inserter(database, clickhouse_table(Table<Record>::kName));
  add_record(inserter.block(), session, record);
  TRY(inserter.added(1));
  TRY(inserter.flush());
  return verify_row_count(database, Table<Record>::kName, session, 1);
}

// The part of a table where facts lie, so that the engine can skip the rest.
template <class Fact>
class FactRange {
 public:
  void see(const Fact& fact, std::string_view booked_month);
  // " AND column …"; empty if the table isn't partitioned by time.
  std::string condition() const;

 private:
  std::set<std::string, std::less<>> booked_months_;  // of charges
  std::optional<Instant> first_, last_;               // of usages and outcomes
};

template <class Fact>
class FactInserter {
 public:
  FactInserter(ClickhouseDatabase& database, std::uint64_t session)
      : session_(session), inserter_(database, clickhouse_table(Table<Fact>::kName)) {}

  Result<void> add(std::span<const Fact* const> facts, std::span<const ClickhouseFactKeys> keys) {
    for (std::size_t begin = 0; begin < facts.size();) {
      const std::size_t count = std::min<std::size_t>(facts.size() - begin, inserter_.room());
      TRY(add_facts(inserter_.block(), session_, facts.subspan(begin, count),
                    keys.subspan(begin, count)));
      for (std::size_t i = begin; i < begin + count; ++i) {
        range_.see(*facts[i], keys[i].booked_month);
      }
      TRY(inserter_.added(count));
      begin += count;
    }
    return {};
  }
  Result<void> flush() { return inserter_.flush(); }
  std::uint64_t rows() const { return inserter_.rows(); }
  // " AND …": a condition that all of its rows meet.
  std::string range_condition() const { return range_.condition(); }

 private:
  std::uint64_t session_;
  BlockInserter inserter_;
  FactRange<Fact> range_;
};

}  // namespace pennyweight
