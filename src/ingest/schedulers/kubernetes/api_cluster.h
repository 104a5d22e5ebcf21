// ApiCluster: the state of a Kubernetes cluster as its API reports it, kept up to date by threads
// of its own.
//
// It gives at any time the facts that are new, and the pods that have metrics to scrape (targets).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/clock.h"
#include "ingest/schedulers/kubernetes/api_targets.h"
#include "ingest/schedulers/kubernetes/api_watcher.h"
#include "ingest/schedulers/kubernetes/cluster_state.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kTroublesKept =
    1'000;  // between two calls of facts(); more are counted

struct ApiClusterOptions {
  ApiServer server = {};
  std::vector<ResourceType> types = {};  // api_resources.h
  ClusterOptions cluster = {};
  std::vector<TargetRule> targets = {};
  std::uint64_t seed = 0;
  Wait wait = {};  // for tests; by default it waits in real time
};

struct ApiClusterCounts {
  ClusterCounts cluster = {};
  std::size_t resources = 0;           // that are wanted
  std::size_t resources_watching = 0;  // of these: connected
  std::uint64_t lists = 0;
  std::uint64_t objects_listed = 0;
  std::uint64_t watches = 0;
  std::uint64_t events = 0;
  std::uint64_t bookmarks = 0;
  std::uint64_t expired = 0;
  std::uint64_t refusals = 0;
  std::uint64_t failures = 0;
  std::uint64_t lost = 0;
  std::uint64_t unreadable = 0;     // objects that could not be read
  std::uint64_t troubles_lost = 0;  // dropped, since facts() was not called in time
};

// Every function may be called from any thread.
class ApiCluster : private WatchListener {
 public:
  // Starts at once. The clock outlives this.
  ApiCluster(ApiClusterOptions options, Clock& clock);
  ~ApiCluster() override;
  ApiCluster(const ApiCluster&) = delete;
  ApiCluster& operator=(const ApiCluster&) = delete;

  // The facts that are new up to known_until(). Its problems include what a person should know.
  Facts facts();
  // Now, or the time when a watch of pods or nodes that is cut off was last heard.
  Instant known_until() const;
  // Whether pods and nodes were listed once; for /readyz.
  bool is_listed() const;

  // What went wrong since the last call, the last of it; empty: nothing.
  std::string last_trouble();

  std::vector<ScrapeTarget> targets() const;
  ApiClusterCounts counts() const;
  void stop();

 private:
  void list_begins(const ResourceType& type, Instant at) override;
  void listed(const ResourceType& type, std::string_view api_version, simdjson::dom::element object,
              Instant at) override;
  void list_ends(const ResourceType& type, Instant at) override;
  void event(const ResourceType& type, std::string_view api_version, EventType event,
             simdjson::dom::element object, Instant at) override;
  void unavailable(const ResourceType& type, int status, Instant at) override;
  void trouble(const ResourceType& type, const std::string& words) override;

  void apply(const ResourceType& type, std::string_view api_version, EventType event,
             simdjson::dom::element object, Instant at);
  void add_trouble(std::string words);

  struct List {  // that is under way
    std::string api_version = {};
    std::set<std::string> uids = {};
  };

  Clock& clock_;
  const std::vector<TargetRule> rules_;
  mutable std::mutex mutex_;  // of all below but watcher_
  ClusterState state_;
  std::map<std::string, List> lists_;                         // by the first path of the type
  std::map<std::string, std::vector<ScrapeTarget>> targets_;  // by the pod's uid
  std::vector<std::string> troubles_;
  std::string last_trouble_;
  std::uint64_t unreadable_ = 0;
  std::uint64_t troubles_lost_ = 0;
  ApiWatcher watcher_;  // last: it calls the listener from its first moment to its last
};

}  // namespace pennyweight::kubernetes
