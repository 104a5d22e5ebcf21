#include "app/daemon/cluster_listing.h"

#include <chrono>
#include <string>
#include <utility>

#include "app/context/cluster_objects_file.h"
#include "config/guardrail_config.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::chrono::seconds kLookEvery{2};
constexpr std::chrono::minutes kListingAgeMax{15};

}  // namespace

ClusterListing::ClusterListing(const Config& config, Clock& clock, Log& log)
    : config_(config),
      clock_(clock),
      log_(log),
      objects_(std::make_shared<const manifests::ClusterObjects>()) {}

ClusterListing::~ClusterListing() { stop(); }

Result<void> ClusterListing::start() {
  const std::string& path = config_.guardrails->cluster_objects_file;
  if (path.empty()) return {};
  state_ = TRY(record_file_state(path));
  auto objects = TRY(load_cluster_objects(config_));
  objects_ = std::make_shared<const manifests::ClusterObjects>(std::move(objects));
  thread_ = std::thread([this] { run(); });
  return {};
}

void ClusterListing::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const manifests::ClusterObjects> ClusterListing::current() const {
  const std::lock_guard lock(mutex_);
  return objects_;
}

void ClusterListing::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kLookEvery, [this] { return stopping_; })) return;
    }
    read_again();
  }
}

void ClusterListing::read_again() {
  const std::string& path = config_.guardrails->cluster_objects_file;
  const auto state = record_file_state(path);
  if (state && *state && *state == state_ && !unreadable_since_) return;
  auto objects = load_cluster_objects(config_);
  if (objects) {
    // Whatever changes after this is read the next time.
    state_ = state ? *state : std::nullopt;
    unreadable_since_.reset();
    const std::lock_guard lock(mutex_);
    objects_ = std::make_shared<const manifests::ClusterObjects>(*std::move(objects));
    return;
  }
  const Instant now = clock_.now();
  if (!unreadable_since_) unreadable_since_ = now;
  log_.warn_hourly("cluster_objects", "cluster objects", {{"why", objects.error().message}});
  if (now - *unreadable_since_ < kListingAgeMax) return;
  const std::lock_guard lock(mutex_);
  objects_ = std::make_shared<const manifests::ClusterObjects>();
}

}  // namespace pennyweight
