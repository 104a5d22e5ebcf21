// TimeBins: how long a measurement had which value, in bins of one width.
//
// All counts are whole numbers of milliseconds, so bins merge exactly and in any order, and a
// quantile is the upper end of its bin.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/int128.h"

namespace pennyweight::advising {

// Milliseconds by the upper end of a bin.
class TimeBins {
 public:
  explicit TimeBins(std::uint64_t width) : width_(width) {}
  void add(std::uint64_t value, std::uint64_t ms);
  void merge(const TimeBins& other);
  std::uint64_t width() const { return width_; }
  std::uint64_t total_ms() const { return total_ms_; }
  std::uint64_t peak() const { return peak_; }  // exact
  // The mean, rounded down. REQUIRES: total_ms() > 0.
  std::uint64_t mean() const;
  // The smallest bin end that at least per_mille of the time did not exceed. REQUIRES: the same.
  std::uint64_t quantile(std::uint32_t per_mille) const;
  bool operator==(const TimeBins&) const = default;

 private:
  friend class FlatBins;
  struct BinTime {
    std::uint32_t bin;
    std::uint64_t ms;
  };
  // REQUIRES: ascending by bin, each once.
  void add_bins(std::span<const BinTime> more);

  std::uint64_t width_;
  // The bins that have time, ascending: which one (its end is so many widths), and its time. There
  // may be tens of thousands of profiles with a thousand bins each, so they lie side by side.
  std::vector<std::uint32_t> bins_;
  std::vector<std::uint64_t> ms_;
  UInt128 sum_ = 0;  // of value times ms
  std::uint64_t total_ms_ = 0;
  std::uint64_t peak_ = 0;
};

// Bins of one GPU in the hands of one holder, in an array: a sample falls into five bins, and there
// are hundreds of millions of samples.
class FlatBins {
 public:
  explicit FlatBins(std::uint64_t width) : width_(width), ms_(kBinsMax) {}

  void add(std::uint64_t value, std::uint64_t ms) {
    if (ms == 0) return;
    const std::uint64_t bin = value / width_ + (value % width_ > 0 ? 1 : 0);
    if (bin >= kBinsMax) {
      beyond_.add(value, ms);
      return;
    }
    used_[bin / 64] |= std::uint64_t{1} << (bin % 64);
    ms_[bin] += ms;
    sum_ += UInt128{value} * ms;
    total_ms_ += ms;
    if (value > peak_) peak_ = value;
  }

  // Adds all to `bins`, and begins anew.
  void move_to(TimeBins& bins);

 private:
  static constexpr std::uint64_t kBinsMax = 4096;
  std::uint64_t width_;
  std::vector<std::uint64_t> ms_;
  std::array<std::uint64_t, kBinsMax / 64> used_{};  // a bit for each bin that has time
  UInt128 sum_ = 0;
  std::uint64_t total_ms_ = 0;
  std::uint64_t peak_ = 0;
  TimeBins beyond_ = TimeBins(width_);
};

}  // namespace pennyweight::advising
