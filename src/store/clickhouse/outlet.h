// Outlet: rows on their way into a table, in large blocks. A block is one INSERT, which is taken
// whole or not at all by each server, and is sent again byte for byte where it is not certain that
// it arrived; so no two blocks of an outlet may be alike, or a cluster would take them for one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "core/error.h"
#include "store/clickhouse/column_io.h"
#include "store/clickhouse/database.h"

namespace pennyweight {

class Outlet {
 public:
  // `database` and `table` live longer.
  Outlet(ClickhouseDatabase& database, const TableSpec& table);

  // Rows are added column by column, at most room() of them, and then told of.
  clickhouse::BlockWriter& block() { return block_; }
  std::uint64_t room() const;  // at least 1
  Result<void> added(std::uint64_t rows);
  Result<void> flush();  // sends what waits

  const TableSpec& table() const { return *table_; }
  std::uint64_t rows() const { return rows_; }  // in all

 private:
  std::uint64_t block_rows_max() const;
  ClickhouseDatabase* database_;
  const TableSpec* table_;
  clickhouse::BlockWriter block_;
  std::uint64_t rows_ = 0, blocks_ = 0;
};

// An Error where the table holds more or fewer rows of a session than were sent. `within`: a
// condition that all of them meet, by which the engine passes over the others; may be empty.
Result<void> must_hold(ClickhouseDatabase& database, std::string_view table, std::uint64_t session,
                       std::uint64_t rows, const std::string& within = {});

// Where in their table facts lie, so that the engine passes over the rest of it.
template <class Fact>
class Reach {
 public:
  void see(const Fact& fact, std::string_view booked_month);
  // " AND column …", or nothing where the table is not parted by time.
  std::string condition() const;

 private:
  std::set<std::string, std::less<>> booked_months_;  // of charges
  std::optional<Instant> first_, last_;               // of usages and outcomes
};

template <class Fact>
class FactOutlet {
 public:
  FactOutlet(ClickhouseDatabase& database, std::uint64_t session)
      : session_(session), outlet_(database, clickhouse_table(Table<Fact>::kName)) {}

  Result<void> add(std::span<const Fact* const> facts, std::span<const ClickhouseFactKeys> keys) {
    for (std::size_t begin = 0; begin < facts.size();) {
      const std::size_t count = std::min<std::size_t>(facts.size() - begin, outlet_.room());
      if (auto done = add_facts(outlet_.block(), session_, facts.subspan(begin, count),
                                keys.subspan(begin, count));
          !done) {
        return done;
      }
      for (std::size_t i = begin; i < begin + count; ++i) {
        reach_.see(*facts[i], keys[i].booked_month);
      }
      if (auto done = outlet_.added(count); !done) return done;
      begin += count;
    }
    return {};
  }
  Result<void> flush() { return outlet_.flush(); }
  std::uint64_t rows() const { return outlet_.rows(); }
  // " AND …": a condition that all of its rows meet.
  std::string reach() const { return reach_.condition(); }

 private:
  std::uint64_t session_;
  Outlet outlet_;
  Reach<Fact> reach_;
};

}  // namespace pennyweight
