#include "core/duckdb/appender.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "core/utf8.h"

namespace pennyweight::duckdb {
void ColumnWriter::set_null(std::uint64_t row) {
  duckdb_vector_ensure_validity_writable(vector_);
  duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector_), row);
}

void ColumnWriter::set_text(std::uint64_t row, std::string_view text) {
  CHECK(type_ == DUCKDB_TYPE_VARCHAR, "the column is text");
  duckdb_string_t* const strings = static_cast<duckdb_string_t*>(data_);
  duckdb_string_t& string = strings[row];
  // Neighbouring rows often have the same text: an account, a service. They share the bytes.
  if (has_last_) {
    const duckdb_string_t& last = strings[last_row_];
    const std::uint32_t size = last.value.inlined.length;
    const char* const bytes = size <= sizeof last.value.inlined.inlined ? last.value.inlined.inlined
                                                                        : last.value.pointer.ptr;
    if (text.size() == size && (size == 0 || std::memcmp(bytes, text.data(), size) == 0)) {
      string = last;
      return;
    }
  }
  if (!is_utf8(text)) {
    *valid_utf8_ = false;
    text = {};
  }
  has_last_ = true;
  last_row_ = row;
  if (text.size() <= sizeof string.value.inlined.inlined) {
    // The vector itself holds short texts, padded with zeros.
    std::memset(&string, 0, sizeof string);
    string.value.inlined.length = static_cast<std::uint32_t>(text.size());
    if (!text.empty()) std::memcpy(string.value.inlined.inlined, text.data(), text.size());
    return;
  }
  duckdb_vector_assign_string_element_len(vector_, row, text.data(), text.size());
}

void ColumnWriter::set_pairs(std::uint64_t row, const std::vector<Pair>& pairs) {
  CHECK(type_ == DUCKDB_TYPE_MAP || type_ == DUCKDB_TYPE_LIST, "the column holds pairs");
  const std::uint64_t offset = duckdb_list_vector_get_size(vector_);
  static_cast<duckdb_list_entry*>(data_)[row] = {.offset = offset, .length = pairs.size()};
  if (pairs.empty()) return;
  const std::uint64_t size = offset + pairs.size();
  CHECK(duckdb_list_vector_reserve(vector_, size) == DuckDBSuccess &&
            duckdb_list_vector_set_size(vector_, size) == DuckDBSuccess,
        "a list vector grows");
  const duckdb_vector child = duckdb_list_vector_get_child(vector_);
  ColumnWriter first(duckdb_struct_vector_get_child(child, 0), DUCKDB_TYPE_VARCHAR, valid_utf8_);
  ColumnWriter second(duckdb_struct_vector_get_child(child, 1), DUCKDB_TYPE_VARCHAR, valid_utf8_);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    first.set_text(offset + i, pairs[i].first);
    second.set_text(offset + i, pairs[i].second);
  }
}

// DuckDB's types of a table's columns; chunks are created from them.
class Appender::RowTypes {
 public:
  explicit RowTypes(duckdb_appender appender) {
    for (std::uint64_t i = 0; i < duckdb_appender_column_count(appender); ++i) {
      types_.push_back(duckdb_appender_column_type(appender, i));
    }
  }
  ~RowTypes() {
    for (duckdb_logical_type& type : types_) duckdb_destroy_logical_type(&type);
  }
  RowTypes(const RowTypes&) = delete;
  RowTypes& operator=(const RowTypes&) = delete;

  std::vector<duckdb_type> ids() const {
    std::vector<duckdb_type> ids;
    for (const duckdb_logical_type type : types_) ids.push_back(duckdb_get_type_id(type));
    return ids;
  }
  Chunk chunk() { return Chunk(duckdb_create_data_chunk(types_.data(), types_.size())); }

 private:
  std::vector<duckdb_logical_type> types_;
};

// The thread that appends for an appender. One lock guards the state that both threads share; only
// the caller touches the chunk that is being filled, only the thread the one being appended.
class Appender::AppendThread {
 public:
  AppendThread(duckdb_appender handle, std::uint64_t flush_rows)
      : handle_(handle), flush_rows_(flush_rows), types_(handle), thread_([this] { run(); }) {}
  ~AppendThread() { stop(); }
  AppendThread(const AppendThread&) = delete;
  AppendThread& operator=(const AppendThread&) = delete;

