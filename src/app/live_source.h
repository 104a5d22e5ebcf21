// LiveSource: who tells `serve` of nodes and holdings: a Kubernetes API, kube-state-metrics, Slurm.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/live_book.h"
#include "app/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "ingest/kubernetes/api_cluster.h"
#include "ingest/kubernetes/state_metrics.h"
#include "ingest/slurm/poller.h"
#include "live/state_sink.h"

namespace pennyweight {

// What collectors ask of the book; answers from any thread.
class KnownNow {
 public:
  // The book's thread puts here what it knows.
  void update(const LiveBook& book);
  std::optional<GpuId> gpu_at(const ClusterId& cluster, const NodeId& node,
                              std::uint32_t index) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::tuple<ClusterId, NodeId, std::uint32_t>, GpuId> gpus_;
};

class LiveSource {
 public:
  virtual ~LiveSource() = default;
  virtual const ClusterId& cluster() const = 0;
  virtual std::string kind() const = 0;  // "kubernetes", "kube-state-metrics", "slurm"
  // What is new; quick. Called by the ledger's thread alone.
  virtual Collected collect() = 0;
  // What was collected last is in the ledger.
  virtual void kept() {}
  // Whether it has told everything once.
  virtual bool is_ready() const = 0;
  // By name, for /metrics.
  virtual std::map<std::string, std::uint64_t> counts() const = 0;
  virtual void stop() {}
};

// The API of one cluster.
class KubernetesSource : public LiveSource {
 public:
  // `book` is the one that collect()'s thread has; it and the clock outlive this.
  KubernetesSource(const KubernetesConfig& config, kubernetes::ApiServer server, bool scrapes,
                   const LiveBook& book, std::uint64_t seed, Clock& clock);
  const ClusterId& cluster() const override { return cluster_; }
  std::string kind() const override { return "kubernetes"; }
  Collected collect() override;
  bool is_ready() const override { return api_.is_listed(); }
  std::map<std::string, std::uint64_t> counts() const override;
  void stop() override { api_.stop(); }
  std::vector<kubernetes::ScrapeTarget> targets() const { return api_.targets(); }

 private:
  const ClusterId cluster_;
  kubernetes::ApiCluster api_;
};

// The series of kube-state-metrics, of every cluster that sends them.
class StateMetricsSource : public live::StateSink {
 public:
  explicit StateMetricsSource(const LiveBook& book) : book_(book) {}
  // Of these clusters the API is watched, and says more.
  void leave_out(const ClusterId& cluster) { left_out_.insert(cluster); }

  std::uint64_t declare(const telemetry::StateSeries& series) override;
  void sample(std::uint64_t handle, std::int64_t at_ms, double value) override;
  void stale(std::uint64_t handle, std::int64_t at_ms) override;

  // As of a LiveSource, for all clusters together.
  Collected collect();
  std::map<std::string, std::uint64_t> counts() const;

 private:
  struct OneCluster {
    kubernetes::ClusterState state;
    kubernetes::StateMetrics metrics;
    OneCluster(kubernetes::ClusterOptions options)
        : state(std::move(options)), metrics({}, state) {}
  };
  struct Series {
    ClusterId cluster;
    std::uint64_t handle;  // of its cluster's StateMetrics; 0: it says nothing
    std::string packed;    // to declare it again
  };
  OneCluster& of(const ClusterId& cluster);
  void declare_again(Series& series);

  const LiveBook& book_;
  std::set<ClusterId> left_out_;
  mutable std::mutex mutex_;  // of the following
  std::map<ClusterId, std::unique_ptr<OneCluster>> clusters_;
  std::vector<Series> series_;  // by handle, less one
};

// The programs of one Slurm cluster, asked in a thread.
class SlurmSource : public LiveSource {
 public:
  // `state_file` keeps how far sacct was read. `known`, the clock and the log outlive this.
  SlurmSource(const SlurmConfig& config, const ClusterConfig& cluster, std::string state_file,
              const KnownNow& known, Clock& clock, Log& log);
  ~SlurmSource() override;
  const ClusterId& cluster() const override { return cluster_; }
  std::string kind() const override { return "slurm"; }
  Collected collect() override;
  void kept() override;
  bool is_ready() const override;
  std::map<std::string, std::uint64_t> counts() const override;
  void stop() override;

 private:
  void run();
  void tell(slurm::PollResult result);
  void save();

  const ClusterId cluster_;
  const std::chrono::milliseconds interval_;
  const std::string state_file_;
  Log& log_;
  slurm::SlurmPoller poller_;  // of the thread
  mutable std::mutex mutex_;   // of the following
  std::condition_variable changed_;
  bool stopping_ = false;
  std::optional<Collected> waiting_;  // polled, not collected
  bool collected_ = false;            // and not kept
  bool kept_ = false;
  std::map<std::string, std::uint64_t> counts_;
  bool ready_ = false;
  std::thread thread_;
};

}  // namespace pennyweight
