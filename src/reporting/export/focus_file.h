// FocusFile: writes FOCUS rows to a CSV or Parquet file, which appears only when it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/file.h"
#include "reporting/export/focus_parquet.h"
#include "reporting/export/focus_table.h"

namespace pennyweight {

enum class FocusFormat { kCsv, kParquet };

class FocusFile {
 public:
  // Parquet rows wait in `temp_directory` until finish().
  static Result<FocusFile> create(const std::string& path, FocusFormat format,
                                  const std::vector<FocusColumn>& columns,
                                  const std::string& temp_directory);

  // REQUIRES: one cell per column.
  Result<void> append(const FocusRow& row);
  // Replaces an existing file. REQUIRES: no append() call follows.
  Result<void> finish();
  std::uint64_t rows() const { return rows_; }

 private:
  explicit FocusFile(std::string path) : path_(std::move(path)) {}
  Result<void> flush();

  std::string path_;
  std::string text_;
  std::uint64_t rows_ = 0;
  std::optional<FocusParquet> parquet_;
  std::unique_ptr<OutputFile> csv_;
};

}  // namespace pennyweight
