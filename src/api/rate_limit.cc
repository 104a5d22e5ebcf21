#include "api/rate_limit.h"

#include <algorithm>

#include "core/check.h"

namespace pennyweight::api {
namespace {

constexpr std::uint64_t kOne = 1000;  // in thousandths
constexpr std::uint32_t kRateMax = 1'000'000;

}  // namespace

RateLimit::RateLimit(Rate rate, std::size_t buckets_max) : rate_(rate), buckets_max_(buckets_max) {
  CHECK(rate.per_second > 0 && rate.burst > 0 && buckets_max > 0, "a rate lets somebody in");
  CHECK(rate.per_second <= kRateMax && rate.burst <= kRateMax, "a rate is no number of a machine");
}

RateLimit::Bucket RateLimit::filled(const Bucket& bucket, Instant now) const {
  // A clock that is set back fills nothing.
  const auto passed = std::max(now - bucket.at, std::chrono::milliseconds(0));
  const std::uint64_t full = rate_.burst * kOne;
  // So many milliseconds fill any bucket; more need not be multiplied.
  const auto counted = std::min<std::uint64_t>(static_cast<std::uint64_t>(passed.count()), full);
  return {.held_milli = std::min(full, bucket.held_milli + counted * rate_.per_second), .at = now};
}

void RateLimit::make_room(Instant now) {
  if (buckets_.size() < buckets_max_) return;
  std::erase_if(buckets_, [&](const auto& entry) {
    return filled(entry.second, now).held_milli == rate_.burst * kOne;
  });
  if (buckets_.size() < buckets_max_) return;
  // All of them are in use. The fullest loses least by being forgotten.
  buckets_.erase(std::ranges::max_element(
      buckets_, {}, [](const auto& entry) { return entry.second.held_milli; }));
}

std::optional<std::chrono::seconds> RateLimit::take(const std::string& key, Instant now) {
  const std::lock_guard lock(mutex_);
  auto found = buckets_.find(key);
  if (found == buckets_.end()) {
    make_room(now);
    found = buckets_.emplace(key, Bucket{.held_milli = rate_.burst * kOne, .at = now}).first;
  }
  Bucket& bucket = found->second;
  bucket = filled(bucket, now);
  if (bucket.held_milli < kOne) {
    const std::uint64_t missing = kOne - bucket.held_milli;
    const std::uint64_t ms = (missing + rate_.per_second - 1) / rate_.per_second;
    return std::chrono::ceil<std::chrono::seconds>(
        std::chrono::milliseconds(static_cast<std::int64_t>(ms)));
  }
  bucket.held_milli -= kOne;
  return std::nullopt;
}

std::size_t RateLimit::buckets() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

}  // namespace pennyweight::api
