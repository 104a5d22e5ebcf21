// PodSignals: what collectors say of pods and nodes that is no fact of the ledger: which containers
// were killed for lack of memory, and which nodes the cloud may take back (spot).
//
// Kills of the last day, and spot nodes of the last two, since a node that is gone still counts.
// The nodes are stored in a file, for the next process. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/alerting/serving_conditions.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/instant.h"

namespace pennyweight {

struct CollectedFacts;

class PodSignals {
 public:
  // The file need not exist; one that can't be read is begun anew. The clock outlives this.
  PodSignals(std::string spot_file, Clock& clock);

  void note(const CollectedFacts& facts);
  OomKills kills() const;
  std::set<std::pair<ClusterId, NodeId>> spot_nodes() const;

 private:
  void note_spot_nodes(const CollectedFacts& facts, Instant now);  // callers hold mutex_

  const std::string spot_file_;
  Clock& clock_;
  const Instant since_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::tuple<ClusterId, WorkloadId, std::string>, Instant> kills_;
  std::set<ClusterId> heard_;
  std::map<std::pair<ClusterId, NodeId>, Instant> spot_nodes_;  // when they were last there
  std::set<std::pair<ClusterId, NodeId>> saved_;
  Instant saved_at_;
  bool save_failed_ = false;  // the last time
};

}  // namespace pennyweight
