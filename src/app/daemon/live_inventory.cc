#include "app/daemon/live_inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/hash.h"
#include "core/try.h"

namespace pennyweight {
namespace {

// Labels that say how a workload ended, and not whose it was.
constexpr std::string_view kLabelsOfTheEnd[] = {"exit_code", "phase", "state"};
constexpr std::string_view kReadingsTitle = "pennyweight readings 1";

// The content of a reading without the time that it covers. The holding is as before afterwards.
Hash128 content_without_end(Holding& holding) {
  const Interval held = std::exchange(
      holding.held,
      Interval(holding.held.begin(), holding.held.begin() + std::chrono::milliseconds(1)));
  const Hash128 content = content_hash(holding);
  holding.held = held;
  return content;
}

// What decides where the cost of a holding goes: without its end and how it ended.
Hash128 cost_content(const Holding& holding) {
  Holding content = holding;
  content.ended = false;
  content.labels = {};
  for (const auto& [name, value] : holding.labels.entries()) {
    if (std::ranges::find(kLabelsOfTheEnd, name) == std::end(kLabelsOfTheEnd)) {
      CHECK(content.labels.set(name, value), "the labels of a holding are within their limits");
    }
  }
  return content_without_end(content);
}

// Names a holding in the readings.
Hash128 attempt_hash(const Holding& holding) {
  return Fingerprint()
      .add(holding.cluster.text())
      .add(holding.workload.text())
      .add(holding.attempt)
      .hash();
}

bool is_of_another_day(Instant a, Instant b) {
  return std::chrono::floor<std::chrono::days>(a) != std::chrono::floor<std::chrono::days>(b);
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
        HoldingState state{.latest = holding, .written_at = holding.held.end()};
        state.written = content_without_end(state.latest);
        holdings_.insert_or_assign({holding.cluster, holding.workload, holding.attempt},
                                   std::move(state));
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
  const auto read = take_readings(found);
  take_holdings(found, to_write.holdings);
  for (const HoldingReading& reading : read) {
    HoldingState* const held = find_holding(*reading.holding);
    // It is as read, unless the ledger has a later reading or its end.
    const bool is_latest =
        held != nullptr && !held->latest.ended && held->latest.held.end() == reading.until;
    if (is_latest) held->read_as = reading.holding;
  }
  for (const CollectedFacts::Vanished& gone : found.vanished) {
    const auto at = holdings_.find({gone.cluster, gone.workload, gone.attempt});
    if (at != holdings_.end() && !at->second.latest.ended) vanish(at->second, gone.gone_by);
  }
  for (const Node& node : to_write.nodes) note_change(node.from);
  for (const Gpu& gpu : to_write.gpus) note_change(gpu.from);
  for (const Outage& outage : to_write.outages) note_change(outage.during.begin());
  return to_write;
}

void LiveInventory::take_holdings(CollectedFacts& found, std::vector<Holding>& to_write) {
  for (Holding& holding : found.holdings) {
    HoldingState* known = find_holding(holding);
    const bool is_new = known == nullptr;
    if (is_new) {
      Attempt key(holding.cluster, holding.workload, holding.attempt);
      known = &holdings_.try_emplace(std::move(key), HoldingState{.latest = holding}).first->second;
    }
    HoldingState& held = *known;
    held.read_as = nullptr;
    if (!is_new && !supersedes(holding, held.latest)) continue;
    held.is_read = true;
    if (std::exchange(held.gone_by, {})) --vanished_;
    const Hash128 content = content_without_end(holding);
    const bool same = held.written == content &&
                      holding.held.end() < held.written_at + reading_every_ &&
                      !is_of_another_day(holding.held.end(), held.written_at);
    const bool same_end = held.written == content && held.latest.held == holding.held &&
                          held.written_at == holding.held.end();
    if (holding.ended ? same_end : same) {
      held.latest = std::move(holding);
      continue;
    }
    const bool same_cost = held.written && cost_content(held.latest) == cost_content(holding);
    held.latest = holding;
    note_change(same_cost ? std::min(held.written_at, holding.held.end()) : holding.held.begin());
    held.written = content;
    held.written_at = holding.held.end();
    to_write.push_back(std::move(holding));
  }
}

// Whether a reading says nothing but that the holding goes on, as the ledger knows already.
bool LiveInventory::is_quiet(const HoldingState& held, const HoldingReading& reading) const {
  return held.read_as == reading.holding && reading.until >= held.latest.held.end() &&
         reading.until < held.written_at + reading_every_ &&
         !is_of_another_day(reading.until, held.written_at);
}

LiveInventory::HoldingState* LiveInventory::find_holding(const Holding& holding) {
  const auto at = holdings_.find(std::tie(holding.cluster, holding.workload, holding.attempt));
  return at == holdings_.end() ? nullptr : &at->second;
}

std::vector<HoldingReading> LiveInventory::take_readings(CollectedFacts& found) {
  std::vector<HoldingReading> looked_at;
  for (HoldingReading& reading : found.readings) {
    HoldingState* const held = find_holding(*reading.holding);
    if (held != nullptr && is_quiet(*held, reading)) {
      held->is_read = true;
      if (std::exchange(held->gone_by, {})) --vanished_;
      held->latest.held = Interval(held->latest.held.begin(), reading.until);
      continue;
    }
    Holding& whole = found.holdings.emplace_back(*reading.holding);
    whole.held = Interval(whole.held.begin(), reading.until);
    looked_at.push_back(std::move(reading));
  }
  return looked_at;
}

void LiveInventory::note_change(Instant since) {
  changed_since_ = std::min(changed_since_.value_or(since), since);
}

std::vector<Holding> LiveInventory::take_unwritten_readings(bool all) {
  std::vector<Holding> readings;
  for (auto& [key, held] : holdings_) {
    if (!all && !held.gone_by) continue;
    if (held.latest.ended || held.latest.held.end() <= held.written_at) continue;
    note_change(held.written_at);
    held.written = content_without_end(held.latest);
    held.written_at = held.latest.held.end();
    readings.push_back(held.latest);
  }
  return readings;
}

// A line for each instant, followed by the holdings that were read then: most are read together.
//   at 1772611200000
//   0123456789abcdef0123456789abcdef          runs
//   0123456789abcdef0123456789abcdef 1772...  was gone by then; nobody saw when it ended
//   0123456789abcdef0123456789abcdef -1772... the same, and it was reported
std::string LiveInventory::readings_text() {
  std::map<Instant, std::string> by_instant;
  for (auto& [key, held] : holdings_) {
    if (held.latest.ended || !(held.is_read || held.was_running || held.gone_by)) continue;
    std::string& lines = by_instant[held.latest.held.end()];
    if (held.name.empty()) held.name = to_text(attempt_hash(held.latest));
    lines += held.name;
    if (held.gone_by) {
      lines += fmt::format(" {}{}", held.is_end_reported ? "-" : "", unix_ms(*held.gone_by));
    }
    lines += '\n';
  }
  std::string text = fmt::format("{}\n", kReadingsTitle);
  for (const auto& [at, lines] : by_instant) {
    text += fmt::format("at {}\n", unix_ms(at)) + lines;
  }
  return text + "end\n";
}

Result<void> LiveInventory::restore_readings(std::string_view text) {
  const auto refuse = [] {
    return fail(ErrorCode::kBadFile,
                "this is not a file of readings that 'pennyweight serve' wrote; remove it");
  };
  if (!text.starts_with(kReadingsTitle) || !text.ends_with("\nend\n")) return refuse();
  std::map<Hash128, HoldingState*> by_hash;
  for (auto& [key, held] : holdings_) by_hash.emplace(attempt_hash(held.latest), &held);
  Instant at;
  std::size_t begin = text.find('\n') + 1;
  for (std::size_t end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t space = std::min(line.find(' '), line.size());
    std::int64_t number = 0;
    const std::string_view digits = line.substr(std::min(space + 1, line.size()));
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (!digits.empty() && (parsed.ec != std::errc() || unix_ms(kInstantMax) < number ||
                            number < -unix_ms(kInstantMax))) {
      return refuse();
    }
    if (line == "end") return {};
    if (line.starts_with("at ")) {
      at = from_unix_ms(number);
      continue;
    }
    const auto hash = parse_hash(line.substr(0, space));
    if (!hash) return refuse();
    const auto found = by_hash.find(*hash);
    if (found == by_hash.end() || found->second->latest.ended) continue;
    HoldingState& held = *found->second;
    if (held.latest.held.end() < at) held.latest.held = Interval(held.latest.held.begin(), at);
    held.was_running = true;
    if (digits.empty()) continue;
    vanish(held, from_unix_ms(number < 0 ? -number : number));
    held.is_end_reported = number < 0;
  }
  return refuse();
}

void LiveInventory::vanish(HoldingState& held, Instant gone_by) {
  if (!held.gone_by) ++vanished_;
  held.gone_by = gone_by;
}

void LiveInventory::find_vanished(const ClusterId& cluster, Instant now) {
  for (auto at = holdings_.lower_bound({cluster, WorkloadId(""), ""});
       at != holdings_.end() && std::get<0>(at->first) == cluster; ++at) {
    HoldingState& held = at->second;
    if (held.latest.ended || held.is_read || !held.was_running || held.gone_by) continue;
    vanish(held, std::max(now, held.latest.held.end()));
  }
}

void LiveInventory::extend_vanished(const ClusterId& cluster, const WorkloadId& workload,
                                    const Interval& seen) {
  // Runs of one name follow one another: it was the last one that had begun, unless that was over.
  HoldingState* run = nullptr;
  Instant next = kInstantMax;
  for (auto at = holdings_.lower_bound({cluster, workload, ""});
       at != holdings_.end() && std::get<0>(at->first) == cluster &&
       std::get<1>(at->first) == workload;
       ++at) {
    const Instant begin = at->second.latest.held.begin();
    if (seen.begin() < begin) {
      next = std::min(next, begin);
    } else if (run == nullptr || run->latest.held.begin() < begin) {
      run = &at->second;
    }
  }
  if (run == nullptr || !run->gone_by) return;
  Interval& held = run->latest.held;
  const Instant until = std::min({seen.end(), *run->gone_by, next});
  if (held.end() < until) held = Interval(held.begin(), until);
}

std::map<ClusterId, Interval> LiveInventory::vanished_spans() const {
  std::map<ClusterId, Interval> spans;
  if (vanished_ == 0) return spans;
  for (const auto& [key, held] : holdings_) {
    if (!held.gone_by || held.is_telemetry_read || held.is_end_reported) continue;
    const auto lost = Interval::of(held.latest.held.end(), *held.gone_by);
    if (!lost) continue;
    const auto [at, is_new] = spans.try_emplace(std::get<0>(key), *lost);
    if (is_new) continue;
    at->second = Interval(std::min(at->second.begin(), lost->begin()),
                          std::max(at->second.end(), lost->end()));
  }
  return spans;
}

void LiveInventory::mark_vanished_spans_read() {
  for (auto& [key, held] : holdings_) held.is_telemetry_read = held.gone_by.has_value();
}

std::vector<UnknownEnd> LiveInventory::take_unknown_ends(Instant gone_before) {
  std::vector<UnknownEnd> ends;
  if (vanished_ == 0) return ends;
  for (auto& [key, held] : holdings_) {
    if (!held.gone_by || *held.gone_by >= gone_before || held.is_end_reported) continue;
    held.is_end_reported = true;
    if (held.latest.held.end() < *held.gone_by) {
      ends.push_back({.holding = held.latest, .gone_by = *held.gone_by});
    }
  }
  return ends;
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

std::optional<std::string> LiveInventory::note_of_unknown_nodes(const ClusterId& cluster) const {
  constexpr std::size_t kNamedMax = 3;
  if (!is_watched(cluster)) return std::nullopt;
  std::set<NodeId> unknown;
  std::size_t gpus = 0;
  for (const auto& [key, facts] : gpus_) {
    const Gpu& gpu = facts.back();
    if (gpu.cluster != cluster || gpu.to || gpu.node.empty()) continue;
    if (nodes_.contains({cluster, gpu.node})) continue;
    unknown.insert(gpu.node);
    ++gpus;
  }
  if (unknown.empty()) return std::nullopt;
  std::string names;
  std::size_t named = 0;
  for (const NodeId& node : unknown) {
    if (named++ == kNamedMax) break;
    names += (names.empty() ? "" : ", ") + node.text();
  }
  if (unknown.size() > kNamedMax) names += fmt::format(" and {} more", unknown.size() - kNamedMax);
  return fmt::format(
      "telemetry of {} {} names {} that cluster {} does not have ({}), so it counts for no node "
      "and "
      "no workload; let the exporter or Prometheus write the node's name as the label node",
      gpus, gpus == 1 ? "GPU" : "GPUs", unknown.size() == 1 ? "a node" : "nodes", cluster.text(),
      names);
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
    const bool may_run = !holding.ended && !at->second.gone_by && (at->second.is_read || !all_told);
    if (may_run && holding.held.end() < window.end() &&
        holding.held.end() + trust >= window.end()) {
      holding.held = Interval(holding.held.begin(), window.end());
    }
    if (holding.held.overlap(window)) found.push_back(std::move(holding));
  }
  return found;
}

void LiveInventory::forget_before(Instant instant) {
  std::erase_if(holdings_, [&](const auto& entry) {
    const HoldingState& held = entry.second;
    if (held.latest.held.end() >= instant) return false;
    if (held.gone_by) --vanished_;
    return true;
  });
}

Instant LiveInventory::begin_of(const Gpu& gpu) const {
  const auto node = nodes_.find({gpu.cluster, gpu.node});
  if (node == nodes_.end() || gpus_.contains({gpu.cluster, gpu.uuid})) return gpu.from;
  for (auto at = gpus_.lower_bound({gpu.cluster, GpuId("")});
       at != gpus_.end() && at->first.first == gpu.cluster; ++at) {
    for (const Gpu& other : at->second) {
      if (other.node == gpu.node && other.index == gpu.index) return gpu.from;
    }
  }
  // Where the node was gone for a time, since it came back.
  Instant begin = gpu.from;
  for (auto fact = node->second.rbegin(); fact != node->second.rend(); ++fact) {
    if (fact->to && *fact->to < begin) break;
    begin = std::min(begin, fact->from);
  }
  return begin;
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

bool LiveInventory::is_watched(const ClusterId& cluster) const {
  if (complete_clusters_.contains(cluster)) return true;
  return std::ranges::any_of(holdings_, [&](const auto& entry) {
    return std::get<ClusterId>(entry.first) == cluster && entry.second.is_read;
  });
}

}  // namespace pennyweight
