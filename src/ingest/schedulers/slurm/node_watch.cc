#include "ingest/schedulers/slurm/node_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <utility>

#include "ingest/schedulers/slurm/outage_pieces.h"

namespace pennyweight::slurm {
namespace {

Hash128 node_content(Node node) {
  node.from = kInstantMin;
  return content_hash(node);
}

// Reports the outage up to `end`; it goes on unless the node is back then.
void advance(const Node& node, Instant end, bool is_back, WatchedNode& watched, NodeChanges& news) {
  const Instant begin = *watched.out_since;
  if (begin < end) {
    watched.out_since = append_outage_pieces(node.cluster, node.name, watched.out_reason,
                                             Interval(begin, end), is_back, news.outages);
  }
  if (!is_back) return;
  watched.out_since.reset();
  watched.out_reason.clear();
}

constexpr std::chrono::hours kEndIsLate{1};

// What slurmdbd recorded of the time since the node was last seen. `earliest`: from when on nothing
// is known of it.
void add_events(const Node& node, bool is_out, std::span<const NodeEvent> events, Instant now,
                Instant& earliest, WatchedNode& watched, NodeChanges& news) {
  for (const NodeEvent& event : events) {
    const Instant end = std::min(event.during.end(), now);
    const Instant known_to = watched.out_since ? *watched.out_since : earliest;
    if (end <= known_to) continue;
    // slurmdbd may have missed the end of an event: it began before the node was last seen in use,
    // or so long ago that an end would have come.
    const bool is_orphan =
        !event.has_ended && !is_out && event.during.begin() < std::max(earliest, now - kEndIsLate);
    if (is_orphan && !watched.out_since) continue;
    if (!watched.out_since) {
      watched.out_since = std::max(event.during.begin(), earliest);
      watched.out_reason = event.reason;
    }
    if (!event.has_ended) return;  // scontrol says what the node is now
    advance(node, end, true, watched, news);
    earliest = std::max(earliest, end);
  }
}

void add_outages(const Node& node, const NodeState& state, Instant now, Instant earliest,
                 std::span<const NodeEvent> events, WatchedNode& watched, NodeChanges& news) {
  add_events(node, state.is_out, events, now, earliest, watched, news);
  if (!watched.out_since) {
    if (!state.is_out) return;
    const Instant given = state.reason_since.value_or(now);
    watched.out_since = std::clamp(given, std::min(earliest, now), now);
  }
  if (!state.reason.empty()) watched.out_reason = state.reason;
  if (watched.out_reason.empty()) watched.out_reason = state.state;
  advance(node, now, !state.is_out, watched, news);
}

// By node and time.
class EventsByNode {
 public:
  explicit EventsByNode(std::vector<NodeEvent> events) : events_(std::move(events)) {
    std::sort(events_.begin(), events_.end(), [](const NodeEvent& a, const NodeEvent& b) {
      return std::pair(a.node, a.during.begin()) < std::pair(b.node, b.during.begin());
    });
  }
  std::span<const NodeEvent> of(const NodeId& node) const {
    const auto found = std::ranges::equal_range(events_, node, {}, &NodeEvent::node);
    return {found.begin(), found.end()};
  }

 private:
  std::vector<NodeEvent> events_;
};

}  // namespace

NodeChanges update_watched_nodes(const ScontrolNodes& read, Instant now, Instant since,
                                 WatchedNodes& watched, std::vector<NodeEvent> events) {
  NodeChanges news;
  const EventsByNode by_node(std::move(events));
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
    add_outages(node, state, now, earliest, by_node.of(node.name), at->second, news);
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
