// AuditLog: who held what, from the audit log of a Kubernetes API server.
//
// An event is a line (https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/), or many
// are an EventList, as webhooks get them. The answer to a request has the object as it then was, so
// a ClusterState follows the answers as it follows a watch. A pod that still runs is held until the
// last event of the log.
//
// An event whose audit policy leaves the answer out (level Metadata or Request) says that an object
// changed, and not to what. A pod is then left out until another event has it whole; so is a node.
// An object is gone when its deletion is done: at the answer to its deletion, or, while others keep
// it, at that to the change which takes its last finalizer away.
// Events must be in order of time: an API server writes them so, and the logs of several have to be
// merged.
//
// Facts are given when a node changes and at the end, so that a pod which ends before its node is
// first seen holds what that node has.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ingest/schedulers/kubernetes/cluster_state.h"
#include "ingest/schedulers/kubernetes/list_watch_event.h"
#include "ledger/rejected_row.h"

namespace pennyweight::kubernetes {

struct AuditOptions {
  std::string file;  // for messages
  ClusterId cluster{""};
  Instant now = {};  // events of later are set aside
  // What the ledger knew when the first event happened.
  std::function<KnownFacts(Instant first)> known = {};
  std::function<Result<void>(const Facts& facts)> give = {};
  std::function<Result<void>(std::span<const RejectedRow> rows)> rejected = {};
};

struct AuditCounts {
  std::uint64_t changes = 0;        // events that had an object which matters
  std::uint64_t others = 0;         // other requests, other stages, requests that failed
  std::uint64_t waiting_pods = 0;   // were on no node at the end
  std::uint64_t partial_pods = 0;   // left out, since their last change is not in the log
  std::uint64_t partial_nodes = 0;  // the same
  std::uint64_t owners = 0;         // objects that may own pods, kept at the end
  std::uint64_t over_limit = 0;     // objects that were dropped, since too many are there
};

class AuditLog {
 public:
  explicit AuditLog(AuditOptions options);
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  Result<void> feed(std::string_view bytes);
  Result<void> finish();

  const AuditCounts& counts() const { return counts_; }

 private:
  using element = simdjson::dom::element;

  Result<void> take_line(std::string_view line);
  Result<void> take_event(element event);
  Result<void> take_answer(element event, Instant at);
  Result<void> take_no_answer(element event, std::string_view resource);
  Result<void> take_object(element object, std::string_view kind, std::string_view version,
                           Instant at, bool is_delete);
  Result<void> take_deletion(element event, std::string uid, Instant at);
  Result<void> end_known_node(const std::string& name, Instant at);
  bool is_older(element object);
  void note_gone(std::string_view uid, Instant at);
  Result<void> give_until(Instant now, bool is_end);
  Result<void> reject(std::string_view name, std::string reason);

  AuditOptions options_;
  EventSplitter splitter_;
  simdjson::dom::parser parser_;
  KnownFacts known_;                                            // when the first event happened
  std::unique_ptr<ClusterState> state_;                         // null: no event came yet
  Instant newest_ = {};                                         // of the events
  std::uint64_t changes_kept_ = 0;                              // since facts were given
  std::uint64_t number_ = 0;                                    // of the line
  std::map<std::string, std::uint64_t, std::less<>> versions_;  // of pods and nodes, by uid
  std::map<std::string, std::string, std::less<>> pod_uids_;    // not over, by "namespace/name"
  // What went lately: an answer that is older may come after it, as from a cache. A uid is of one
  // object only.
  std::set<std::string, std::less<>> gone_;                    // uids
  std::deque<std::pair<Instant, std::string>> gone_since_;     // the same, in order of time
  std::map<std::string, Object, std::less<>> others_;          // by "node/name" or "slice/name"
  std::set<std::string, std::less<>> waiting_, partial_pods_;  // uids
  std::set<std::string, std::less<>> partial_nodes_;           // names
  std::set<std::string, std::less<>> seen_nodes_;              // names
  std::map<std::string, Node, std::less<>> ended_;  // the ends of nodes that only the ledger knew
  std::map<std::string, Node, std::less<>> withheld_;  // of partial nodes, until they are whole
  std::vector<RejectedRow> rejected_;
  AuditCounts counts_;
};

// Whether a file begins as an audit log does.
bool is_audit_log(std::string_view beginning);

}  // namespace pennyweight::kubernetes
