// Row: one row of the export by its paths, whichever shape its columns came in, and which of its
// values found a place on a line of the bill. What found none is kept under a name of its own.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/gcp/columns.h"

namespace pennyweight::gcp {

// Column name and text, as Charge::other_columns keeps them.
using Kept = std::pair<std::string_view, std::string_view>;

class Row {
 public:
  void clear() {
    values_.fill({});
    taken_.reset();
    others_.clear();
    texts_.clear();
  }

  void set(Field field, std::string_view text) { values_[at(field)] = text; }
  // Empty: null, or the export has no such column.
  std::string_view operator[](Field field) const { return values_[at(field)]; }
  bool has(Field field) const { return !values_[at(field)].empty(); }
  // The value, which the caller puts on a line of the bill.
  std::string_view take(Field field) {
    taken_.set(at(field));
    return values_[at(field)];
  }
  bool is_taken(Field field) const { return taken_.test(at(field)); }

  // What no rule reads; both texts live as long as the row.
  void keep(std::string_view name, std::string_view text) { others_.emplace_back(name, text); }
  const std::vector<Kept>& others() const { return others_; }
  // A text that must live as long as the row's values do.
  std::string_view store(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  static std::size_t at(Field field) { return static_cast<std::size_t>(field); }
  std::array<std::string_view, kFields> values_;
  std::bitset<kFields> taken_;
  std::vector<Kept> others_;
  std::deque<std::string> texts_;
};

}  // namespace pennyweight::gcp
