#include "insight/advice/activity_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>

#include "core/check.h"
#include "core/enum_names.h"
#include "insight/advice/activity_state.h"
#include "insight/advice/gpu_use.h"

namespace pennyweight::advising {
namespace {

constexpr EnumNames kActivityMetrics =
    enum_names<ActivityMetric>({{ActivityMetric::kSmActive, "SM_ACTIVE"},
                                {ActivityMetric::kEngineActive, "GR_ENGINE_ACTIVE"},
                                {ActivityMetric::kGpuUtil, "GPU_UTIL"}});
constexpr std::uint32_t kIdlePpm = 10'000;
// How far beyond an instant facts may decide what came before it: a span that begins before it and
// ends after it, and what holds it then.
constexpr std::chrono::milliseconds kFactsReach{kUsageSpanMaxMs};

// The first of SM, engine and GPU_UTIL below 1 %. GPU_UTIL has to be 0, and to stand beside memory
// or power, so that a broken exporter's zeros are not taken for idleness.
bool is_idle(const ActivitySample& sample) {
  if (sample.sm_ppm != ActivitySample::kAbsent) return sample.sm_ppm < kIdlePpm;
  if (sample.engine_ppm != ActivitySample::kAbsent) return sample.engine_ppm < kIdlePpm;
  return sample.util_ppm == 0 &&
         (sample.memory_bytes != ActivitySample::kNoMemory || sample.has_power);
}

bool has_activity(const ActivitySample& sample) {
  return sample.sm_ppm != ActivitySample::kAbsent || sample.engine_ppm != ActivitySample::kAbsent ||
         sample.util_ppm != ActivitySample::kAbsent;
}

// As FleetHours counts them.
Instant first_hour_of(const Interval& period) {
  return std::chrono::ceil<std::chrono::hours>(period.begin());
}
std::size_t hours_of(const Interval& period) {
  const auto count = (period.end() - first_hour_of(period)) / std::chrono::hours(1);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::optional<std::string_view> first_label(const Holding& holding,
                                            std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto value = holding.labels.find(key);
    if (value && !value->empty()) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_text(ActivityMetric metric) { return kActivityMetrics.name(metric); }

std::string work_of(const Holding& holding) {
  if (const auto job = first_label(holding, {"job_name"})) {
    const auto user = first_label(holding, {"user", "account"});
    return user ? fmt::format("{}/{}", *user, *job) : std::string(*job);
  }
  if (const auto app = first_label(holding, {"app.kubernetes.io/name", "app"})) {
    const auto space = first_label(holding, {"namespace"});
    return space ? fmt::format("{}/{}", *space, *app) : std::string(*app);
  }
  return holding.workload.text();
}

Instant end_of(const ActivityState& state) { return state.until; }

std::optional<ActivityMetric> ActivityProfile::metric() const {
  std::uint64_t best = 0;
  for (const TimeBins& bins : activity) best = std::max(best, bins.total_ms());
  if (best == 0) return std::nullopt;
  for (std::size_t i = 0; i < activity.size(); ++i) {
    if (UInt128{activity[i].total_ms()} * 10 >= UInt128{best} * 9) {
      return static_cast<ActivityMetric>(i);
    }
  }
  return std::nullopt;
}

void ActivityProfile::merge(const ActivityProfile& other) {
  runs.insert(other.runs.begin(), other.runs.end());
  days.insert(other.days.begin(), other.days.end());
  held_ms += other.held_ms;
  observed_ms += other.observed_ms;
  idle_ms += other.idle_ms;
  longest_idle_ms = std::max(longest_idle_ms, other.longest_idle_ms);
  for (std::size_t i = 0; i < activity.size(); ++i) activity[i].merge(other.activity[i]);
  dram.merge(other.dram);
  memory.merge(other.memory);
}

namespace {

Labels common_labels(const Labels& one, const Labels& other) {
  Labels both;
  for (const auto& [key, value] : one.entries()) {
    const auto same = other.find(key);
    if (same && *same == value) std::ignore = both.set(key, value);  // no more than `one` has
  }
  return both;
}

}  // namespace

void ActivityProfiles::HoldingPeriods::sort() {
  std::ranges::stable_sort(periods_, {},
                           [](const HoldingPeriod& each) { return each.held.begin(); });
  Instant last = Instant::min();
  for (const HoldingPeriod& each : periods_) {
    ends_.push_back(each.held.end());
    last = std::max(last, each.held.end());
    ended_by_.push_back(last);
  }
  std::ranges::sort(ends_);
}

std::span<const ActivityProfiles::HoldingPeriod> ActivityProfiles::HoldingPeriods::around(
    Instant at) const {
  const auto end = std::ranges::upper_bound(
      periods_, at, {}, [](const HoldingPeriod& each) { return each.held.begin(); });
  const auto first = std::ranges::upper_bound(ended_by_, at) - ended_by_.begin();
  const auto last = end - periods_.begin();
  if (first >= last) return {};
  return std::span(periods_).subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(last - first));
}

Instant ActivityProfiles::HoldingPeriods::change_after(Instant at) const {
  Instant change = Instant::max();
  const auto next = std::ranges::upper_bound(
      periods_, at, {}, [](const HoldingPeriod& each) { return each.held.begin(); });
  if (next != periods_.end()) change = next->held.begin();
  const auto end = std::ranges::upper_bound(ends_, at);
  return end == ends_.end() ? change : std::min(change, *end);
}

ActivityProfiles::ActivityProfiles(const ClusterMonth& month, const FleetView& fleet,
                                   const UsageRules& rules, const Interval& period,
                                   const OwnerOf& owner_of)
    : month_(month),
      fleet_(fleet),
      rules_(rules),
      period_(period),
      state_(std::make_unique<ActivityState>()) {
  state_->seen.resize(month.holdings.size());
  for (std::uint32_t i = 0; i < month.holdings.size(); ++i) {
    const Holding& holding = month.holdings[i];
    owners_.push_back(owner_of(holding));
    works_.push_back(work_of(holding));
    is_service_.push_back(type_of_work(works_.back()) == "inference");
    if (is_service_.back()) state_->served[works_.back()].resize(hours_of(period));
    const auto [owner, is_first] = owner_of_work_.try_emplace(works_.back(), owners_.back());
    if (!is_first) owner->second = common_labels(owner->second, owners_.back());
    const auto held = holding.held.overlap(period);
    if (!held) continue;
    if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
      for (const GpuId& gpu : on_gpus->gpus) of_gpu_[gpu].add({*held, i});
    } else if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
      for (const OnNodes::NodeDevices& part : on_nodes->parts) {
        const auto node = fleet.node_of(part.node);
        if (node && part.devices > 0) of_node_[*node].add({*held, i});
      }
    }
  }
  for (auto& [gpu, periods] : of_gpu_) periods.sort();
  for (auto& [node, periods] : of_node_) periods.sort();
}

ActivityProfiles::~ActivityProfiles() = default;

const std::vector<IdleStretch>& ActivityProfiles::idle() const { return state_->idle; }
std::uint64_t ActivityProfiles::samples() const { return state_->samples; }
std::uint64_t ActivityProfiles::impossible() const { return state_->impossible; }
const std::map<std::string, std::vector<ServedHour>>& ActivityProfiles::served() const {
  return state_->served;
}

void ActivityProfiles::add_served(std::uint32_t holding, const Interval& during,
                                  std::uint64_t ppm) {
  std::vector<ServedHour>& served = state_->served.at(works_[holding]);
  const Instant first = first_hour_of(period_);
  Instant at = std::max(during.begin(), first);
  while (at < during.end()) {
    const auto hour = static_cast<std::size_t>((at - first) / std::chrono::hours(1));
    if (hour >= served.size()) return;
    const Instant next = first + std::chrono::hours(static_cast<std::int64_t>(hour) + 1);
    const Instant until = std::min(next, during.end());
    const auto ms = static_cast<std::uint64_t>((until - at).count());
    served[hour].ppm_ms += UInt128{ppm} * ms;
    served[hour].ms += ms;
    at = until;
  }
}

// What samples of the device are counted for while the holding has it.
std::uint32_t ActivityProfiles::tally_of(std::uint32_t holding, std::uint32_t device) {
  ActivityState& state = *state_;
  const GpuId& gpu = state.devices[device].gpu;
  const GpuModel* model = fleet_.nodes()[*state.devices[device].node].model;
  const std::string name = model == nullptr ? "" : model->name;
  const auto [at, is_new] = state.tally_of.try_emplace(
      {works_[holding], name}, static_cast<std::uint32_t>(state.tallies.size()));
  if (is_new) state.tallies.push_back({ActivityProfile(), device});
  ActivityState::Tally& tally = state.tallies[at->second];
  if (gpu < state.devices[tally.first_device].gpu) tally.first_device = device;
  tally.profile.runs.insert(month_.holdings[holding].workload);
  ActivityState::Seen& seen = state.seen[holding];
  if (seen.first_device == kNoHolding || gpu < state.devices[seen.first_device].gpu) {
    seen.first_device = device;
    seen.tally = at->second;
  }
  return at->second;
}

std::uint64_t ActivityProfiles::held_ms(std::uint32_t holding) const {
  const Holding& one = month_.holdings[holding];
  const auto held = one.held.overlap(period_);
  return held ? held->length_ms() * device_count(one) : 0;
}

std::uint64_t ActivityProfiles::observed_ms(std::uint32_t holding) const {
  return state_->seen[holding].observed_ms;
}

std::uint32_t ActivityProfiles::track_of(const ActivitySeries& series) {
  ActivityState& state = *state_;
  // A MIG instance's values are of the instance, and a workload's own are not the device's.
  const bool is_looked_at = series.mig_instance.empty() && !series.of_workload;
  std::string key;
  if (is_looked_at) {
    key = series.gpu.text() + '\0' + series.workload.text() + '\0' + series.node.text();
  }
  const auto [at, is_new] =
      state.track_of_texts.try_emplace(key, static_cast<std::uint32_t>(state.tracks.size()));
  if (!is_new) return at->second;
  ActivityState::Track track{kNoHolding, series.workload, series.node};
  if (is_looked_at) {
    const auto [device, is_new_device] = state.device_of_gpu.try_emplace(
        series.gpu.text(), static_cast<std::uint32_t>(state.devices.size()));
    if (is_new_device) state.devices.push_back({.gpu = series.gpu});
    track.device = device->second;
  }
  state.tracks.push_back(std::move(track));
  return at->second;
}

void ActivityProfiles::begin_window() {
  track_of_series_.clear();
  window_samples_ = 0;
  window_impossible_ = 0;
}

void ActivityProfiles::add(std::span<const ActivitySeries> series,
                           std::span<const ActivitySample> samples) {
  while (track_of_series_.size() < series.size()) {
    track_of_series_.push_back(track_of(series[track_of_series_.size()]));
  }
  window_samples_ += samples.size();
  ActivityState& state = *state_;
  for (const ActivitySample& sample : samples) {
    const std::uint32_t track = track_of_series_[sample.series];
    const std::uint32_t device = state.tracks[track].device;
    if (device == kNoHolding) continue;
    if (sample.is_impossible) {
      ++window_impossible_;
      continue;
    }
    state.devices[device].rows.push_back(sample);
    state.devices[device].rows.back().series = track;
  }
}

void ActivityProfiles::drop_window() {
  for (ActivityState::Device& device : state_->devices) device.rows.resize(device.kept);
}

void ActivityProfiles::end_window() {
  ActivityState& state = *state_;
  state.samples += std::exchange(window_samples_, 0);
  state.impossible += std::exchange(window_impossible_, 0);
  const auto is_earlier = [&](const ActivitySample& a, const ActivitySample& b) {
    if (a.at != b.at) return a.at < b.at;
    if (a.series != b.series) {
      const WorkloadId& workload_a = state.tracks[a.series].workload;
      const WorkloadId& workload_b = state.tracks[b.series].workload;
      if (workload_a != workload_b) return workload_a < workload_b;
    }
    return std::tuple(std::uint32_t{a.span_ms}, a.part) <
           std::tuple(std::uint32_t{b.span_ms}, b.part);
  };
  for (std::uint32_t device = 0; device < state.devices.size(); ++device) {
    std::vector<ActivitySample>& rows = state.devices[device].rows;
    if (rows.size() == state.devices[device].kept) continue;
    if (!std::is_sorted(rows.begin(), rows.end(), is_earlier)) {
      std::stable_sort(rows.begin(), rows.end(), is_earlier);
    }
    std::size_t ready = rows.size();
    while (ready > 0 && rows[ready - 1].at == rows.back().at) --ready;
    run_device(device, ready);
  }
}

void ActivityProfiles::add(std::span<const Usage> usages) {
  begin_window();
  std::vector<ActivitySeries> series;
  std::vector<ActivitySample> samples;
  for (const Usage& usage : usages) {
    ActivitySeries here{usage.gpu, usage.mig_instance, usage.workload, usage.node,
                        usage.of_workload};
    if (series.empty() || series.back() != here) series.push_back(std::move(here));
    samples.push_back(to_activity_sample(usage, static_cast<std::uint32_t>(series.size() - 1)));
  }
  add(series, samples);
  end_window();
}

// Who has the GPU for itself at an instant: the only one that names it; else the only one on the
// node, if it holds all of it; else the workload that the sample names, if it holds a part of the
// node by number.
std::optional<std::uint32_t> ActivityProfiles::holder_of(std::uint32_t device,
                                                         const ActivitySample& sample) const {
  const GpuId& gpu = state_->devices[device].gpu;
  const std::uint32_t node = *state_->devices[device].node;
  const auto is_whole = [&](std::uint32_t holding) {
    return std::holds_alternative<WholeGpu>(month_.holdings[holding].device);
  };
  const auto devices_here = [&](std::uint32_t holding) -> std::uint64_t {
    std::uint64_t devices = 0;
    const auto* on = std::get_if<OnNodes>(&month_.holdings[holding].placement);
    if (on == nullptr) return 0;
    for (const OnNodes::NodeDevices& part : on->parts) {
      if (fleet_.node_of(part.node) == node) devices += part.devices;
    }
    return devices;
  };
  std::uint32_t only = kNoHolding;
  std::size_t count = 0;
  if (const auto named = of_gpu_.find(gpu); named != of_gpu_.end()) {
    for (const HoldingPeriod& each : named->second.around(sample.at)) {
      if (!each.held.contains(sample.at)) continue;
      only = each.holding;
      ++count;
    }
  }
  if (count > 0) return count == 1 && is_whole(only) ? std::optional(only) : std::nullopt;
  const auto on_node = of_node_.find(node);
  if (on_node == of_node_.end()) return std::nullopt;
  const WorkloadId& workload = state_->tracks[sample.series].workload;
  std::uint32_t by_name = kNoHolding;
  for (const HoldingPeriod& each : on_node->second.around(sample.at)) {
    if (!each.held.contains(sample.at)) continue;
    only = each.holding;
    ++count;
    if (!workload.empty() && month_.holdings[each.holding].workload == workload) {
      by_name = each.holding;
    }
  }
  if (count == 1 && is_whole(only) && devices_here(only) == fleet_.nodes()[node].capacity.gpus) {
    return only;
  }
  return by_name != kNoHolding && is_whole(by_name) ? std::optional(by_name) : std::nullopt;
}

Instant ActivityProfiles::change_after(std::uint32_t device, Instant at) const {
  Instant change = Instant::max();
  const ActivityState::Device& here = state_->devices[device];
  if (const auto named = of_gpu_.find(here.gpu); named != of_gpu_.end()) {
    change = named->second.change_after(at);
  }
  if (const auto on_node = of_node_.find(*here.node); on_node != of_node_.end()) {
    change = std::min(change, on_node->second.change_after(at));
  }
  return change;
}

void ActivityProfiles::end_idle(std::uint32_t device) {
  ActivityState::Device& here = state_->devices[device];
  const std::uint32_t holding = std::exchange(here.idle_holding, kNoHolding);
  if (holding == kNoHolding) return;
  const auto idle =
      Interval::of(here.idle_begin + std::chrono::milliseconds(kIdleAfterMs), here.idle_end);
  if (!idle) return;
  const std::uint64_t whole = Interval(here.idle_begin, here.idle_end).length_ms();
  state_->idle.push_back({holding, *here.node, here.gpu, *idle, whole});
  ActivityProfile& profile = state_->tallies[tally_of(holding, device)].profile;
  profile.idle_ms += idle->length_ms();
  profile.longest_idle_ms = std::max(profile.longest_idle_ms, whole);
}

// Counts the first `ready` of a device's rows, which are in order; the end of each is known from
// those after it.
void ActivityProfiles::run_device(std::uint32_t number, std::size_t ready) {
  ActivityState& state = *state_;
  ActivityState::Device& device = state.devices[number];
  std::vector<ActivitySample>& rows = device.rows;
  if (!device.is_placed && !rows.empty()) {
    device.is_placed = true;
    device.node = fleet_.node_of_gpu(device.gpu);
    if (!device.node) device.node = fleet_.node_of(state.tracks[rows.front().series].node);
  }
  if (!device.node) {
    rows.clear();
    device.kept = 0;
    return;
  }
  std::uint32_t counted_for = kNoHolding;  // the holding
  std::uint32_t tally = 0;
  std::int64_t day = 0;
  const auto flush = [&] {
    if (counted_for == kNoHolding) return;
    ActivityProfile& profile = state.tallies[tally].profile;
    for (std::size_t i = 0; i < activity_bins_.size(); ++i) {
      activity_bins_[i].move_to(profile.activity[i]);
    }
    dram_bins_.move_to(profile.dram);
    memory_bins_.move_to(profile.memory);
  };
  for (std::size_t i = 0; i < ready; ++i) {
    const ActivitySample& sample = rows[i];
    const bool is_copy = i > 0 && sample.span_ms == 0 && rows[i - 1].at == sample.at;
    if (is_copy) continue;
    Instant end = sample.at +
                  std::chrono::milliseconds(sample.span_ms > 0 ? sample.span_ms : rules_.hold_ms());
    if (sample.span_ms == 0) {
      std::size_t next = i + 1;
      while (next < rows.size() && rows[next].at == sample.at) ++next;
      if (next < rows.size()) end = std::min(end, rows[next].at);
    }
    if (sample.at >= device.same_until || sample.series != device.same_track) {
      device.holder = holder_of(number, sample);
      device.same_until = change_after(number, sample.at);
      device.same_track = sample.series;
    }
    if (!device.holder) {
      end_idle(number);
      continue;
    }
    const std::uint32_t holding = *device.holder;
    const auto held = month_.holdings[holding].held.overlap(period_);
    const auto during = Interval::of(sample.at, std::min(end, held->end()));
    if (!during) continue;
    const std::uint64_t ms = during->length_ms();
    if (counted_for != holding) {
      flush();
      tally = tally_of(holding, number);
      counted_for = holding;
      day = std::numeric_limits<std::int64_t>::min();
    }
    const std::int64_t today =
        std::chrono::floor<std::chrono::days>(sample.at).time_since_epoch().count();
    if (today != day) state.tallies[tally].profile.days.insert(today);
    day = today;
    const std::array shares = {sample.sm_ppm, sample.engine_ppm, sample.util_ppm};
    for (std::size_t metric = 0; metric < shares.size(); ++metric) {
      if (shares[metric] != ActivitySample::kAbsent) activity_bins_[metric].add(shares[metric], ms);
    }
    if (sample.dram_ppm != ActivitySample::kAbsent) dram_bins_.add(sample.dram_ppm, ms);
    if (sample.memory_bytes != ActivitySample::kNoMemory) {
      memory_bins_.add(sample.memory_bytes, ms);
    }
    if (!has_activity(sample)) continue;
    if (const auto fresh =
            Interval::of(std::max(during->begin(), device.covered_until), during->end())) {
      state.tallies[tally].profile.observed_ms += fresh->length_ms();
      const std::uint32_t busy =
          sample.sm_ppm != ActivitySample::kAbsent ? sample.sm_ppm : sample.engine_ppm;
      if (is_service_[holding] && busy != ActivitySample::kAbsent) {
        add_served(holding, *fresh, busy);
      }
      state.seen[holding].observed_ms += fresh->length_ms();
      device.covered_until = during->end();
    }
    if (!is_idle(sample)) {
      end_idle(number);
      continue;
    }
    if (device.idle_holding != holding || during->begin() > device.idle_end) {
      end_idle(number);
      device.idle_holding = holding;
      device.idle_begin = during->begin();
      device.idle_end = during->end();
    }
    device.idle_end = std::max(device.idle_end, during->end());
  }
  flush();
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(ready));
  device.kept = rows.size();
}

void ActivityProfiles::complete() {
  ActivityState& state = *state_;
  for (std::uint32_t device = 0; device < state.devices.size(); ++device) {
    run_device(device, state.devices[device].rows.size());
    if (state.devices[device].node) end_idle(device);
  }
  std::ranges::sort(state.idle, [](const IdleStretch& a, const IdleStretch& b) {
    return std::tuple(std::string_view(a.gpu.text()), a.idle.begin()) <
           std::tuple(std::string_view(b.gpu.text()), b.idle.begin());
  });
  std::vector<ActivityProfile*> profile_of_tally(state.tallies.size());
  std::map<std::string, ActivityProfile*> by_work;
  for (const auto& [key, number] : state.tally_of) {
    const ActivityState::Tally& tally = state.tallies[number];
    ActivityProfile& profile = profiles_[key] = tally.profile;
    profile.work = key.first;
    profile.owner = owner_of_work(profile.work);
    profile.gpu_model = key.second;
    const Node& node = fleet_.any_fact(*state.devices[tally.first_device].node);
    profile.instance_type = node.instance_type;
    profile.region = node.region;
    profile_of_tally[number] = &profile;
    by_work.try_emplace(key.first, &profile);
  }
  for (std::uint32_t i = 0; i < month_.holdings.size(); ++i) {
    if (state.seen[i].first_device != kNoHolding) {
      profile_of_tally[state.seen[i].tally]->held_ms += held_ms(i);
    } else if (const auto profile = by_work.find(works_[i]); profile != by_work.end()) {
      profile->second->held_ms += held_ms(i);
    }
  }
}

// A fingerprint of what decides about samples before `until`, beside the samples and the GPUs that
// they are of; and which holdings it is about.
Hash128 ActivityProfiles::facts_until(Instant until, std::vector<std::uint32_t>& holdings) const {
  Fingerprint print;
  print.add(unix_ms(period_.begin())).add(static_cast<std::int64_t>(rules_.hold_ms()));
  const Instant end = until + kFactsReach;
  for (std::uint32_t i = 0; i < month_.holdings.size(); ++i) {
    const Holding& holding = month_.holdings[i];
    const auto held = holding.held.overlap(period_);
    if (!held || held->begin() >= end) continue;
    holdings.push_back(i);
    print.add(holding.workload.text()).add(holding.attempt).add(works_[i]);
    print.add(unix_ms(held->begin())).add(unix_ms(std::min(held->end(), end)));
    print.add(to_text(holding.device)).add(to_text(holding.placement));
    if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
      for (const OnNodes::NodeDevices& part : on_nodes->parts) {
        print.add(std::int64_t{fleet_.node_of(part.node).has_value()});
      }
    }
  }
  return print.hash();
}

std::shared_ptr<const ActivityState> ActivityProfiles::state(Instant until) const {
  CHECK(until + kFactsReach <= period_.end(), "what the period cuts off is not counted yet");
  auto kept = std::make_shared<ActivityState>(*state_);
  kept->until = until;
  kept->facts = facts_until(until, kept->holdings);
  for (const ActivityState::Device& device : kept->devices) {
    kept->node_names.push_back(device.node ? describe_node(*device.node) : "");
  }
  return kept;
}

// What of a node decides about the samples of its GPUs.
std::string ActivityProfiles::describe_node(std::uint32_t node) const {
  const NodeView& view = fleet_.nodes()[node];
  return fmt::format("{}\n{}\n{}", fleet_.any_fact(node).name.text(),
                     view.model == nullptr ? "" : view.model->name, view.capacity.gpus);
}

bool ActivityProfiles::resume(const ActivityState& kept) {
  CHECK(state_->samples == 0, "a state is what profiles begin with");
  std::vector<std::uint32_t> holdings;
  if (kept.until + kFactsReach > period_.end() || facts_until(kept.until, holdings) != kept.facts) {
    return false;
  }
  // The same nodes, which may have other numbers since.
  std::vector<std::optional<std::uint32_t>> nodes;
  for (std::size_t i = 0; i < kept.devices.size(); ++i) {
    const ActivityState::Device& device = kept.devices[i];
    auto& node = nodes.emplace_back(fleet_.node_of_gpu(device.gpu));
    if (!node && device.node)
      node = fleet_.node_of(NodeId(kept.node_names[i].substr(0, kept.node_names[i].find('\n'))));
    if (device.is_placed && (node ? describe_node(*node) : "") != kept.node_names[i]) return false;
  }
  auto state = std::make_unique<ActivityState>(kept);
  std::vector<std::uint32_t> number_of(kept.seen.size(), kNoHolding);
  for (std::size_t i = 0; i < holdings.size(); ++i) number_of[kept.holdings[i]] = holdings[i];
  state->seen.assign(month_.holdings.size(), {});
  for (std::size_t i = 0; i < kept.seen.size(); ++i) {
    if (number_of[i] != kNoHolding) state->seen[number_of[i]] = kept.seen[i];
  }
  for (std::size_t i = 0; i < state->devices.size(); ++i) {
    ActivityState::Device& device = state->devices[i];
    if (device.is_placed) device.node = nodes[i];
    device.holder.reset();
    device.same_until = Instant::min();
    if (device.idle_holding != kNoHolding) device.idle_holding = number_of[device.idle_holding];
  }
  for (IdleStretch& stretch : state->idle) {
    stretch.holding = number_of[stretch.holding];
    stretch.node = *state->devices[state->device_of_gpu.at(stretch.gpu.text())].node;
  }
  // Services that began since have no hours before.
  for (auto& [work, hours] : state_->served) {
    auto& there = state->served[work];
    there.resize(hours.size());
  }
  state_ = std::move(state);
  return true;
}

}  // namespace pennyweight::advising
