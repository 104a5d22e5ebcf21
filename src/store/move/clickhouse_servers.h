// Servers: the tables of a ledger that nobody can open yet. A database counts as a ledger once its
// schema_version says so, and one that has a table of another name is not taken for one; so first
// `moving` is made, then the others, and schema_version is left for the end.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clickhouse/client.h"
#include "core/error.h"
#include "store/clickhouse/database.h"
#include "store/clickhouse/tables.h"
#include "store/move/clickhouse_place.h"
#include "store/move/moved_table.h"

namespace pennyweight::move {

// The server is asked for blocks of so many rows, which are held as a whole, and a page is a part
// of one that a processor's cache holds.
inline constexpr std::uint64_t kBlockRows = 16'384;
inline constexpr std::uint64_t kPageRows = 2'048;

// What an entry of the log calls an act; nothing where it is none that is moved.
std::optional<Act> act_of(const std::string& what);
const char* entry_of(Act act);

class Servers {
 public:
  explicit Servers(const ClickhousePlace& place);

  // Asks how many shards and replicas there are. To be called first.
  Result<void> learn();
  // The names of the tables that the database has; none where there is no database.
  Result<std::set<std::string>> tables(clickhouse::Client& client) const;
  // Whether schema_version says that it is a ledger. REQUIRES: there is such a table.
  Result<bool> is_ledger(clickhouse::Client& client) const;
  // Makes what is not there yet.
  Result<void> make_tables();
  Result<void> drop_moving();

  const ClickhousePlace& place() const { return place_; }
  const TableLayout& layout() const { return layout_; }
  const TableSpec& moving() const { return moving_; }
  // "database.charges", of `moving` too.
  std::string all(const std::string& table) const { return pennyweight::all(layout_, table); }
  // As a ledger's are (database.h): what was acknowledged is there for whoever asks.
  clickhouse::Call reading() const;
  clickhouse::Call writing(const TableSpec& table) const;
  Result<void> insert(clickhouse::Client& client, const TableSpec& table,
                      const std::string& block) const;
  Result<std::uint64_t> count(clickhouse::Client& client, const std::string& sql) const;
  // A client that may be asked before there is a database.
  clickhouse::Address address() const;

 private:
  Result<void> at_every_node(const std::vector<std::string>& direct,
                             const std::vector<std::string>& on_cluster);

  ClickhousePlace place_;
  TableLayout layout_;
  TableSpec moving_;
  Topology topology_;
};

}  // namespace pennyweight::move
