// ImportRows: the facts of one import, of every kind, in the tables under one session.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "store/clickhouse/outlet.h"

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
  FactOutlet<Fact>& of() {
    return std::get<FactOutlet<Fact>>(outlets_);
  }
  template <class Fact>
  const FactOutlet<Fact>& of() const {
    return std::get<FactOutlet<Fact>>(outlets_);
  }
  // "database.charges WHERE session = 7 AND …": its rows of a kind, to go after FROM.
  template <class Fact>
  std::string rows_of() const {
    return database_.all(Table<Fact>::kName) + " WHERE session = " + std::to_string(session_) +
           of<Fact>().reach();
  }
  // Sends what waits, and counts what the tables hold.
  Result<void> finish() {
    Result<void> done = {};
    std::apply([&](auto&... outlet) { ((done = done ? outlet.flush() : done), ...); }, outlets_);
    return done ? must_be_there() : done;
  }

 private:
  Result<void> must_be_there() {
    Result<void> done = {};
    std::apply([&](auto&... outlet) { ((done = done ? count(outlet) : done), ...); }, outlets_);
    return done;
  }
  template <class Fact>
  Result<void> count(const FactOutlet<Fact>& outlet) {
    if (outlet.rows() == 0) return {};
    return must_hold(database_, Table<Fact>::kName, session_, outlet.rows(), outlet.reach());
  }
  template <class Fact>
  FactOutlet<Fact> outlet() {
    return FactOutlet<Fact>(database_, session_);
  }

  ClickhouseDatabase& database_;
  std::uint64_t session_;
  std::tuple<FactOutlet<Charge>, FactOutlet<Holding>, FactOutlet<Node>, FactOutlet<Gpu>,
             FactOutlet<Usage>, FactOutlet<Outage>, FactOutlet<Correction>, FactOutlet<Outcome>>
      outlets_ = {outlet<Charge>(), outlet<Holding>(), outlet<Node>(),       outlet<Gpu>(),
                  outlet<Usage>(),  outlet<Outage>(),  outlet<Correction>(), outlet<Outcome>()};
};

}  // namespace pennyweight
