// Rows out: which buckets are finished, and what their pieces come to.
#include <algorithm>
#include <limits>

#include "telemetry/live/sample_stream.h"

namespace pennyweight::live {
namespace {

using telemetry::Quantity;

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max() / 4;
// While cycle counters come, the exact SM activity that they give replaces the sampled one.
constexpr std::int64_t kCyclesFreshMs = 600'000;

std::int64_t floor_to(std::int64_t at, std::int64_t every) {
  return at < 0 ? 0 : at / every * every;
}

// Whether the last value of a quantity is what the device reports now; other quantities count what
// happens over time.
bool is_level(Quantity quantity) {
  switch (quantity) {
    case Quantity::kGpuUtil:
    case Quantity::kEngineActive:
    case Quantity::kSmActive:
    case Quantity::kMemoryUsed:
    case Quantity::kMemoryTotal:
    case Quantity::kPower:
    case Quantity::kTemperature:
      return true;
    default:
      return false;
  }
}

}  // namespace

// A device's bucket is finished when each of its active series has passed its end, when the device
// is `grace` further, or when the device is silent.
void SampleStream::collect(Group& group, std::int64_t now_ms, std::optional<std::int64_t> all_until,
                           bool is_ordered, std::vector<MemberPiece>& parts) {
  std::int64_t newest = -1;
  std::int64_t received_ms = started_ms_;
  std::int64_t hold_ms = 0;
  for (const std::uint32_t index : group.members) {
    const Member& member = members_[index];
    newest = std::max(newest, member.accumulator.last_at());
    received_ms = std::max(received_ms, std::int64_t{member.received_s} * 1000);
    hold_ms = std::max(hold_ms,
                       member.accumulator.hold_end(options_.timing) - member.accumulator.last_at());
  }
  const bool is_silent =
      !is_past_ && is_ordered && now_ms - received_ms >= options_.grace_ms + hold_ms;
  std::int64_t passed = newest;
  for (const std::uint32_t index : group.members) {
    const Accumulator& accumulator = members_[index].accumulator;
    const bool goes_on = accumulator.holds() && accumulator.hold_end(options_.timing) >= newest;
    if (goes_on) passed = std::min(passed, accumulator.settled_until());
  }
  const std::int64_t edge = options_.timing.resolution_ms;
  const std::int64_t until =
      all_until || is_silent
          ? kForever
          : std::max(floor_to(passed, edge), floor_to(newest - options_.grace_ms, edge));
  std::vector<AggregatePiece> pieces;
  for (const std::uint32_t index : group.members) {
    Member& member = members_[index];
    Accumulator& accumulator = member.accumulator;
    const std::int64_t hold_end = accumulator.hold_end(options_.timing);
    std::int64_t take_until = until;
    if (all_until) {
      accumulator.hold_until(*all_until, options_.timing);
    } else if (is_silent) {
      accumulator.hold_until(hold_end, options_.timing);
    } else if (hold_end <= newest) {
      accumulator.hold_until(until, options_.timing);
    } else if (accumulator.holds()) {  // its open bucket goes on
      take_until = std::min(until, floor_to(accumulator.settled_until(), edge));
    }
    pieces.clear();
    accumulator.take_finished(take_until, pieces);
    auto& written_until = group.components_until[static_cast<std::size_t>(member.quantity)];
    for (AggregatePiece& piece : pieces) {
      if (member.is_component && std::holds_alternative<DeviceInfo>(group.info) &&
          piece.from < written_until) {
        ++count(StreamCounter::kLateComponents);
        continue;
      }
      if (piece.sum > 0 && member.code != 0) piece.last = member.code;
      parts.push_back({piece, member.quantity, member.is_component});
    }
  }
  for (const MemberPiece& part : parts) {
    auto& written_until = group.components_until[static_cast<std::size_t>(part.quantity)];
    if (part.is_component) written_until = std::max(written_until, part.piece.to);
  }
}

void SampleStream::drop_sampled_sm_activity(const Group& group,
                                            std::vector<MemberPiece>& parts) const {
  std::int64_t newest = -1;
  std::int64_t elapsed = -1;
  std::int64_t active = -1;
  for (const std::uint32_t index : group.members) {
    const std::int64_t last = members_[index].accumulator.last_at();
    newest = std::max(newest, last);
    if (members_[index].quantity == Quantity::kSmCyclesElapsed) elapsed = last;
    if (members_[index].quantity == Quantity::kSmCyclesActive) active = last;
  }
  if (elapsed < 0 || active < 0 || newest - std::min(elapsed, active) > kCyclesFreshMs) return;
  std::erase_if(parts,
                [](const MemberPiece& part) { return part.quantity == Quantity::kSmActive; });
}

void SampleStream::finish_outcomes(const OutcomeInfo& info, std::span<const MemberPiece> parts,
                                   const PartNumbering& part, FlushRows& rows) {
  ByteWriter writer;
  for (std::size_t i = 0; i < parts.size();) {
    const AggregatePiece& first = parts[i].piece;
    Outcome outcome(info.cluster, info.workload, info.measure,
                    Interval(from_unix_ms(first.from), from_unix_ms(first.to)), 0);
    outcome.labels = info.labels;
    for (; i < parts.size() && parts[i].piece.from == first.from && parts[i].piece.to == first.to;
         ++i) {
      outcome.count += whole(parts[i].piece);
    }
    outcome.part = part(natural_key(outcome));
    save_outcome(writer, outcome);
    ++rows.outcomes;
  }
  rows.outcome_bytes += writer.bytes();
}

bool SampleStream::finish(std::int64_t now_ms, std::optional<std::int64_t> all_until,
                          const PartNumbering& part, FlushRows& rows, std::string* recent,
                          bool ends_order) {
  std::vector<MemberPiece> parts;
  ByteWriter writer;
  bool all_told = true;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[(next_group_ + i) % groups_.size()];
    if (!group.is_used) continue;
    const std::int64_t ordered = all_until || ends_order ? kForever : ordered_until(group, now_ms);
    // While older samples may come, nobody knows when it came.
    const auto* const device = std::get_if<DeviceInfo>(&group.info);
    if (device != nullptr && ordered >= kForever) observe_gpu(group, *device);
    if (rows.usages + rows.outcomes >= options_.limits.rows_per_flush) {
      if (all_told) next_group_ = static_cast<std::uint32_t>((next_group_ + i) % groups_.size());
      all_told = false;
      continue;
    }
    parts.clear();
    put_in_order(group, ordered);
    collect(group, now_ms, all_until, ordered >= kForever, parts);
    commit(group);
    if (const auto* outcome = std::get_if<OutcomeInfo>(&group.info)) {
      sort_by_time(parts);
      finish_outcomes(*outcome, parts, part, rows);
      continue;
    }
    drop_sampled_sm_activity(group, parts);
    merge_components(parts);
    make_usages(std::get<DeviceInfo>(group.info).usage, parts, [&](Usage& usage) {
      usage.part = part(natural_key(usage));
      const std::size_t begin = writer.bytes().size();
      save_usage(writer, usage);
      ++rows.usages;
      if (recent != nullptr && unix_ms(usage.at) >= now_ms - kRecentMs) {
        recent->append(writer.bytes(), begin);
      }
    });
  }
  if (rows.usage_bytes.empty()) {
    rows.usage_bytes = writer.take();
  } else {
    rows.usage_bytes += writer.bytes();
  }
  write_gpus(rows);
  count_what_waits();
  return all_told;
}

void SampleStream::count_what_waits() {
  pieces_ = waiting_ = 0;
  for (const Member& member : members_) {
    if (!member.is_used) continue;
    pieces_ += member.accumulator.waiting();
    if (member.is_behind) waiting_ += member.unordered.size();
  }
}

void SampleStream::observe_gpu(const Group& group, const DeviceInfo& info) {
  if (info.usage.gpu.empty()) return;
  std::int64_t newest = -1;
  std::optional<std::uint64_t> total;
  std::uint64_t used = 0;
  std::uint64_t free = 0;
  std::optional<std::uint64_t> reserved;
  for (const std::uint32_t index : group.members) {
    const Accumulator& accumulator = members_[index].accumulator;
    if (!accumulator.has_sample()) continue;
    newest = std::max(newest, accumulator.last_at());
    switch (members_[index].quantity) {
      case Quantity::kMemoryTotal:
        total = accumulator.last_value();
        break;
      case Quantity::kMemoryUsed:
        used += accumulator.last_value();
        break;
      case Quantity::kMemoryFree:
        free += accumulator.last_value();
        break;
      case Quantity::kMemoryReserved:
        reserved = accumulator.last_value();
        break;
      default:
        break;
    }
  }
  if (newest < 0) return;
  DiscoveredGpu& discovered = discovered_gpus_[{info.usage.cluster, info.usage.gpu}];
  discovered.observe_samples(group.first_at, newest);
  discovered.describe({info.usage.node, info.gpu_index, info.usage.model, group.changed_at});
  if (!info.usage.mig_instance.empty()) {
    discovered.observe_instance(info.usage.mig_instance, info.usage.mig_profile, group.first_at,
                                newest);
  } else if (!info.usage.of_workload) {
    if (!total && used > 0 && free > 0 && reserved) total = used + free + *reserved;
    if (total && *total > 0) discovered.observe_memory(*total);
  }
}

