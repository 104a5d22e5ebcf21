#include "reporting/queries/card_energy.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace pennyweight {
namespace {

constexpr std::int64_t kCounterGapMaxMs = 86'400'000;
constexpr std::uint64_t kMicroPerMilli = 1000;

// Segments by their begin, disjoint.
using Covered = std::map<std::int64_t, EnergySegment>;

EnergySegment whole_segment(std::int64_t begin, std::int64_t end, UInt128 microjoules) {
  return {begin, end, begin, end, microjoules};
}

// Adds of a segment what lies in times that nothing covers yet.
void add_uncovered(Covered& all, const EnergySegment& segment) {
  auto next = all.lower_bound(segment.begin_ms);
  if (next != all.begin() && std::prev(next)->second.end_ms > segment.begin_ms) --next;
  std::int64_t at = segment.begin_ms;
  std::vector<EnergySegment> pieces;
  while (at < segment.end_ms) {
    const bool any = next != all.end() && next->second.begin_ms < segment.end_ms;
    const std::int64_t stop = any ? std::max(next->second.begin_ms, at) : segment.end_ms;
    if (stop > at) {
      pieces.push_back({at, stop, segment.from_ms, segment.to_ms, segment.microjoules});
    }
    if (!any) break;
    at = std::max(at, next->second.end_ms);
    ++next;
  }
  for (const EnergySegment& piece : pieces) all.emplace(piece.begin_ms, piece);
}

// The larger first where rows of one time disagree, so that the order of rows decides nothing.
void add_layer(Covered& all, std::vector<EnergySegment> layer) {
  std::ranges::sort(layer, [](const EnergySegment& a, const EnergySegment& b) {
    return std::tie(a.begin_ms, b.end_ms, b.microjoules) <
           std::tie(b.begin_ms, a.end_ms, a.microjoules);
  });
  for (const EnergySegment& segment : layer) add_uncovered(all, segment);
}

}  // namespace

void CardEnergy::add(const Usage& usage) {
  const std::int64_t at = unix_ms(usage.at) + rules_->shift_ms;
  if (usage.span_ms > 0) {
    const std::int64_t end = at + usage.span_ms;
    if (usage.energy_used_millijoules) {
      spans_.push_back(
          whole_segment(at, end, UInt128{*usage.energy_used_millijoules} * kMicroPerMilli));
    }
    if (usage.power_milliwatts) {
      span_power_.push_back(
          whole_segment(at, end, UInt128{*usage.power_milliwatts} * usage.span_ms));
    }
    return;
  }
  if (usage.energy_millijoules) counters_.push_back({at, *usage.energy_millijoules});
  if (usage.power_milliwatts) power_.push_back({at, *usage.power_milliwatts});
}

void CardEnergy::forget_before(Instant at) {
  const std::int64_t first = unix_ms(at);
  const auto has_ended = [&](const EnergySegment& each) { return each.end_ms <= first; };
  std::erase_if(spans_, has_ended);
  std::erase_if(span_power_, has_ended);
  std::erase_if(counters_,
                [&](const Reading& each) { return each.at_ms + kCounterGapMaxMs <= first; });
  const auto hold = static_cast<std::int64_t>(rules_->hold_ms());
  std::erase_if(power_, [&](const Reading& each) { return each.at_ms + hold <= first; });
}

std::vector<EnergySegment> CardEnergy::segments() const {
  Covered all;
  add_layer(all, spans_);

  std::vector<EnergySegment> layer;
  std::vector<Reading> readings = counters_;
  std::ranges::sort(readings);
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const Reading &before = readings[i - 1], &after = readings[i];
    const std::int64_t gap = after.at_ms - before.at_ms;
    if (gap == 0 || gap > kCounterGapMaxMs || after.value < before.value) continue;
    layer.push_back(whole_segment(before.at_ms, after.at_ms,
                                  UInt128{after.value - before.value} * kMicroPerMilli));
  }
  add_layer(all, std::move(layer));
  add_layer(all, span_power_);

  layer.clear();
  readings = power_;
  std::ranges::sort(readings);
  const auto hold = static_cast<std::int64_t>(rules_->hold_ms());
  for (std::size_t i = 0; i < readings.size(); ++i) {
    std::int64_t end = readings[i].at_ms + hold;
    if (i + 1 < readings.size()) end = std::min(end, readings[i + 1].at_ms);
    if (end <= readings[i].at_ms) continue;  // of one instant the largest stays
    layer.push_back(
        whole_segment(readings[i].at_ms, end,
                      UInt128{readings[i].value} * static_cast<UInt128>(end - readings[i].at_ms)));
  }
  add_layer(all, std::move(layer));

  std::vector<EnergySegment> segments;
  segments.reserve(all.size());
  for (const auto& [begin, segment] : all) segments.push_back(segment);
  return segments;
}

}  // namespace pennyweight
