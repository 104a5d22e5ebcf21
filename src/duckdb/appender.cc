#include "duckdb/appender.h"

#include <cstring>

namespace pennyweight::duckdb {
namespace {

// The length of the sequence at the front, 0 where it is not UTF-8.
std::size_t utf8_sequence(std::string_view bytes) {
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool beyond = lead == 0xF4 && byte(1) > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    if (bytes.size() >= sizeof word) {
      std::memcpy(&word, bytes.data(), sizeof word);
      if ((word & 0x8080808080808080) == 0) {  // eight ASCII characters at once
        bytes.remove_prefix(sizeof word);
        continue;
      }
    }
    const std::size_t length = utf8_sequence(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

void ColumnWriter::set_null(std::uint64_t row) {
  duckdb_vector_ensure_validity_writable(vector_);
  duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector_), row);
}

void ColumnWriter::set_text(std::uint64_t row, std::string_view text) {
  CHECK(type_ == DUCKDB_TYPE_VARCHAR, "the column is text");
  if (!is_utf8(text)) {
    *valid_utf8_ = false;
    text = {};
  }
  duckdb_string_t& string = static_cast<duckdb_string_t*>(data_)[row];
  if (text.size() <= sizeof string.value.inlined.inlined) {
    // Short texts lie in the vector itself, padded with zeros.
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
  std::vector<duckdb_logical_type> logical;
  std::vector<duckdb_type> types;
  for (std::uint64_t i = 0; i < duckdb_appender_column_count(raw); ++i) {
    logical.push_back(duckdb_appender_column_type(raw, i));
    types.push_back(duckdb_get_type_id(logical.back()));
  }
  Chunk chunk(duckdb_create_data_chunk(logical.data(), logical.size()));
  for (duckdb_logical_type& type : logical) duckdb_destroy_logical_type(&type);
  return Appender(std::move(handle), std::move(chunk), std::move(types), table);
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
    if (duckdb_append_data_chunk(handle_.get(), chunk_.get()) == DuckDBError) return failure();
  }
  duckdb_data_chunk_reset(chunk_.get());
  if (!valid) return fail(ErrorCode::kBadValue, "a text for the table " + table_ + " is not UTF-8");
  return {};
}

Result<void> Appender::flush() {
  if (duckdb_appender_flush(handle_.get()) == DuckDBError) return failure();
  return {};
}

Result<void> Appender::close() {
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
