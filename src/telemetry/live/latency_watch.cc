#include "telemetry/live/latency_watch.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/try.h"
#include "telemetry/latency_series.h"
#include "telemetry/live/codec.h"

namespace pennyweight::live {
namespace {

// The handles of `next` are numbers from 1 on.
constexpr std::uint64_t kOwnHandle = std::uint64_t{1} << 63;
constexpr std::size_t kServicesMax = 2'000;
constexpr std::size_t kBucketsMax = 200'000;
constexpr std::size_t kHandlesMax = 1'000'000;
constexpr std::uint64_t kFormat = 1;
// More requests than any service has answered; sums of such numbers stay finite.
constexpr double kCountMax = 9e15;

std::string_view label(const telemetry::StateSeries& series, std::string_view name) {
  const auto at = std::ranges::find(series.labels, name, &prometheus::Label::name);
  return at == series.labels.end() ? std::string_view() : std::string_view(at->value);
}

double bound_of(std::string_view text) {
  double value = std::numeric_limits<double>::infinity();
  // The classification has read it before.
  if (text != "+Inf") std::ignore = std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void write_double(ByteWriter& out, double value) {
  out.number(std::bit_cast<std::uint64_t>(value));
}
double read_double(ByteReader& in) { return std::bit_cast<double>(in.number()); }

void write_buckets(ByteWriter& out, const std::map<std::int64_t, LatencyBuckets>& all) {
  out.number(all.size());
  for (const auto& [at, buckets] : all) {
    out.signed_number(at).number(buckets.size());
    for (const auto& [bound, count] : buckets) {
      write_double(out, bound);
      write_double(out, count);
    }
  }
}

void read_buckets(ByteReader& in, std::map<std::int64_t, LatencyBuckets>& all) {
  for (std::uint64_t left = in.count(); left > 0 && in.ok(); --left) {
    LatencyBuckets& buckets = all[in.signed_number()];
    for (std::uint64_t more = in.count(); more > 0 && in.ok(); --more) {
      const double bound = read_double(in);
      const double count = read_double(in);
      if (std::isnan(bound)) return in.fail();
      // Earlier versions could add up to infinity; the rest of the snapshot is good.
      if (std::isfinite(count) && count >= 0) buckets[bound] = count;
    }
  }
}

}  // namespace

std::uint32_t LatencyWatch::find_or_add_service(const ClusterId& cluster, std::string_view name) {
  const auto [place, is_new] = by_name_.try_emplace({cluster, std::string(name)},
                                                    static_cast<std::uint32_t>(services_.size()));
  if (is_new) {
    services_.push_back(
        {.cluster = cluster, .name = std::string(name), .workload = WorkloadId(""), .history = {}});
  }
  return place->second;
}

std::uint64_t LatencyWatch::declare(const telemetry::StateSeries& series) {
  if (series.metric != telemetry::kLatencyBuckets) return next_.declare(series);
  const std::lock_guard lock(mutex_);
  const std::string_view service = label(series, "service");
  const bool is_known = by_name_.contains({series.cluster, std::string(service)});
  const Hash128 key = Fingerprint()
                          .add(series.cluster.text())
                          .add(label(series, "component"))
                          .add(label(series, "le"))
                          .hash();
  const bool is_full = (!is_known && services_.size() >= kServicesMax) ||
                       (!buckets_.contains(key) && buckets_.size() >= kBucketsMax) ||
                       handles_.size() >= kHandlesMax;
  if (is_full) return kOwnHandle;  // what comes with it is not counted
  const std::uint32_t index = find_or_add_service(series.cluster, service);
  const auto [bucket, is_new] = buckets_.try_emplace(key);
  bucket->second.service = index;
  bucket->second.bound = bound_of(label(series, "le"));
  handles_.emplace_back(key, WorkloadId(std::string(label(series, "workload"))));
  return kOwnHandle | handles_.size();
}

void LatencyWatch::sample(std::uint64_t handle, std::int64_t at_ms, double value) {
  if ((handle & kOwnHandle) == 0) return next_.sample(handle, at_ms, value);
  const std::uint64_t number = handle & ~kOwnHandle;
  if (number == 0 || !(value >= 0 && value <= kCountMax)) return;
  const std::lock_guard lock(mutex_);
  const auto& [key, workload] = handles_[number - 1];
  const auto found = buckets_.find(key);
  if (found == buckets_.end()) return;
  Bucket& bucket = found->second;
  if (at_ms <= bucket.at_ms) return;
  // A server that was started again counts from nothing.
  const double increase = value >= bucket.value ? value - bucket.value : value;
  const bool is_first = bucket.at_ms < 0;
  bucket.at_ms = at_ms;
  bucket.value = value;
  if (is_first) return;
  Service& service = services_[bucket.service];
  service.workload = workload;
  service.history.add(from_unix_ms(at_ms), {{bucket.bound, increase}}, rule_);
}

void LatencyWatch::stale(std::uint64_t handle, std::int64_t at_ms) {
  if ((handle & kOwnHandle) == 0) next_.stale(handle, at_ms);
}

std::string LatencyWatch::save() const {
  const std::lock_guard lock(mutex_);
  ByteWriter out;
  out.number(kFormat).number(services_.size());
  for (const Service& one : services_) {
    out.text(one.cluster.text()).text(one.name).text(one.workload.text());
    write_buckets(out, one.history.slots);
    write_buckets(out, one.history.hours);
  }
  out.number(buckets_.size());
  for (const auto& [key, bucket] : buckets_) {
    out.number(key.high).number(key.low).number(bucket.service);
    write_double(out, bucket.bound);
    write_double(out, bucket.value);
    out.signed_number(bucket.at_ms);
  }
  out.text(next_.save());
  return out.take();
}

Result<void> LatencyWatch::load(std::string_view text) {
  ByteReader in(text);
  const std::lock_guard lock(mutex_);
  if (in.number() != kFormat) in.fail();
  for (std::uint64_t left = in.count(); left > 0 && in.ok(); --left) {
    const ClusterId cluster{std::string(in.text())};
    const std::string name(in.text());
    Service& one = services_[find_or_add_service(cluster, name)];
    one.workload = WorkloadId(std::string(in.text()));
    read_buckets(in, one.history.slots);
    read_buckets(in, one.history.hours);
  }
  for (std::uint64_t left = in.count(); left > 0 && in.ok(); --left) {
    Hash128 key;
    key.high = in.number();
    key.low = in.number();
    Bucket bucket;
    bucket.service = static_cast<std::uint32_t>(in.number());
    bucket.bound = read_double(in);
    bucket.value = read_double(in);
    bucket.at_ms = in.signed_number();
    if (bucket.service >= services_.size()) in.fail();
    if (in.ok()) buckets_.insert_or_assign(key, bucket);
  }
  const std::string_view rest = in.text();
  if (!in.ok()) return fail(ErrorCode::kBadFile, "the latencies of the snapshot are damaged");
  return rest.empty() ? Result<void>{} : next_.load(rest);
}

std::vector<LatencyReading> LatencyWatch::readings(Instant now) const {
  const auto whole = [](double value) {
    return static_cast<std::uint64_t>(std::llround(std::min(value, kCountMax)));
  };
  const std::lock_guard lock(mutex_);
  std::vector<LatencyReading> all;
  for (const Service& one : services_) {
    const LatencyLevels levels = one.history.levels(now, rule_);
    if (levels.requests <= 0) continue;
    all.push_back({.cluster = one.cluster,
                   .service = one.name,
                   .workload = one.workload,
                   .p95_ms = levels.p95 ? whole(levels.p95->seconds * 1000) : 0,
                   .is_at_least = levels.p95 && levels.p95->is_at_least,
                   .requests = whole(levels.requests),
                   .usual_p95_ms = levels.usual_p95 ? whole(levels.usual_p95->seconds * 1000) : 0,
                   .usual_requests = whole(levels.usual_requests),
                   .is_slow = levels.is_slow && levels.p95 && levels.usual_p95,
                   .lacks_baseline = levels.lacks_baseline});
  }
  return all;
}

}  // namespace pennyweight::live
