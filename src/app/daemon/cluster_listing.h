// ClusterListing: what guardrails.cluster_objects says that the cluster has, read again by a thread
// of its own within seconds after the file has changed, so that admission never waits for it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "app/context/log.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/files/record_file.h"
#include "core/instant.h"
#include "ingest/manifests/cluster_objects.h"

namespace pennyweight {

class ClusterListing {
 public:
  // All of these outlive it.
  ClusterListing(const Config& config, Clock& clock, Log& log);
  ~ClusterListing();
  ClusterListing(const ClusterListing&) = delete;
  ClusterListing& operator=(const ClusterListing&) = delete;

  // Reads the file, and watches it from then on. An Error where it can't be read now; nothing where
  // none is configured.
  Result<void> start();
  void stop();

  // Any thread; never null. While the file can't be read, what it had before stands for 15 minutes,
  // and nothing is known after that.
  std::shared_ptr<const manifests::ClusterObjects> current() const;

 private:
  void run();
  void read_again();

  const Config& config_;
  Clock& clock_;
  Log& log_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::shared_ptr<const manifests::ClusterObjects> objects_;
  bool stopping_ = false;
  // Of the thread alone, once it runs: which contents were read, and since when none can be.
  std::optional<RecordFileState> state_;
  std::optional<Instant> unreadable_since_;
  std::thread thread_;
};

}  // namespace pennyweight
