#include "ledger/store/move/clickhouse_pages.h"

#include <fmt/format.h>

#include <chrono>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "ledger/store_rules.h"

namespace pennyweight::move {
namespace {

// Calls get(row of the page, row of the block) for each row that has a value.
template <class Get>
void each_clickhouse_value(const clickhouse::Column& from, std::uint64_t begin, bool nullable,
                           PageColumn& to, std::uint64_t rows, const Get& get) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (nullable && from.is_null(begin + row)) {
      to.is_absent[row] = 1;
    } else {
      get(row, begin + row);
    }
  }
}

Result<void> read_pairs(const clickhouse::Block& block, std::uint64_t begin,
                        const MovedTable& table, const MovedColumn& column, std::size_t place,
                        Page& page, PageColumn& to) {
  const clickhouse::Column &firsts = block.columns[place], &seconds = block.columns[place + 1];
  for (std::uint64_t row = 0; row < page.rows; ++row) {
    const auto keys = firsts.texts(begin + row), values = seconds.texts(begin + row);
    if (keys.size() != values.size()) return holds_nothing(table, column);
    for (std::size_t i = 0; i < keys.size(); ++i) to.pairs.emplace_back(keys[i], values[i]);
    to.ends[row] = static_cast<std::uint32_t>(to.pairs.size());
  }
  return {};
}

void read_clickhouse_column(const clickhouse::Column& from, std::uint64_t begin,
                            const MovedColumn& column, PageColumn& to, std::uint64_t rows) {
  const auto each = [&](const auto& get) {
    each_clickhouse_value(from, begin, column.nullable, to, rows, get);
  };
  const auto numbers = [&](const auto& number) {
    each([&](std::uint64_t row, std::uint64_t at) { to.numbers[row] = number(at); });
  };
  switch (column.kind) {
    case ValueKind::kText:
      return each([&](std::uint64_t row, std::uint64_t at) { to.texts[row] = from.text(at); });
    case ValueKind::kHash:
      return numbers([&](std::uint64_t at) { return as_number(from.hash(at)); });
    case ValueKind::kUInt64:
      return numbers([&](std::uint64_t at) { return UInt128{from.uint64(at)}; });
    case ValueKind::kUInt32:
      return numbers([&](std::uint64_t at) { return UInt128{from.uint32(at)}; });
    case ValueKind::kBool:
      return numbers([&](std::uint64_t at) { return UInt128{from.boolean(at) ? 1u : 0u}; });
    case ValueKind::kInstant:
      return numbers([&](std::uint64_t at) { return as_number(from.int64(at)); });
    case ValueKind::kDate:
      return numbers([&](std::uint64_t at) { return as_number(std::int64_t{from.int32(at)}); });
    case ValueKind::kDecimal:
    case ValueKind::kWide:
      return numbers([&](std::uint64_t at) { return static_cast<UInt128>(from.wide(at)); });
    case ValueKind::kPairs:
      CHECK(false, "pairs are two columns");
  }
}

std::int32_t day_of(UInt128 instant) {
  const auto day = std::chrono::floor<std::chrono::days>(from_unix_ms(as_int64(instant)));
  return static_cast<std::int32_t>(day.time_since_epoch().count());
}

// Appends the values of a column for some rows of a page.
class ValueWriter {
 public:
  ValueWriter(const PageColumn& from, const std::vector<std::uint32_t>& rows)
      : from_(from), rows_(rows) {}

  void write(ValueKind kind, clickhouse::ColumnWriter& to) const {
    switch (kind) {
      case ValueKind::kText:
        return each(to, [&](std::uint32_t row) { to.add_text(from_.texts[row]); });
      case ValueKind::kHash:
        return numbers(to, [&](UInt128 v) { to.add_hash(as_hash(v)); });
      case ValueKind::kUInt64:
        return numbers(to, [&](UInt128 v) { to.add_uint64(static_cast<std::uint64_t>(v)); });
      case ValueKind::kUInt32:
        return numbers(to, [&](UInt128 v) { to.add_uint32(static_cast<std::uint32_t>(v)); });
      case ValueKind::kBool:
        return numbers(to, [&](UInt128 v) { to.add_bool(v != 0); });
      case ValueKind::kInstant:
        return numbers(to, [&](UInt128 v) { to.add_int64(as_int64(v)); });
      case ValueKind::kDate:
        return numbers(to,
                       [&](UInt128 v) { to.add_int32(static_cast<std::int32_t>(as_int64(v))); });
      case ValueKind::kDecimal:
      case ValueKind::kWide:
        return numbers(to, [&](UInt128 v) { to.add_wide(static_cast<Int128>(v)); });
      case ValueKind::kPairs:
        CHECK(false, "pairs are two columns");
    }
  }
  void write_pairs(clickhouse::ColumnWriter& firsts, clickhouse::ColumnWriter& seconds) const {
    std::vector<std::string_view> keys, values;
    for (const std::uint32_t row : rows_) {
      keys.clear();
      values.clear();
      for (std::uint32_t i = row == 0 ? 0 : from_.ends[row - 1]; i < from_.ends[row]; ++i) {
        keys.push_back(from_.pairs[i].first);
        values.push_back(from_.pairs[i].second);
      }
      firsts.add_texts(keys);
      seconds.add_texts(values);
    }
  }
  void write_days(clickhouse::ColumnWriter& to) const {
    for (const std::uint32_t row : rows_) to.add_int32(day_of(from_.numbers[row]));
  }

