#include "app/seen_source.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace pennyweight {
namespace {

using GpusById = std::map<GpuId, std::vector<Gpu>>;  // a card's facts, of all its times

// The facts of the cards of a batch, whose samples come card by card.
std::vector<Gpu> cards_of(std::span<const Usage> batch, const GpusById& gpus) {
  std::vector<Gpu> cards;
  const GpuId* last = nullptr;
  for (const Usage& usage : batch) {
    if (last != nullptr && *last == usage.gpu) continue;
    last = &usage.gpu;
    if (const auto known = gpus.find(usage.gpu); known != gpus.end()) {
      cards.insert(cards.end(), known->second.begin(), known->second.end());
    }
  }
  return cards;
}

void add(SeenUsage& all, SeenUsage some) {
  std::ranges::move(some.series, std::back_inserter(all.series));
  std::ranges::move(some.placed, std::back_inserter(all.placed));
  all.samples += some.samples;
  all.clamped += some.clamped;
  all.unreliable += some.unreliable;
  all.copies += some.copies;
}

Result<SeenUsage> read(Store& store, const ClusterId& cluster, const GpusById& gpus,
                       const UsageRules& rules, const Interval& during) {
  SeenUsage all{.during = during, .series = {}, .placed = {}};
  // A sample of before may still hold; and the rules may move the clock of the telemetry.
  const std::chrono::milliseconds hold(rules.hold_ms());
  const std::chrono::milliseconds shift(rules.shift_ms);
  const Interval wanted(during.begin() - hold - shift, during.end() - shift);
  const auto scanned = store.scan_usage(cluster, wanted, [&](std::span<const Usage> batch) {
    add(all, see(batch, cards_of(batch, gpus), rules, during));
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());
  // The instances of a card are named otherwise than it, so the order of cards is not theirs.
  std::ranges::sort(all.series, {}, [](const SeenSeries& series) {
    return std::tie(series.device, series.workload);
  });
  std::ranges::sort(all.placed);
  const auto repeated = std::ranges::unique(all.placed);
  all.placed.erase(repeated.begin(), repeated.end());
  return all;
}

}  // namespace

SeenSource seen_source(Store& store, const ClusterId& cluster, std::span<const Gpu> gpus,
                       const UsageRules& rules) {
  if (cluster.empty()) return {};
  const auto by_id = std::make_shared<GpusById>();
  for (const Gpu& gpu : gpus) (*by_id)[gpu.uuid].push_back(gpu);
  return [&store, cluster, by_id, rules](const Interval& during) {
    return read(store, cluster, *by_id, rules, during);
  };
}

}  // namespace pennyweight
