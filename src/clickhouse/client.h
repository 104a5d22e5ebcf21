// Client: statements for a ClickHouse cluster, over HTTP, at whichever endpoint answers.
//
// What may be sent again is: a query whose rows nobody has seen yet, an insert (the same bytes into
// a replicated table are taken once), a statement that says "IF NOT EXISTS" or the like. After an
// endpoint failed the next one is asked, until Address::retry is over. An Error says what was asked
// of whom, ClickHouse's own words and code, and never a password.
//
// An answer is whole or an Error: libcurl knows a connection that broke off, ClickHouse writes its
// words behind the rows where it fails in their midst (refusal.h), and settings by which a server
// would stop early and call it an answer are overruled.
//
// One Client is used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "clickhouse/address.h"
#include "clickhouse/block.h"
#include "clickhouse/refusal.h"
#include "core/error.h"
#include "core/hash.h"

namespace pennyweight::clickhouse {

// 'it\'s': a text inside a statement, with ClickHouse's escapes.
std::string quoted(std::string_view text);
// toFixedString(unhex('00ff…'), 16): a Hash128 inside a statement, as FixedString(16).
std::string quoted(const Hash128& hash);

struct Call {
  // Of this statement: max_threads, …; `database` in place of the address'. A server that does not
  // know one refuses the statement (code 115).
  std::map<std::string, std::string> settings = {};
  // Those that only some releases know; sent to servers that do.
  std::map<std::string, std::string> settings_if_known = {};
  // May be sent again although it may have been done already.
  bool repeatable = true;
  // Which endpoint, by its index among the Address'; nothing: the one that answered last, then the
  // others in turn.
  std::optional<std::size_t> endpoint = {};
};

class Client {
 public:
  explicit Client(Address address);  // REQUIRES: an endpoint
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Address& address() const;
  // A statement without rows.
  Result<void> execute(const std::string& sql, const Call& call = {});
  // Rows in blocks, as they come, in memory that holds one block; the sink answers false to stop.
  // Blocks without rows are not handed on. Every block has the columns of the first. What the sink
  // took of an answer that ends in an Error is not to be used. `sql` names no FORMAT.
  using Sink = std::function<Result<bool>(const Block&)>;
  Result<void> query(const std::string& sql, const Sink& sink, const Call& call = {});
  // INSERT INTO `table` (columns of the block) FORMAT Native, as one statement: all or nothing of
  // one server and partition, where the block is within its max_insert_block_size. `block` is
  // BlockWriter::take(). `columns`: "a, b, c".
  Result<void> insert(const std::string& table, const std::string& columns,
                      const std::string& block, const Call& call = {});
  // Of the last failure of this client.
  Refusal refusal() const;
  int code() const;  // ClickHouse's, 0 where there was none
  // From any thread: ends the request that is under way, and every later one, with an Error.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::clickhouse
