#include "server/access/sqlite.h"

#include <fmt/format.h>

#include <tuple>

#include "core/check.h"
#include "core/try.h"

namespace pennyweight::access {
namespace {

// Longer than any writer holds the file: transactions here write a few rows.
constexpr int kWaitMs = 10'000;

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
      return ErrorCode::kBadFile;
    case SQLITE_CONSTRAINT:
      return ErrorCode::kConflict;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return ErrorCode::kIo;
    default:
      return ErrorCode::kStore;
  }
}

int bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    // An empty view may have a null pointer, which SQLite would bind as NULL.
    const char* data = text->empty() ? "" : text->data();
    return sqlite3_bind_text64(statement, index, data, text->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  if (const auto* blob = std::get_if<Blob>(&value)) {
    const char* data = blob->bytes.empty() ? "" : blob->bytes.data();
    return sqlite3_bind_blob64(statement, index, data, blob->bytes.size(), SQLITE_STATIC);
  }
  return sqlite3_bind_null(statement, index);
}

// Resets a statement and clears its values at the end of the scope.
struct Reset {
  sqlite3_stmt* statement;
  ~Reset() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

}  // namespace

std::string SqlRow::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

std::unexpected<Error> SqlDatabase::error() const {
  return fail(code_of(sqlite3_extended_errcode(database_.get())),
              fmt::format("{}: {}", path_, sqlite3_errmsg(database_.get())));
}

Result<SqlDatabase> SqlDatabase::open(const std::string& path) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (opened == nullptr) return fail(ErrorCode::kIo, "out of memory while opening " + path);
  SqlDatabase database(opened, path);
  if (code != SQLITE_OK) return database.error();
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, kWaitMs);
  // Deleted data is overwritten, and an altered schema can't call functions.
  TRY(
      database.run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                   "PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF;"));
  return database;
}

Result<void> SqlDatabase::run(const char* script) {
  if (sqlite3_exec(database_.get(), script, nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<sqlite3_stmt*> SqlDatabase::prepare(std::string_view sql) {
  const auto known = statements_.find(sql);
  if (known != statements_.end()) return known->second.get();
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return error();
  }
  statements_.emplace(sql, Statement(statement));
  return statement;
}

Result<void> SqlDatabase::query(std::string_view sql, std::initializer_list<SqlValue> values,
                                const std::function<void(const SqlRow&)>& take) {
  const auto statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  const Reset reset{*statement};
  CHECK(static_cast<int>(values.size()) == sqlite3_bind_parameter_count(*statement),
        "every value of a statement is bound");
  int index = 0;
  for (const SqlValue& value : values) {
    if (bind(*statement, ++index, value) != SQLITE_OK) return error();
  }
  int step = sqlite3_step(*statement);
  for (; step == SQLITE_ROW; step = sqlite3_step(*statement)) take(SqlRow(*statement));
  if (step != SQLITE_DONE) return error();
  return {};
}

Result<std::uint64_t> SqlDatabase::change(std::string_view sql,
                                          std::initializer_list<SqlValue> values) {
  TRY(query(sql, values, [](const SqlRow&) {}));
  return static_cast<std::uint64_t>(sqlite3_changes64(database_.get()));
}

Result<std::optional<std::int64_t>> SqlDatabase::integer(std::string_view sql,
                                                         std::initializer_list<SqlValue> values) {
  std::optional<std::int64_t> found;
  bool first = true;
  TRY(query(sql, values, [&](const SqlRow& row) {
    if (first && !row.is_null(0)) found = row.integer(0);
    first = false;
  }));
  return found;
}

Result<SqlTransaction> SqlTransaction::begin(SqlDatabase& database) {
  // IMMEDIATE: what the transaction reads can't change before it writes.
  std::ignore = TRY(database.change("BEGIN IMMEDIATE", {}));
  return SqlTransaction(database);
}

Result<void> SqlTransaction::commit() {
  std::ignore = TRY(database_->change("COMMIT", {}));
  database_ = nullptr;
  return {};
}

SqlTransaction::~SqlTransaction() {
  // If even this fails, SQLite rolls back when the file is closed or opened again.
  if (database_ != nullptr) static_cast<void>(database_->change("ROLLBACK", {}));
}

}  // namespace pennyweight::access
