// LiveSource: reports nodes and holdings to `serve`: from a Kubernetes API, from
// kube-state-metrics, or from Slurm.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/context/log.h"
#include "app/daemon/live_inventory.h"
#include "config/config.h"
#include "core/clock.h"
#include "ingest/schedulers/kubernetes/api_cluster.h"
#include "ingest/schedulers/kubernetes/state_metrics.h"
#include "ingest/schedulers/slurm/poller.h"
#include "telemetry/live/state_sink.h"

namespace pennyweight {

// GpuLookup: finds the GPU at an index of a node, for collectors; from any thread.
class GpuLookup {
 public:
  // Takes over the GPUs of the inventory; on the thread of the inventory.
  void update(const LiveInventory& inventory);
  std::optional<GpuId> gpu_at(const ClusterId& cluster, const NodeId& node,
                              std::uint32_t index) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::tuple<ClusterId, NodeId, std::uint32_t>, GpuId> gpus_;
};

struct SourceStatus {
  std::optional<Instant> heard_at = {};  // nothing: not yet
  std::string last_error = {};           // empty: none
  std::optional<Instant> failed_at = {};
};

class LiveSource {
 public:
  virtual ~LiveSource() = default;
  virtual const ClusterId& cluster() const = 0;
  virtual std::string kind() const = 0;  // "kubernetes", "kube-state-metrics", "slurm"
  // What is new since the last call. Returns quickly; only the ledger's thread calls it.
  virtual CollectedFacts collect() = 0;
  // The ledger has what was collected last.
  virtual void confirm_stored() {}
  // Whether it has reported everything once.
  virtual bool is_ready() const = 0;
  // Whether it still reports the end of every workload, however long nobody asked it. A Kubernetes
  // API forgets pods that were deleted; Slurm's accounting forgets nothing.
  virtual bool reports_every_end() const { return true; }
  // Up to when it knows the cluster, and what went wrong last; from any thread.
  virtual SourceStatus status() const { return {}; }
  // By name, for /metrics.
  virtual std::map<std::string, std::uint64_t> counts() const = 0;
  virtual void stop() {}
};

// Watches the Kubernetes API of one cluster.
class KubernetesSource : public LiveSource {
 public:
  // `inventory` belongs to the thread that calls collect(); it and the clock outlive this.
  KubernetesSource(const KubernetesConfig& config, kubernetes::ApiServer server, bool scrapes,
                   const LiveInventory& inventory, std::uint64_t seed, Clock& clock);
  const ClusterId& cluster() const override { return cluster_; }
  std::string kind() const override { return "kubernetes"; }
  CollectedFacts collect() override;
  bool is_ready() const override { return api_.is_listed(); }
  bool reports_every_end() const override { return false; }
  SourceStatus status() const override;
  std::map<std::string, std::uint64_t> counts() const override;
  void stop() override { api_.stop(); }
  std::vector<kubernetes::ScrapeTarget> targets() const { return api_.targets(); }

 private:
  const ClusterId cluster_;
  Clock& clock_;
  mutable std::mutex status_mutex_;  // guards what follows
  std::string last_error_;
  std::optional<Instant> failed_at_;
  kubernetes::ApiCluster api_;
};

// Reads the series of kube-state-metrics, of every cluster that sends them.
class StateMetricsSource : public live::StateSink {
 public:
  explicit StateMetricsSource(const LiveInventory& inventory) : inventory_(inventory) {}
  // Ignores the series of a cluster: its API is watched, which says more.
  void exclude_cluster(const ClusterId& cluster) { excluded_.insert(cluster); }

  std::uint64_t declare(const telemetry::StateSeries& series) override;
  void sample(std::uint64_t handle, std::int64_t at_ms, double value) override;
  void stale(std::uint64_t handle, std::int64_t at_ms) override;

  // As LiveSource::collect(), for all clusters together.
  CollectedFacts collect();
  std::map<std::string, std::uint64_t> counts() const;

 private:
  struct ClusterMetrics {
    kubernetes::ClusterState state;
    kubernetes::StateMetrics metrics;
    ClusterMetrics(kubernetes::ClusterOptions options)
        : state(std::move(options)), metrics({}, state) {}
  };
  struct Series {
    ClusterId cluster;
    std::uint64_t handle;  // in the StateMetrics of its cluster; 0: it is not needed
    std::string packed;    // to declare it again
  };
  ClusterMetrics& of(const ClusterId& cluster);
  void declare_again(Series& series);

  const LiveInventory& inventory_;
  std::set<ClusterId> excluded_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<ClusterId, std::unique_ptr<ClusterMetrics>> clusters_;
  std::vector<Series> series_;  // at handle - 1
};

// Asks the programs of one Slurm cluster, in a thread of its own.
class SlurmSource : public LiveSource {
 public:
  // `state_file` stores how far sacct was read. `known`, the clock and the log outlive this.
  SlurmSource(const SlurmConfig& config, const ClusterConfig& cluster, std::string state_file,
              const GpuLookup& known, Clock& clock, Log& log);
  ~SlurmSource() override;
  const ClusterId& cluster() const override { return cluster_; }
  std::string kind() const override { return "slurm"; }
  CollectedFacts collect() override;
  void confirm_stored() override;
  bool is_ready() const override;
  SourceStatus status() const override;
  std::map<std::string, std::uint64_t> counts() const override;
  void stop() override;

 private:
  void run();
  void report(slurm::PollResult result);
  void save();

  const ClusterId cluster_;
  const std::chrono::milliseconds interval_;
  const std::string state_file_;
  Clock& clock_;
  Log& log_;
  slurm::SlurmPoller poller_;  // used by the thread
  mutable std::mutex mutex_;   // guards what follows
  std::condition_variable changed_;
  bool stopping_ = false;
  std::optional<CollectedFacts> waiting_;  // polled and not collected yet
  bool collected_ = false;                 // and not confirmed yet
  bool confirmed_ = false;
  std::map<std::string, std::uint64_t> counts_;
  SourceStatus status_;
  bool ready_ = false;
  std::thread thread_;
};

}  // namespace pennyweight
