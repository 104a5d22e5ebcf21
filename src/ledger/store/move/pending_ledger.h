// PendingLedger: the tables of a ledger that nobody can open yet. A database is a ledger once its
// schema_version says so, unless it has a table with a foreign name. So `moving` is created first,
// then the other tables, and schema_version is filled last.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/clickhouse/client.h"
#include "core/error.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/tables.h"
#include "ledger/store/move/clickhouse_location.h"
#include "ledger/store/move/moved_table.h"
#include "ledger/store/move/progress.h"

namespace pennyweight::move {

// The server is asked for blocks of so many rows, which are held as a whole, and a page is a part
// of one that a processor's cache holds.
inline constexpr std::uint64_t kBlockRows = 16'384;
inline constexpr std::uint64_t kPageRows = 2'048;

// The EntryKind of a log entry's text; none if it isn't moved.
std::optional<EntryKind> entry_kind_of(const std::string& what);
const char* entry_of(EntryKind entry_kind);

class PendingLedger {
 public:
  explicit PendingLedger(const ClickhouseLocation& place);

  // Reads the topology. Call it first.
  Result<void> learn();
  // The names of the database's tables; none if there is no database.
  Result<std::set<std::string>> tables(clickhouse::Client& client) const;
  // Whether schema_version says that it is a ledger. REQUIRES: there is such a table.
  Result<bool> is_ledger(clickhouse::Client& client) const;
  // Creates what is missing.
  Result<void> make_tables();
  Result<void> drop_moving();

  const ClickhouseLocation& place() const { return place_; }
  const TableLayout& layout() const { return layout_; }
  const TableSpec& moving() const { return moving_; }
  // "database.charges", of `moving` too.
  std::string all(const std::string& table) const { return pennyweight::all(layout_, table); }
  // As for a ledger (database.h): every acknowledged row is seen by every later reader.
  clickhouse::Call reading() const;
  clickhouse::Call writing(const TableSpec& table) const;
  Result<void> insert(clickhouse::Client& client, const TableSpec& table,
                      const std::string& block) const;
  // Writes rows to the table `moving`.
  Result<void> add_progress(clickhouse::Client& client, std::span<const ProgressRow> rows) const;
  Result<std::uint64_t> count(clickhouse::Client& client, const std::string& sql) const;
  // A client that works before the database exists.
  clickhouse::Address address() const;

 private:
  Result<void> at_every_node(const std::vector<std::string>& direct,
                             const std::vector<std::string>& on_cluster);

  ClickhouseLocation place_;
  TableLayout layout_;
  TableSpec moving_;
  Topology topology_;
};

}  // namespace pennyweight::move
