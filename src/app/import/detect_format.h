// Detects the format of a file from its first bytes, never from its name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/import/input_format.h"
#include "core/error.h"

namespace pennyweight {

// The beginning of a text file, from its first character that is not whitespace.
class FileStart {
 public:
  explicit FileStart(std::string_view text);

  std::string_view text() const { return text_; }
  bool contains(std::string_view part) const { return text_.find(part) != std::string_view::npos; }
  bool is_json() const { return text_.starts_with('{') || text_.starts_with('['); }

  // The first line as a header with commas. Of JSON there is no header.
  std::span<const std::string> columns() const { return columns_; }
  bool has_column(std::string_view name) const;
  // The same, with another delimiter.
  bool has_column(std::string_view name, char delimiter) const;

 private:
  std::string_view text_;
  std::vector<std::string> columns_;
};

// `beginning` is the file's first bytes: all, or at least kDetectBytes. An Error says that the file
// is empty, binary, or of no known format, and what its first line is.
inline constexpr std::size_t kDetectBytes = 1u << 16;
// Parquet has its columns at its end, so the file is opened by `path`; without a path it is taken
// for FOCUS.
Result<const InputFormat*> detect_format(std::string_view beginning, const std::string& path = "");

}  // namespace pennyweight
