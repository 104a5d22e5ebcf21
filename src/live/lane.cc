// Series in: keys, identities, what a value is. Rows out are in lane_rows.cc.
#include "live/lane.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace pennyweight::live {
namespace {

using telemetry::Quantity;

constexpr double kExactMax = 9'007'199'254'740'992.0;  // 2^53: beyond it doubles skip integers
// Cycles summed over the SMs of a card pass 2^53 within ten hours. From there an increase is as
// exact as the sender's doubles are: to 2 cycles, to 4 …
constexpr double kCounterMax = 4'611'686'018'427'387'904.0;  // 2^62

// Clock event reasons that cost no speed, or are wished for: idle, a set application clock, sync
// boost, display clocks. Source: nvml.h, nvmlClocksEventReason*.
constexpr std::uint64_t kHarmlessReasons = 0x1 | 0x2 | 0x10 | 0x100;

constexpr std::int64_t kLoadedKeysMs = 15 * 60'000ll;

Way way_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::kEnergy:
    case Quantity::kEccErrors:
    case Quantity::kSmCyclesElapsed:
    case Quantity::kSmCyclesActive:
      return Way::kCounter;
    case Quantity::kXid:
      return Way::kChange;
    case Quantity::kXidCount:
      return Way::kGrowth;
    case Quantity::kGpuUtil:
    case Quantity::kEngineActive:
    case Quantity::kSmActive:
    case Quantity::kTensorActive:
    case Quantity::kDramActive:
    case Quantity::kMemoryUsed:
    case Quantity::kMemoryFree:
    case Quantity::kMemoryReserved:
    case Quantity::kMemoryTotal:
    case Quantity::kPower:
    case Quantity::kTemperature:
    case Quantity::kSmClock:
    case Quantity::kThrottle:
    case Quantity::kPcie:
    case Quantity::kNvlink:
      break;
  }
  return Way::kMean;
}

bool is_share(Quantity quantity) { return quantity <= Quantity::kDramActive; }

bool is_stale(const prometheus::Sample& sample) {
  return std::bit_cast<std::uint64_t>(sample.value) == prometheus::kStaleNan;
}

std::uint32_t seconds(std::int64_t ms) { return static_cast<std::uint32_t>(ms / 1000); }

Hash128 group_identity(const telemetry::DeviceSeries& series) {
  Fingerprint print;
  print.add("device").add(series.cluster.text()).add(series.gpu.text());
  print.add(series.mig_instance).add(series.mig_profile).add(series.workload.text());
  return print.add(std::int64_t{series.of_workload}).hash();
}

Hash128 group_identity(const telemetry::OutcomeSeries& series) {
  Fingerprint print;
  print.add("outcome").add(series.cluster.text()).add(series.workload.text()).add(series.measure);
  for (const auto& [key, value] : series.labels.entries()) print.add(key).add(value);
  return print.hash();
}

}  // namespace

std::string_view to_text(Count count) {
  switch (count) {
    case Count::kSamples:
      return "samples";
    case Count::kDuplicates:
      return "duplicates";
    case Count::kOtherSource:
      return "other_source";
    case Count::kStale:
      return "stale_markers";
    case Count::kBlank:
      return "blank_values";
    case Count::kClamped:
      return "clamped_shares";
    case Count::kOutOfRange:
      return "out_of_range";
    case Count::kResets:
      return "counter_resets";
    case Count::kCounterGaps:
      return "counter_gaps";
    case Count::kTooOld:
      return "too_old";
    case Count::kInFuture:
      return "in_future";
    case Count::kIgnored:
      return "ignored";
    case Count::kUnusable:
      return "unusable";
    case Count::kState:
      return "state_samples";
    case Count::kSeriesOverLimit:
      return "series_over_limit";
    case Count::kBadLabels:
      return "bad_labels";
    case Count::kLateComponents:
      return "late_components";
    case Count::kSeriesForgotten:
      return "series_forgotten";
    case Count::kCount:
      break;
  }
  return "";
}

