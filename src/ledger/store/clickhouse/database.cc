#include "ledger/store/clickhouse/database.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "core/check.h"
#include "core/hash.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ledger/store/clickhouse/log_table.h"
#include "ledger/store/clickhouse/snapshot.h"

namespace pennyweight {
namespace {

using clickhouse::Block;
using clickhouse::Call;
using clickhouse::Client;
using std::chrono::milliseconds;

// The database to connect to before ours exists.
clickhouse::Address of_no_ledger(clickhouse::Address address) {
  address.database = "system";
  return address;
}

// Several programs may create the same table at once. The server then tells some of them that the
// table or its replica exists, or that another client is creating it.
bool is_being_made(int code) {
  constexpr std::array kCodes = {57, 253, 371};
  return std::ranges::find(kCodes, code) != kCodes.end();
}
constexpr int kMakingAttempts = 20;
constexpr std::chrono::milliseconds kMakingPause{200};

// store/move keeps its progress in this table. It is dropped when the move is finished, before the
// database gets its version.
constexpr const char* kMovingTable = "moving";
constexpr std::size_t kNameBytesShown = 80;

milliseconds quorum_timeout(const clickhouse::Address& address) {
  return std::max(milliseconds(1000), std::min(address.timeout, address.retry) / 2);
}

Result<void> make(Client& client, const std::string& statement, const Call& call) {
  for (int attempt = 1;; ++attempt) {
    Result<void> done = client.execute(statement, call);
    if (done || attempt == kMakingAttempts || !is_being_made(client.code())) return done;
    std::this_thread::sleep_for(kMakingPause);
  }
}

std::string create_database(const TableLayout& layout, bool on_cluster) {
  return "CREATE DATABASE IF NOT EXISTS " + layout.database +
         (on_cluster ? " ON CLUSTER " + layout.cluster : "");
}

Result<bool> has_statements(Client& client, const TableLayout& layout, const Call& call) {
  bool found = false;
  TRY(client.query(
      "SELECT name FROM system.columns WHERE database = " +
          clickhouse::sql_literal(layout.database) +
          " AND table = 'imports' AND name = 'statement'",
      [&](const Block& block) -> Result<bool> {
        found |= block.rows > 0;
        return true;
      },
      call));
  return found;
}

// What later versions added to tables of earlier ones. On a cluster the table has a replica on
// every node, so that whichever node is told tells the others; several programs may do so at once.
Result<void> add_columns(Client& client, const TableLayout& layout, const Call& call) {
  for (int attempt = 1;; ++attempt) {
    const auto there = TRY(has_statements(client, layout, call));
    if (there) return {};
    Result<void> done = client.execute(
        "ALTER TABLE " + all(layout, "imports") + " ADD COLUMN statement String DEFAULT ''", call);
    if (done || attempt == kMakingAttempts) return done;
    std::this_thread::sleep_for(kMakingPause);
  }
}

Result<void> make_all(Client& client, const TableLayout& layout, bool on_cluster,
                      const Call& call) {
  Result<void> made = make(client, create_database(layout, on_cluster), call);
  for (const TableSpec& table : clickhouse_tables()) {
    for (const std::string& statement : create_statements(table, layout, on_cluster)) {
      if (!made) return made;
      made = make(client, statement, call);
    }
  }
  if (made) made = add_columns(client, layout, call);
  return made;
}

}  // namespace

ClickhouseDatabase::Loan::~Loan() {
  if (client_) database_->idle_.push_back(std::move(client_));
}

ClickhouseDatabase::ClickhouseDatabase(const ClickhouseOptions& options)
    : options_(options),
      layout_{.database = options.address.database, .cluster = options.address.cluster} {
  CHECK(options_.clock != nullptr, "the options of a store include a clock");
}

ClickhouseDatabase::~ClickhouseDatabase() = default;

Result<std::unique_ptr<ClickhouseDatabase>> ClickhouseDatabase::open(
    const ClickhouseOptions& options) {
  auto database = std::make_unique<ClickhouseDatabase>(options);
  TRY(database->load_topology());
  TRY(database->prepare());
  database->storage_ = make_log_table(*database);
  database->reader_ = database->log();
  return database;
}

ClickhouseDatabase::Loan ClickhouseDatabase::lend() {
  if (idle_.empty()) return {*this, std::make_unique<Client>(options_.address)};
  std::unique_ptr<Client> client = std::move(idle_.back());
  idle_.pop_back();
  return {*this, std::move(client)};
}

Call reading_call(const TableLayout& layout) {
  Call call;
  // Statements contain lists of runs and months.
  call.settings = {{"max_query_size", "16777216"}, {"join_use_nulls", "0"}};
  if (layout.is_cluster()) call.settings["select_sequential_consistency"] = "1";
  call.settings_if_known = {{"transform_null_in", "0"},
                            {"aggregate_functions_null_for_empty", "0"}};
  return call;
}

Call writing_call(const TableLayout& layout, const Topology& topology,
                  const clickhouse::Address& address, const TableSpec& table) {
  Call call;
  call.settings = {{"max_query_size", "16777216"}};
  // The insert returns once it is written as one block, however many months it spans.
  call.settings_if_known = {{"async_insert", "0"}, {"max_partitions_per_insert_block", "0"}};
  if (!layout.is_cluster()) return call;
  const std::uint64_t copies =
      table.spread == TableSpread::kSharded ? topology.replicas : topology.nodes();
  // The quorum is all replicas. A replica considers itself up to date once it has the last part
  // that a quorum has, and then answers without an earlier part that it is still fetching (seen on
  // 18.16).
  call.settings["insert_quorum"] = std::to_string(copies);
  // The other replicas take a while to notice that one has died. The writer gets an error within
  // the time-out of the address, so that it can send again; the server's own limit is ten minutes.
  call.settings["insert_quorum_timeout"] = std::to_string(quorum_timeout(address).count());
  call.settings["insert_distributed_sync"] = "1";
  // Quorum inserts run one after another; otherwise a reader cannot know what it has to find.
  call.settings_if_known["insert_quorum_parallel"] = "0";
  return call;
}

Call ClickhouseDatabase::reading() const { return reading_call(layout_); }

Call ClickhouseDatabase::reading_facts() const {
  constexpr const char* kBlockRows = "16384";
  Call call = reading();
  call.settings["max_block_size"] = kBlockRows;
  return call;
}

Call ClickhouseDatabase::writing(const TableSpec& table) const {
  return writing_call(layout_, topology_, options_.address, table);
}

Result<void> ClickhouseDatabase::insert(Client& client, const TableSpec& table,
                                        const std::string& block) const {
  return client.insert(all(table.name), column_names(table), block, writing(table));
}

std::uint64_t ClickhouseDatabase::fresh_session() {
  using Number = std::optional<std::uint64_t>;
  while (true) {
    Fingerprint print;
    print.add(Number(options_.seed)).add(unix_ms(options_.clock->now())).add(Number(++sessions_));
    if (const std::uint64_t number = print.hash().low; number != 0) return number;
  }
}

commit_log::Clock ClickhouseDatabase::clock() const {
  Clock* clock = options_.clock;
  return {.now = [clock] { return clock->now(); },
          .sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }};
}

