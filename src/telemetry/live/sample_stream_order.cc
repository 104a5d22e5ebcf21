// Samples in the order of their times, whatever the order in which they came.
#include <algorithm>
#include <limits>

#include "telemetry/live/sample_stream.h"

namespace pennyweight::live {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
// Series that report one measurement in turn. Beyond, they count as the last of these.
constexpr std::size_t kOriginsMax = 64;

}  // namespace

// Back to the last flush: what came since is not applied any more. A stream of the past keeps no
// samples to apply again, so it never goes back.
void SampleStream::rewind(Member& member) const {
  if (is_past_ || member.is_behind) return;
  static_cast<Progress&>(member) = member.committed;
  member.is_behind = true;
}

bool SampleStream::was_taken(const Member& member, std::int64_t at_ms) const {
  if (at_ms == member.committed.accumulator.last_at()) return true;
  if (at_ms <= member.forgotten_until) return true;
  return std::ranges::find(member.taken_ms, static_cast<std::uint32_t>(at_ms)) !=
         member.taken_ms.end();
}

// Whether a sample comes after all that are there: it is newer, or another source's of the same
// time.
bool SampleStream::is_next(const Member& member, std::uint16_t source, const Unordered& sample) {
  const std::vector<Unordered>& all = member.unordered;
  if (all.empty()) return sample.at_ms > member.committed.accumulator.last_at();
  if (sample.at_ms != all.back().at_ms) return sample.at_ms > all.back().at_ms;
  return !sample.is_end && std::ranges::none_of(all, [&](const Unordered& one) {
    return one.at_ms == sample.at_ms && (one.is_end || member.origins[one.origin].source == source);
  });
}

// A sample that is applied later is counted when it comes.
void SampleStream::count_waiting(Unordered& sample) {
  if (!sample.is_end) ++count(StreamCounter::kSamples);
  sample.is_counted = true;
}

void SampleStream::mark_unordered(Group& group) const {
  group.unordered_until = std::max(group.unordered_until, now_ms_ + options_.order_wait_ms);
}

// Whether a sample is of the queue of a sender that was cut off: it is old, and the times of its
// series advance faster than the clock. What is always late by the same time is in order.
bool SampleStream::is_drained(const Member& member, std::int64_t at_ms) const {
  if (is_past_ || at_ms >= now_ms_ - kOldSampleMs) return false;
  const std::int64_t before = member.unordered.empty() ? member.committed.accumulator.last_at()
                                                       : member.unordered.back().at_ms;
  constexpr std::int64_t kClockMs = 2'000;  // received_s is in seconds
  const std::int64_t passed = now_ms_ - std::int64_t{member.previously_received_s} * 1000;
  return before >= 0 && at_ms - before > 2 * passed + kClockMs;
}

void SampleStream::insert(Member& member, std::uint64_t key, std::uint16_t source,
                          Unordered sample) {
  Group& group = groups_[member.group];
  if (!sample.is_end) group.first_at = std::min(group.first_at, sample.at_ms);
  const auto origin = std::ranges::find_if(
      member.origins, [&](const Origin& one) { return one.key == key && one.source == source; });
  sample.origin = static_cast<std::uint32_t>(origin - member.origins.begin());
  if (origin == member.origins.end()) {
    if (member.origins.size() < kOriginsMax) {
      member.origins.push_back({key, source});
    } else {
      sample.origin = kOriginsMax - 1;
    }
  }
  std::vector<Unordered>& all = member.unordered;
  if (is_next(member, source, sample)) {
    if (is_drained(member, sample.at_ms)) mark_unordered(group);
    if (!member.is_behind) {
      const std::size_t waited = member.accumulator.waiting();
      apply(member, member.origins[sample.origin], sample);
      pieces_ += member.accumulator.waiting() - waited;
    } else {
      count_waiting(sample);
      ++waiting_;
    }
    if (!is_past_) all.push_back(sample);
  } else {
    const auto at = std::ranges::lower_bound(all, sample.at_ms, {}, &Unordered::at_ms);
    // Of two samples of one time the first counts; those of several sources are compared when they
    // are applied.
    const auto same = std::find_if(at, all.end(), [&](const Unordered& one) {
      return one.at_ms != sample.at_ms ||
             (!one.is_end && member.origins[one.origin].source == source);
    });
    const bool is_there = same != all.end() && same->at_ms == sample.at_ms;
    const bool is_committed = sample.at_ms <= member.committed.accumulator.last_at();
    if (sample.is_end && (is_there || is_committed)) return;  // the series went on
    if (is_there || is_past_ || (is_committed && was_taken(member, sample.at_ms))) {
      ++count(StreamCounter::kDuplicates);
      return;
    }
    if (is_committed) {
      // Another source may have been taken for it: then it is not needed.
      const bool is_replica = member.committed.source != source;
      ++count(is_replica ? StreamCounter::kOtherSource : StreamCounter::kOutOfOrder);
      if (is_replica) {
        member.committed.other_source_at = std::max(member.committed.other_source_at, sample.at_ms);
      }
      return;
    }
    rewind(member);
    // Replicas may lag each other; one of them sends in order.
    const bool is_late = std::any_of(at, all.end(), [&](const Unordered& one) {
      return member.origins[one.origin].source == source;
    });
    if (is_late) mark_unordered(group);
    count_waiting(sample);
    ++waiting_;
    // Ends come before samples of the same time, sources by their order of appearance.
    all.insert(std::ranges::upper_bound(all, sample.at_ms, {}, &Unordered::at_ms), sample);
  }
  if (all.size() <= kUnorderedMax) return;
  rewind(member);
  const std::int64_t middle = all[all.size() / 2].at_ms;
  apply_until(member, middle);
  member.committed = member;
}

// Applies a sample that is newer than those before.
void SampleStream::apply(Progress& progress, const Origin& origin, Unordered& sample) {
  if (sample.is_end) {
    end_series(progress, origin.key, sample.at_ms);
  } else {
    apply_value(progress, origin, sample);
  }
  sample.is_counted = sample.was_applied = true;
}

void SampleStream::apply_value(Progress& progress, const Origin& origin, const Unordered& sample) {
  const auto add = [&](StreamCounter what) {
    if (!sample.is_counted) ++count(what);
  };
  Accumulator& accumulator = progress.accumulator;
  if (progress.source != origin.source && accumulator.holds()) {
    if (progress.source != kAnySource && sample.at_ms <= accumulator.hold_end(options_.timing)) {
      add(StreamCounter::kOtherSource);
      progress.other_source_at = std::max(progress.other_source_at, sample.at_ms);
      return;
    }
    if (!are_replicas(progress.last_source, origin.source)) accumulator.restart_counter();
  }
  switch (accumulator.add_sample(sample.at_ms, sample.value, options_.timing)) {
    case SampleResult::kDuplicate:
      add(StreamCounter::kDuplicates);
      return;
    case SampleResult::kReset:
      if (!sample.was_applied) ++count(StreamCounter::kResets);
      break;
    case SampleResult::kGap:
      if (!sample.was_applied) ++count(StreamCounter::kCounterGaps);
      break;
    case SampleResult::kNew:
      break;
  }
  // If that other source was this one, it is not another any more.
  if (progress.last_source != origin.source) progress.other_source_at = -1;
  progress.source = progress.last_source = origin.source;
  progress.last_key = origin.key;
  add(StreamCounter::kSamples);
}

// Where another source reports the same measurement, that one goes on.
void SampleStream::end_series(Progress& progress, std::uint64_t key, std::int64_t at_ms) {
  if (progress.last_key != key) return;
  const Timing& timing = options_.timing;
  const std::int64_t hold_ms =
      progress.accumulator.hold_end(timing) - progress.accumulator.last_at();
  if (progress.other_source_at >= 0 && at_ms - progress.other_source_at <= hold_ms) {
    progress.source = kAnySource;
  } else {
    progress.accumulator.end(at_ms, timing);
  }
}

// Applies the samples of a member that is behind up to a time, and remembers that they were taken.
// Returns how many there were.
std::size_t SampleStream::apply_until(Member& member, std::int64_t until) {
  std::size_t applied = 0;
  for (; applied < member.unordered.size() && member.unordered[applied].at_ms <= until; ++applied) {
    Unordered& sample = member.unordered[applied];
    if (member.is_behind) apply(member, member.origins[sample.origin], sample);
    if (!sample.is_end) member.taken_ms.push_back(static_cast<std::uint32_t>(sample.at_ms));
  }
  if (applied == 0) return 0;
  const auto last = static_cast<std::uint32_t>(member.unordered[applied - 1].at_ms);
  std::erase_if(member.taken_ms, [&](std::uint32_t at) { return last - at > kResentMs; });
  member.unordered.erase(member.unordered.begin(),
                         member.unordered.begin() + static_cast<std::ptrdiff_t>(applied));
  if (member.unordered.empty() && member.unordered.capacity() > 16) {
    member.unordered.shrink_to_fit();
  }
  return applied;
}

std::int64_t SampleStream::ordered_until(const Group& group, std::int64_t now_ms) const {
  const bool clock_went_back = group.unordered_until > now_ms + options_.order_wait_ms;
  if (is_past_ || now_ms >= group.unordered_until || clock_went_back) return kNoLimit;
  std::int64_t newest = 0;
  for (const std::uint32_t index : group.members) {
    const Member& member = members_[index];
    newest = std::max(newest, member.unordered.empty() ? member.accumulator.last_at()
                                                       : member.unordered.back().at_ms);
  }
  return newest - kOrderWindowMs;
}

void SampleStream::put_in_order(Group& group, std::int64_t until) {
  for (const std::uint32_t index : group.members) {
    Member& member = members_[index];
    if (until != kNoLimit) rewind(member);
    apply_until(member, until);
    if (member.unordered.empty()) member.is_behind = false;
  }
}

void SampleStream::commit(Group& group) {
  for (const std::uint32_t index : group.members) {
    Member& member = members_[index];
    member.committed = member;
    if (member.unordered.empty() && member.origins.size() > 1) {
      std::erase_if(member.origins, [&](const Origin& one) { return one.key != member.last_key; });
    }
  }
}

}  // namespace pennyweight::live
