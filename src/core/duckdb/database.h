// Database, Connection, Statement: libduckdb's C API with ownership and Results.
//
// Whatever can fail returns a Result; only a broken REQUIRES throws. DuckDB never loads an
// extension from the network. Many connections may share a Database; one thread at a time uses a
// Connection and everything made from it. Whatever runs can be interrupted: core/interruption.h.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/duckdb/rows.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/instant.h"
#include "core/int128.h"

namespace pennyweight::duckdb {

struct DatabaseOptions {
  std::string path = {};  // empty: in memory
  bool read_only = false;
  std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;
  std::uint32_t threads = 0;          // 0: as many as there are cores
  std::string temp_directory = {};    // where it spills; empty: beside the file, or nowhere
  bool keeps_insertion_order = true;  // false: bulk work needs less memory, scans have no order
  // A kill at any moment loses nothing that was committed (checkpoint_rescue.h). There is a
  // checkpoint only at its end and where the program calls for one.
  bool survives_kill = false;
};

class Statement;

class Connection {
 public:
  Connection(Connection&&) noexcept = default;
  Connection& operator=(Connection&&) noexcept = default;

  // Runs one or more statements and discards their rows.
  Result<void> execute(const std::string& sql);
  // One statement with parameters $1, $2, …
  Result<Statement> prepare(const std::string& sql);
  // The rows of one statement without parameters, streamed.
  Result<Rows> query(const std::string& sql);
  // How many rows an INSERT, UPDATE or DELETE changed.
  Result<std::uint64_t> change(const std::string& sql);

  duckdb_connection handle() const { return handle_.get(); }

 private:
  friend class Database;
  struct Disconnect {
    void operator()(duckdb_connection connection) const { duckdb_disconnect(&connection); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<duckdb_connection>, Disconnect>;
  explicit Connection(duckdb_connection connection) : handle_(connection) {}
  Handle handle_;
};

// REQUIRES: closed after all its connections. With survives_kill, closing ends with a checkpoint.
class Database {
 public:
  static Result<Database> open(const DatabaseOptions& options);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();
  Result<Connection> connect();

  // Writes what was committed from the log into the file. After a failure it is still in the log.
  // REQUIRES: survives_kill; no transaction writes.
  Result<void> checkpoint();
  // The same once the log is long, for after a commit. What fails now is done at a later commit.
  void checkpoint_if_due();

 private:
  class File;
  explicit Database(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

// A prepared statement. Parameters are counted from 1 and keep their values from run to run.
// A failed bind is a parameter that the statement does not have: a bug, so a CHECK.
class Statement {
 public:
  Statement(Statement&&) noexcept = default;
  Statement& operator=(Statement&&) noexcept = default;

  Statement& bind_text(std::uint64_t parameter, std::string_view text);
  Statement& bind_int64(std::uint64_t parameter, std::int64_t value);
  Statement& bind_uint64(std::uint64_t parameter, std::uint64_t value);
  Statement& bind_hugeint(std::uint64_t parameter, Int128 value);
  Statement& bind_decimal(std::uint64_t parameter, Int128 ticks);  // DECIMAL(38,18)
  Statement& bind_bool(std::uint64_t parameter, bool value);
  Statement& bind_timestamp_ms(std::uint64_t parameter, Instant at);
  Statement& bind_date(std::uint64_t parameter, std::chrono::sys_days day);
  Statement& bind_uuid(std::uint64_t parameter, const Hash128& hash);
  Statement& bind_null(std::uint64_t parameter);

  Result<Rows> query();
  Result<std::uint64_t> change();
  Result<void> execute();

 private:
  friend class Connection;
  struct Destroy {
    void operator()(duckdb_prepared_statement statement) const {
      duckdb_destroy_prepare(&statement);
    }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<duckdb_prepared_statement>, Destroy>;
  Statement(duckdb_prepared_statement statement, duckdb_connection connection)
      : handle_(statement), connection_(connection) {}
  Statement& bind_value(std::uint64_t parameter, duckdb_value value);
  Handle handle_;
  duckdb_connection connection_;  // which outlives it
};

// `name` as an SQL identifier, `text` as an SQL string; each stays one token whatever it holds. For
// places where SQL takes no parameter: the file of COPY, a column's name.
std::string quote_identifier(std::string_view name);
std::string quote_text(std::string_view text);

}  // namespace pennyweight::duckdb