std::unique_ptr<commit_log::CommitLog> ClickhouseDatabase::log() {
  commit_log::Settings settings;
  settings.lease = options_.lease;
  auto log = std::make_unique<commit_log::CommitLog>(*storage_, clock(), settings, fresh_session());
  if (reader_) log->start_from(reader_->known());
  return log;
}

Result<commit_log::View> ClickhouseDatabase::view() { return reader_->read(); }

const ImportNumbers& ClickhouseDatabase::import_numbers(const commit_log::View& view) {
  // Every later view begins with this view.
  view.entries.each(
      kImportEntry, [&](std::uint64_t, std::uint64_t session) { import_numbers_.add(session); },
      numbered_);
  numbered_ = std::max(numbered_, view.entries.size());
  return import_numbers_;
}

Result<void> check_can_be_made(const clickhouse::Address& address) {
  if (!address.cluster.empty() || address.endpoints.size() == 1) return {};
  return fail(ErrorCode::kConfig,
              "a ledger can't be created on several servers that are not a cluster: name it, "
              "cluster=NAME of their remote_servers, or one server");
}

Result<Topology> topology_of(const clickhouse::Address& address) {
  if (address.cluster.empty()) return Topology{};
  Client client(of_no_ledger(address));
  std::vector<std::uint64_t> replicas;  // of each shard
  Result<void> read =
      client.query("SELECT shard_num, toUInt64(count()) FROM system.clusters WHERE cluster = " +
                       clickhouse::sql_literal(address.cluster) + " GROUP BY shard_num",
                   [&](const Block& block) -> Result<bool> {
                     for (std::uint64_t row = 0; row < block.rows; ++row) {
                       replicas.push_back(block.columns[1].uint64(row));
                     }
                     return true;
                   });
  if (!read) return std::unexpected(read.error());
  if (replicas.empty()) {
    return fail(ErrorCode::kConfig, "the servers have no cluster \"" + address.cluster +
                                        "\": name one of their remote_servers");
  }
  if (std::ranges::adjacent_find(replicas, std::not_equal_to()) != replicas.end()) {
    return fail(ErrorCode::kConfig, "the shards of cluster \"" + address.cluster +
                                        "\" do not all have the same number of replicas, so no "
                                        "one quorum fits them all");
  }
  std::uint64_t macros = 0;
  read = client.query(
      "SELECT toUInt64(count()) FROM system.macros WHERE macro IN ('shard', 'replica')",
      [&](const Block& block) -> Result<bool> {
        macros = block.columns[0].uint64(0);
        return true;
      });
  if (!read) return std::unexpected(read.error());
  if (macros != 2) {
    return fail(ErrorCode::kConfig,
                "a server has no macros \"shard\" and \"replica\": both are needed in the "
                "configuration of every server of a cluster");
  }
  return Topology{.shards = replicas.size(), .replicas = replicas.front()};
}

Result<void> ClickhouseDatabase::load_topology() {
  const auto topology = TRY(topology_of(options_.address));
  topology_ = topology;
  return {};
}

Result<bool> ClickhouseDatabase::is_there(Client& client) {
  const auto tables =
      TRY(count_of(client, *this,
                   "SELECT toUInt64(count()) FROM system.tables WHERE database = " +
                       clickhouse::sql_literal(layout_.database) + " AND name = 'schema_version'"));
  return tables > 0;
}

// Each node that has the last table to be created has registered as one of its replicas.
Result<bool> ClickhouseDatabase::is_everywhere(Client& client) {
  if (!layout_.is_cluster()) return is_there(client);
  const auto nodes = TRY(
      count_of(client, *this,
               "SELECT toUInt64(max(total_replicas)) FROM system.replicas WHERE database = " +
                   clickhouse::sql_literal(layout_.database) + " AND table = 'schema_version'"));
  return nodes >= topology_.nodes();
}

// If the ledger of a cluster were opened as that of one server, it would be written without its
// quorum and read from a single replica: commits would be lost. The table of charges shows which it
// is.
Result<void> ClickhouseDatabase::refuse_another_layout(Client& client) {
  std::string engine, definition;
  TRY(client.query(
      "SELECT engine, engine_full FROM system.tables WHERE name = 'charges' AND database = " +
          clickhouse::sql_literal(layout_.database),
      [&](const Block& block) -> Result<bool> {
        if (block.rows == 0) return true;
        engine = block.columns[0].text(0);
        definition = block.columns[1].text(0);
        return false;
      },
      reading()));
  if (engine.empty()) return {};
  const bool is_of_cluster = engine == "Distributed";
  if (is_of_cluster && !layout_.is_cluster()) {
    return fail(
        ErrorCode::kConfig,
        "it is a ledger of a cluster: add cluster=NAME to its address, as when it was created");
  }
  if (!is_of_cluster && layout_.is_cluster()) {
    return fail(ErrorCode::kConfig,
                "it is a ledger of one server: leave cluster= out of its address, or bring it into "
                "another database with `pennyweight move`, by way of a file");
  }
  // "Distributed(name, database, …)"; newer releases quote the arguments.
  std::erase(definition, '\'');
  if (!is_of_cluster || definition.starts_with("Distributed(" + layout_.cluster + ",")) return {};
  return fail(ErrorCode::kConfig, "the ledger was not made on the cluster \"" + layout_.cluster +
                                      "\": use the name of the one that it was made on");
}

// 0 if no version is recorded.
Result<std::uint64_t> ClickhouseDatabase::version(Client& client) {
  return count_of(client, *this, "SELECT max(version) FROM " + all("schema_version"));
}

