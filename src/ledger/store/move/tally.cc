#include "ledger/store/move/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/check.h"

namespace pennyweight::move {
namespace {

constexpr std::size_t kValueBytes = sizeof(UInt128);

// Whether the rows name their import or run by number. Rows of other tables are identified by their
// content.
bool is_numbered(const MovedTable& table) { return !table.number.empty(); }

// Caches the last text, since neighbouring rows often have the same.
class TextPrint {
 public:
  UInt128 of(std::string_view text) {
    if (!known_ || text != last_) {
      last_ = text;
      print_ = as_number(hash_of(text));
      known_ = true;
    }
    return print_;
  }

 private:
  std::string_view last_;
  UInt128 print_ = 0;
  bool known_ = false;
};

// A number for each value of a column: the value itself, or the fingerprint of a value that is not
// a number.
void print_values(const PageColumn& column, ValueKind kind, std::vector<UInt128>& values) {
  if (kind == ValueKind::kText) {
    TextPrint print;
    for (std::size_t row = 0; row < values.size(); ++row) values[row] = print.of(column.texts[row]);
    return;
  }
  if (kind == ValueKind::kPairs) {
    Fingerprint print;
    std::uint32_t begin = 0;
    for (std::size_t row = 0; row < values.size(); ++row) {
      print.clear();
      for (std::uint32_t i = begin; i < column.ends[row]; ++i) {
        print.add(column.pairs[i].first).add(column.pairs[i].second);
      }
      begin = column.ends[row];
      values[row] = as_number(print.hash());
    }
    return;
  }
  std::ranges::copy_n(column.numbers.begin(), static_cast<std::ptrdiff_t>(values.size()),
                      values.begin());
}

}  // namespace

void Tally::add(const Page& page) {
  const MovedTable& table = *page.table;
  if (sums_.empty()) sums_.resize(table.columns.size());
  CHECK(sums_.size() == page.columns.size(), "a tally is of one table");
  // The rows as bytes of one length: values of variable length are represented by their
  // fingerprints.
  std::size_t stride = kValueBytes;
  for (const MovedColumn& column : table.columns) stride += kValueBytes + (column.nullable ? 1 : 0);
  std::string bytes(stride * page.rows, '\0');
  const auto put = [&](std::size_t row, std::size_t at, const auto& value) {
    std::memcpy(bytes.data() + row * stride + at, &value, sizeof value);
  };
  if (is_numbered(table)) {
    for (std::size_t row = 0; row < page.rows; ++row) put(row, 0, page.entry_numbers[row]);
  }
  std::size_t at = kValueBytes;
  std::vector<UInt128> values(page.rows);
  for (std::size_t i = 0; i < page.columns.size(); ++i) {
    const PageColumn& column = page.columns[i];
    print_values(column, table.columns[i].kind, values);
    UInt128 sum = 0;
    for (std::size_t row = 0; row < page.rows; ++row) {
      const bool absent = !column.is_absent.empty() && column.is_absent[row] != 0;
      if (absent) values[row] = 0;
      sum += values[row];
      put(row, at, values[row]);
      if (!column.is_absent.empty()) put(row, at + kValueBytes, column.is_absent[row]);
    }
    sums_[i] += sum;
    at += kValueBytes + (table.columns[i].nullable ? 1 : 0);
  }
  for (std::size_t row = 0; row < page.rows; ++row) {
    digest_ += as_number(hash_of(std::string_view(bytes).substr(row * stride, stride)));
  }
  rows_ += page.rows;
}

void Tally::add(const Tally& other) {
  if (sums_.empty()) sums_.resize(other.sums_.size());
  CHECK(other.sums_.empty() || sums_.size() == other.sums_.size(), "a tally is of one table");
  rows_ += other.rows_;
  digest_ += other.digest_;
  for (std::size_t i = 0; i < other.sums_.size(); ++i) sums_[i] += other.sums_[i];
}

UInt128 Tally::sum(const MovedTable& table, std::string_view column) const {
  return sums_.empty() ? 0 : sums_[table.column(column)];
}

std::string difference(const MovedTable& table, const Tally& source, const Tally& target) {
  std::string columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i].name;
    if (source.sum(table, name) == target.sum(table, name)) continue;
    columns += (columns.empty() ? "" : ", ") + name;
  }
  return fmt::format("{}: {} rows there, {} here{}", table.name, source.rows(), target.rows(),
                     columns.empty() ? "; rows are not of the same imports or runs, or not the same"
                                     : "; other sums of " + columns);
}

}  // namespace pennyweight::move
