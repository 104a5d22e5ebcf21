// SampledCells: sums of money by key, in bounded memory: where there are too many keys, those stay
// whose hash falls into a part of the range. The same keys stay on both sides of a comparison, so
// that what is found equal in the sample is equal in that share of the whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "core/int128.h"

namespace pennyweight {

struct CellSum {
  std::uint64_t lines = 0;
  std::uint64_t named = 0;           // lines among them that name their resource
  Int128 billed = 0, effective = 0;  // ticks; wraps, since it is only compared
  void add(const CellSum& more) {
    lines += more.lines;
    named += more.named;
    billed = wrapping_sum(billed, more.billed);
    effective = wrapping_sum(effective, more.effective);
  }
  bool is_zero() const { return billed == 0 && effective == 0; }
  // How much money it is, whatever its sign and whichever cost has it.
  Int128 size() const { return std::max(size_of(billed), size_of(effective)); }
  static Int128 size_of(Int128 ticks) { return ticks < 0 ? -ticks : ticks; }
  static Int128 wrapping_sum(Int128 a, Int128 b) {
    return static_cast<Int128>(static_cast<UInt128>(a) + static_cast<UInt128>(b));
  }
};

class SampledCells {
 public:
  explicit SampledCells(std::size_t cells_max = 500'000) : cells_max_(cells_max) {}

  // `key`: of a hash, whose low bits are random.
  void add(std::uint64_t key, const CellSum& sum) {
    if ((key & mask_) != 0) return;
    cells_[key].add(sum);
    if (cells_.size() > cells_max_) narrow(mask_ * 2 + 1);
  }
  void add(const SampledCells& other) {
    narrow(std::max(mask_, other.mask_));
    for (const auto& [key, cell] : other.cells_) add(key, cell);
  }
  // Calls visit(mine, theirs) for each key that both have, in no order.
  template <class Visit>
  void each_common(const SampledCells& other, const Visit& visit) const {
    for (const auto& [key, cell] : cells_) {
      const auto found = other.cells_.find(key);
      if (found != other.cells_.end()) visit(cell, found->second);
    }
  }
  template <class Visit>
  void each(const SampledCells& beside, const Visit& visit) const {
    const std::uint64_t mask = std::max(mask_, beside.mask_);
    for (const auto& [key, cell] : cells_) {
      if ((key & mask) == 0) visit(cell);
    }
  }
  bool empty() const { return cells_.empty(); }
  bool is_sampled() const { return mask_ != 0; }
  // One in so many keys is kept.
  std::uint64_t sampled() const { return mask_ + 1; }

 private:
  void narrow(std::uint64_t mask) {
    if (mask == mask_) return;
    mask_ = mask;
    std::erase_if(cells_, [&](const auto& entry) { return (entry.first & mask_) != 0; });
  }

  std::size_t cells_max_;
  std::uint64_t mask_ = 0;
  std::unordered_map<std::uint64_t, CellSum> cells_;
};

}  // namespace pennyweight
