#include "app/import/backfill_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "app/context/context.h"
#include "app/import/covered_intervals.h"
#include "core/try.h"
#include "ledger/host_usage.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kFormat = "backfill";
// Part numbers are above those of the flushes of `serve`, which come first where both cover a time.
constexpr int kGenerationShift = 32;

// The clusters and times of the rows of a flush.
struct FactRanges {
  std::map<ClusterId, std::pair<Instant, Instant>> usages;
  std::map<ClusterId, std::pair<Instant, Instant>> outcomes;
};

void extend_range(std::map<ClusterId, std::pair<Instant, Instant>>& by_cluster,
                  const ClusterId& cluster, Instant from, Instant to) {
  const auto [at, is_new] = by_cluster.try_emplace(cluster, from, to);
  if (is_new) return;
  at->second.first = std::min(at->second.first, from);
  at->second.second = std::max(at->second.second, to);
}

Result<FactRanges> find_ranges(const live::FlushRows& rows) {
  FactRanges found;
  TRY(rows.read({.usages = [&](std::span<const Usage> some) -> Result<void> {
                   for (const Usage& usage : some) {
                     extend_range(found.usages, usage.cluster, usage.at,
                                  usage.at + milliseconds(usage.span_ms));
                   }
                   return {};
                 },
                 .gpus = [](std::span<const Gpu>) { return Result<void>{}; },
                 .outcomes = [&](std::span<const Outcome> some) -> Result<void> {
                   for (const Outcome& outcome : some) {
                     extend_range(found.outcomes, outcome.cluster, outcome.during.begin(),
                                  outcome.during.end());
                   }
                   return {};
                 }}));
  return found;
}

Result<CoveredIntervals> load_covered_intervals(Store& store, const FactRanges& reached) {
  CoveredIntervals known;
  const milliseconds span_max{kUsageSpanMaxMs};
  for (const auto& [cluster, time] : reached.usages) {
    TRY(store.scan_usage(cluster, Interval(time.first - span_max, time.second), UsageDetail::kAll,
                         [&](std::span<const Usage> some) {
                           for (const Usage& usage : some) known.add(usage);
                           return true;
                         }));
  }
  for (const auto& [cluster, time] : reached.outcomes) {
    TRY(store.scan_outcomes(cluster, Interval(time.first - kHostUsageMax, time.second),
                            [&](std::span<const Outcome> some) {
                              for (const Outcome& outcome : some) known.add(outcome);
                              return true;
                            }));
  }
  return known;
}

// The uncovered rest of some rows, with part numbers that no other backfill uses.
template <class Fact>
std::vector<Fact> uncovered_rows(const CoveredIntervals& known, const BackfillImport::Order& order,
                                 std::span<const Fact> rows, std::uint64_t& were_known) {
  std::vector<Fact> rest;
  for (const Fact& row : rows) {
    if (known.cut(row, order.window, rest)) ++were_known;
  }
  for (Fact& row : rest) row.part |= order.generation << kGenerationShift;
  return rest;
}

}  // namespace

Result<void> BackfillImport::import(const live::FlushRows& rows) {
  if (rows.empty()) return {};
  auto reached = TRY(find_ranges(rows));
  const auto store = TRY(create_ledger(config_));
  const std::string name = fmt::format("{}, flush {}", order_.name, rows.flush);
  const auto imports = TRY(store->imports());
  const bool is_there = std::ranges::any_of(imports, [&](const ImportRecord& record) {
    return record.source.format == kFormat && record.source.name == name;
  });
  if (is_there) return {};
  const auto known = TRY(load_covered_intervals(*store, reached));

  auto session = TRY(store->begin_import(
      {.format = std::string(kFormat), .name = name, .file_hash = {}, .at = clock_.now()}));
  std::uint64_t usages_covered = 0;
  std::uint64_t outcomes_covered = 0;
  const auto read = rows.read(
      {.usages =
           [&](std::span<const Usage> some) {
             return session->append_usages(uncovered_rows(known, order_, some, usages_covered));
           },
       .gpus = [&](std::span<const Gpu> some) { return session->append_gpus(some); },
       .outcomes =
           [&](std::span<const Outcome> some) {
             return session->append_outcomes(uncovered_rows(known, order_, some, outcomes_covered));
           }});
  if (!read) return read;
  const auto outcome = TRY(session->commit());
  totals_.usages += outcome.usages.created;
  totals_.outcomes += outcome.outcomes.created;
  totals_.gpus += outcome.gpus.created;
  totals_.usages_covered += usages_covered;
  totals_.outcomes_covered += outcomes_covered;
  totals_.conflicts += outcome.rejected;
  return {};
}

Result<void> BackfillImport::add_unreported_nodes() {
  std::set<ClusterId> reported_by_others;
  for (const KubernetesConfig& one : config_.live.kubernetes)
    reported_by_others.insert(one.cluster);
  for (const SlurmConfig& one : config_.live.slurm) reported_by_others.insert(one.cluster);
  const auto store = TRY(create_ledger(config_));
  const auto nodes = store->nodes();
  if (!nodes) return std::unexpected(nodes.error());
  const auto gpus = TRY(store->gpus());

  using NodeKey = std::pair<ClusterId, NodeId>;
  std::map<NodeKey, Instant> known_from;
  for (const Node& node : *nodes) {
    const auto [at, is_new] = known_from.try_emplace({node.cluster, node.name}, node.from);
    if (!is_new) at->second = std::min(at->second, node.from);
  }
  // The GPUs of nodes before the first fact of the node.
  struct FirstAppearance {
    Instant from = {};
    std::string model = {};
    std::set<GpuId> cards = {};
  };
  std::map<NodeKey, FirstAppearance> unknown;
  for (const Gpu& gpu : gpus) {
    const NodeKey place{gpu.cluster, gpu.node};
    if (gpu.node.empty() || reported_by_others.contains(gpu.cluster)) continue;
    if (gpu.from >= order_.window.end()) continue;
    if (const auto at = known_from.find(place); at != known_from.end() && at->second <= gpu.from) {
      continue;
    }
    const auto [at, is_new] = unknown.try_emplace(place, FirstAppearance{.from = gpu.from});
    at->second.from = std::min(at->second.from, gpu.from);
    at->second.model = gpu.model;
    at->second.cards.insert(gpu.uuid);
  }
  if (unknown.empty()) return {};
  std::vector<Node> nodes_to_add;
  for (const auto& [place, seen] : unknown) {
    nodes_to_add.push_back({.cluster = place.first,
                            .name = place.second,
                            .provider_id = {},
                            .instance_type = {},
                            .region = {},
                            .pool = PoolId(""),
                            .gpu_model = seen.model,
                            .gpu_count = static_cast<std::uint32_t>(seen.cards.size()),
                            .cpu_milli = {},
                            .memory_bytes = {},
                            .from = seen.from,
                            .to = {},
                            .id = {},
                            .source = {}});
  }
  auto session = TRY(store->begin_import({.format = std::string(kFormat),
                                          .name = order_.name + ", nodes",
                                          .file_hash = {},
                                          .at = clock_.now()}));
  TRY(session->append_nodes(nodes_to_add));
  const auto outcome = session->commit();
  if (!outcome) return std::unexpected(outcome.error());
  totals_.nodes += outcome->nodes.created;
  return {};
}

}  // namespace pennyweight
