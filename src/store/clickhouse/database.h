// Database: one ledger on ClickHouse, as the sessions and scans of a store see it: how it is
// reached, how it is made, and with which settings it is read and written.
//
// Used by one thread at a time, but for a Loan that was lent, which is its borrower's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clickhouse/client.h"
#include "core/error.h"
#include "store/clickhouse/clickhouse_store.h"
#include "store/clickhouse/import_numbers.h"
#include "store/clickhouse/log/commit_log.h"
#include "store/clickhouse/tables.h"

namespace pennyweight {

// How many shards and replicas there are. One server is one of each.
struct Topology {
  std::uint64_t shards = 1;
  std::uint64_t replicas = 1;  // of each shard: all have as many
  std::uint64_t nodes() const { return shards * replicas; }
};
// What the servers say of the address's cluster. An Error where they don't know it, its shards have
// not as many replicas each, or the server that answers has not the macros that tables are made by.
Result<Topology> topology_of(const clickhouse::Address& address);

// An Error where the address has several servers and no cluster. They may be ways to one server
// where the ledger is there; one that is made would be now at this and now at that.
Result<void> check_can_be_made(const clickhouse::Address& address);

class ClickhouseDatabase {
 public:
  // A client that nobody else uses until it is given back: a statement that runs needs one of its
  // own. Goes back by itself; lives no longer than the database.
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

  // Reaches the servers, makes the ledger where there is none and it may, and checks its version.
  static Result<std::unique_ptr<ClickhouseDatabase>> open(const ClickhouseOptions& options);
  // For open() alone: reaches nobody.
  explicit ClickhouseDatabase(const ClickhouseOptions& options);
  ~ClickhouseDatabase();
  ClickhouseDatabase(const ClickhouseDatabase&) = delete;
  ClickhouseDatabase& operator=(const ClickhouseDatabase&) = delete;

  Loan lend();
  const TableLayout& layout() const { return layout_; }
  const Topology& topology() const { return topology_; }
  const ClickhouseOptions& options() const { return options_; }
  // "database.charges": what is asked and written.
  std::string all(std::string_view table) const { return pennyweight::all(layout_, table); }

  // What a SELECT and an INSERT need so that what was acknowledged is there for whoever asks
  // afterwards, whichever replica answers.
  clickhouse::Call reading() const;
  // The same, of whole facts: a row has a thousand bytes, and a block is held as a whole.
  clickhouse::Call reading_facts() const;
  clickhouse::Call writing(const TableSpec& table) const;
  // Sends a block to a table: what BlockWriter::take() gave of column_names(table).
  Result<void> insert(clickhouse::Client& client, const TableSpec& table,
                      const std::string& block) const;

  // A number that no other session has, in this program or another.
  std::uint64_t fresh_session();
  // The log of commits, to write to: one for each session, since a log is used by one at a time.
  // Lives no longer than the database.
  std::unique_ptr<commit_log::CommitLog> log();
  // What counts now.
  Result<commit_log::View> view();
  // Of the imports of a view that this database gave, and perhaps of later ones. Lives as long as
  // the database, which adds to it.
  const ImportNumbers& import_numbers(const commit_log::View& view);

 private:
  friend class Loan;
  Result<void> learn_servers();
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
  std::unique_ptr<commit_log::Register> register_;
  std::unique_ptr<commit_log::CommitLog> reader_;  // which knows already what it has read
  ImportNumbers import_numbers_;
  std::uint64_t numbered_ = 0;  // the position of the log up to which import_numbers_ goes
};

}  // namespace pennyweight
