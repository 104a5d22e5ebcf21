// Series without samples for long are forgotten, so that memory is bounded.
#include <algorithm>
#include <vector>

#include "telemetry/live/sample_stream.h"

namespace pennyweight::live {
namespace {

// After a restart every series that goes on has come again by then, with its labels.
constexpr std::int64_t kLoadedKeysMs = 15 * 60'000ll;

}  // namespace

void SampleStream::forget(std::int64_t now_ms) {
  const std::int64_t horizon_ms = now_ms - options_.limits.unseen_ms;
  if (horizon_ms <= 0) return;
  const std::uint32_t unseen_s = to_seconds(horizon_ms);
  if (now_ms - started_ms_ > kLoadedKeysMs && loaded_keys_.size() > 0) loaded_keys_ = {};
  ignored_keys_ = 0;
  keys_.keep_if([&](const ResolvedSeries& known) { return known.last_seen_s >= unseen_s; });
  keys_.keep_if([&](const ResolvedSeries& known) {
    ignored_keys_ +=
        known.kind == SeriesKind::kIgnored || known.kind == SeriesKind::kUnusable ? 1 : 0;
    return true;
  });
  bool any = false;
  for (std::uint32_t index = 0; index < members_.size(); ++index) {
    Member& member = members_[index];
    if (!member.is_used || member.received_s >= unseen_s || !member.accumulator.empty() ||
        !member.unordered.empty()) {
      continue;
    }
    const std::int64_t last =
        std::max(member.accumulator.last_at(), member.accumulator.settled_until());
    if (!is_past_ && member.accumulator.has_sample()) {
      if (std::int64_t* const before = forgotten_.find(member.identity)) {
        *before = std::max(*before, last);
      } else {
        forgotten_.add(member.identity, last);
      }
    }
    member.is_used = false;
    free_.push_back(index);
    any = true;
    ++count(StreamCounter::kSeriesForgotten);
  }
  if (any) {
    loaded_keys_.keep_if([&](std::uint32_t index) { return members_[index].is_used; });
    member_by_identity_.keep_if([&](std::uint32_t index) { return members_[index].is_used; });
    drop_empty_groups();
  }
  if (any || clusters_.size() >= options_.limits.clusters) list_clusters();
  // Late samples that are too old anyway need no memory of their series. When too many series are
  // remembered, the older half of them counts as too old from now on.
  std::int64_t known_until = now_ms - options_.limits.late_ms_max;
  if (forgotten_.size() > options_.limits.forgotten) {
    std::vector<std::int64_t> times;
    forgotten_.keep_if([&](std::int64_t last) {
      times.push_back(last);
      return true;
    });
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    floor_ms_ = std::max(floor_ms_, *middle);
  }
  known_until = std::max(known_until, floor_ms_);
  forgotten_.keep_if([&](std::int64_t last) { return last > known_until; });
}

void SampleStream::list_clusters() {
  clusters_.clear();
  for (const Group& group : groups_) {
    if (group.is_used) clusters_.insert(cluster_of(group));
  }
  std::vector<bool> is_named(state_clusters_.size());
  keys_.for_each([&](const Hash128&, const ResolvedSeries& known) {
    if (known.kind == SeriesKind::kState) is_named[state_handles_[known.index].cluster] = true;
  });
  for (std::size_t i = 0; i < is_named.size(); ++i) {
    if (is_named[i]) clusters_.insert(state_clusters_[i]);
  }
}

void SampleStream::drop_empty_groups() {
  for (std::uint32_t index = 0; index < groups_.size(); ++index) {
    Group& group = groups_[index];
    if (!group.is_used) continue;
    std::erase_if(group.members, [&](std::uint32_t member) {
      return !members_[member].is_used || members_[member].group != index;
    });
    if (!group.members.empty()) continue;
    group.is_used = false;
    free_groups_.push_back(index);
  }
  group_by_identity_.keep_if([&](std::uint32_t index) { return groups_[index].is_used; });
}

}  // namespace pennyweight::live
