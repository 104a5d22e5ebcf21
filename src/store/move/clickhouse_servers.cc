#include "store/move/clickhouse_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "store/clickhouse/column_io.h"
#include "store/clickhouse/snapshot.h"
#include "store/move/notes.h"

namespace pennyweight::move {
namespace {

using clickhouse::Block;
using clickhouse::Call;
using clickhouse::Client;

TableSpec moving_table() {
  return {.name = kMovingTable,
          .columns = {{"what", "String"},
                      {"stage", "UInt64"},
                      {"table_name", "String"},
                      {"piece", "UInt64"},
                      {"name", "String"},
                      {"number", "UInt64"},
                      {"hash", clickhouse_io::kHash}},
          .order_by = "what, stage, table_name, piece",
          .partition_by = "",
          .spread = TableSpread::kEverywhere,
          .shard_key = ""};
}

// A ledger's table of versions is made last, by what opens it as one.
bool is_made_last(const TableSpec& table) { return table.name == "schema_version"; }

}  // namespace

std::optional<Act> act_of(const std::string& what) {
  if (what == kImportEntry) return Act::kImport;
  if (what == kRunEntry) return Act::kRun;
  if (what == kClosingEntry) return Act::kClosing;
  if (what == kInvoicesEntry) return Act::kInvoices;
  return std::nullopt;
}

const char* entry_of(Act act) {
  switch (act) {
    case Act::kImport:
      return kImportEntry;
    case Act::kRun:
      return kRunEntry;
    case Act::kClosing:
      return kClosingEntry;
    case Act::kInvoices:
      return kInvoicesEntry;
  }
  return "";
}

Servers::Servers(const ClickhousePlace& place)
    : place_(place),
      layout_{.database = place.address.database, .cluster = place.address.cluster},
      moving_(moving_table()) {}

clickhouse::Address Servers::address() const {
  clickhouse::Address address = place_.address;
  address.database = "system";
  return address;
}

Result<void> Servers::learn() {
  const auto topology = topology_of(place_.address);
  if (!topology) return std::unexpected(topology.error());
  topology_ = *topology;
  return {};
}

Result<std::uint64_t> Servers::count(Client& client, const std::string& sql) const {
  std::uint64_t count = 0;
  const Result<void> read = client.query(
      sql,
      [&](const Block& block) -> Result<bool> {
        count = block.columns[0].uint64(0);
        return true;
      },
      reading());
  if (!read) return std::unexpected(read.error());
  return count;
}

Result<std::set<std::string>> Servers::tables(Client& client) const {
  std::set<std::string> names;
  const Result<void> read = client.query(
      "SELECT name FROM system.tables WHERE database = " + clickhouse::quoted(layout_.database),
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          names.emplace(block.columns[0].text(row));
        }
        return true;
      });
  if (!read) return std::unexpected(read.error());
  return names;
}

Result<bool> Servers::is_ledger(Client& client) const {
  const auto versions = count(client, "SELECT toUInt64(count()) FROM " + all("schema_version"));
  if (!versions) return std::unexpected(versions.error());
  return *versions > 0;
}

// Where every node is an endpoint of ours it is told directly; else the servers pass it on.
Result<void> Servers::at_every_node(const std::vector<std::string>& direct,
                                    const std::vector<std::string>& on_cluster) {
  Client client(address());
  const std::size_t endpoints = place_.address.endpoints.size();
  if (!layout_.is_cluster() || endpoints == topology_.nodes()) {
    for (std::size_t i = 0; i < (layout_.is_cluster() ? endpoints : 1); ++i) {
      Call call;
      if (layout_.is_cluster()) call.endpoint = i;
      for (const std::string& statement : direct) {
        if (Result<void> done = client.execute(statement, call); !done) return done;
      }
    }
    return {};
  }
  for (const std::string& statement : on_cluster) {
    if (Result<void> done = client.execute(statement); !done) return done;
  }
  return {};
}

Result<void> Servers::make_tables() {
  if (auto can = check_can_be_made(place_.address); !can) return can;
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
      for (std::string& made : creation_of(table, layout_, on_cluster)) {
        all_of_them.push_back(std::move(made));
      }
    }
    return all_of_them;
  };
  return at_every_node(statements(false), statements(true));
}

Result<void> Servers::drop_moving() {
  const std::string drop = "DROP TABLE IF EXISTS " + all(moving_.name);
  return at_every_node({drop}, {drop + " ON CLUSTER " + layout_.cluster});
}

Call Servers::reading() const {
  Call call;
  call.settings = {{"max_query_size", "16777216"}, {"join_use_nulls", "0"}};
  if (layout_.is_cluster()) call.settings["select_sequential_consistency"] = "1";
  call.settings_if_known = {{"transform_null_in", "0"}};
  return call;
}

Call Servers::writing(const TableSpec& table) const {
  Call call;
  call.settings_if_known = {{"async_insert", "0"}, {"max_partitions_per_insert_block", "0"}};
  // One server does not know a block again that it took already.
  call.repeatable = layout_.is_cluster();
  if (!layout_.is_cluster()) return call;
  const std::uint64_t copies =
      table.spread == TableSpread::kSharded ? topology_.replicas : topology_.nodes();
  call.settings["insert_quorum"] = std::to_string(copies);
  call.settings["insert_distributed_sync"] = "1";
  call.settings_if_known["insert_quorum_parallel"] = "0";
  return call;
}

Result<void> Servers::insert(Client& client, const TableSpec& table,
                             const std::string& block) const {
  return client.insert(all(table.name), column_names(table), block, writing(table));
}

}  // namespace pennyweight::move
