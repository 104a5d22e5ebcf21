// TableWriter: writes a table as a CSV or Parquet file.
//
// Rows are appended to an in-memory database, which then writes them all at once, in the order in
// which they came. Decimals are written as DECIMAL(38,18) and times as UTC timestamps, so that no
// reader has to guess. The file gets its name only when it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/decimal.h"
#include "core/duckdb/appender.h"
#include "core/duckdb/database.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::duckdb {

enum class FileFormat { kCsv, kParquet };

enum class ColumnType { kText, kDecimal, kInteger, kTimestamp };

struct TableColumn {
  std::string name;
  ColumnType type;
};

// monostate is null. The alternative must be the one of its column.
using Cell = std::variant<std::monostate, std::string, Decimal, std::int64_t, Instant>;

class TableWriter {
 public:
  // What does not fit into 1 GiB is kept in `temp_directory`, which is created when it is needed
  // and removed with the writer. REQUIRES: at least one column, and names that differ by more than
  // case.
  static Result<TableWriter> create(std::vector<TableColumn> columns,
                                    const std::string& temp_directory);

  // REQUIRES: one cell a column, of the column's type or null.
  Result<void> append(std::span<const Cell> row);
  // Replaces the file if there is one. The writer can't be used again.
  Result<void> write(const std::string& path, FileFormat format);

 private:
  TableWriter(Database database, Connection connection, Appender appender,
              std::vector<TableColumn> columns)
      : database_(std::move(database)),
        connection_(std::move(connection)),
        appender_(std::move(appender)),
        columns_(std::move(columns)) {}
  Result<void> append_chunk();

  Database database_;
  Connection connection_;
  Appender appender_;
  std::vector<TableColumn> columns_;
  std::uint64_t rows_ = 0;  // of the chunk that is being filled
};

}  // namespace pennyweight::duckdb
