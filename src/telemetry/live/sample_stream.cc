// Samples in: which series they belong to, and whether they count.
#include "telemetry/live/sample_stream.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pennyweight::live {
namespace {

bool is_stale(const prometheus::Sample& sample) {
  return std::bit_cast<std::uint64_t>(sample.value) == prometheus::kStaleNan;
}

}  // namespace

void SampleStream::begin_body(std::int64_t now_ms, const ClusterId& cluster) {
  now_ms_ = now_ms;
  if (cluster == cluster_) return;
  cluster_ = cluster;
  salt_ = cluster.empty() ? 0 : hash_of(cluster.text()).low;
}

void SampleStream::mark_restarted(std::int64_t now_ms) {
  started_ms_ = last_noted_ms_ = now_ms;
  for (Member& member : members_) member.received_s = to_seconds(now_ms);
  keys_.keep_if([&](ResolvedSeries& known) {
    known.last_seen_s = to_seconds(now_ms);
    return true;
  });
}

void SampleStream::note_time(std::int64_t now_ms, bool is_body) {
  const bool is_back = now_ms < last_noted_ms_ - options_.grace_ms;
  const bool is_far = last_noted_ms_ != 0 && now_ms > last_noted_ms_ + options_.grace_ms;
  if (is_back || (is_far && heard_)) mark_restarted(now_ms);
  last_noted_ms_ = now_ms;
  heard_ = is_body || (heard_ && !is_far && !is_back);
}

void SampleStream::series(const Hash128& key, const prometheus::EncodedLabels& labels,
                          std::span<const prometheus::Sample> samples) {
  if (samples.empty()) return;
  const Hash128 salted{key.high, key.low ^ salt_};
  ResolvedSeries* known = keys_.find(salted);
  if (known == nullptr && std::ranges::all_of(samples, is_stale) && !labels.decode(scratch_)) {
    end_unresolved_series(salted.low, samples);
    return;
  }
  if (known == nullptr) {
    if (keys_.size() >= options_.limits.keys) {
      count(StreamCounter::kSeriesOverLimit) += samples.size();
      return;
    }
    const ResolvedSeries found = resolve(labels, samples.front().at_ms);
    const bool is_ignored =
        found.kind == SeriesKind::kIgnored || found.kind == SeriesKind::kUnusable;
    const bool is_resolved_each_time =
        !found.is_remembered || (is_ignored && ignored_keys_ >= options_.limits.ignored_keys);
    if (is_resolved_each_time) {
      if (found.kind == SeriesKind::kIgnored) {
        count(StreamCounter::kIgnored) += samples.size();
      } else {
        count(StreamCounter::kUnusable) += samples.size();
        unusable_[reasons_[found.index]] += samples.size();
      }
      return;
    }
    ignored_keys_ += is_ignored ? 1 : 0;
    known = &keys_.add(salted, found);
  }
  known->last_seen_s = to_seconds(now_ms_);
  switch (known->kind) {
    case SeriesKind::kIgnored:
      count(StreamCounter::kIgnored) += samples.size();
      return;
    case SeriesKind::kUnusable:
      count(StreamCounter::kUnusable) += samples.size();
      unusable_[reasons_[known->index]] += samples.size();
      return;
    case SeriesKind::kState: {
      const std::uint64_t handle = state_handles_[known->index].handle;
      for (const auto& [at_ms, value] : samples) {
        if (at_ms > now_ms_ + kFutureMsMax) {
          ++count(StreamCounter::kInFuture);
          continue;
        }
        ++count(StreamCounter::kState);
        if (is_stale({at_ms, value})) {
          state_->stale(handle, at_ms);
        } else {
          state_->sample(handle, at_ms, value);
        }
      }
      return;
    }
    case SeriesKind::kMember:
      for (const auto& sample : samples) {
        add_sample(*known, salted.low, sample);
      }
      return;
  }
}

// Of a scraped series that is gone only the key is left. Members that came from a snapshot are
// known by it. Any other key has given nothing that could end, and is not remembered.
void SampleStream::end_unresolved_series(std::uint64_t key,
                                         std::span<const prometheus::Sample> samples) {
  count(StreamCounter::kStale) += samples.size();
  const std::uint32_t* const index = loaded_keys_.find({0, key});
  if (index == nullptr || !members_[*index].is_used) return;
  for (const auto& sample : samples) {
    if (!is_in_time(sample.at_ms)) continue;
    Member& member = members_[*index];
    insert(member, key, member.last_source, {.at_ms = sample.at_ms, .is_end = true});
  }
}

bool SampleStream::is_in_time(std::int64_t at_ms) {
  if (at_ms > now_ms_ + kFutureMsMax) {
    ++count(StreamCounter::kInFuture);
    return false;
  }
  if (!is_past_ && (at_ms < now_ms_ - options_.limits.late_ms_max || at_ms <= floor_ms_)) {
    ++count(StreamCounter::kTooOld);
    return false;
  }
  return true;
}

void SampleStream::add_sample(const ResolvedSeries& known, std::uint64_t key,
                              const prometheus::Sample& sample) {
  Member& member = members_[known.index];
  member.previously_received_s = std::exchange(member.received_s, to_seconds(now_ms_));
  if (!is_in_time(sample.at_ms)) return;
  if (is_stale(sample)) {
    ++count(StreamCounter::kStale);
    insert(member, key, known.source, {.at_ms = sample.at_ms, .is_end = true});
    return;
  }
  const auto value = quantised(scales_[known.scale], sample.value);
  if (value) insert(member, key, known.source, {.at_ms = sample.at_ms, .value = *value});
}

// Whether two servers send the series of one exporter: then their counters are one.
bool SampleStream::are_replicas(std::uint16_t a, std::uint16_t b) const {
  if (a >= sources_.size() || b >= sources_.size()) return false;
  const auto family = [&](std::uint16_t source) {
    return sources_[source].substr(0, sources_[source].find(" of "));
  };
  return family(a) == family(b);
}

}  // namespace pennyweight::live
