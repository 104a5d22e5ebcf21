// RateLimit: how often somebody may ask. A bucket each, that fills by so much a second; who finds
// it empty is told when to come again. Buckets that are full again are forgotten, and there are
// never more than a fixed number, so that many askers cost no memory. Thread-safe.
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
  std::uint32_t burst = 1;  // at once, after a while of silence
};

class RateLimit {
 public:
  static constexpr std::size_t kBucketsMax = 10'000;

  // REQUIRES: neither is 0 or more than a million.
  explicit RateLimit(Rate rate, std::size_t buckets_max = kBucketsMax);

  // Takes one out of the bucket of `key`. Nothing: there was one; else how long until there is.
  std::optional<std::chrono::seconds> take(const std::string& key, Instant now);
  std::size_t buckets() const;

 private:
  struct Bucket {
    std::uint64_t held_milli;  // thousandths
    Instant at;
  };
  Bucket filled(const Bucket& bucket, Instant now) const;
  void make_room(Instant now);

  const Rate rate_;
  const std::size_t buckets_max_;
  mutable std::mutex mutex_;  // of the buckets
  std::map<std::string, Bucket> buckets_;
};

}  // namespace pennyweight::api
