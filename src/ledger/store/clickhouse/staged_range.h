// StagedRange: the rows of an import whose keys lie in one range, and the verdict on each.
//
// The tables don't number the rows. Rows differ by content and by their line in the file; rows that
// agree in both are interchangeable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/hash.h"

namespace pennyweight {

// What tells apart the rows of an import in the tables. Rows that agree in it are the same.
struct StagedRow {
  Hash128 key, content;
  std::uint64_t line = 0;
  auto operator<=>(const StagedRow&) const = default;
};

// The rows of one part of the keys, and what becomes of each.
class StagedRange {
 public:
  void add(const StagedRow& row) { rows_.push_back(row); }
  void sort() { std::ranges::sort(rows_); }
  const std::vector<StagedRow>& rows() const { return rows_; }

  void keep(std::size_t index, std::uint64_t ordinal = 0) {
    if (ordinals_.empty()) ordinals_.assign(rows_.size(), kDropped);
    ordinals_[index] = ordinal;
    ++kept_;
  }
  std::uint64_t kept() const { return kept_; }
  // What is kept, by index; ascending.
  std::vector<std::size_t> kept_rows() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < ordinals_.size(); ++i) {
      if (ordinals_[i] != kDropped) found.push_back(i);
    }
    return found;
  }
  // A row that was read: whether it stays, and as the how manieth of its content. Of rows that are
  // the same each is taken once; false where there are no more.
  bool take(const StagedRow& row, std::optional<std::uint64_t>& ordinal) {
    if (taken_.empty()) taken_.assign(rows_.size(), 0);
    const auto [begin, end] = std::ranges::equal_range(rows_, row);
    if (begin == end) return false;
    const auto first = static_cast<std::size_t>(begin - rows_.begin());
    const std::size_t index = first + taken_[first]++;
    if (index >= first + static_cast<std::size_t>(end - begin)) return false;
    ordinal = ordinals_.empty() || ordinals_[index] == kDropped ? std::nullopt
                                                                : std::optional(ordinals_[index]);
    return true;
  }

 private:
  static constexpr std::uint64_t kDropped = ~std::uint64_t{0};
  std::vector<StagedRow> rows_;  // sorted, once all are there
  std::vector<std::uint64_t> ordinals_;
  std::vector<std::uint32_t> taken_;  // of the rows from each first one on that are the same
  std::uint64_t kept_ = 0;
};

}  // namespace pennyweight
