#include "core/duckdb/database.h"

#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "core/duckdb/checkpoint_rescue.h"
#include "core/interruption.h"
#include "core/try.h"

namespace pennyweight::duckdb {
namespace {

struct DestroyConfig {
  void operator()(duckdb_config config) const { duckdb_destroy_config(&config); }
};
using Config = std::unique_ptr<std::remove_pointer_t<duckdb_config>, DestroyConfig>;

// DuckDB's own checkpoints come when the log is as long. No log ever is as long as kNever.
constexpr std::uint64_t kLogBytesMax = std::uint64_t{16} << 20;
constexpr const char* kNever = "1000TB";

Result<void> set(const Config& config, const char* name, const std::string& value) {
  if (duckdb_set_config(config.get(), name, value.c_str()) == DuckDBError) {
    return fail(ErrorCode::kConfig,
                "DuckDB does not take " + value + " as its " + std::string(name));
  }
  return {};
}

Result<Config> configure(const DatabaseOptions& options) {
  duckdb_config raw = nullptr;
  CHECK(duckdb_create_config(&raw) == DuckDBSuccess, "a configuration can always be made");
  Config config(raw);
  const auto mebibytes = options.memory_bytes_max >> 20;
  std::vector<std::pair<const char*, std::string>> settings = {
      {"access_mode", options.read_only ? "READ_ONLY" : "AUTOMATIC"},
      {"memory_limit", std::to_string(mebibytes) + "MiB"},
      {"preserve_insertion_order", options.keeps_insertion_order ? "true" : "false"},
      {"autoinstall_known_extensions", "false"},
      {"autoload_known_extensions", "false"},
  };
  if (options.survives_kill) settings.emplace_back("checkpoint_threshold", kNever);
  if (options.threads > 0) settings.emplace_back("threads", std::to_string(options.threads));
  if (!options.temp_directory.empty()) {
    settings.emplace_back("temp_directory", options.temp_directory);
  }
  for (const auto& [name, value] : settings) {
    TRY(set(config, name, value));
  }
  return config;
}

Error error_of(duckdb_result& result) {
  const char* message = duckdb_result_error(&result);
  return to_error(duckdb_result_error_type(&result),
                  message == nullptr ? "DuckDB gives no reason" : message);
}

duckdb_hugeint to_hugeint(Int128 value) {
  const auto bits = static_cast<UInt128>(value);
  return {.lower = static_cast<std::uint64_t>(bits),
          .upper = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits >> 64))};
}

std::string quote(std::string_view text, char mark) {
  std::string quoted(1, mark);
  for (const char c : text) {
    if (c == mark) quoted += mark;
    quoted += c;
  }
  return quoted += mark;
}

}  // namespace

