// How we speak to SQLite: owners, and statements that are prepared, never put together of values.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/error.h"

namespace pennyweight::access {

struct Blob {
  std::string_view bytes;
};
using SqlValue = std::variant<std::nullptr_t, std::int64_t, std::string_view, Blob>;

// A row of an answer, while it is handed on.
class SqlRow {
 public:
  explicit SqlRow(sqlite3_stmt* statement) : statement_(statement) {}
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  bool is_true(int column) const { return integer(column) != 0; }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const;  // of a text or a blob

 private:
  sqlite3_stmt* statement_;
};

// One connection. One thread at a time.
class SqlDatabase {
 public:
  // Creates what is not there. Waits for other processes, some seconds at most.
  static Result<SqlDatabase> open(const std::string& path);

  // Statements without values, as the schema has them.
  Result<void> run(const char* script);
  // `sql` is a literal of the program: each is prepared once and kept.
  Result<void> query(std::string_view sql, std::initializer_list<SqlValue> values,
                     const std::function<void(const SqlRow&)>& take);
  // How many rows it changed.
  Result<std::uint64_t> change(std::string_view sql, std::initializer_list<SqlValue> values);
  // The integer of the first row and column; nothing where there is no row or it is NULL.
  Result<std::optional<std::int64_t>> integer(std::string_view sql,
                                              std::initializer_list<SqlValue> values);
  std::int64_t last_id() const { return sqlite3_last_insert_rowid(database_.get()); }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  struct Finalise {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalise>;

  SqlDatabase(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}
  Result<sqlite3_stmt*> prepare(std::string_view sql);
  std::unexpected<Error> error() const;

  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
  std::map<std::string, Statement, std::less<>> statements_;  // before the connection goes
};

// From its beginning nobody else writes; all of it is on disk after commit(), and none without.
class SqlTransaction {
 public:
  static Result<SqlTransaction> begin(SqlDatabase& database);
  Result<void> commit();

  SqlTransaction(SqlTransaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  SqlTransaction& operator=(SqlTransaction&&) = delete;
  ~SqlTransaction();

 private:
  explicit SqlTransaction(SqlDatabase& database) : database_(&database) {}
  SqlDatabase* database_;
};

}  // namespace pennyweight::access
