// SQLite with owning handles and prepared statements; values are always bound, never spliced in.
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

// A row of a result, valid during the callback.
class SqlRow {
 public:
  explicit SqlRow(sqlite3_stmt* statement) : statement_(statement) {}
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  bool is_true(int column) const { return integer(column) != 0; }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const;  // a text or a blob

 private:
  sqlite3_stmt* statement_;
};

// One connection, used by one thread at a time.
class SqlDatabase {
 public:
  // Creates the file if needed. Waits for other processes for some seconds.
  static Result<SqlDatabase> open(const std::string& path);

  // Runs statements without values, such as a schema.
  Result<void> run(const char* script);
  // `sql` is a literal of the program: each is prepared once and cached.
  Result<void> query(std::string_view sql, std::initializer_list<SqlValue> values,
                     const std::function<void(const SqlRow&)>& take);
  // Returns the number of changed rows.
  Result<std::uint64_t> change(std::string_view sql, std::initializer_list<SqlValue> values);
  // The integer in the first row and column; nothing if there is no row or it is NULL.
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
  std::map<std::string, Statement, std::less<>> statements_;  // destroyed before the connection
};

// Excludes other writers from its beginning on. All of it is on disk after commit(), and none of it
// otherwise.
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
