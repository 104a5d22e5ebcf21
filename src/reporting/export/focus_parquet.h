// FocusParquet: writes a FOCUS table as a Parquet file.
//
// Every column has the type of the specification, even if all of its values are null:
// DECIMAL(38,18), timestamps in UTC, text. Rows keep their order: they are buffered in a DuckDB
// instance that keeps it (a sort by it took six times as long) and spills to
// `temp_directory`. The file appears under its name only when it is complete.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "reporting/export/focus_table.h"

namespace pennyweight {

class FocusParquet {
 public:
  static Result<FocusParquet> create(std::vector<FocusColumn> columns,
                                     const std::string& temp_directory);
  FocusParquet(FocusParquet&&) noexcept;
  FocusParquet& operator=(FocusParquet&&) noexcept;
  ~FocusParquet();

  // REQUIRES: one cell per column, of the column's type or null.
  Result<void> append(std::span<const FocusCell> row);
  // Replaces an existing file. The writer can't be used afterwards.
  Result<void> write(const std::string& path);

 private:
  struct State;
  explicit FocusParquet(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight
