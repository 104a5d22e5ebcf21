// ApiWatcher: watches several resources at once, each in a thread with connections of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "ingest/schedulers/kubernetes/api_resource_watch.h"

namespace pennyweight::kubernetes {

// All share one listener, which is called from several threads, one at a time.
class ApiWatcher {
 public:
  // Starts at once. The listener and the clock outlive this. Two watchers of one server need
  // different seeds, so that they do not reconnect at the same moment. `wait` is for tests; by
  // default it waits in real time.
  ApiWatcher(const ApiServer& server, std::vector<ResourceType> types, std::uint64_t seed,
             WatchListener& listener, Clock& clock, Wait wait = {});
  ~ApiWatcher();
  ApiWatcher(const ApiWatcher&) = delete;
  ApiWatcher& operator=(const ApiWatcher&) = delete;

  // From any thread but the listener's; no call reaches the listener afterwards.
  void stop();

  std::span<const std::unique_ptr<ResourceWatch>> watches() const { return watches_; }

 private:
  class SerialListener;

  bool wait(Milliseconds so_long);

  std::mutex mutex_;  // of stopping_
  std::condition_variable stop_comes_;
  bool stopping_ = false;
  std::unique_ptr<SerialListener> listener_;
  std::vector<std::unique_ptr<ResourceWatch>> watches_;
  std::vector<std::thread> threads_;
};

}  // namespace pennyweight::kubernetes