  // Takes a filled chunk and returns an empty one, as soon as there is one: at most kChunksBehind
  // are created, each when it is first needed.
  Chunk exchange(Chunk filled) {
    std::unique_lock lock(mutex_);
    waiting_.push_back(std::move(filled));
    changed_.notify_all();
    if (free_.empty() && made_ < kChunksBehind) {
      ++made_;
      lock.unlock();
      return types_.chunk();
    }
    changed_.wait(lock, [this] { return !free_.empty(); });
    Chunk empty = std::move(free_.back());
    free_.pop_back();
    return empty;
  }
  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return failed_;
  }
  // Waits until every chunk is appended. Returns whether all of them were.
  bool wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
    return !failed_;
  }

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !waiting_.empty() || ended_; });
      if (waiting_.empty()) return;
      Chunk chunk = std::move(waiting_.front());
      waiting_.pop_front();
      busy_ = true;
      bool good = !failed_ && !ended_;
      lock.unlock();
      good = !good || append(chunk.get());  // after a failure chunks are only emptied
      duckdb_data_chunk_reset(chunk.get());
      lock.lock();
      failed_ |= !good;
      busy_ = false;
      free_.push_back(std::move(chunk));
      changed_.notify_all();
    }
  }
  bool append(duckdb_data_chunk chunk) {
    const std::uint64_t rows = duckdb_data_chunk_get_size(chunk);
    if (duckdb_append_data_chunk(handle_, chunk) == DuckDBError) return false;
    unflushed_ += rows;
    if (unflushed_ < flush_rows_) return true;
    unflushed_ = 0;
    return duckdb_appender_flush(handle_) != DuckDBError;
  }

  duckdb_appender handle_;
  std::uint64_t flush_rows_;
  std::uint64_t unflushed_ = 0;  // the thread's
  RowTypes types_;               // the caller's
  std::size_t made_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Chunk> free_;
  std::deque<Chunk> waiting_;
  bool busy_ = false, failed_ = false, ended_ = false;
  std::thread thread_;  // last: it begins with all of the above in place
};

Appender::Appender(Handle handle, Chunk chunk, std::vector<duckdb_type> types, std::string table)
    : handle_(std::move(handle)),
      chunk_(std::move(chunk)),
      types_(std::move(types)),
      table_(std::move(table)),
      valid_utf8_(std::make_unique<bool>(true)) {}
Appender::Appender(Appender&&) noexcept = default;
Appender::~Appender() = default;

Result<Appender> Appender::open(Connection& connection, const std::string& catalog,
                                const std::string& table) {
  duckdb_appender raw = nullptr;
  const duckdb_state state =
      duckdb_appender_create_ext(connection.handle(), catalog.empty() ? nullptr : catalog.c_str(),
                                 nullptr, table.c_str(), &raw);
  Handle handle(raw);
  if (state == DuckDBError) {
    const char* message = raw == nullptr ? nullptr : duckdb_appender_error(raw);
    return fail(ErrorCode::kStore, "cannot append to the table " + table + ": " +
                                       (message == nullptr ? "no reason given" : message));
  }
  RowTypes types(raw);
  return Appender(std::move(handle), types.chunk(), types.ids(), table);
}

Result<Appender> Appender::open_behind(Connection& connection, const std::string& catalog,
                                       const std::string& table, std::uint64_t flush_rows) {
  Result<Appender> appender = open(connection, catalog, table);
  if (!appender) return appender;
  appender->append_thread_ = std::make_unique<AppendThread>(appender->handle_.get(), flush_rows);
  return appender;
}

ColumnWriter Appender::column(std::uint64_t index) {
  CHECK(index < types_.size(), "the table has this column");
  return {duckdb_data_chunk_get_vector(chunk_.get(), index), types_[index], valid_utf8_.get()};
}

Result<void> Appender::append(std::uint64_t rows) {
  CHECK(rows <= kChunkRows, "a chunk holds so many rows");
  const bool valid = std::exchange(*valid_utf8_, true);
  if (valid && rows > 0) {
    duckdb_data_chunk_set_size(chunk_.get(), rows);
    if (append_thread_) {
      chunk_ = append_thread_->exchange(std::move(chunk_));
      return append_thread_->has_failed() && !append_thread_->wait() ? failure() : Result<void>{};
    }
    if (duckdb_append_data_chunk(handle_.get(), chunk_.get()) == DuckDBError) return failure();
  }
  duckdb_data_chunk_reset(chunk_.get());
  if (!valid) return fail(ErrorCode::kBadValue, "a text for the table " + table_ + " is not UTF-8");
  return {};
}

Result<void> Appender::flush() {
  if (append_thread_ && !append_thread_->wait()) return failure();
  if (duckdb_appender_flush(handle_.get()) == DuckDBError) return failure();
  return {};
}

Result<void> Appender::close() {
  if (append_thread_ && !append_thread_->wait()) return failure();
  if (duckdb_appender_close(handle_.get()) == DuckDBError) return failure();
  return {};
}

std::unexpected<Error> Appender::failure() const {
  const char* message = duckdb_appender_error(handle_.get());
  return std::unexpected(
      to_error(DUCKDB_ERROR_INVALID, message == nullptr ? "no reason given" : message)
          .during("cannot append to the table " + table_));
}

}  // namespace pennyweight::duckdb
