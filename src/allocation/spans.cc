#include "allocation/spans.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "allocation/utilization.h"

namespace pennyweight {
namespace {

using SpanBounds = std::pair<std::uint32_t, std::uint32_t>;  // begin, end

// Whether every series has the same bounds, or bounds that do not overlap. Mostly true.
bool are_aligned(std::span<const SampleSeries> series, std::vector<SpanBounds>& bounds) {
  bounds.clear();
  for (const SampleSeries& each : series) {
    std::uint32_t end = 0;
    for (const Sample& sample : each.samples) {
      if (sample.span == 0) continue;
      if (sample.at < end) return false;
      end = sample.at + sample.span;
      bounds.emplace_back(sample.at, end);
    }
  }
  if (series.size() == 1) return true;
  std::ranges::sort(bounds);
  const auto repeated = std::ranges::unique(bounds);
  bounds.erase(repeated.begin(), repeated.end());
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    if (bounds[i].first < bounds[i - 1].second) return false;
  }
  return true;
}

std::vector<std::uint32_t> borders_of(std::span<const SampleSeries> series) {
  std::vector<std::uint32_t> borders;
  for (const SampleSeries& each : series) {
    for (const Sample& sample : each.samples) {
      if (sample.span == 0) continue;
      borders.push_back(sample.at);
      borders.push_back(sample.at + sample.span);
    }
  }
  std::ranges::sort(borders);
  const auto repeated = std::ranges::unique(borders);
  borders.erase(repeated.begin(), repeated.end());
  return borders;
}

void add_known(Sample& to, const Sample& from) {
  if (to.compute == UtilizationInterval::kUnknown) {
    to.compute = from.compute;
    to.util = from.util;
  }
  if (to.memory == UtilizationInterval::kUnknown) to.memory = from.memory;
}

std::vector<Sample> cut_at(std::span<const Sample> samples,
                           const std::vector<std::uint32_t>& borders) {
  std::vector<Sample> pieces;
  for (const Sample& sample : samples) {
    if (sample.span == 0) {
      pieces.push_back(sample);
      continue;
    }
    const std::uint32_t end = sample.at + sample.span;
    for (auto border = std::ranges::lower_bound(borders, sample.at); *border != end; ++border) {
      Sample piece = sample;
      piece.at = *border;
      piece.span = *std::next(border) - *border;
      pieces.push_back(piece);
    }
  }
  std::ranges::sort(pieces);
  std::vector<Sample> joined;
  for (const Sample& piece : pieces) {
    if (!joined.empty() && piece.span > 0 && joined.back().at == piece.at &&
        joined.back().span == piece.span) {
      add_known(joined.back(), piece);
    } else {
      joined.push_back(piece);
    }
  }
  return joined;
}

}  // namespace

void cut_spans(std::span<SampleSeries> series, CutSamples& cut) {
  const bool any = std::ranges::any_of(series, [](const SampleSeries& each) {
    return std::ranges::any_of(each.samples, [](const Sample& s) { return s.span > 0; });
  });
  if (!any) return;
  std::vector<SpanBounds> bounds;
  if (are_aligned(series, bounds)) return;
  const std::vector<std::uint32_t> borders = borders_of(series);
  cut.clear();
  cut.reserve(series.size());  // spans into its elements stay valid
  for (SampleSeries& each : series) {
    cut.push_back(cut_at(each.samples, borders));
    each.samples = cut.back();
  }
}

}  // namespace pennyweight