// An open database. What it does by itself can't be interrupted, since a checkpoint also ends what
// a program that is told to stop has done.
class Database::File {
 public:
  File(duckdb_database handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  ~File() {
    // What remains in the log is read the next time.
    if (rescue_ && log_bytes() > 0) std::ignore = checkpoint();
    duckdb_close(&handle_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Result<void> take_over_checkpoints() {
    CheckpointRescue rescue = TRY(CheckpointRescue::open(path_));
    rescue_.emplace(std::move(rescue));
    Connection connection = TRY(connect());
    std::ignore = TRY(run(connection, "PRAGMA disable_checkpoint_on_shutdown"));
    return {};
  }
  Result<Connection> connect() {
    duckdb_connection connection = nullptr;
    if (duckdb_connect(handle_, &connection) == DuckDBError) {
      return fail(ErrorCode::kStore, "DuckDB refuses another connection");
    }
    return Connection(connection);
  }
  Result<void> checkpoint() {
    CHECK(rescue_.has_value(), "only this database's checkpoints are ours");
    Connection connection = TRY(connect());
    const std::vector<std::uint64_t> sizes =
        TRY(run(connection, "SELECT block_size::UBIGINT FROM pragma_database_size()"));
    // A ledger has many blocks of metadata; those without room for another piece stay as they are.
    const std::vector<std::uint64_t> blocks = TRY(run(
        connection, "SELECT block_id::UBIGINT FROM pragma_metadata_info() WHERE free_blocks > 0"));
    if (sizes.size() != 1)
      return fail(ErrorCode::kStore, "DuckDB does not say how long blocks are");
    if (!blocks.empty()) TRY(rescue_->save(blocks, sizes.front()));
    std::ignore = TRY(run(connection, "CHECKPOINT"));
    rescue_->drop();
    return {};
  }
  void checkpoint_if_due() {
    if (rescue_ && log_bytes() >= kLogBytesMax) std::ignore = checkpoint();
  }

 private:
  std::uint64_t log_bytes() const {
    std::error_code code;
    const auto bytes = std::filesystem::file_size(path_ + ".wal", code);
    return code ? 0 : bytes;
  }
  // The numbers of the first column, if it has any.
  static Result<std::vector<std::uint64_t>> run(Connection& connection, const char* sql) {
    duckdb_result result;
    const duckdb_state state = duckdb_query(connection.handle(), sql, &result);
    std::vector<std::uint64_t> found;
    std::optional<Error> error;
    if (state == DuckDBError) {
      error = error_of(result);
    } else if (duckdb_column_type(&result, 0) == DUCKDB_TYPE_UBIGINT) {
      while (duckdb_data_chunk chunk = duckdb_fetch_chunk(result)) {
        const auto* numbers = static_cast<const std::uint64_t*>(
            duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0)));
        found.insert(found.end(), numbers, numbers + duckdb_data_chunk_get_size(chunk));
        duckdb_destroy_data_chunk(&chunk);
      }
    }
    duckdb_destroy_result(&result);
    if (error) return std::unexpected(*std::move(error));
    return found;
  }

  duckdb_database handle_;
  std::string path_;
  std::optional<CheckpointRescue> rescue_;  // gone after the file is closed
};

Database::Database(std::unique_ptr<File> file) : file_(std::move(file)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const DatabaseOptions& options) {
  if (options.survives_kill) TRY(CheckpointRescue::recover(options.path));
  Config config = TRY(configure(options));
  duckdb_database database = nullptr;
  char* message = nullptr;
  const char* path = options.path.empty() ? nullptr : options.path.c_str();
  if (duckdb_open_ext(path, &database, config.get(), &message) == DuckDBError) {
    Error error = to_error(DUCKDB_ERROR_IO, message == nullptr ? "no reason given" : message);
    duckdb_free(message);
    return std::unexpected(error.during("cannot open " + options.path));
  }
  auto file = std::make_unique<File>(database, options.path);
  if (options.survives_kill && !options.read_only) TRY(file->take_over_checkpoints());
  return Database(std::move(file));
}

Result<Connection> Database::connect() { return file_->connect(); }
Result<void> Database::checkpoint() { return file_->checkpoint(); }
void Database::checkpoint_if_due() { file_->checkpoint_if_due(); }

Result<void> Connection::execute(const std::string& sql) {
  if (Interruption::is_here()) return std::unexpected(interrupted_error());
  const Interruptible running([this] { duckdb_interrupt(handle_.get()); });
  duckdb_result result;
  const duckdb_state state = duckdb_query(handle_.get(), sql.c_str(), &result);
  const Rows owner(result, handle_.get());
  if (state == DuckDBError) return std::unexpected(error_of(result));
  return {};
}

Result<Statement> Connection::prepare(const std::string& sql) {
  duckdb_prepared_statement raw = nullptr;
  const duckdb_state state = duckdb_prepare(handle_.get(), sql.c_str(), &raw);
  Statement statement(raw, handle_.get());
  if (state == DuckDBError) {
    const char* message = duckdb_prepare_error(raw);
    return std::unexpected(
        to_error(DUCKDB_ERROR_INVALID, message == nullptr ? "DuckDB gives no reason" : message));
  }
  return statement;
}

Result<Rows> Connection::query(const std::string& sql) {
  Statement statement = TRY(prepare(sql));
  return statement.query();
}

Result<std::uint64_t> Connection::change(const std::string& sql) {
  Statement statement = TRY(prepare(sql));
  return statement.change();
}

#define PENNYWEIGHT_BIND(call) CHECK((call) == DuckDBSuccess, "the statement has this parameter")

Statement& Statement::bind_text(std::uint64_t parameter, std::string_view text) {
  PENNYWEIGHT_BIND(duckdb_bind_varchar_length(handle_.get(), parameter, text.data(), text.size()));
  return *this;
}
Statement& Statement::bind_int64(std::uint64_t parameter, std::int64_t value) {
  PENNYWEIGHT_BIND(duckdb_bind_int64(handle_.get(), parameter, value));
  return *this;
}
Statement& Statement::bind_uint64(std::uint64_t parameter, std::uint64_t value) {
  PENNYWEIGHT_BIND(duckdb_bind_uint64(handle_.get(), parameter, value));
  return *this;
}
Statement& Statement::bind_hugeint(std::uint64_t parameter, Int128 value) {
  PENNYWEIGHT_BIND(duckdb_bind_hugeint(handle_.get(), parameter, to_hugeint(value)));
  return *this;
}
Statement& Statement::bind_decimal(std::uint64_t parameter, Int128 ticks) {
  const duckdb_decimal value{.width = 38, .scale = 18, .value = to_hugeint(ticks)};
  PENNYWEIGHT_BIND(duckdb_bind_decimal(handle_.get(), parameter, value));
  return *this;
}
Statement& Statement::bind_bool(std::uint64_t parameter, bool value) {
  PENNYWEIGHT_BIND(duckdb_bind_boolean(handle_.get(), parameter, value));
  return *this;
}
Statement& Statement::bind_timestamp_ms(std::uint64_t parameter, Instant at) {
  return bind_value(parameter, duckdb_create_timestamp_ms({at.time_since_epoch().count()}));
}
Statement& Statement::bind_date(std::uint64_t parameter, std::chrono::sys_days day) {
  const auto days = static_cast<std::int32_t>(day.time_since_epoch().count());
  PENNYWEIGHT_BIND(duckdb_bind_date(handle_.get(), parameter, {days}));
  return *this;
}
Statement& Statement::bind_uuid(std::uint64_t parameter, const Hash128& hash) {
  return bind_value(parameter, duckdb_create_uuid({.lower = hash.low, .upper = hash.high}));
}
Statement& Statement::bind_null(std::uint64_t parameter) {
  PENNYWEIGHT_BIND(duckdb_bind_null(handle_.get(), parameter));
  return *this;
}
Statement& Statement::bind_value(std::uint64_t parameter, duckdb_value value) {
  const duckdb_state state = duckdb_bind_value(handle_.get(), parameter, value);
  duckdb_destroy_value(&value);
  PENNYWEIGHT_BIND(state);
  return *this;
}
#undef PENNYWEIGHT_BIND

Result<Rows> Statement::query() {
  if (Interruption::is_here()) return std::unexpected(interrupted_error());
  const Interruptible running([this] { duckdb_interrupt(connection_); });
  duckdb_result result;
  const duckdb_state state = duckdb_execute_prepared_streaming(handle_.get(), &result);
  Rows rows(result, connection_);
  if (state == DuckDBError) return std::unexpected(error_of(rows.result_));
  return rows;
}

Result<std::uint64_t> Statement::change() {
  if (Interruption::is_here()) return std::unexpected(interrupted_error());
  const Interruptible running([this] { duckdb_interrupt(connection_); });
  duckdb_result result;
  const duckdb_state state = duckdb_execute_prepared(handle_.get(), &result);
  Rows rows(result, connection_);
  if (state == DuckDBError) return std::unexpected(error_of(rows.result_));
  return duckdb_rows_changed(&rows.result_);
}

Result<void> Statement::execute() {
  std::ignore = TRY(change());
  return {};
}

std::string quote_identifier(std::string_view name) { return quote(name, '"'); }
std::string quote_text(std::string_view text) { return quote(text, '\''); }

}  // namespace pennyweight::duckdb