Result<void> ClickhouseDatabase::refuse_what_is_not_ours(Client& client) {
  std::string ours;
  for (const TableSpec& table : clickhouse_tables()) {
    for (const char* end : {"", "_local"}) {
      ours += (ours.empty() ? "" : ", ") + clickhouse::sql_literal(table.name + end);
    }
  }
  std::vector<std::string> others;  // `moving` first
  TRY(client.query(
      "SELECT name FROM system.tables WHERE database = " +
          clickhouse::sql_literal(layout_.database) + " AND name NOT IN (" + ours +
          ") ORDER BY name != " + clickhouse::sql_literal(kMovingTable) + ", name LIMIT 2",
      [&](const Block& block) -> Result<bool> {
        for (std::uint64_t row = 0; row < block.rows; ++row) {
          others.emplace_back(block.columns[0].text(row));
        }
        return true;
      },
      reading()));
  if (others.empty()) return {};
  if (others.size() == 1 && others.front() == kMovingTable) {
    return fail(
        ErrorCode::kBadFile,
        "a `pennyweight move` to it has begun and is not finished, so it is not a ledger yet; "
        "run that move again, from the same ledger, and it goes on where it was, or give "
        "it up: DROP DATABASE " +
            layout_.database + (layout_.is_cluster() ? " ON CLUSTER " + layout_.cluster : ""));
  }
  const std::string& foreign = others.front() == kMovingTable ? others.back() : others.front();
  return fail(ErrorCode::kBadFile,
              "it is a ClickHouse database of something else, with a table \"" +
                  printable_text(foreign, kNameBytesShown) + "\"; name another database");
}

Result<void> ClickhouseDatabase::create_at_every_endpoint() {
  const std::size_t endpoints = options_.address.endpoints.size();
  std::vector<Result<void>> made(endpoints);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < endpoints; ++i) {
      threads.emplace_back([&, i] {
        Client client(of_no_ledger(options_.address));
        Call call;
        call.endpoint = i;
        made[i] = make_all(client, layout_, false, call);
      });
    }
  }
  for (Result<void>& result : made) {
    if (!result) return std::move(result);
  }
  return {};
}

Result<void> ClickhouseDatabase::create(Client& client) {
  TRY(check_can_be_made(options_.address));
  // If every node is one of our endpoints, each is addressed directly and all at once, in a tenth
  // of the time that the servers' own queue takes.
  if (options_.address.endpoints.size() == topology_.nodes()) {
    TRY(create_at_every_endpoint());
    const auto everywhere = is_everywhere(client);
    if (!everywhere) return std::unexpected(everywhere.error());
    if (*everywhere) return {};
  }
  TRY(make_all(client, layout_, true, {}));
  const auto everywhere = is_everywhere(client);
  if (!everywhere) return std::unexpected(everywhere.error());
  if (*everywhere) return {};
  return fail(ErrorCode::kStore,
              "not every node of cluster \"" + layout_.cluster +
                  "\" has the tables, although each said so: do two of them have the same macros "
                  "\"shard\" and \"replica\"?");
}

Result<void> ClickhouseDatabase::prepare() {
  Client client(of_no_ledger(options_.address));
  const auto there = TRY(is_there(client));
  std::uint64_t written = 0;
  if (there) {
    const auto found = TRY(version(client));
    written = found;
  }
  if (written == 0) {
    TRY(refuse_what_is_not_ours(client));
    if (options_.read_only) {
      return fail(ErrorCode::kBadFile, "it is an empty database; import something first");
    }
  }
  TRY(refuse_another_layout(client));
  if (written > kClickhouseSchemaVersion) {
    return fail(ErrorCode::kStore, "its tables have version " + std::to_string(written) +
                                       ", this program knows version " +
                                       std::to_string(kClickhouseSchemaVersion) +
                                       "; use the pennyweight that wrote it, or a newer one");
  }
  if (options_.read_only) {
    const auto there_too = TRY(has_statements(client, layout_, reading()));
    if (there_too) return {};
    return fail(ErrorCode::kStore,
                "its tables have version " + std::to_string(written) +
                    ", which is read once they have been brought to version " +
                    std::to_string(kClickhouseSchemaVersion) +
                    ": any other command of this program does so, such as `pennyweight report`");
  }
  const auto everywhere = TRY(is_everywhere(client));
  if (written == kClickhouseSchemaVersion && everywhere) return {};
  if (written != 0) {
    TRY(refuse_what_is_not_ours(client));
  }
  TRY(create(client));
  const TableSpec& table = clickhouse_table("schema_version");
  clickhouse::BlockWriter block(table.columns);
  block.column(0).add_uint64(kClickhouseSchemaVersion);
  return insert(client, table, block.take());
}

}  // namespace pennyweight
