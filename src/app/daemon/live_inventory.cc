#include "app/daemon/live_inventory.h"

#include <algorithm>
#include <utility>

#include "core/try.h"

namespace pennyweight {
namespace {

// The content of a reading without the time that it covers.
Hash128 content_without_end(const Holding& holding) {
  Holding content = holding;
  content.held =
      Interval(holding.held.begin(), holding.held.begin() + std::chrono::milliseconds(1));
  return content_hash(content);
}

// Inserts a fact by `from`; it replaces one of the same instant.
template <class Fact>
void put(std::vector<Fact>& facts, const Fact& fact) {
  const auto at = std::ranges::lower_bound(facts, fact.from, {}, &Fact::from);
  if (at != facts.end() && at->from == fact.from) {
    *at = fact;
  } else {
    facts.insert(at, fact);
  }
}

// Whether it is a later reading, or the final one.
bool supersedes(const Holding& next, const Holding& known) {
  if (next.ended != known.ended) return next.ended;
  return next.held.end() >= known.held.end();
}

}  // namespace

Result<void> LiveInventory::load(Store& store, Instant since) {
  const auto nodes = TRY(store.nodes());
  std::set<ClusterId> clusters;
  for (const Node& node : nodes) {
    take_node(node);
    clusters.insert(node.cluster);
  }
  const auto gpus = TRY(store.gpus());
  for (const Gpu& gpu : gpus) {
    take_gpu(gpu);
    clusters.insert(gpu.cluster);
  }
  const auto overview = TRY(store.overview());
  for (const std::string& name : overview.clusters) clusters.insert(ClusterId(name));
  const Interval during(since, kInstantMax);
  for (const ClusterId& cluster : clusters) {
    TRY(store.scan_holdings(cluster, during, [&](std::span<const Holding> batch) {
      for (const Holding& holding : batch) {
        holdings_.insert_or_assign(
            {holding.cluster, holding.workload, holding.attempt},
            HoldingState{holding, content_without_end(holding), holding.held.end()});
      }
      return true;
    }));
  }
  return {};
}

CollectedFacts LiveInventory::take(CollectedFacts found) {
  CollectedFacts to_write = {.holdings = {},
                             .nodes = std::move(found.nodes),
                             .gpus = std::move(found.gpus),
                             .outages = std::move(found.outages),
                             .rejected = std::move(found.rejected),
                             .problems = {}};
  for (const Node& node : to_write.nodes) take_node(node);
  for (const Gpu& gpu : to_write.gpus) take_gpu(gpu);
  for (Holding& holding : found.holdings) {
    const Attempt key(holding.cluster, holding.workload, holding.attempt);
    const auto [at, is_new] = holdings_.try_emplace(key, HoldingState{holding, {}, {}});
    HoldingState& held = at->second;
    if (!is_new && !supersedes(holding, held.latest)) continue;
    held.is_read = true;
    const Hash128 content = content_without_end(holding);
    const bool same =
        held.written == content && holding.held.end() < held.written_at + reading_every_;
    const bool same_end = held.written == content && held.latest.held == holding.held;
    held.latest = holding;
    if (holding.ended ? same_end : same) continue;
    held.written = content;
    held.written_at = holding.held.end();
    to_write.holdings.push_back(std::move(holding));
  }
  return to_write;
}

std::vector<Node> LiveInventory::nodes_from_gpus(const std::set<ClusterId>& but_not) const {
  std::map<std::pair<ClusterId, NodeId>, std::vector<const Gpu*>> gpus_by_node;
  for (const auto& [key, facts] : gpus_) {
    const Gpu& gpu = facts.back();
    if (gpu.node.empty() || gpu.to || but_not.contains(gpu.cluster)) continue;
    gpus_by_node[{gpu.cluster, gpu.node}].push_back(&gpu);
  }
  std::vector<Node> found;
  for (const auto& [key, here] : gpus_by_node) {
    Node node{.cluster = key.first,
              .name = key.second,
              .provider_id = {},
              .instance_type = {},
              .region = {},
              .pool = PoolId(""),
              .gpu_model = here.front()->model,
              .gpu_count = static_cast<std::uint32_t>(here.size()),
              .cpu_milli = {},
              .memory_bytes = {},
              .from = here.front()->from,
              .to = {},
              .id = {},
              .source = {}};
    const auto known = nodes_.find(key);
    if (known == nodes_.end()) {
      for (const Gpu* gpu : here) node.from = std::min(node.from, gpu->from);
      found.push_back(std::move(node));
      continue;
    }
    // Made here, and now with more GPUs? A node that a source reported stays as it is.
    const Node& last = known->second.back();
    const bool is_ours = last.provider_id.empty() && last.instance_type.empty() &&
                         last.pool.empty() && !last.cpu_milli && !last.to;
    if (!is_ours || last.gpu_count >= node.gpu_count) continue;
    for (const Gpu* gpu : here) node.from = std::max(node.from, gpu->from);
    if (node.from > last.from) found.push_back(std::move(node));
  }
  return found;
}

std::vector<ClusterId> LiveInventory::clusters() const {
  std::set<ClusterId> found;
  for (const auto& [key, node] : nodes_) found.insert(key.first);
  for (const auto& [key, held] : holdings_) found.insert(std::get<0>(key));
  return {found.begin(), found.end()};
}

std::vector<Node> LiveInventory::nodes(const ClusterId& cluster) const {
  std::vector<Node> found;
  for (auto at = nodes_.lower_bound({cluster, NodeId("")});
       at != nodes_.end() && at->first.first == cluster; ++at) {
    found.insert(found.end(), at->second.begin(), at->second.end());
  }
  return found;
}

std::vector<Gpu> LiveInventory::gpus(const ClusterId& cluster) const {
  std::vector<Gpu> found;
  for (auto at = gpus_.lower_bound({cluster, GpuId("")});
       at != gpus_.end() && at->first.first == cluster; ++at) {
    found.insert(found.end(), at->second.begin(), at->second.end());
  }
  return found;
}

std::vector<Holding> LiveInventory::holdings(const ClusterId& cluster, const Interval& window,
                                             std::chrono::milliseconds trust) const {
  std::vector<Holding> found;
  const bool all_told = complete_clusters_.contains(cluster);
  for (auto at = holdings_.lower_bound({cluster, WorkloadId(""), ""});
       at != holdings_.end() && std::get<0>(at->first) == cluster; ++at) {
    Holding holding = at->second.latest;
    const bool may_run = !holding.ended && (at->second.is_read || !all_told);
    if (may_run && holding.held.end() < window.end() &&
        holding.held.end() + trust >= window.end()) {
      holding.held = Interval(holding.held.begin(), window.end());
    }
    if (holding.held.overlap(window)) found.push_back(std::move(holding));
  }
  return found;
}

void LiveInventory::forget_before(Instant instant) {
  std::erase_if(holdings_,
                [&](const auto& entry) { return entry.second.latest.held.end() < instant; });
}

std::optional<Node> LiveInventory::node(const ClusterId& cluster, const NodeId& name) const {
  const auto found = nodes_.find({cluster, name});
  if (found == nodes_.end()) return std::nullopt;
  return found->second.back();
}

std::optional<Gpu> LiveInventory::gpu(const ClusterId& cluster, const GpuId& uuid) const {
  const auto found = gpus_.find({cluster, uuid});
  if (found == gpus_.end()) return std::nullopt;
  return found->second.back();
}

std::optional<GpuId> LiveInventory::gpu_at(const ClusterId& cluster, const NodeId& node,
                                           std::uint32_t index) const {
  for (auto at = gpus_.lower_bound({cluster, GpuId("")});
       at != gpus_.end() && at->first.first == cluster; ++at) {
    const Gpu& gpu = at->second.back();
    if (gpu.node == node && gpu.index == index && !gpu.to) return gpu.uuid;
  }
  return std::nullopt;
}

bool LiveInventory::has_ended(const ClusterId& cluster, const WorkloadId& workload,
                              const std::string& attempt) const {
  const auto found = holdings_.find({cluster, workload, attempt});
  return found != holdings_.end() && found->second.latest.ended && found->second.written;
}

void LiveInventory::take_node(const Node& node) { put(nodes_[{node.cluster, node.name}], node); }
void LiveInventory::take_gpu(const Gpu& gpu) { put(gpus_[{gpu.cluster, gpu.uuid}], gpu); }

}  // namespace pennyweight
