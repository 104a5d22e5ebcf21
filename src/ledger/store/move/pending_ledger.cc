#include "ledger/store/move/pending_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ledger/store/clickhouse/column_io.h"
#include "ledger/store/clickhouse/snapshot.h"
#include "ledger/store/move/progress.h"

namespace pennyweight::move {
namespace {

using clickhouse::Block;
using clickhouse::Call;
using clickhouse::Client;

TableSpec moving_table() {
  return {.name = kMovingTable,
          .columns = clickhouse_io::Schema::of<ProgressRow>().columns(),
          .order_by = "what, stage, table_name, piece",
          .partition_by = "",
          .spread = TableSpread::kEverywhere,
          .shard_key = ""};
}

// The table schema_version is created last, by the code that opens the place as a ledger.
bool is_made_last(const TableSpec& table) { return table.name == "schema_version"; }

}  // namespace

std::optional<EntryKind> entry_kind_of(const std::string& what) {
  if (what == kImportEntry) return EntryKind::kImport;
  if (what == kRunEntry) return EntryKind::kRun;
  if (what == kClosingEntry) return EntryKind::kClosing;
  if (what == kInvoicesEntry) return EntryKind::kInvoices;
  return std::nullopt;
}

const char* entry_of(EntryKind entry_kind) {
  switch (entry_kind) {
    case EntryKind::kImport:
      return kImportEntry;
    case EntryKind::kRun:
      return kRunEntry;
    case EntryKind::kClosing:
      return kClosingEntry;
    case EntryKind::kInvoices:
      return kInvoicesEntry;
  }
  return "";
}

PendingLedger::PendingLedger(const ClickhouseLocation& place)
    : place_(place),
      layout_{.database = place.address.database, .cluster = place.address.cluster},
      moving_(moving_table()) {}

clickhouse::Address PendingLedger::address() const {
  clickhouse::Address address = place_.address;
  address.database = "system";
  return address;
}

Result<void> PendingLedger::learn() {
  const auto topology = TRY(topology_of(place_.address));
  topology_ = topology;
  return {};
}

Result<std::uint64_t> PendingLedger::count(Client& client, const std::string& sql) const {
  std::uint64_t count = 0;
  TRY(client.query(
      sql,
      [&](const Block& block) -> Result<bool> {
        count = block.columns[0].uint64(0);
        return true;
      },
      reading()));
  return count;
}

Result<std::set<std::string>> PendingLedger::tables(Client& client) const {
  std::set<std::string> names;
  TRY(client.query("SELECT name FROM system.tables WHERE database = " +
                       clickhouse::sql_literal(layout_.database),
                   [&](const Block& block) -> Result<bool> {
                     for (std::uint64_t row = 0; row < block.rows; ++row) {
                       names.emplace(block.columns[0].text(row));
                     }
                     return true;
                   }));
  return names;
}

Result<bool> PendingLedger::is_ledger(Client& client) const {
  const auto versions =
      TRY(count(client, "SELECT toUInt64(count()) FROM " + all("schema_version")));
  return versions > 0;
}

// If every node is one of our endpoints, each is addressed directly; otherwise the servers pass the
// statement on.
Result<void> PendingLedger::at_every_node(const std::vector<std::string>& direct,
                                          const std::vector<std::string>& on_cluster) {
  Client client(address());
  const std::size_t endpoints = place_.address.endpoints.size();
  if (!layout_.is_cluster() || endpoints == topology_.nodes()) {
    for (std::size_t i = 0; i < (layout_.is_cluster() ? endpoints : 1); ++i) {
      Call call;
      if (layout_.is_cluster()) call.endpoint = i;
      for (const std::string& statement : direct) {
        TRY(client.execute(statement, call));
      }
    }
    return {};
  }
  for (const std::string& statement : on_cluster) {
    TRY(client.execute(statement));
  }
  return {};
}

Result<void> PendingLedger::make_tables() {
  TRY(check_can_be_made(place_.address));
  const auto statements = [&](bool on_cluster) {
    const std::string everywhere = on_cluster ? " ON CLUSTER " + layout_.cluster : "";
    std::string columns;
    for (const auto& column : moving_.columns) {
      columns += (columns.empty() ? "" : ", ") + column.name + " " + column.type;
    }
    const std::string engine =
        layout_.is_cluster() ? "ReplicatedMergeTree('/clickhouse/tables/everywhere/" +
                                   layout_.database + "/" + moving_.name + "', '{shard}-{replica}')"
                             : "MergeTree()";
    std::vector<std::string> all_of_them = {
        "CREATE DATABASE IF NOT EXISTS " + layout_.database + everywhere,
        fmt::format("CREATE TABLE IF NOT EXISTS {}{} ({}) ENGINE = {} ORDER BY ({})",
                    all(moving_.name), everywhere, columns, engine, moving_.order_by)};
    for (const TableSpec& table : clickhouse_tables()) {
      if (is_made_last(table)) continue;
      for (std::string& made : create_statements(table, layout_, on_cluster)) {
        all_of_them.push_back(std::move(made));
      }
    }
    return all_of_them;
  };
  return at_every_node(statements(false), statements(true));
}

Result<void> PendingLedger::drop_moving() {
  const std::string drop = "DROP TABLE IF EXISTS " + all(moving_.name);
  return at_every_node({drop}, {drop + " ON CLUSTER " + layout_.cluster});
}

Call PendingLedger::reading() const { return reading_call(layout_); }

Call PendingLedger::writing(const TableSpec& table) const {
  Call call = writing_call(layout_, topology_, place_.address, table);
  // A cluster recognises a block that it already has; a single server does not.
  call.repeatable = layout_.is_cluster();
  return call;
}

Result<void> PendingLedger::add_progress(Client& client, std::span<const ProgressRow> rows) const {
  clickhouse::BlockWriter block(moving_.columns);
  std::vector<const ProgressRow*> pointers;
  for (const ProgressRow& row : rows) pointers.push_back(&row);
  clickhouse_io::ColumnFiller<ProgressRow> filler(block, pointers);
  Table<ProgressRow>::list(filler);
  // A row that exists twice says the same both times.
  Call call = writing(moving_);
  call.repeatable = true;
  return client.insert(all(kMovingTable), column_names(moving_), block.take(), call);
}

Result<void> PendingLedger::insert(Client& client, const TableSpec& table,
                                   const std::string& block) const {
  return client.insert(all(table.name), column_names(table), block, writing(table));
}

}  // namespace pennyweight::move
