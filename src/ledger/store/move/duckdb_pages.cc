#include "ledger/store/move/duckdb_pages.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"

namespace pennyweight::move {
namespace {

using duckdb::Rows;

// The columns of runs that only DuckDB has. Both follow from the order of the runs.
constexpr const char* kRunNumber = "number";
constexpr const char* kIsCurrent = "is_current";

bool is_run_table(const MovedTable& table) { return table.name == "runs"; }

Result<void> check_columns(const MovedTable& table, const std::vector<std::string>& there) {
  std::set<std::string> wanted;
  for (const MovedColumn& column : table.columns) wanted.insert(column.name);
  if (!table.number.empty()) wanted.insert(table.number);
  if (is_run_table(table)) wanted.insert({kRunNumber, kIsCurrent});
  for (const std::string& name : there) {
    if (wanted.erase(name) == 0) {
      return fail(ErrorCode::kStore, "the table " + table.name + " has a column " + name +
                                         " that this program does not know, and would leave "
                                         "behind; use a newer one");
    }
  }
  if (wanted.empty()) return {};
  return fail(ErrorCode::kStore,
              "the table " + table.name + " lacks the column " + *wanted.begin());
}

// Calls get(column, row) for each row that has a value.
template <class Get>
Result<void> each_duckdb_value(const duckdb::Column& from, const MovedTable& table,
                               std::size_t index, Page& page, const Get& get) {
  PageColumn& to = page.columns[index];
  for (std::uint64_t row = 0; row < page.rows; ++row) {
    if (!from.is_null(row)) {
      get(to, row);
      continue;
    }
    if (!table.columns[index].nullable) return holds_nothing(table, table.columns[index]);
    to.is_absent[row] = 1;
  }
  return {};
}

Result<void> read_duckdb_column(const duckdb::Column& from, const MovedTable& table,
                                std::size_t index, Page& page) {
  const auto numbers = [&](const auto& number) {
    return each_duckdb_value(from, table, index, page, [&](PageColumn& to, std::uint64_t row) {
      to.numbers[row] = number(row);
    });
  };
  switch (table.columns[index].kind) {
    case ValueKind::kText:
      return each_duckdb_value(from, table, index, page, [&](PageColumn& to, std::uint64_t row) {
        to.texts[row] = from.text(row);
      });
    case ValueKind::kHash:
      return numbers([&](std::uint64_t row) { return as_number(from.uuid(row)); });
    case ValueKind::kUInt64:
      return numbers([&](std::uint64_t row) { return UInt128{from.uint64(row)}; });
    case ValueKind::kUInt32:
      return numbers([&](std::uint64_t row) { return UInt128{from.uint32(row)}; });
    case ValueKind::kBool:
      return numbers([&](std::uint64_t row) { return UInt128{from.boolean(row) ? 1u : 0u}; });
    case ValueKind::kInstant:
      return numbers([&](std::uint64_t row) { return as_number(unix_ms(from.timestamp_ms(row))); });
    case ValueKind::kDate:
      return numbers([&](std::uint64_t row) {
        return as_number(std::int64_t{from.date(row).time_since_epoch().count()});
      });
    case ValueKind::kDecimal:
      return numbers([&](std::uint64_t row) { return static_cast<UInt128>(from.unscaled(row)); });
    case ValueKind::kWide:
      return numbers([&](std::uint64_t row) { return static_cast<UInt128>(from.hugeint(row)); });
    case ValueKind::kPairs:
      return each_duckdb_value(from, table, index, page, [&](PageColumn& to, std::uint64_t row) {
        from.visit_pairs(row, [&](std::string_view first, std::string_view second) {
          to.pairs.emplace_back(first, second);
        });
        to.ends[row] = static_cast<std::uint32_t>(to.pairs.size());
      });
  }
  CHECK(false, "every kind of value was read");
}

}  // namespace

Result<DuckdbColumns> known_columns(duckdb::Connection& connection,
                                    std::span<const std::string_view> besides) {
  DuckdbColumns columns;
  TRY(each_chunk(
      connection.query("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal "
                       "AND table_name IN (SELECT table_name FROM duckdb_tables()) "
                       "ORDER BY table_name, column_index"),
      [&](const Rows& chunk) -> Result<bool> {
        for (std::uint64_t row = 0; row < chunk.size(); ++row) {
          columns[std::string(chunk.column(0).text(row))].emplace_back(chunk.column(1).text(row));
        }
        return true;
      }));
  for (const MovedTable& table : moved_tables()) {
    const auto there = columns.find(table.name);
    if (there == columns.end()) {
      return fail(ErrorCode::kStore, "it lacks the table " + table.name);
    }
    TRY(check_columns(table, there->second));
  }
  for (const auto& [name, names] : columns) {
    const auto moved = std::ranges::find(moved_tables(), name, &MovedTable::name);
    if (moved != moved_tables().end() || is_not_moved(name)) continue;
    if (std::ranges::find(besides, name) != besides.end()) continue;
    return fail(ErrorCode::kStore, "it has a table " + name +
                                       " that this program does not know, and would leave behind; "
                                       "use a newer one");
  }
  return columns;
}

std::string duckdb_page_columns(const MovedTable& table, const std::string& number) {
  std::string columns = number;
  for (const MovedColumn& column : table.columns) columns += ", " + column.name;
  return columns;
}

Result<void> page_of(const Rows& chunk, const MovedTable& table, Page& page) {
  page.begin(table, chunk.size());
  const duckdb::Column numbers = chunk.column(0);
  for (std::uint64_t row = 0; row < page.rows; ++row) page.entry_numbers[row] = numbers.uint64(row);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    TRY(read_duckdb_column(chunk.column(i + 1), table, i, page));
  }
  return {};
}

