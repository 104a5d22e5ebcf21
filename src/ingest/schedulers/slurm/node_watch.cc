#include "ingest/schedulers/slurm/node_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ratio>
#include <set>

namespace pennyweight::slurm {
namespace {

using Quarters = std::chrono::duration<std::int64_t, std::ratio<900>>;

Hash128 node_content(Node node) {
  node.from = kInstantMin;
  return content_hash(node);
}

Instant next_quarter(Instant at) { return std::chrono::floor<Quarters>(at) + Quarters(1); }

Outage piece(const Node& node, Instant begin, Instant end, const WatchedNode& watched) {
  Outage outage(node.cluster, node.name, Interval(begin, end));
  outage.reason = watched.out_reason;
  return outage;
}

void add_outages(const Node& node, const NodeState& state, Instant now, Instant earliest,
                 WatchedNode& watched, NodeChanges& news) {
  if (!watched.out_since) {
    if (!state.is_out) return;
    const Instant given = state.reason_since.value_or(now);
    watched.out_since = std::clamp(given, std::min(earliest, now), now);
  }
  if (!state.reason.empty()) watched.out_reason = state.reason;
  if (watched.out_reason.empty()) watched.out_reason = state.state;
  Instant& begin = *watched.out_since;
  while (next_quarter(begin) <= now) {
    news.outages.push_back(piece(node, begin, next_quarter(begin), watched));
    begin = next_quarter(begin);
  }
  if (state.is_out) return;
  if (begin < now) news.outages.push_back(piece(node, begin, now, watched));
  watched.out_since.reset();
  watched.out_reason.clear();
}

}  // namespace

NodeChanges update_watched_nodes(const ScontrolNodes& read, Instant now, Instant since,
                                 WatchedNodes& watched) {
  NodeChanges news;
  const bool is_first = watched.empty();
  std::set<NodeId> there;
  for (std::size_t i = 0; i < read.nodes.size(); ++i) {
    Node node = read.nodes[i];
    const NodeState& state = read.states[i];
    there.insert(node.name);
    const Hash128 content = node_content(node);
    const auto [at, is_new] = watched.emplace(
        node.name, WatchedNode{.content = content, .seen = now, .out_since = {}, .out_reason = {}});
    const Instant earliest = is_new ? (is_first ? since : now) : at->second.seen;
    if (is_new || at->second.content != content) {
      node.from = is_first ? std::min(since, now) : now;
      at->second.content = content;
      news.nodes.push_back(node);
    }
    add_outages(node, state, now, earliest, at->second, news);
    at->second.seen = now;
  }
  // A row that can't be read this time does not mean that the node is gone.
  if (!read.rejected.empty()) return news;
  for (auto at = watched.begin(); at != watched.end();) {
    if (there.contains(at->first)) {
      ++at;
      continue;
    }
    news.notes.push_back(
        fmt::format("node {} is no longer among Slurm's nodes; give its end in an "
                    "inventory file if it is gone",
                    at->first.text()));
    at = watched.erase(at);
  }
  return news;
}

}  // namespace pennyweight::slurm
