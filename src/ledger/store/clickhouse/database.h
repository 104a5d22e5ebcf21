// ClickhouseDatabase: one ledger on ClickHouse. Opens or creates it, lends connections, and knows
// the settings with which to read and write it.
//
// Not thread-safe; but a Loan may be used by another thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clickhouse/client.h"
#include "core/error.h"
#include "ledger/store/clickhouse/clickhouse_store.h"
#include "ledger/store/clickhouse/import_numbers.h"
#include "ledger/store/clickhouse/log/commit_log.h"
#include "ledger/store/clickhouse/tables.h"

namespace pennyweight {

// How many shards and replicas a cluster has. One server is one of each.
struct Topology {
  std::uint64_t shards = 1;
  std::uint64_t replicas = 1;  // of each shard: all have as many
  std::uint64_t nodes() const { return shards * replicas; }
};
// Reads the topology of the address's cluster. Fails if the servers don't know the cluster, if its
// shards have different numbers of replicas, or if the answering server lacks the macros that the
// tables need.
Result<Topology> topology_of(const clickhouse::Address& address);

// Fails if the address has several servers and no cluster. An existing ledger may be reached by
// several addresses of one server, but a new one could end up spread over different servers.
Result<void> check_can_be_made(const clickhouse::Address& address);

// The settings of a SELECT and of an INSERT with which every later read sees every acknowledged
// row, whichever replica answers.
clickhouse::Call reading_call(const TableLayout& layout);
clickhouse::Call writing_call(const TableLayout& layout, const Topology& topology,
                              const clickhouse::Address& address, const TableSpec& table);

class ClickhouseDatabase {
 public:
  // A borrowed connection, since every running statement needs its own. The destructor returns it.
  // The database must outlive it.
  class Loan {
   public:
    Loan(ClickhouseDatabase& database, std::unique_ptr<clickhouse::Client> client)
        : database_(&database), client_(std::move(client)) {}
    ~Loan();
    Loan(Loan&& other) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    clickhouse::Client& operator*() const { return *client_; }
    clickhouse::Client* operator->() const { return client_.get(); }

   private:
    ClickhouseDatabase* database_;
    std::unique_ptr<clickhouse::Client> client_;
  };

  // Connects, creates the ledger if there is none and `options` allow it, and checks its version.
  static Result<std::unique_ptr<ClickhouseDatabase>> open(const ClickhouseOptions& options);
  // For open() only: doesn't connect.
  explicit ClickhouseDatabase(const ClickhouseOptions& options);
  ~ClickhouseDatabase();
  ClickhouseDatabase(const ClickhouseDatabase&) = delete;
  ClickhouseDatabase& operator=(const ClickhouseDatabase&) = delete;

  Loan lend();
  const TableLayout& layout() const { return layout_; }
  const Topology& topology() const { return topology_; }
  const ClickhouseOptions& options() const { return options_; }
  // "database.charges": the table to read and write.
  std::string all(std::string_view table) const { return pennyweight::all(layout_, table); }

  // As reading_call() and writing_call().
  clickhouse::Call reading() const;
  // The same with smaller blocks, for whole facts: a row has about 1000 bytes.
  clickhouse::Call reading_facts() const;
  clickhouse::Call writing(const TableSpec& table) const;
  // Inserts a block, which BlockWriter::take() gave for column_names(table).
  Result<void> insert(clickhouse::Client& client, const TableSpec& table,
                      const std::string& block) const;

  // A globally unique number for a session.
  std::uint64_t fresh_session();
  // A new CommitLog to write with; each session needs its own. The database must outlive it.
  std::unique_ptr<commit_log::CommitLog> log();
  // What counts now.
  Result<commit_log::View> view();
  // The numbers of the imports of a view of this database, and perhaps of later imports. Lives as
  // long as the database, which adds to it.
  const ImportNumbers& import_numbers(const commit_log::View& view);

 private:
  friend class Loan;
  Result<void> load_topology();
  Result<void> prepare();
  Result<bool> is_there(clickhouse::Client& client);
  Result<bool> is_everywhere(clickhouse::Client& client);
  Result<std::uint64_t> version(clickhouse::Client& client);
  Result<void> refuse_what_is_not_ours(clickhouse::Client& client);
  Result<void> refuse_another_layout(clickhouse::Client& client);
  Result<void> create(clickhouse::Client& client);
  Result<void> create_at_every_endpoint();
  commit_log::Clock clock() const;

  ClickhouseOptions options_;
  TableLayout layout_;
  Topology topology_;
  std::uint64_t sessions_ = 0;  // how many numbers were given
  std::vector<std::unique_ptr<clickhouse::Client>> idle_;
  std::unique_ptr<commit_log::LogStorage> storage_;
  std::unique_ptr<commit_log::CommitLog> reader_;  // keeps what it has read
  ImportNumbers import_numbers_;
  std::uint64_t numbered_ = 0;  // the position of the log up to which import_numbers_ goes
};

}  // namespace pennyweight
