#include "insight/advice/activity_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>

#include "core/check.h"
#include "core/enum_names.h"
#include "insight/advice/gpu_use.h"

namespace pennyweight::advising {
namespace {

constexpr EnumNames kActivityMetrics =
    enum_names<ActivityMetric>({{ActivityMetric::kSmActive, "SM_ACTIVE"},
                                {ActivityMetric::kEngineActive, "GR_ENGINE_ACTIVE"},
                                {ActivityMetric::kGpuUtil, "GPU_UTIL"}});
constexpr std::uint64_t kWholePpm = 1'000'000;
constexpr std::uint64_t kIdlePpm = 10'000;

// The first of SM, engine and GPU_UTIL below 1 %. GPU_UTIL has to be 0, and to stand beside memory
// or power, so that a broken exporter's zeros are not taken for idleness.
bool is_idle(const Usage& usage) {
  if (usage.sm_active_ppm) return *usage.sm_active_ppm < kIdlePpm;
  if (usage.engine_active_ppm) return *usage.engine_active_ppm < kIdlePpm;
  return usage.gpu_util_ppm == std::uint64_t{0} &&
         (usage.memory_used_bytes || usage.power_milliwatts);
}

bool has_activity(const Usage& usage) {
  return usage.sm_active_ppm || usage.engine_active_ppm || usage.gpu_util_ppm;
}

bool is_impossible(const Usage& usage) {
  for (const auto& share :
       {usage.sm_active_ppm, usage.engine_active_ppm, usage.gpu_util_ppm, usage.dram_active_ppm}) {
    if (share && *share > kWholePpm) return true;
  }
  return usage.memory_used_bytes && usage.memory_total_bytes &&
         *usage.memory_used_bytes > *usage.memory_total_bytes;
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

void TimeBins::add(std::uint64_t value, std::uint64_t ms) {
  if (ms == 0) return;
  bins_[(value + width_ - 1) / width_ * width_] += ms;
  sum_ += UInt128{value} * ms;
  total_ms_ += ms;
  peak_ = std::max(peak_, value);
}

// Bins of one GPU in the hands of one holder, in an array: a sample falls into five bins, and there
// are hundreds of millions of samples.
class FlatBins {
 public:
  explicit FlatBins(std::uint64_t width) : width_(width), ms_(kBinsMax) {}

  void add(std::uint64_t value, std::uint64_t ms) {
    if (ms == 0) return;
    const std::uint64_t bin = std::min<std::uint64_t>((value + width_ - 1) / width_, kBinsMax);
    if (bin == kBinsMax) {
      beyond_.add(value, ms);
      return;
    }
    if (ms_[bin] == 0) used_.push_back(static_cast<std::uint32_t>(bin));
    ms_[bin] += ms;
    sum_ += UInt128{value} * ms;
    total_ms_ += ms;
    peak_ = std::max(peak_, value);
  }

  // Adds all to `bins`, and begins anew.
  void move_to(TimeBins& bins) {
    CHECK(bins.width_ == width_, "bins of one width");
    for (const std::uint32_t bin : used_) {
      bins.bins_[bin * width_] += ms_[bin];
      ms_[bin] = 0;
    }
    used_.clear();
    bins.sum_ += sum_;
    bins.total_ms_ += total_ms_;
    bins.peak_ = std::max(bins.peak_, peak_);
    sum_ = 0;
    total_ms_ = 0;
    peak_ = 0;
    if (beyond_.total_ms() == 0) return;
    bins.merge(beyond_);
    beyond_ = TimeBins(width_);
  }

 private:
  static constexpr std::uint64_t kBinsMax = 4096;
  std::uint64_t width_;
  std::vector<std::uint64_t> ms_;
  std::vector<std::uint32_t> used_;
  UInt128 sum_ = 0;
  std::uint64_t total_ms_ = 0;
  std::uint64_t peak_ = 0;
  TimeBins beyond_ = TimeBins(width_);
};

void TimeBins::merge(const TimeBins& other) {
  CHECK(width_ == other.width_, "bins of one width merge");
  for (const auto& [end, ms] : other.bins_) bins_[end] += ms;
  sum_ += other.sum_;
  total_ms_ += other.total_ms_;
  peak_ = std::max(peak_, other.peak_);
}

std::uint64_t TimeBins::mean() const {
  CHECK(total_ms_ > 0, "a mean of something");
  return static_cast<std::uint64_t>(sum_ / total_ms_);
}

std::uint64_t TimeBins::quantile(std::uint32_t per_mille) const {
  CHECK(total_ms_ > 0, "a quantile of something");
  UInt128 below = 0;
  for (const auto& [end, ms] : bins_) {
    below += ms;
    if (below * 1000 >= UInt128{total_ms_} * per_mille) return end;
  }
  return bins_.rbegin()->first;
}

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
  impossible += other.impossible;
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

ActivityProfiles::ActivityProfiles(const ClusterMonth& month, const FleetView& fleet,
                                   const UsageRules& rules, const Interval& period,
                                   const OwnerOf& owner_of)
    : month_(month), fleet_(fleet), rules_(rules), period_(period) {
  for (std::uint32_t i = 0; i < month.holdings.size(); ++i) {
    const Holding& holding = month.holdings[i];
    owners_.push_back(owner_of(holding));
    works_.push_back(work_of(holding));
    served_by_.push_back(nullptr);
    if (type_of_work(works_.back()) == "inference") {
      served_by_.back() = &served_[works_.back()];
      served_by_.back()->resize(hours_of(period));
    }
    const auto [owner, is_first] = owner_of_work_.try_emplace(works_.back(), owners_.back());
    if (!is_first) owner->second = common_labels(owner->second, owners_.back());
    const auto held = holding.held.overlap(period);
    if (!held) continue;
    if (const auto* on_gpus = std::get_if<OnGpus>(&holding.placement)) {
      for (const GpuId& gpu : on_gpus->gpus) of_gpu_[gpu].push_back({*held, i});
    } else if (const auto* on_nodes = std::get_if<OnNodes>(&holding.placement)) {
      for (const OnNodes::NodeDevices& part : on_nodes->parts) {
        const auto node = fleet.node_of(part.node);
        if (node && part.devices > 0) of_node_[*node].push_back({*held, i});
      }
    }
  }
}

void ActivityProfiles::add_served(std::uint32_t holding, const Interval& during,
                                  std::uint64_t ppm) {
  std::vector<ServedHour>& served = *served_by_[holding];
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

ActivityProfile& ActivityProfiles::profile_of(std::uint32_t holding, std::uint32_t node) {
  const GpuModel* model = fleet_.nodes()[node].model;
  const std::string name = model == nullptr ? "" : model->name;
  ActivityProfile& profile = profiles_[{works_[holding], name}];
  if (profile.runs.empty()) {
    profile.work = works_[holding];
    profile.owner = owner_of_work(profile.work);
    profile.gpu_model = name;
    profile.instance_type = fleet_.any_fact(node).instance_type;
    profile.region = fleet_.any_fact(node).region;
  }
  if (observed_.try_emplace(holding, 0).second) profile.held_ms += held_ms(holding);
  profile.runs.insert(month_.holdings[holding].workload);
  return profile;
}

std::uint64_t ActivityProfiles::held_ms(std::uint32_t holding) const {
  const Holding& one = month_.holdings[holding];
  const auto held = one.held.overlap(period_);
  return held ? held->length_ms() * device_count(one) : 0;
}

std::uint64_t ActivityProfiles::observed_ms(std::uint32_t holding) const {
  const auto at = observed_.find(holding);
  return at == observed_.end() ? 0 : at->second;
}

void ActivityProfiles::complete() {
  std::map<std::string, ActivityProfile*> by_work;
  for (auto& [key, profile] : profiles_) by_work.try_emplace(key.first, &profile);
  for (std::uint32_t i = 0; i < month_.holdings.size(); ++i) {
    const auto profile = by_work.find(works_[i]);
    if (observed_.contains(i) || profile == by_work.end()) continue;
    profile->second->held_ms += held_ms(i);
  }
}

void ActivityProfiles::end_idle(std::uint32_t holding, std::uint32_t node, const GpuId& gpu,
                                Instant begin, Instant end) {
  const auto idle = Interval::of(begin + std::chrono::milliseconds(kIdleAfterMs), end);
  if (!idle) return;
  const std::uint64_t whole = Interval(begin, end).length_ms();
  idle_.push_back({holding, node, gpu, *idle, whole});
  ActivityProfile& profile = profile_of(holding, node);
  profile.idle_ms += idle->length_ms();
  profile.longest_idle_ms = std::max(profile.longest_idle_ms, whole);
}

void ActivityProfiles::add(std::span<const Usage> usages) {
  for (std::size_t begin = 0; begin < usages.size();) {
    std::size_t end = begin;
    while (end < usages.size() && usages[end].gpu == usages[begin].gpu) ++end;
    add_gpu(usages.subspan(begin, end - begin));
    begin = end;
  }
}

void ActivityProfiles::add_gpu(std::span<const Usage> usages) {
  std::vector<const Usage*> rows;
  for (const Usage& usage : usages) {
    ++samples_;
    // A MIG instance's values are of the instance, and a workload's own are not the device's.
    if (!usage.mig_instance.empty() || usage.of_workload) continue;
    if (is_impossible(usage)) {
      ++impossible_;
      continue;
    }
    rows.push_back(&usage);
  }
  if (rows.empty()) return;
  const auto is_earlier = [](const Usage* a, const Usage* b) { return a->at < b->at; };
  if (!std::is_sorted(rows.begin(), rows.end(), is_earlier)) {
    std::stable_sort(rows.begin(), rows.end(), is_earlier);
  }
  const GpuId& gpu = rows.front()->gpu;
  auto node = fleet_.node_of_gpu(gpu);
  if (!node) node = fleet_.node_of(rows.front()->node);
  if (!node) return;
  const std::uint64_t gpus_there = fleet_.nodes()[*node].capacity.gpus;

  // Who has the GPU for itself at an instant: the only one that names it; else the only one on the
  // node, if it holds all of it; else the workload that the sample names, if it holds a part of the
  // node by number.
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
  const auto named = of_gpu_.find(gpu);
  const auto on_node = of_node_.find(*node);
  const auto find_holder = [&](const Usage& usage) -> std::optional<HoldingPeriod> {
    std::optional<HoldingPeriod> only;
    std::size_t count = 0;
    if (named != of_gpu_.end()) {
      for (const HoldingPeriod& each : named->second) {
        if (!each.held.contains(usage.at)) continue;
        only = each;
        ++count;
      }
    }
    if (count > 0) return count == 1 && is_whole(only->holding) ? only : std::nullopt;
    if (on_node == of_node_.end()) return std::nullopt;
    std::optional<HoldingPeriod> by_name;
    for (const HoldingPeriod& each : on_node->second) {
      if (!each.held.contains(usage.at)) continue;
      only = each;
      ++count;
      if (!usage.workload.empty() && month_.holdings[each.holding].workload == usage.workload) {
        by_name = each;
      }
    }
    if (count == 1 && is_whole(only->holding) && devices_here(only->holding) == gpus_there) {
      return only;
    }
    return by_name && is_whole(by_name->holding) ? by_name : std::nullopt;
  };

  // The holder stays the same until the next holding of the GPU or of its node begins or ends.
  std::optional<HoldingPeriod> holder;
  Instant same_until = Instant::min();
  const WorkloadId* same_workload = nullptr;
  const auto holder_at = [&](const Usage& usage) -> const std::optional<HoldingPeriod>& {
    if (usage.at < same_until && usage.workload == *same_workload) return holder;
    holder = find_holder(usage);
    same_until = Instant::max();
    same_workload = &usage.workload;
    const auto look = [&](const std::vector<HoldingPeriod>& periods) {
      for (const HoldingPeriod& each : periods) {
        if (each.held.begin() > usage.at) same_until = std::min(same_until, each.held.begin());
        if (each.held.end() > usage.at) same_until = std::min(same_until, each.held.end());
      }
    };
    if (named != of_gpu_.end()) look(named->second);
    if (on_node != of_node_.end()) look(on_node->second);
    return holder;
  };

  constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t idle_holding = kNobody;
  Instant idle_begin{};
  Instant idle_end{};
  const auto stop_idle = [&] {
    if (idle_holding != kNobody) end_idle(idle_holding, *node, gpu, idle_begin, idle_end);
    idle_holding = kNobody;
  };
  ActivityProfile* profile = nullptr;
  std::uint32_t profile_holding = kNobody;
  std::uint64_t* observed_here = nullptr;
  std::int64_t day = 0;
  std::array<FlatBins, 3> activity = {FlatBins(kActivityBinPpm), FlatBins(kActivityBinPpm),
                                      FlatBins(kActivityBinPpm)};
  FlatBins dram(kActivityBinPpm);
  FlatBins memory(kMemoryBinBytes);
  const auto flush = [&] {
    if (profile == nullptr) return;
    for (std::size_t i = 0; i < activity.size(); ++i) activity[i].move_to(profile->activity[i]);
    dram.move_to(profile->dram);
    memory.move_to(profile->memory);
  };
  Instant covered_until{};  // by activity, so that a copy of a sample counts once
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Usage& usage = *rows[i];
    const bool is_copy = i > 0 && usage.span_ms == 0 && rows[i - 1]->at == usage.at;
    if (is_copy) continue;
    Instant end =
        usage.at + std::chrono::milliseconds(usage.span_ms > 0 ? usage.span_ms : rules_.hold_ms());
    if (usage.span_ms == 0) {
      std::size_t next = i + 1;
      while (next < rows.size() && rows[next]->at == usage.at) ++next;
      if (next < rows.size()) end = std::min(end, rows[next]->at);
    }
    if (!holder_at(usage)) {
      stop_idle();
      continue;
    }
    const auto during = Interval::of(usage.at, std::min(end, holder->held.end()));
    if (!during) continue;
    const std::uint64_t ms = during->length_ms();
    if (profile == nullptr || profile_holding != holder->holding) {
      flush();
      profile = &profile_of(holder->holding, *node);
      profile_holding = holder->holding;
      observed_here = &observed_[profile_holding];
      day = std::numeric_limits<std::int64_t>::min();
    }
    const std::int64_t today =
        std::chrono::floor<std::chrono::days>(usage.at).time_since_epoch().count();
    if (today != day) profile->days.insert(today);
    day = today;
    const std::optional<std::uint64_t> shares[] = {usage.sm_active_ppm, usage.engine_active_ppm,
                                                   usage.gpu_util_ppm};
    for (std::size_t metric = 0; metric < std::size(shares); ++metric) {
      if (shares[metric]) activity[metric].add(*shares[metric], ms);
    }
    if (usage.dram_active_ppm) dram.add(*usage.dram_active_ppm, ms);
    if (usage.memory_used_bytes) {
      memory.add(std::max(*usage.memory_used_bytes, usage.memory_used_max_bytes.value_or(0)), ms);
    }
    if (!has_activity(usage)) continue;
    if (const auto fresh = Interval::of(std::max(during->begin(), covered_until), during->end())) {
      profile->observed_ms += fresh->length_ms();
      const auto& busy = usage.sm_active_ppm ? usage.sm_active_ppm : usage.engine_active_ppm;
      if (served_by_[holder->holding] != nullptr && busy) {
        add_served(holder->holding, *fresh, *busy);
      }
      *observed_here += fresh->length_ms();
      covered_until = during->end();
    }
    if (!is_idle(usage)) {
      stop_idle();
      continue;
    }
    if (idle_holding != holder->holding || during->begin() > idle_end) {
      stop_idle();
      idle_holding = holder->holding;
      idle_begin = during->begin();
      idle_end = during->end();
    }
    idle_end = std::max(idle_end, during->end());
  }
  flush();
  stop_idle();
}

}  // namespace pennyweight::advising
