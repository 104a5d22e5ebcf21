// StreamPermits: how many event streams may be open, in all and of one user.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace pennyweight::server {

class StreamPermits;

// Gives its permit back when it ends.
class StreamPermit {
 public:
  StreamPermit(StreamPermits& permits, std::string owner);
  ~StreamPermit();
  StreamPermit(const StreamPermit&) = delete;
  StreamPermit& operator=(const StreamPermit&) = delete;

 private:
  StreamPermits& permits_;
  const std::string owner_;
};

// Safe to use from several threads; outlives its permits.
class StreamPermits {
 public:
  enum class Outcome { kGranted, kFull, kOwnerFull };

  StreamPermits(std::uint32_t all_max, std::uint32_t owner_max);
  // With kGranted, `permit` is set.
  Outcome acquire(const std::string& owner, std::shared_ptr<StreamPermit>& permit);

 private:
  friend class StreamPermit;
  void release(const std::string& owner);

  const std::uint32_t all_max_, owner_max_;
  std::mutex mutex_;  // guards the next two
  std::uint32_t all_ = 0;
  std::map<std::string, std::uint32_t> owners_;
};

}  // namespace pennyweight::server