void Lane::receive(std::int64_t now_ms, const ClusterId& cluster) {
  now_ms_ = now_ms;
  if (cluster == cluster_) return;
  cluster_ = cluster;
  salt_ = cluster.empty() ? 0 : hash_of(cluster.text()).low;
}

void Lane::restarted(std::int64_t now_ms) {
  started_ms_ = noticed_ms_ = now_ms;
  for (Member& member : members_) member.received_s = seconds(now_ms);
  keys_.keep_if([&](Known& known) {
    known.seen_s = seconds(now_ms);
    return true;
  });
}

void Lane::notice(std::int64_t now_ms, bool is_delivery) {
  const bool is_back = now_ms < noticed_ms_ - options_.grace_ms;
  const bool is_far = noticed_ms_ != 0 && now_ms > noticed_ms_ + options_.grace_ms;
  if (is_back || (is_far && heard_)) restarted(now_ms);
  noticed_ms_ = now_ms;
  heard_ = is_delivery || (heard_ && !is_far && !is_back);
}

void Lane::series(const Hash128& key, const prometheus::EncodedLabels& labels,
                  std::span<const prometheus::Sample> samples) {
  if (samples.empty()) return;
  const Hash128 salted{key.high, key.low ^ salt_};
  Known* known = keys_.find(salted);
  if (known == nullptr && std::ranges::all_of(samples, is_stale) && !labels.decode(scratch_)) {
    end_unknown(salted.low, samples);
    return;
  }
  if (known == nullptr) {
    if (keys_.size() >= options_.limits.keys) {
      count(Count::kSeriesOverLimit) += samples.size();
      return;
    }
    const Known found = resolve(labels, samples.front().at_ms);
    const bool is_junk = found.kind == Kind::kIgnored || found.kind == Kind::kUnusable;
    if (is_junk && junk_ >= options_.limits.keys_of_junk) {  // told again each time
      count(found.kind == Kind::kIgnored ? Count::kIgnored : Count::kUnusable) += samples.size();
      return;
    }
    junk_ += is_junk ? 1 : 0;
    known = &keys_.add(salted, found);
  }
  known->seen_s = seconds(now_ms_);
  switch (known->kind) {
    case Kind::kIgnored:
      count(Count::kIgnored) += samples.size();
      return;
    case Kind::kUnusable:
      count(Count::kUnusable) += samples.size();
      unusable_[reasons_[known->slot]] += samples.size();
      return;
    case Kind::kState: {
      const std::uint64_t handle = state_handles_[known->slot];
      for (const auto& [at_ms, value] : samples) {
        ++count(Count::kState);
        if (is_stale({at_ms, value})) {
          state_->stale(handle, at_ms);
        } else {
          state_->sample(handle, at_ms, value);
        }
      }
      return;
    }
    case Kind::kMember:
      for (const auto& sample : samples) {
        take(*known, salted.low, sample);
      }
      return;
  }
}

// Of a scrape's series that is gone only the key is kept. What it was is known of members that came
// from a snapshot; another key gave nothing that could end, and is not remembered.
void Lane::end_unknown(std::uint64_t key, std::span<const prometheus::Sample> samples) {
  count(Count::kStale) += samples.size();
  const std::uint32_t* const index = loaded_keys_.find({0, key});
  if (index == nullptr || !members_[*index].is_used) return;
  for (const auto& sample : samples) {
    if (is_in_time(sample.at_ms)) end(members_[*index], key, sample.at_ms);
  }
}

bool Lane::is_in_time(std::int64_t at_ms) {
  if (at_ms > now_ms_ + kFutureMsMax) {
    ++count(Count::kInFuture);
    return false;
  }
  if (!is_past_ && (at_ms < now_ms_ - options_.limits.late_ms_max || at_ms <= floor_ms_)) {
    ++count(Count::kTooOld);
    return false;
  }
  return true;
}