void SampleStream::write_gpus(FlushRows& rows) {
  ByteWriter writer;
  for (auto& [key, discovered] : discovered_gpus_) {
    const auto gpu = discovered.next_fact(key.first, key.second, options_.timing.resolution_ms);
    if (!gpu) continue;
    save_gpu(writer, *gpu);
    ++rows.gpus;
  }
  rows.gpu_bytes += writer.bytes();
}

// The accumulator of a member with its latest samples.
Accumulator SampleStream::in_order(const Member& member, std::int64_t since_ms) const {
  Accumulator accumulator = member.accumulator;
  if (!member.is_behind) return accumulator;
  // The sample before `since_ms` is the first that matters.
  auto first = std::ranges::lower_bound(member.unordered, since_ms, {}, &Unordered::at_ms);
  if (first != member.unordered.begin()) --first;
  for (; first != member.unordered.end(); ++first) {
    if (first->is_end) {
      accumulator.end(first->at_ms, options_.timing);
    } else {
      accumulator.add_sample(first->at_ms, first->value, options_.timing);
    }
  }
  return accumulator;
}

void SampleStream::provisional(const ClusterId& cluster, std::int64_t since_ms, std::int64_t now_ms,
                               std::vector<Usage>& usages) const {
  std::vector<MemberPiece> parts;
  std::vector<AggregatePiece> pieces;
  for (const Group& group : groups_) {
    const auto* const info = std::get_if<DeviceInfo>(&group.info);
    if (!group.is_used || info == nullptr || info->usage.cluster != cluster) continue;
    parts.clear();
    for (const std::uint32_t index : group.members) {
      const Member& member = members_[index];
      pieces.clear();
      Accumulator as_of_now = in_order(member, since_ms);
      if (as_of_now.holds()) as_of_now.hold_until(now_ms, options_.timing);
      as_of_now.copy_all(pieces);
      for (const AggregatePiece& piece : pieces) {
        if (piece.from >= since_ms) parts.push_back({piece, member.quantity, member.is_component});
      }
    }
    drop_sampled_sm_activity(group, parts);
    merge_components(parts);
    make_usages(info->usage, parts, [&](Usage& usage) { usages.push_back(usage); });
  }
}

void SampleStream::readings(std::int64_t now_ms, std::vector<Usage>& readings) const {
  std::vector<MemberPiece> parts;
  for (const Group& group : groups_) {
    const auto* const info = std::get_if<DeviceInfo>(&group.info);
    if (!group.is_used || info == nullptr) continue;
    parts.clear();
    std::int64_t newest = -1;
    for (const std::uint32_t index : group.members) {
      const Member& member = members_[index];
      if (member.is_component || !is_level(member.quantity)) continue;
      std::optional<Accumulator> ordered;
      if (member.is_behind) ordered = in_order(member, now_ms);
      const Accumulator& latest = ordered ? *ordered : member.accumulator;
      if (!latest.holds() || latest.hold_end(options_.timing) < now_ms) continue;
      newest = std::max(newest, latest.last_at());
      // As if it had held for a millisecond: the same conversions as those of a span.
      const std::uint64_t value = latest.last_value();
      parts.push_back({{.sum = value, .from = 0, .to = 1, .max = value}, member.quantity, false});
    }
    make_usages(info->usage, parts, [&](Usage& usage) {
      usage.at = from_unix_ms(newest);
      usage.span_ms = 0;
      readings.push_back(usage);
    });
  }
}

}  // namespace pennyweight::live
