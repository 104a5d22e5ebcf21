#include "app/daemon/pod_signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ranges>
#include <string_view>
#include <tuple>

#include "app/daemon/live_file.h"
#include "app/daemon/live_inventory.h"
#include "core/files/file.h"

namespace pennyweight {
namespace {

constexpr std::chrono::hours kKillsKept{24};
constexpr std::chrono::hours kSpotNodesKept{48};
constexpr std::chrono::minutes kSaveEvery{10};
constexpr std::size_t kKillsMax = 100'000;
constexpr std::size_t kSpotNodesMax = 100'000;
constexpr std::uint64_t kFileBytesMax = 64u << 20;

}  // namespace

// A line a node: when it was last there, its cluster, its name. Neither has a tab or a line's end:
// they are names of Kubernetes.
PodSignals::PodSignals(std::string spot_file, Clock& clock)
    : spot_file_(std::move(spot_file)), clock_(clock), since_(clock.now()), saved_at_(since_) {
  const auto text = read_file(spot_file_, kFileBytesMax);
  if (!text) return;
  for (const auto line : std::views::split(*text, '\n')) {
    const std::string_view all(line.begin(), line.end());
    const std::size_t first = all.find('\t'), second = all.find('\t', first + 1);
    if (first == all.npos || second == all.npos) continue;
    const auto at = parse_instant(all.substr(0, first));
    if (!at) continue;
    spot_nodes_.insert_or_assign({ClusterId(std::string(all.substr(first + 1, second - first - 1))),
                                  NodeId(std::string(all.substr(second + 1)))},
                                 *at);
  }
  for (const auto& [name, at] : spot_nodes_) saved_.insert(name);
}

void PodSignals::note(const CollectedFacts& facts) {
  const Instant now = clock_.now();
  const std::lock_guard lock(mutex_);
  for (const Holding& holding : facts.holdings) heard_.insert(holding.cluster);
  for (const HoldingReading& reading : facts.readings) heard_.insert(reading.holding->cluster);
  for (const OomKill& one : facts.kills) {
    heard_.insert(one.cluster);
    if (kills_.size() >= kKillsMax) break;
    Instant& at =
        kills_.try_emplace({one.cluster, one.workload, one.container}, one.at).first->second;
    at = std::max(at, one.at);
  }
  std::erase_if(kills_, [&](const auto& one) { return one.second + kKillsKept < now; });
  note_spot_nodes(facts, now);
}

void PodSignals::note_spot_nodes(const CollectedFacts& facts, Instant now) {
  for (const auto& name : facts.spot_nodes) {
    if (spot_nodes_.size() >= kSpotNodesMax) break;
    spot_nodes_.insert_or_assign(name, now);
  }
  std::erase_if(spot_nodes_, [&](const auto& one) { return one.second + kSpotNodesKept < now; });
  // What could not be written is tried again in a while; until then it is known all the same.
  if (save_failed_ && now < saved_at_ + kSaveEvery) return;
  const bool is_same = std::ranges::equal(std::views::keys(spot_nodes_), saved_);
  if (is_same && (spot_nodes_.empty() || now < saved_at_ + kSaveEvery)) return;
  std::string text;
  for (const auto& [name, at] : spot_nodes_) {
    text += fmt::format("{}\t{}\t{}\n", to_text(at), name.first.text(), name.second.text());
  }
  saved_at_ = now;
  save_failed_ = !save_live_file(spot_file_, text);
  if (save_failed_) return;
  saved_.clear();
  for (const auto& [name, at] : spot_nodes_) saved_.insert(name);
}

OomKills PodSignals::kills() const {
  const std::lock_guard lock(mutex_);
  OomKills all{.kills = {}, .heard = heard_, .since = since_};
  for (const auto& [key, at] : kills_) {
    const auto& [cluster, workload, container] = key;
    all.kills.push_back({cluster, workload, container, at});
  }
  return all;
}

std::set<std::pair<ClusterId, NodeId>> PodSignals::spot_nodes() const {
  const std::lock_guard lock(mutex_);
  const auto names = std::views::keys(spot_nodes_);
  return {names.begin(), names.end()};
}

}  // namespace pennyweight
