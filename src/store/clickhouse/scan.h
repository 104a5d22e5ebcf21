// Scan: what a call of the store asks: one state of the ledger, and clients to ask it with. Large
// answers are asked for in slices, so that neither side holds, or sorts, more than one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "clickhouse/client.h"
#include "core/error.h"
#include "store/clickhouse/column_io.h"
#include "store/clickhouse/database.h"
#include "store/clickhouse/settle.h"
#include "store/clickhouse/snapshot.h"

namespace pennyweight {

// How many rows a slice has, more or less: the server sorts so many at once.
inline constexpr std::uint64_t kSliceRows = kSettledTogether;

class Scan {
 public:
  // Of what counts now. `database` lives longer.
  static Result<Scan> begin(ClickhouseDatabase& database) {
    Result<Snapshot> snapshot = Snapshot::of(database);
    if (!snapshot) return std::unexpected(std::move(snapshot.error()));
    return Scan(database, std::move(*snapshot));
  }
  Scan(ClickhouseDatabase& database, Snapshot snapshot)
      : database_(&database), snapshot_(std::move(snapshot)) {}

  const Snapshot& snapshot() const { return snapshot_; }
  std::string all(std::string_view table) const { return database_->all(table); }

  // Each statement on a client of its own, so that a sink may ask for more while it is answered.
  // visit(block) gives Result<bool>: false to stop. The result says whether it was asked to stop.
  template <class Visit>
  Result<bool> visit(const std::string& sql, const Visit& visit_block) const {
    const ClickhouseDatabase::Loan client = database_->lend();
    bool wants_more = true;
    const Result<void> read = client->query(
        sql,
        [&](const clickhouse::Block& block) -> Result<bool> {
          Result<bool> more = visit_block(block);
          wants_more = more && *more;
          return more;
        },
        database_->reading());
    if (!read) return std::unexpected(read.error());
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
    return visit("SELECT " + clickhouse_fact_columns<Fact>() + " FROM " +
                     snapshot_.facts(Table<Fact>::kName) + rest,
                 [&](const clickhouse::Block& block) -> Result<bool> {
                   const Result<std::vector<Fact>> facts =
                       facts_of<Fact>(block, snapshot_.numbers());
                   if (!facts) return std::unexpected(facts.error());
                   return sink(std::span<const Fact>(*facts));
                 });
  }
  template <class Fact>
  Result<std::vector<Fact>> collect(const std::string& rest) const {
    std::vector<Fact> found;
    const Result<bool> read = hand_over<Fact>(rest, [&](std::span<const Fact> some) {
      found.insert(found.end(), some.begin(), some.end());
      return true;
    });
    if (!read) return std::unexpected(read.error());
    return found;
  }
  // Postings for which `rest`, "WHERE … ORDER BY …", holds.
  template <class Sink>
  Result<bool> hand_over_postings(const std::string& rest, const Sink& sink) const {
    return visit("SELECT " + clickhouse_posting_columns() + " FROM " + all("postings") + " " + rest,
                 [&](const clickhouse::Block& block) -> Result<bool> {
                   const Result<std::vector<Posting>> some = postings_of(block);
                   if (!some) return std::unexpected(some.error());
                   return sink(std::span<const Posting>(*some));
                 });
  }
  Result<std::vector<LedgerRun>> runs() const {
    const ClickhouseDatabase::Loan client = database_->lend();
    return runs_of(*client, snapshot_);
  }

 private:
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
    if (slice > 0) text += " AND " + column + " >= " + clickhouse::quoted(parts_.begin(slice));
    if (slice + 1 < count()) {
      text += " AND " + column + " < " + clickhouse::quoted(parts_.begin(slice + 1));
    }
    return text;
  }

 private:
  KeyParts parts_;
};

// "(1, 2)" of the sessions of current runs of a month (empty: of all).
std::string current_sessions(std::span<const LedgerRun> runs, const std::string& month = {});

// comes_before(Posting, Posting) of ledger/keeping.h as the terms of an ORDER BY.
std::string clickhouse_posting_order();

}  // namespace pennyweight
