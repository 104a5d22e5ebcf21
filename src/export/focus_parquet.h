// FocusParquet: a FOCUS table as a Parquet file.
//
// Every column has the type of the specification, also where all of it is null: DECIMAL(38,18),
// timestamps in UTC, text. Rows wait in an engine of their own that spills to `temp_directory`, and
// the file appears under its name only when it is whole.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "export/focus_table.h"

namespace pennyweight {

class FocusParquet {
 public:
  static Result<FocusParquet> create(std::vector<FocusColumn> columns,
                                     const std::string& temp_directory);
  FocusParquet(FocusParquet&&) noexcept;
  FocusParquet& operator=(FocusParquet&&) noexcept;
  ~FocusParquet();

  // REQUIRES: one cell a column, of the column's type or null.
  Result<void> append(std::span<const FocusCell> row);
  // Replaces the file if there is one. The writer is spent.
  Result<void> write(const std::string& path);

 private:
  struct State;
  explicit FocusParquet(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight
