// Scan: what a call of the store asks: one state of the ledger, and clients to ask it with. Large
// answers are asked for in slices, so that neither side holds, or sorts, more than one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/clickhouse/client.h"
#include "core/error.h"
#include "core/try.h"
#include "ledger/store/clickhouse/column_io.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/snapshot.h"
#include "ledger/store/clickhouse/verdicts.h"

namespace pennyweight {

// How many rows a slice has, more or less: the server sorts so many at once.
inline constexpr std::uint64_t kSliceRows = kRowsPerKeyRange;
// How many facts are handed over, and held, at once.
inline constexpr std::uint64_t kBatchRows = 4096;

class Scan {
 public:
  // Of what counts now. `database` lives longer.
  static Result<Scan> begin(ClickhouseDatabase& database) {
    Snapshot snapshot = TRY(Snapshot::of(database));
    return Scan(database, std::move(snapshot));
  }
  Scan(ClickhouseDatabase& database, Snapshot snapshot)
      : database_(&database), snapshot_(std::move(snapshot)) {}

  const Snapshot& snapshot() const { return snapshot_; }
  std::string all(std::string_view table) const { return database_->all(table); }

  // Each statement on a client of its own, so that a sink may ask for more while it is answered.
  // visit(block) gives Result<bool>: false to stop. The result says whether it was asked to stop.
  template <class Visit>
  Result<bool> visit(const std::string& sql, const Visit& visit_block) const {
    return visit(sql, visit_block, database_->reading());
  }
  template <class Visit>
  Result<bool> visit(const std::string& sql, const Visit& visit_block,
                     const clickhouse::Call& call) const {
    const ClickhouseDatabase::Loan client = database_->lend();
    bool wants_more = true;
    TRY(client->query(
        sql,
        [&](const clickhouse::Block& block) -> Result<bool> {
          Result<bool> more = visit_block(block);
          wants_more = more && *more;
          return more;
        },
        call));
    return wants_more;
  }
  Result<std::uint64_t> count(const std::string& sql) const {
    const ClickhouseDatabase::Loan client = database_->lend();
    return count_of(*client, *database_, sql);
  }
  // The texts of a statement's only column.
  Result<std::vector<std::string>> texts(const std::string& sql) const;

  // Facts that count and for which `rest`, " AND … ORDER BY …", holds.
  template <class Fact, class Sink>
  Result<bool> hand_over(const std::string& rest, const Sink& sink) const {
    return visit(
        "SELECT " + clickhouse_fact_columns<Fact>() + " FROM " +
            snapshot_.facts(Table<Fact>::kName) + rest,
        [&](const clickhouse::Block& block) -> Result<bool> {
          for (RowRange rows = first_rows(block); rows.count > 0; rows = rows_after(block, rows)) {
            const std::vector<Fact> facts = TRY(facts_of<Fact>(block, snapshot_.numbers(), rows));
            if (!sink(std::span<const Fact>(facts))) return false;
          }
          return true;
        },
        database_->reading_facts());
  }
  template <class Fact>
  Result<std::vector<Fact>> collect(const std::string& rest) const {
    std::vector<Fact> found;
    std::ignore = TRY(hand_over<Fact>(rest, [&](std::span<const Fact> some) {
      found.insert(found.end(), some.begin(), some.end());
      return true;
    }));
    return found;
  }
  // Records of a table for which `rest`, "WHERE … ORDER BY …", holds: for few of them.
  template <class Record>
  Result<std::vector<Record>> records(const std::string& rest) const {
    std::vector<Record> found;
    std::ignore = TRY(visit("SELECT " + clickhouse_record_columns<Record>() + " FROM " +
                                all(Table<Record>::kName) + " " + rest,
                            [&](const clickhouse::Block& block) -> Result<bool> {
                              std::vector<Record> some = TRY(records_of<Record>(block));
                              std::ranges::move(some, std::back_inserter(found));
                              return true;
                            }));
    return found;
  }
  // Postings for which `rest`, "WHERE … ORDER BY …", holds.
  template <class Sink>
  Result<bool> hand_over_postings(const std::string& rest, const Sink& sink) const {
    return visit(
        "SELECT " + clickhouse_posting_columns() + " FROM " + all("postings") + " " + rest,
        [&](const clickhouse::Block& block) -> Result<bool> {
          for (RowRange rows = first_rows(block); rows.count > 0; rows = rows_after(block, rows)) {
            const std::vector<Posting> some = TRY(postings_of(block, rows));
            if (!sink(std::span<const Posting>(some))) return false;
          }
          return true;
        },
        database_->reading_facts());
  }
  Result<std::vector<LedgerRun>> runs() const {
    const ClickhouseDatabase::Loan client = database_->lend();
    return runs_of(*client, snapshot_);
  }

 private:
  static RowRange first_rows(const clickhouse::Block& block) {
    return {0, std::min(kBatchRows, block.rows)};
  }
  static RowRange rows_after(const clickhouse::Block& block, RowRange rows) {
    const std::uint64_t begin = rows.begin + rows.count;
    return {begin, std::min(kBatchRows, block.rows - begin)};
  }

  ClickhouseDatabase* database_;
  Snapshot snapshot_;
};

// Equal ranges of a column of fingerprints, in their order: each of about kSliceRows of `rows`.
class IdSlices {
 public:
  explicit IdSlices(std::uint64_t rows) : parts_(rows) {}
  std::uint64_t count() const { return parts_.count(); }
  // " AND column >= … AND column < …"
  std::string condition(const std::string& column, std::uint64_t slice) const {
    std::string text;
    if (slice > 0) text += " AND " + column + " >= " + clickhouse::sql_literal(parts_.begin(slice));
    if (slice + 1 < count()) {
      text += " AND " + column + " < " + clickhouse::sql_literal(parts_.begin(slice + 1));
    }
    return text;
  }

 private:
  KeyRanges parts_;
};

// "(1, 2)" of the sessions of current runs of a month (empty: of all).
std::string current_sessions(std::span<const LedgerRun> runs, const std::string& month = {});

// Whether the sum of one of these columns of money went beyond what 128 bits hold, which ClickHouse
// does not say: `sum` and `size` are the names of the exact sum of each and of its sum in floating
// point, which then are far from each other.
struct SumColumns {
  std::string sum, size;
};
std::string overflow_condition(std::span<const SumColumns> columns);
std::unexpected<Error> sum_overflow_error();

// comes_before(Posting, Posting) of ledger/store_rules.h as the terms of an ORDER BY.
std::string clickhouse_posting_order();

}  // namespace pennyweight
