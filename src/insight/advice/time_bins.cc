#include "insight/advice/time_bins.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/check.h"

namespace pennyweight::advising {

void TimeBins::add(std::uint64_t value, std::uint64_t ms) {
  if (ms == 0) return;
  constexpr std::uint64_t kLastBin = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t bin = value / width_ + (value % width_ > 0 ? 1 : 0);
  const BinTime one{static_cast<std::uint32_t>(std::min(bin, kLastBin)), ms};
  add_bins({&one, 1});
  sum_ += UInt128{value} * ms;
  total_ms_ += ms;
  peak_ = std::max(peak_, value);
}

void TimeBins::add_bins(std::span<const BinTime> more) {
  // What is there already is added in place; the rest is put between from the back.
  std::size_t missing = 0;
  std::size_t at = 0;
  for (const BinTime& each : more) {
    if (more.size() == 1) {
      at = static_cast<std::size_t>(std::ranges::lower_bound(bins_, each.bin) - bins_.begin());
    }
    while (at < bins_.size() && bins_[at] < each.bin) ++at;
    if (at < bins_.size() && bins_[at] == each.bin) {
      ms_[at] += each.ms;
    } else {
      ++missing;
    }
  }
  if (missing == 0) return;
  std::size_t from = bins_.size();
  std::size_t to = from + missing;
  bins_.resize(to);
  ms_.resize(to);
  for (auto each = more.rbegin(); each != more.rend() && from < to; ++each) {
    while (from > 0 && bins_[from - 1] > each->bin) {
      --from;
      --to;
      bins_[to] = bins_[from];
      ms_[to] = ms_[from];
    }
    if (from > 0 && bins_[from - 1] == each->bin) continue;
    --to;
    bins_[to] = each->bin;
    ms_[to] = each->ms;
  }
}

void TimeBins::merge(const TimeBins& other) {
  CHECK(width_ == other.width_, "bins of one width merge");
  std::vector<BinTime> more;
  more.reserve(other.bins_.size());
  for (std::size_t i = 0; i < other.bins_.size(); ++i) {
    more.push_back({other.bins_[i], other.ms_[i]});
  }
  add_bins(more);
  sum_ += other.sum_;
  total_ms_ += other.total_ms_;
  peak_ = std::max(peak_, other.peak_);
}

std::uint64_t TimeBins::mean() const {
  CHECK(total_ms_ > 0, "a mean of something");
  return static_cast<std::uint64_t>(sum_ / total_ms_);
}

std::uint64_t TimeBins::quantile(std::uint32_t per_mille) const {
  CHECK(total_ms_ > 0, "a quantile of something");
  UInt128 below = 0;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    below += ms_[i];
    if (below * 1000 >= UInt128{total_ms_} * per_mille) return bins_[i] * width_;
  }
  return bins_.back() * width_;
}

void FlatBins::move_to(TimeBins& bins) {
  if (total_ms_ > 0) {
    CHECK(bins.width_ == width_, "bins of one width");
    std::array<TimeBins::BinTime, kBinsMax> more;
    std::size_t count = 0;
    for (std::size_t word = 0; word < used_.size(); ++word) {
      for (std::uint64_t bits = used_[word]; bits != 0; bits &= bits - 1) {
        const auto bin = static_cast<std::uint32_t>(word * 64) +
                         static_cast<std::uint32_t>(std::countr_zero(bits));
        more[count++] = {bin, ms_[bin]};
        ms_[bin] = 0;
      }
      used_[word] = 0;
    }
    bins.add_bins(std::span(more).first(count));
    bins.sum_ += sum_;
    bins.total_ms_ += total_ms_;
    bins.peak_ = std::max(bins.peak_, peak_);
    sum_ = 0;
    total_ms_ = 0;
    peak_ = 0;
  }
  if (beyond_.total_ms() == 0) return;
  bins.merge(beyond_);
  beyond_ = TimeBins(width_);
}

}  // namespace pennyweight::advising
