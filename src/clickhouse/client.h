// Client: statements for a ClickHouse cluster, over HTTP, at whichever endpoint answers.
//
// What may be sent again is: a query whose rows nobody has seen yet, an insert (the same bytes into
// a replicated table are taken once), a statement that says "IF NOT EXISTS" or the like. After an
// endpoint failed the next one is asked, until Address::retry is over. An Error says what was asked
// of whom, ClickHouse's own words and code, and never a password.
//
// One Client is used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clickhouse/address.h"
#include "clickhouse/block.h"
#include "core/error.h"

namespace pennyweight::clickhouse {

// 'it''s' with ClickHouse's escapes: a text inside a statement.
std::string quoted(std::string_view text);
// unhex('00ff…'): a Hash128 inside a statement, as FixedString(16).
std::string quoted(const Hash128& hash);

struct Call {
  std::map<std::string, std::string> settings = {};  // of this statement: max_threads, …
  // May be sent again although it may have been done already.
  bool repeatable = true;
  // Which endpoint, by its index among the Address'; nothing: the one that answered last, then the
  // others in turn.
  std::optional<std::size_t> endpoint = {};
};

// What kind of failure it was, for those who do something about it.
enum class Refusal {
  kNone,
  kUnreachable,  // nobody answered, or the answer broke off
  kUncertain,    // it may have been done: broken off, or code 319 (UNKNOWN_STATUS_OF_INSERT)
  kNotYet,       // it is worth asking again later, or somebody else: codes 285, 286 (quorum), 289
                 // (replica behind), 242 (read only), 225, 999 (no ZooKeeper), 252 (too many
                 // parts), 202 (too many queries), 210, 209, 159, 279 (no connection to a replica)
  kRefused,      // any other code: asking again says the same
};

class Client {
 public:
  explicit Client(Address address);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Address& address() const;
  // A statement without rows.
  Result<void> execute(const std::string& sql, const Call& call = {});
  // Rows in blocks, as they come, in memory that holds one block; the sink answers false to stop.
  // Blocks without rows are not handed on.
  using Sink = std::function<Result<bool>(const Block&)>;
  Result<void> query(const std::string& sql, const Sink& sink, const Call& call = {});
  // INSERT INTO `table` (columns of the block) FORMAT Native, as one statement: all or nothing of
  // one server, where the block is within its max_insert_block_size. `block` is
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
