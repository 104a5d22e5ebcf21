// ImportRows: the facts of one import, of every kind, in the tables under one session.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "ledger/store/clickhouse/block_inserter.h"

namespace pennyweight {

class ImportRows {
 public:
  // `database` lives longer.
  explicit ImportRows(ClickhouseDatabase& database)
      : database_(database), session_(database.fresh_session()) {}
  ImportRows(const ImportRows&) = delete;
  ImportRows& operator=(const ImportRows&) = delete;

  std::uint64_t session() const { return session_; }
  template <class Fact>
  FactInserter<Fact>& of() {
    return std::get<FactInserter<Fact>>(inserters_);
  }
  template <class Fact>
  const FactInserter<Fact>& of() const {
    return std::get<FactInserter<Fact>>(inserters_);
  }
  // "database.charges WHERE session = 7 AND …": its rows of a kind, to go after FROM.
  template <class Fact>
  std::string rows_of() const {
    return database_.all(Table<Fact>::kName) + " WHERE session = " + std::to_string(session_) +
           of<Fact>().range_condition();
  }
  // Sends what waits, and counts what the tables hold.
  Result<void> finish() {
    Result<void> done = {};
    std::apply([&](auto&... inserter) { ((done = done ? inserter.flush() : done), ...); },
               inserters_);
    return done ? must_be_there() : done;
  }

 private:
  Result<void> must_be_there() {
    Result<void> done = {};
    std::apply([&](auto&... inserter) { ((done = done ? count(inserter) : done), ...); },
               inserters_);
    return done;
  }
  template <class Fact>
  Result<void> count(const FactInserter<Fact>& inserter) {
    if (inserter.rows() == 0) return {};
    return verify_row_count(database_, Table<Fact>::kName, session_, inserter.rows(),
                            inserter.range_condition());
  }
  template <class Fact>
  FactInserter<Fact> inserter() {
    return FactInserter<Fact>(database_, session_);
  }

  ClickhouseDatabase& database_;
  std::uint64_t session_;
  std::tuple<FactInserter<Charge>, FactInserter<Holding>, FactInserter<Node>, FactInserter<Gpu>,
             FactInserter<Usage>, FactInserter<Outage>, FactInserter<Correction>,
             FactInserter<Outcome>>
      inserters_ = {inserter<Charge>(),     inserter<Holding>(), inserter<Node>(),
                    inserter<Gpu>(),        inserter<Usage>(),   inserter<Outage>(),
                    inserter<Correction>(), inserter<Outcome>()};
};

}  // namespace pennyweight
