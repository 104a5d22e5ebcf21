// RateLimit: limits requests with one token bucket for each client. A bucket refills at a fixed
// rate; if it is empty, the client learns when to retry. Full buckets are dropped and their number
// is bounded, so that many clients cost little memory. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/instant.h"

namespace pennyweight::api {

struct Rate {
  std::uint32_t per_second = 1;
  std::uint32_t burst = 1;  // size of the bucket
};

class RateLimit {
 public:
  static constexpr std::size_t kBucketsMax = 10'000;

  // REQUIRES: both numbers of the rate are from 1 to a million.
  explicit RateLimit(Rate rate, std::size_t buckets_max = kBucketsMax);

  // Takes one from the bucket of `key`. Nothing: allowed; otherwise the time until the next one.
  std::optional<std::chrono::seconds> take(const std::string& key, Instant now);
  std::size_t buckets() const;

 private:
  struct Bucket {
    std::uint64_t level_milli;  // thousandths
    Instant at;
  };
  Bucket filled(const Bucket& bucket, Instant now) const;
  void make_room(Instant now);

  const Rate rate_;
  const std::size_t buckets_max_;
  mutable std::mutex mutex_;  // guards the buckets
  std::map<std::string, Bucket> buckets_;
};

}  // namespace pennyweight::api
