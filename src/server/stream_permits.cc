#include "server/stream_permits.h"

#include <utility>

namespace pennyweight::server {

StreamPermit::StreamPermit(StreamPermits& permits, std::string owner)
    : permits_(permits), owner_(std::move(owner)) {}

StreamPermit::~StreamPermit() { permits_.release(owner_); }

StreamPermits::StreamPermits(std::uint32_t all_max, std::uint32_t owner_max)
    : all_max_(all_max), owner_max_(owner_max) {}

StreamPermits::Outcome StreamPermits::acquire(const std::string& owner,
                                              std::shared_ptr<StreamPermit>& permit) {
  auto granted = std::make_shared<StreamPermit>(*this, owner);
  const std::lock_guard lock(mutex_);
  ++all_;
  const std::uint32_t of_owner = ++owners_[owner];
  if (of_owner <= owner_max_ && all_ <= all_max_) {
    permit = std::move(granted);
    return Outcome::kGranted;
  }
  return all_ > all_max_ ? Outcome::kFull : Outcome::kOwnerFull;
}

void StreamPermits::release(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  --all_;
  const auto found = owners_.find(owner);
  if (--found->second == 0) owners_.erase(found);
}

}  // namespace pennyweight::server