 private:
  template <class Put>
  void each(clickhouse::ColumnWriter& to, const Put& put) const {
    for (const std::uint32_t row : rows_) {
      if (!from_.is_absent.empty() && from_.is_absent[row] != 0) {
        to.add_null();
      } else {
        put(row);
      }
    }
  }
  template <class Put>
  void numbers(clickhouse::ColumnWriter& to, const Put& put) const {
    each(to, [&](std::uint32_t row) { put(from_.numbers[row]); });
  }

  const PageColumn& from_;
  const std::vector<std::uint32_t>& rows_;
};

}  // namespace

std::string clickhouse_page_columns(const MovedTable& table) {
  std::string columns = "session";
  for (const MovedColumn& column : table.columns) columns += ", " + column.names;
  return columns;
}

Result<void> page_of(const clickhouse::Block& block, std::uint64_t begin, std::uint64_t count,
                     const MovedTable& table, const EntryNumbers& numbers, Page& page) {
  page.begin(table, count);
  const clickhouse::Column& sessions = block.columns[0];
  std::uint64_t last_session = 0, last_number = 0;  // usually those of the next row
  for (std::uint64_t row = 0; row < count; ++row) {
    const std::uint64_t session = sessions.uint64(begin + row);
    if (session != last_session) {
      const auto found = numbers.find(session);
      if (found == numbers.end()) {
        return fail(ErrorCode::kStore,
                    fmt::format("the table {} holds rows of a session {} that nobody committed",
                                table.name, session));
      }
      last_session = session;
      last_number = found->second;
    }
    page.entry_numbers[row] = last_number;
  }
  std::size_t place = 1;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const MovedColumn& column = table.columns[i];
    if (column.kind == ValueKind::kPairs) {
      const Result<void> read =
          read_pairs(block, begin, table, column, place, page, page.columns[i]);
      if (!read) return read;
      place += 2;
    } else {
      read_clickhouse_column(block.columns[place], begin, column, page.columns[i], count);
      ++place;
    }
  }
  return {};
}

void PartitionedBlocks::months_of(const Page& page, std::vector<std::string>& months) const {
  months.assign(page.rows, {});
  if (table_->month_of.empty()) return;
  const std::size_t index = table_->column(table_->month_of);
  const PageColumn& column = page.columns[index];
  if (table_->columns[index].kind == ValueKind::kText) {
    for (std::uint64_t row = 0; row < page.rows; ++row) months[row] = column.texts[row];
    return;
  }
  std::int32_t day = 0;  // of `month`
  std::string month;
  for (std::uint64_t row = 0; row < page.rows; ++row) {
    const UInt128 instant = column.numbers[row];
    if (month.empty() || day_of(instant) != day) {
      day = day_of(instant);
      month = month_of(from_unix_ms(as_int64(instant)));
    }
    months[row] = month;
  }
}

void PartitionedBlocks::add_rows(const Page& page, const std::vector<std::uint64_t>& sessions,
                                 const std::vector<std::uint32_t>& rows,
                                 clickhouse::BlockWriter& block) const {
  for (const std::uint32_t row : rows) block.column(0).add_uint64(sessions[row]);
  for (std::size_t i = 0; i < table_->columns.size(); ++i) {
    const MovedColumn& column = table_->columns[i];
    const ValueWriter values(page.columns[i], rows);
    if (column.kind == ValueKind::kPairs) {
      values.write_pairs(block.column(column.place), block.column(column.place + 1));
    } else {
      values.write(column.kind, block.column(column.place));
    }
    if (!table_->day_of.empty() && column.name == table_->day_of) {
      const auto& specs = table_->spec->columns;
      std::size_t day = 0;
      while (specs[day].name != "day") ++day;
      values.write_days(block.column(day));
    }
  }
}

void PartitionedBlocks::add(const Page& page, const std::vector<std::uint64_t>& sessions) {
  std::vector<std::string> months;
  months_of(page, months);
  std::map<std::string, std::vector<std::uint32_t>> rows;
  for (std::uint32_t row = 0; row < page.rows; ++row) rows[months[row]].push_back(row);
  for (const auto& [month, of_month] : rows) {
    const auto [block, is_new] =
        blocks_.try_emplace(month, std::span<const clickhouse::ColumnSpec>(table_->spec->columns));
    add_rows(page, sessions, of_month, block->second);
  }
}

std::vector<PartitionedBlocks::Block> PartitionedBlocks::take() {
  std::vector<Block> taken;
  for (auto& [month, block] : blocks_) {
    const std::uint64_t rows = block.rows();
    taken.push_back({block.take(), rows});
  }
  blocks_.clear();
  return taken;
}

}  // namespace pennyweight::move
