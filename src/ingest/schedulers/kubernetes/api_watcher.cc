#include "ingest/schedulers/kubernetes/api_watcher.h"

#include <utility>

namespace pennyweight::kubernetes {

class ApiWatcher::SerialListener : public WatchListener {
 public:
  explicit SerialListener(WatchListener& to) : to_(to) {}
  void list_begins(const ResourceType& type, Instant at) override {
    const std::lock_guard lock(mutex_);
    to_.list_begins(type, at);
  }
  void listed(const ResourceType& type, std::string_view api_version, simdjson::dom::element object,
              Instant at) override {
    const std::lock_guard lock(mutex_);
    to_.listed(type, api_version, object, at);
  }
  void list_ends(const ResourceType& type, Instant at) override {
    const std::lock_guard lock(mutex_);
    to_.list_ends(type, at);
  }
  void event(const ResourceType& type, std::string_view api_version, EventType event,
             simdjson::dom::element object, Instant at) override {
    const std::lock_guard lock(mutex_);
    to_.event(type, api_version, event, object, at);
  }
  void unavailable(const ResourceType& type, int status, Instant at) override {
    const std::lock_guard lock(mutex_);
    to_.unavailable(type, status, at);
  }
  void trouble(const ResourceType& type, const std::string& words) override {
    const std::lock_guard lock(mutex_);
    to_.trouble(type, words);
  }

 private:
  std::mutex mutex_;  // of the calls to to_
  WatchListener& to_;
};

ApiWatcher::ApiWatcher(const ApiServer& server, std::vector<ResourceType> types, std::uint64_t seed,
                       WatchListener& listener, Clock& clock, Wait wait)
    : listener_(std::make_unique<SerialListener>(listener)) {
  if (!wait) wait = [this](Milliseconds so_long) { return this->wait(so_long); };
  for (ResourceType& type : types) {
    watches_.push_back(
        std::make_unique<ResourceWatch>(server, std::move(type), seed++, *listener_, clock, wait));
  }
  for (const auto& watch : watches_) threads_.emplace_back([&watch] { watch->run(); });
}

ApiWatcher::~ApiWatcher() { stop(); }

bool ApiWatcher::wait(Milliseconds so_long) {
  std::unique_lock lock(mutex_);
  return !stop_comes_.wait_for(lock, so_long, [this] { return stopping_; });
}

void ApiWatcher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_comes_.notify_all();
  for (const auto& watch : watches_) watch->stop();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace pennyweight::kubernetes
