#include "server/api/rate_limit.h"

#include <algorithm>

#include "core/check.h"

namespace pennyweight::api {
namespace {

constexpr std::uint64_t kOne = 1000;  // in thousandths
constexpr std::uint32_t kRateMax = 1'000'000;

}  // namespace

RateLimit::RateLimit(Rate rate, std::size_t buckets_max) : rate_(rate), buckets_max_(buckets_max) {
  CHECK(rate.per_second > 0 && rate.burst > 0 && buckets_max > 0, "a rate allows something");
  CHECK(rate.per_second <= kRateMax && rate.burst <= kRateMax, "a rate has a reasonable size");
}

RateLimit::Bucket RateLimit::filled(const Bucket& bucket, Instant now) const {
  // A clock that is set back refills nothing.
  const auto passed = std::max(now - bucket.at, std::chrono::milliseconds(0));
  const std::uint64_t full = rate_.burst * kOne;
  // This many milliseconds fill any bucket; longer times would only overflow.
  const auto counted = std::min<std::uint64_t>(static_cast<std::uint64_t>(passed.count()), full);
  return {.level_milli = std::min(full, bucket.level_milli + counted * rate_.per_second),
          .at = now};
}

void RateLimit::make_room(Instant now) {
  if (buckets_.size() < buckets_max_) return;
  std::erase_if(buckets_, [&](const auto& entry) {
    return filled(entry.second, now).level_milli == rate_.burst * kOne;
  });
  if (buckets_.size() < buckets_max_) return;
  // All buckets are in use. Dropping the fullest one loses least.
  buckets_.erase(std::ranges::max_element(
      buckets_, {}, [](const auto& entry) { return entry.second.level_milli; }));
}

std::optional<std::chrono::seconds> RateLimit::take(const std::string& key, Instant now) {
  const std::lock_guard lock(mutex_);
  auto found = buckets_.find(key);
  if (found == buckets_.end()) {
    make_room(now);
    found = buckets_.emplace(key, Bucket{.level_milli = rate_.burst * kOne, .at = now}).first;
  }
  Bucket& bucket = found->second;
  bucket = filled(bucket, now);
  if (bucket.level_milli < kOne) {
    const std::uint64_t missing = kOne - bucket.level_milli;
    const std::uint64_t ms = (missing + rate_.per_second - 1) / rate_.per_second;
    return std::chrono::ceil<std::chrono::seconds>(
        std::chrono::milliseconds(static_cast<std::int64_t>(ms)));
  }
  bucket.level_milli -= kOne;
  return std::nullopt;
}

std::size_t RateLimit::buckets() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

}  // namespace pennyweight::api
