// Client: sends statements to a ClickHouse cluster over HTTP, to whichever endpoint answers.
//
// When an endpoint fails, the next one is asked, until Address::retry is over. Only statements that
// may be repeated are sent again: a query none of whose rows were passed on yet, an insert (a
// replicated table takes the same bytes once), a statement with "IF NOT EXISTS" or the like. An
// Error names the statement and the endpoint, with ClickHouse's own message and code, and never a
// password.
//
// An answer is complete or an Error: libcurl notices a connection that breaks off, ClickHouse
// writes its error behind the rows where it fails in the middle (refusal.h), and settings by which
// a server would stop early without an error are overruled.
//
// One thread at a time uses a Client.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/clickhouse/address.h"
#include "core/clickhouse/block.h"
#include "core/clickhouse/refusal.h"
#include "core/error.h"
#include "core/hash.h"

namespace pennyweight::clickhouse {

// A text as a literal of a statement, with ClickHouse's escapes: 'it\'s'.
std::string sql_literal(std::string_view text);
// A Hash128 as an expression of type FixedString(16): toFixedString(unhex('00ff…'), 16).
std::string sql_literal(const Hash128& hash);

struct Call {
  // Settings of this statement: max_threads, …; `database` overrides that of the address. A server
  // that does not know a setting refuses the statement (code 115).
  std::map<std::string, std::string> settings = {};
  // Settings that only some releases have; sent to servers that have them.
  std::map<std::string, std::string> settings_if_known = {};
  // Whether the statement may be sent again although it may have been done already.
  bool repeatable = true;
  // The index of the endpoint in the Address; nothing: the one that answered last, then the others
  // in turn.
  std::optional<std::size_t> endpoint = {};
};

class Client {
 public:
  explicit Client(Address address);  // REQUIRES: an endpoint
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Address& address() const;
  // Runs a statement that returns no rows.
  Result<void> execute(const std::string& sql, const Call& call = {});
  // Runs a query and passes its rows on in blocks as they come; memory holds one block. The sink
  // returns false to stop. Blocks without rows are skipped, and every block has the columns of the
  // first. Discard what the sink took when query() returns an Error. `sql` names no FORMAT.
  using Sink = std::function<Result<bool>(const Block&)>;
  Result<void> query(const std::string& sql, const Sink& sink, const Call& call = {});
  // INSERT INTO `table` (columns) FORMAT Native, as one statement: a server inserts all of a
  // partition's rows or none where the block is within its max_insert_block_size. `block` is what
  // BlockWriter::take() returned, `columns` "a, b, c".
  Result<void> insert(const std::string& table, const std::string& columns,
                      const std::string& block, const Call& call = {});
  // Of the client's last failure.
  Refusal refusal() const;
  int code() const;  // ClickHouse's, 0 where there was none
  // Callable from any thread: ends the running request, and every later one, with an Error.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::clickhouse