PageAppender::PageAppender(duckdb::Appender appender, const MovedTable& table,
                           const std::vector<std::string>& columns)
    : appender_(std::move(appender)), table_(&table) {
  const auto place_of = [&](const std::string& name) {
    const auto found = std::ranges::find(columns, name);
    CHECK(found != columns.end(), "the table has been looked at");
    return static_cast<std::uint64_t>(found - columns.begin());
  };
  for (const MovedColumn& column : table.columns) places_.push_back(place_of(column.name));
  if (!table.number.empty()) number_place_ = place_of(table.number);
  if (is_run_table(table)) {
    run_number_place_ = place_of(kRunNumber);
    current_place_ = place_of(kIsCurrent);
  }
}

Result<PageAppender> PageAppender::open(duckdb::Connection& connection, const MovedTable& table,
                                        const std::vector<std::string>& columns) {
  duckdb::Appender appender =
      TRY(duckdb::Appender::open_behind(connection, "", table.name, kFlushRows));
  return PageAppender(std::move(appender), table, columns);
}

void PageAppender::set(const Page& page, std::size_t index, std::uint64_t place,
                       std::uint64_t begin, std::uint64_t count) {
  duckdb::ColumnWriter writer = appender_.column(place);
  const PageColumn& from = page.columns[index];
  const auto each = [&](const auto& put) {
    for (std::uint64_t row = 0; row < count; ++row) {
      if (!from.is_absent.empty() && from.is_absent[begin + row] != 0) {
        writer.set_null(row);
      } else {
        put(row, begin + row);
      }
    }
  };
  const auto numbers = [&](const auto& put) {
    each([&](std::uint64_t row, std::uint64_t at) { put(row, from.numbers[at]); });
  };
  switch (page.table->columns[index].kind) {
    case ValueKind::kText:
      return each(
          [&](std::uint64_t row, std::uint64_t at) { writer.set_text(row, from.texts[at]); });
    case ValueKind::kHash:
      return numbers([&](std::uint64_t row, UInt128 v) { writer.set_uuid(row, as_hash(v)); });
    case ValueKind::kUInt64:
      return numbers([&](std::uint64_t row, UInt128 v) {
        writer.set_uint64(row, static_cast<std::uint64_t>(v));
      });
    case ValueKind::kUInt32:
      return numbers([&](std::uint64_t row, UInt128 v) {
        writer.set_uint32(row, static_cast<std::uint32_t>(v));
      });
    case ValueKind::kBool:
      return numbers([&](std::uint64_t row, UInt128 v) { writer.set_bool(row, v != 0); });
    case ValueKind::kInstant:
      return numbers([&](std::uint64_t row, UInt128 v) {
        writer.set_timestamp_ms(row, from_unix_ms(as_int64(v)));
      });
    case ValueKind::kDate:
      return numbers([&](std::uint64_t row, UInt128 v) {
        writer.set_date(row, std::chrono::sys_days(std::chrono::days(as_int64(v))));
      });
    case ValueKind::kDecimal:
      return numbers(
          [&](std::uint64_t row, UInt128 v) { writer.set_decimal(row, static_cast<Int128>(v)); });
    case ValueKind::kWide:
      return numbers(
          [&](std::uint64_t row, UInt128 v) { writer.set_hugeint(row, static_cast<Int128>(v)); });
    case ValueKind::kPairs: {
      std::vector<duckdb::ColumnWriter::Pair> pairs;
      return each([&](std::uint64_t row, std::uint64_t at) {
        const std::uint32_t first = at == 0 ? 0 : from.ends[at - 1];
        pairs.assign(from.pairs.begin() + first, from.pairs.begin() + from.ends[at]);
        writer.set_pairs(row, pairs);
      });
    }
  }
}

Result<void> PageAppender::add(const Page& page) {
  for (std::uint64_t begin = 0; begin < page.rows;) {
    const std::uint64_t count = std::min(duckdb::Appender::kChunkRows, page.rows - begin);
    for (std::size_t i = 0; i < places_.size(); ++i) set(page, i, places_[i], begin, count);
    if (!table_->number.empty()) {
      duckdb::ColumnWriter writer = appender_.column(number_place_);
      for (std::uint64_t row = 0; row < count; ++row) {
        writer.set_uint64(row, page.entry_numbers[begin + row]);
      }
    }
    if (is_run_table(*table_)) {
      duckdb::ColumnWriter numbers = appender_.column(run_number_place_);
      duckdb::ColumnWriter currents = appender_.column(current_place_);
      for (std::uint64_t row = 0; row < count; ++row) {
        numbers.set_uint64(row, 0u);
        currents.set_bool(row, false);
      }
    }
    TRY(appender_.append(count));
    begin += count;
  }
  return {};
}

}  // namespace pennyweight::move
