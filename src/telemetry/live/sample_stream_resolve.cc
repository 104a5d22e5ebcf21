// Resolves a series that comes for the first time: what it measures, and to which group it belongs.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/check.h"
#include "telemetry/live/quantity_rules.h"
#include "telemetry/live/sample_stream.h"

namespace pennyweight::live {
namespace {

using telemetry::Quantity;

// The quantities of outcomes, which have none of their own, as snapshots keep them.
constexpr Quantity kOutcomeCounter = Quantity::kEnergy;
constexpr Quantity kOutcomeLevel = Quantity::kMemoryUsed;

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

SampleStream::ResolvedSeries SampleStream::resolve(const prometheus::EncodedLabels& labels,
                                                   std::int64_t first_at) {
  ResolvedSeries known;
  if (!labels.decode(scratch_)) {
    ++count(StreamCounter::kBadLabels);
    known.kind = SeriesKind::kUnusable;
    known.index = 0;
    if (reasons_.empty()) reasons_.emplace_back();
    reasons_[0] = "labels that break a limit or the encoding";
    return known;
  }
  if (reasons_.empty()) reasons_.emplace_back("labels that break a limit or the encoding");
  telemetry::Classification meaning;
  if (cluster_.empty()) {
    meaning = telemetry::classify_series(scratch_, options_.classification);
  } else {
    telemetry::ClassificationOptions mine = options_.classification;
    mine.cluster = cluster_;
    meaning = telemetry::classify_series(scratch_, mine);
  }
  if (!admit_cluster(meaning)) {
    known.is_remembered = false;  // there may be room later
    meaning = telemetry::Unusable{
        fmt::format("of a cluster beyond the first {}; look at the label that names clusters",
                    options_.limits.clusters)};
  }
  if (auto* device = std::get_if<telemetry::DeviceSeries>(&meaning)) {
    if (!device->is_description) return resolve_device(*device, first_at);
    known.is_remembered = false;  // the GPU's group may come later, or anew
    if (const std::uint32_t* const group = group_by_identity_.find(group_identity(*device))) {
      describe(groups_[*group], *device, first_at);
    }
    return known;
  }
  if (auto* outcome = std::get_if<telemetry::OutcomeSeries>(&meaning)) {
    return resolve_outcome(*outcome, first_at);
  }
  if (const auto* state = std::get_if<telemetry::StateSeries>(&meaning)) {
    if (state_ == nullptr) return known;
    known.kind = SeriesKind::kState;
    known.index = static_cast<std::uint32_t>(state_handles_.size());
    const auto named = std::ranges::find(state_clusters_, state->cluster);
    const auto cluster = static_cast<std::uint32_t>(named - state_clusters_.begin());
    if (named == state_clusters_.end()) state_clusters_.push_back(state->cluster);
    state_handles_.push_back({state_->declare(*state), cluster});
    return known;
  }
  if (const auto* unusable = std::get_if<telemetry::Unusable>(&meaning)) {
    known.kind = SeriesKind::kUnusable;
    const auto at = std::ranges::find(reasons_, unusable->why);
    known.index = static_cast<std::uint32_t>(at - reasons_.begin());
    if (at == reasons_.end()) reasons_.push_back(unusable->why);
  }
  return known;
}

// Whether the series is of a cluster that is known, or of one more that may be; or of none.
bool SampleStream::admit_cluster(const telemetry::Classification& meaning) {
  const auto* const device = std::get_if<telemetry::DeviceSeries>(&meaning);
  const auto* const outcome = std::get_if<telemetry::OutcomeSeries>(&meaning);
  const auto* const state =
      state_ == nullptr ? nullptr : std::get_if<telemetry::StateSeries>(&meaning);
  if (device == nullptr && outcome == nullptr && state == nullptr) return true;
  const ClusterId& cluster = device != nullptr    ? device->cluster
                             : outcome != nullptr ? outcome->cluster
                                                  : state->cluster;
  if (clusters_.contains(cluster)) return true;
  if (clusters_.size() >= options_.limits.clusters) return false;
  clusters_.insert(cluster);
  return true;
}

const ClusterId& SampleStream::cluster_of(const Group& group) {
  if (const auto* const device = std::get_if<DeviceInfo>(&group.info)) return device->usage.cluster;
  return std::get<OutcomeInfo>(group.info).cluster;
}

// A series that says more, or something newer, wins.
void SampleStream::describe(Group& group, const telemetry::DeviceSeries& series,
                            std::int64_t first_at) {
  auto& info = std::get<DeviceInfo>(group.info);
  const bool is_other = (!series.node.empty() && series.node != info.usage.node) ||
                        (!series.model.empty() && series.model != info.usage.model) ||
                        (series.gpu_index >= 0 && series.gpu_index != info.gpu_index);
  if (!is_other || first_at < group.changed_at) return;
  if (!series.node.empty()) info.usage.node = series.node;
  if (!series.model.empty()) info.usage.model = series.model;
  if (series.gpu_index >= 0) info.gpu_index = series.gpu_index;
  group.changed_at = first_at;
}

SampleStream::ResolvedSeries SampleStream::resolve_device(telemetry::DeviceSeries& series,
                                                          std::int64_t first_at) {
  const Hash128 identity = telemetry::series_identity(series);
  const Hash128 of_group = group_identity(series);
  const std::uint32_t* const found = group_by_identity_.find(of_group);
  std::uint32_t group = 0;
  if (found != nullptr) {
    group = *found;
    describe(groups_[group], series, first_at);
  } else {
    DeviceInfo info{.usage = {.cluster = series.cluster,
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
    group = add_group(of_group, std::move(info), first_at);
  }
  ResolvedSeries known;
  known.kind = SeriesKind::kMember;
  known.index = find_or_add_member(identity, series.quantity, false, group, series.component);
  known.source = source_index(series.source);
  known.scale = scale_index({.scale = series.scale,
                             .least = series.least,
                             .most = series.most,
                             .is_share = is_share(series.quantity),
                             .quantity = series.quantity});
  return known;
}

SampleStream::ResolvedSeries SampleStream::resolve_outcome(telemetry::OutcomeSeries& series,
                                                           std::int64_t first_at) {
  const Hash128 identity = telemetry::series_identity(series);
  const Hash128 of_group = group_identity(series);
  const std::uint32_t* const found = group_by_identity_.find(of_group);
  const std::uint32_t group =
      found != nullptr
          ? *found
          : add_group(of_group,
                      OutcomeInfo{series.cluster, series.workload, series.measure, series.labels},
                      first_at);
  ResolvedSeries known;
  known.kind = SeriesKind::kMember;
  const double unit = static_cast<double>(series.level_unit.value_or(1));
  known.index = find_or_add_member(identity, series.level_unit ? kOutcomeLevel : kOutcomeCounter,
                                   true, group, series.component);
  known.source = source_index(series.source);
  known.scale = scale_index({.scale = static_cast<double>(series.per) / unit, .is_outcome = true});
  return known;
}

std::uint32_t SampleStream::add_group(const Hash128& identity,
                                      std::variant<DeviceInfo, OutcomeInfo> info,
                                      std::int64_t first_at) {
  Group group{.info = std::move(info),
              .identity = identity,
              .members = {},
              .first_at = first_at,
              .changed_at = first_at,
              .unordered_until = now_ms_ + options_.order_wait_ms,
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
  clusters_.insert(cluster_of(groups_[index]));
  return index;
}

std::uint32_t SampleStream::find_or_add_member(const Hash128& identity, Quantity quantity,
                                               bool is_outcome, std::uint32_t group,
                                               const std::string& component) {
  if (const std::uint32_t* const found = member_by_identity_.find(identity)) return *found;
  const bool is_total = is_outcome && quantity != kOutcomeLevel;
  Member member(Accumulator(is_total ? Aggregation::kTotal : aggregation_for(quantity)));
  member.group = group;
  member.quantity = quantity;
  member.is_used = true;
  member.is_component = !component.empty();
  member.identity = identity;
  const auto parsed =
      std::from_chars(component.data(), component.data() + component.size(), member.code);
  if (parsed.ec != std::errc()) member.code = 0;
  if (const std::int64_t* const last = forgotten_.find(identity)) {
    member.accumulator.ignore_until(*last);
    member.committed.accumulator.ignore_until(*last);
    member.forgotten_until = *last;
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

std::uint16_t SampleStream::scale_index(const Scale& scale) {
  const auto at = std::ranges::find(scales_, scale);
  if (at != scales_.end()) return static_cast<std::uint16_t>(at - scales_.begin());
  CHECK(scales_.size() < UINT16_MAX, "scales are those of the metrics that are known");
  scales_.push_back(scale);
  return static_cast<std::uint16_t>(scales_.size() - 1);
}

std::uint16_t SampleStream::source_index(const std::string& source) {
  const auto at = std::ranges::find(sources_, source);
  if (at != sources_.end()) return static_cast<std::uint16_t>(at - sources_.begin());
  // Further sources count as one.
  constexpr std::size_t kSourcesMax = 1'000;
  if (sources_.size() >= kSourcesMax) return kSourcesMax - 1;
  sources_.push_back(source);
  return static_cast<std::uint16_t>(sources_.size() - 1);
}

}  // namespace pennyweight::live
