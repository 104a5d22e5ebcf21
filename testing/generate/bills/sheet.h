// Sheet: rows of named cells as CSV, handed on in chunks, so that a bill of any length needs the
// memory of one row and one chunk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/error.h"

namespace pennyweight::bills {

// Receives the text of a file piece by piece; an error ends the bill. The text is valid during the
// call.
using TextSink = std::function<Result<void>(std::string_view)>;

struct SheetColumn {
  std::string name;    // the key of its cells
  std::string header;  // as the file has it
};

class Sheet {
 public:
  // REQUIRES: names differ. `sink` must outlive the sheet.
  Sheet(std::vector<SheetColumn> columns, const TextSink& sink);
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;

  bool has(std::string_view name) const { return index_.contains(name); }
  // A cell of the current row; cells that are not set are empty. REQUIRES: has(name).
  void set(std::string_view name, std::string_view text);
  Result<void> end_row();
  Result<void> finish();

 private:
  void write_field(std::string_view text);

  std::vector<SheetColumn> columns_;
  // keys are views into columns_; for lookups only
  std::unordered_map<std::string_view, std::size_t> index_;
  const TextSink& sink_;
  std::vector<std::string> cells_;
  std::string text_;
};

}  // namespace pennyweight::bills
