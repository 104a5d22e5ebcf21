// Row: the values of one row of the export by their paths, and which of them a charge has taken.
// The others go into other_columns.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/bills/gcp/columns.h"

namespace pennyweight::gcp {

// Column name and text, as Charge::other_columns keeps them.
using NamedText = std::pair<std::string_view, std::string_view>;

class Row {
 public:
  void clear() {
    values_.fill({});
    taken_.reset();
    others_.clear();
    texts_.clear();
  }

  void set(Field field, std::string_view text) { values_[at(field)] = text; }
  // Empty for null, and for a column that the export does not have.
  std::string_view operator[](Field field) const { return values_[at(field)]; }
  bool has(Field field) const { return !values_[at(field)].empty(); }
  // The value, which the caller puts into a charge.
  std::string_view take(Field field) {
    taken_.set(at(field));
    return values_[at(field)];
  }
  bool is_taken(Field field) const { return taken_.test(at(field)); }

  // A value that no rule reads. REQUIRES: both texts live as long as the row.
  void keep(std::string_view name, std::string_view text) { others_.emplace_back(name, text); }
  const std::vector<NamedText>& others() const { return others_; }
  // Stores a text that must live as long as the row's values.
  std::string_view store(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  static std::size_t at(Field field) { return static_cast<std::size_t>(field); }
  std::array<std::string_view, kFields> values_;
  std::bitset<kFields> taken_;
  std::vector<NamedText> others_;
  std::deque<std::string> texts_;
};

}  // namespace pennyweight::gcp