void Lane::take(const Known& known, std::uint64_t key, const prometheus::Sample& sample) {
  Member& member = members_[known.slot];
  Accumulator& accumulator = member.accumulator;
  member.received_s = seconds(now_ms_);
  if (!is_in_time(sample.at_ms)) return;
  if (is_stale(sample)) {
    ++count(Count::kStale);
    end(member, key, sample.at_ms);
    return;
  }
  const auto value = quantised(scales_[known.scale], sample.value);
  if (!value) return;
  if (member.source != known.source && accumulator.holds()) {
    if (member.source != kAnySource && sample.at_ms <= accumulator.hold_end(options_.timing)) {
      ++count(Count::kOtherSource);
      member.other_at = std::max(member.other_at, sample.at_ms);
      return;
    }
    if (!are_replicas(member.told_by, known.source)) accumulator.begin_anew();
  }
  const std::size_t waited = accumulator.waiting();
  const Took took = accumulator.take(sample.at_ms, *value, options_.timing);
  pieces_ += accumulator.waiting() - waited;
  switch (took) {
    case Took::kDuplicate:
      ++count(Count::kDuplicates);
      return;
    case Took::kReset:
      ++count(Count::kResets);
      break;
    case Took::kGap:
      ++count(Count::kCounterGaps);
      break;
    case Took::kNew:
      break;
  }
  if (member.told_by != known.source) member.other_at = -1;  // that was itself
  member.source = member.told_by = known.source;
  member.last_key = key;
  ++count(Count::kSamples);
}

// Where somebody else tells the same, it goes on.
void Lane::end(Member& member, std::uint64_t key, std::int64_t at_ms) {
  if (member.last_key != key) return;
  const Timing& timing = options_.timing;
  const std::int64_t hold_ms = member.accumulator.hold_end(timing) - member.accumulator.last_at();
  if (member.other_at >= 0 && at_ms - member.other_at <= hold_ms) {
    member.source = kAnySource;
  } else {
    member.accumulator.end(at_ms, timing);
  }
}

// The same exporter's series by two servers: their counters are one.
bool Lane::are_replicas(std::uint16_t a, std::uint16_t b) const {
  if (a >= sources_.size() || b >= sources_.size()) return false;
  const auto family = [&](std::uint16_t source) {
    return sources_[source].substr(0, sources_[source].find(" of "));
  };
  return family(a) == family(b);
}

std::optional<std::uint64_t> Lane::quantised(const Scale& scale, double value) {
  // Few values are that large; only among them are blanks.
  const bool may_be_blank = !(std::abs(value) < 2'147'483'632.0);
  if (may_be_blank &&
      (scale.is_outcome ? !std::isfinite(value) : telemetry::is_blank(scale.quantity, value))) {
    ++count(Count::kBlank);
    return std::nullopt;
  }
  if (value < scale.least) {
    ++count(Count::kOutOfRange);
    return std::nullopt;
  }
  if (scale.most > 0 && value > scale.most) {
    if (!scale.is_share || value > 1.5 * scale.most) {
      ++count(Count::kOutOfRange);
      return std::nullopt;
    }
    ++count(Count::kClamped);
    value = scale.most;
  }
  const double scaled = value * scale.scale;
  const bool is_counter = scale.is_outcome || way_of(scale.quantity) == Way::kCounter;
  if (!(scaled >= 0 && scaled <= (is_counter ? kCounterMax : kExactMax))) {
    ++count(Count::kOutOfRange);
    return std::nullopt;
  }
  const auto whole = static_cast<std::uint64_t>(std::llround(scaled));
  if (!scale.is_outcome && scale.quantity == Quantity::kThrottle) {
    return (whole & ~kHarmlessReasons) != 0 ? 1 : 0;
  }
  return whole;
}

Lane::Known Lane::resolve(const prometheus::EncodedLabels& labels, std::int64_t first_at) {
  Known known;
  if (!labels.decode(scratch_)) {
    ++count(Count::kBadLabels);
    known.kind = Kind::kUnusable;
    known.slot = 0;
    if (reasons_.empty()) reasons_.emplace_back();
    reasons_[0] = "labels that break a limit or the encoding";
    return known;
  }
  if (reasons_.empty()) reasons_.emplace_back("labels that break a limit or the encoding");
  telemetry::Meaning meaning;
  if (cluster_.empty()) {
    meaning = telemetry::meaning_of(scratch_, options_.meaning);
  } else {
    telemetry::MeaningOptions mine = options_.meaning;
    mine.cluster = cluster_;
    meaning = telemetry::meaning_of(scratch_, mine);
  }
  if (auto* device = std::get_if<telemetry::DeviceSeries>(&meaning)) {
    return resolve_device(*device, first_at);
  }
  if (auto* outcome = std::get_if<telemetry::OutcomeSeries>(&meaning)) {
    return resolve_outcome(*outcome, first_at);
  }
  if (const auto* state = std::get_if<telemetry::StateSeries>(&meaning)) {
    if (state_ == nullptr) return known;
    known.kind = Kind::kState;
    known.slot = static_cast<std::uint32_t>(state_handles_.size());
    state_handles_.push_back(state_->declare(*state));
    return known;
  }
  if (const auto* unusable = std::get_if<telemetry::Unusable>(&meaning)) {
    known.kind = Kind::kUnusable;
    const auto at = std::ranges::find(reasons_, unusable->why);
    known.slot = static_cast<std::uint32_t>(at - reasons_.begin());
    if (at == reasons_.end()) reasons_.push_back(unusable->why);
  }
  return known;
}

Lane::Known Lane::resolve_device(telemetry::DeviceSeries& series, std::int64_t first_at) {
  const Hash128 identity = telemetry::identity_of(series);
  const Hash128 of_group = group_identity(series);
  const std::uint32_t* const found = group_by_identity_.find(of_group);
  std::uint32_t group = 0;
  if (found != nullptr) {
    group = *found;
    // Who says more, or something newer, is believed.
    auto& head = std::get<DeviceHead>(groups_[group].head);
    const bool is_other = (!series.node.empty() && series.node != head.usage.node) ||
                          (!series.model.empty() && series.model != head.usage.model) ||
                          (series.gpu_index >= 0 && series.gpu_index != head.gpu_index);
    if (is_other && first_at >= groups_[group].changed_at) {
      if (!series.node.empty()) head.usage.node = series.node;
      if (!series.model.empty()) head.usage.model = series.model;
      if (series.gpu_index >= 0) head.gpu_index = series.gpu_index;
      groups_[group].changed_at = first_at;
    }
  } else {
    DeviceHead head{.usage = {.cluster = series.cluster,
                              .node = series.node,
                              .gpu = series.gpu,
                              .mig_instance = series.mig_instance,
                              .mig_profile = series.mig_profile,
                              .model = series.model,
                              .at = {},
                              .gpu_util_ppm = {},
                              .engine_active_ppm = {},
                              .sm_active_ppm = {},
                              .memory_used_bytes = {},
                              .memory_total_bytes = {},
                              .power_milliwatts = {},
                              .energy_millijoules = {},
                              .workload = series.workload,
                              .of_workload = series.of_workload,
                              .id = {},
                              .source = {}},
                    .gpu_index = series.gpu_index};
    group = add_group(of_group, std::move(head), first_at);
  }
  Known known;
  known.kind = Kind::kMember;
  known.slot = member_of(identity, series.quantity, false, group, series.component);
  known.source = source_of(series.source);
  known.scale = scale_of({.scale = series.scale,
                          .least = series.least,
                          .most = series.most,
                          .is_share = is_share(series.quantity),
                          .quantity = series.quantity});
  return known;
}

Lane::Known Lane::resolve_outcome(telemetry::OutcomeSeries& series, std::int64_t first_at) {
  const Hash128 identity = telemetry::identity_of(series);
  const Hash128 of_group = group_identity(series);
  const std::uint32_t* const found = group_by_identity_.find(of_group);
  const std::uint32_t group =
      found != nullptr
          ? *found
          : add_group(of_group,
                      OutcomeHead{series.cluster, series.workload, series.measure, series.labels},
                      first_at);
  Known known;
  known.kind = Kind::kMember;
  known.slot = member_of(identity, Quantity::kEnergy, true, group, series.component);
  known.source = source_of(series.source);
  known.scale = scale_of({.scale = static_cast<double>(series.per), .is_outcome = true});
  return known;
}

std::uint32_t Lane::add_group(const Hash128& identity, std::variant<DeviceHead, OutcomeHead> head,
                              std::int64_t first_at) {
  Group group{.head = std::move(head),
              .identity = identity,
              .members = {},
              .first_at = first_at,
              .changed_at = first_at,
              .is_used = true};
  auto index = static_cast<std::uint32_t>(groups_.size());
  if (free_groups_.empty()) {
    groups_.push_back(std::move(group));
  } else {
    index = free_groups_.back();
    free_groups_.pop_back();
    groups_[index] = std::move(group);
  }
  group_by_identity_.add(identity, index);
  return index;
}

std::uint32_t Lane::member_of(const Hash128& identity, Quantity quantity, bool is_outcome,
                              std::uint32_t group, const std::string& component) {
  if (const std::uint32_t* const found = member_by_identity_.find(identity)) return *found;
  Member member{.accumulator = Accumulator(is_outcome ? Way::kCounter : way_of(quantity)),
                .group = group,
                .quantity = quantity,
                .is_used = true,
                .is_component = !component.empty(),
                .identity = identity};
  const auto parsed =
      std::from_chars(component.data(), component.data() + component.size(), member.code);
  if (parsed.ec != std::errc()) member.code = 0;
  if (const std::int64_t* const last = forgotten_.find(identity)) {
    member.accumulator.begin_after(*last);
  }
  auto index = static_cast<std::uint32_t>(members_.size());
  if (free_.empty()) {
    members_.push_back(std::move(member));
  } else {
    index = free_.back();
    free_.pop_back();
    members_[index] = std::move(member);
  }
  member_by_identity_.add(identity, index);
  groups_[group].members.push_back(index);
  return index;
}

std::uint16_t Lane::scale_of(const Scale& scale) {
  const auto at = std::ranges::find(scales_, scale);
  if (at != scales_.end()) return static_cast<std::uint16_t>(at - scales_.begin());
  CHECK(scales_.size() < UINT16_MAX, "scales are those of the metrics that are known");
  scales_.push_back(scale);
  return static_cast<std::uint16_t>(scales_.size() - 1);
}

std::uint16_t Lane::source_of(const std::string& source) {
  const auto at = std::ranges::find(sources_, source);
  if (at != sources_.end()) return static_cast<std::uint16_t>(at - sources_.begin());
  // Sources beyond so many are one and the same.
  constexpr std::size_t kSourcesMax = 1'000;
  if (sources_.size() >= kSourcesMax) return kSourcesMax - 1;
  sources_.push_back(source);
  return static_cast<std::uint16_t>(sources_.size() - 1);
}

void Lane::forget(std::int64_t now_ms) {
  const std::int64_t horizon_ms = now_ms - options_.limits.unseen_ms;
  if (horizon_ms <= 0) return;
  const std::uint32_t unseen_s = seconds(horizon_ms);
  // By then every series that goes on came again, with its labels.
  if (now_ms - started_ms_ > kLoadedKeysMs && loaded_keys_.size() > 0) loaded_keys_ = {};
  junk_ = 0;
  keys_.keep_if([&](const Known& known) { return known.seen_s >= unseen_s; });
  keys_.keep_if([&](const Known& known) {
    junk_ += known.kind == Kind::kIgnored || known.kind == Kind::kUnusable ? 1 : 0;
    return true;
  });
  bool any = false;
  for (std::uint32_t index = 0; index < members_.size(); ++index) {
    Member& member = members_[index];
    if (!member.is_used || member.received_s >= unseen_s || !member.accumulator.empty()) continue;
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
    ++count(Count::kSeriesForgotten);
  }
  if (any) {
    loaded_keys_.keep_if([&](std::uint32_t index) { return members_[index].is_used; });
    member_by_identity_.keep_if([&](std::uint32_t index) { return members_[index].is_used; });
    drop_empty_groups();
  }
  // What is too old anyway need not be remembered. Where there is more than may be remembered, the
  // older part is too old from now on.
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

void Lane::drop_empty_groups() {
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
