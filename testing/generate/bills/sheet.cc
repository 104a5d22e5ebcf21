#include "testing/generate/bills/sheet.h"

#include <utility>

#include "core/check.h"

namespace pennyweight::bills {
namespace {

constexpr std::size_t kSheetChunkBytes = std::size_t{1} << 20;

}  // namespace

Sheet::Sheet(std::vector<SheetColumn> columns, const TextSink& sink)
    : columns_(std::move(columns)), sink_(sink), cells_(columns_.size()) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool added = index_.emplace(columns_[i].name, i).second;
    CHECK(added, "columns have names that differ");
    if (i > 0) text_ += ',';
    write_field(columns_[i].header);
  }
  text_ += '\n';
}

void Sheet::set(std::string_view name, std::string_view text) {
  const auto found = index_.find(name);
  CHECK(found != index_.end(), "only columns of the sheet are set");
  cells_[found->second] = text;
}

void Sheet::write_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     !text.starts_with(' ') && !text.ends_with(' ');
  if (plain) {
    text_ += text;
    return;
  }
  text_ += '"';
  for (const char c : text) {
    if (c == '"') text_ += '"';
    text_ += c;
  }
  text_ += '"';
}

Result<void> Sheet::end_row() {
  bool first = true;
  for (std::string& cell : cells_) {
    if (!first) text_ += ',';
    first = false;
    write_field(cell);
    cell.clear();
  }
  text_ += '\n';
  return text_.size() < kSheetChunkBytes ? Result<void>{} : finish();
}

Result<void> Sheet::finish() {
  auto taken = sink_(text_);
  text_.clear();
  return taken;
}

}  // namespace pennyweight::bills
