#include "app/alerting/device_conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/gpu/xid.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

// Older than this the newest span of a GPU says nothing about now.
constexpr milliseconds kFresh = std::chrono::minutes(5);
constexpr std::size_t kGpusNamedMax = 8;
constexpr milliseconds kNodeForgotten = std::chrono::hours(24);
// https://docs.nvidia.com/deploy/xid-errors/: what a program that has no memory left leaves behind.
constexpr std::uint64_t kOutOfMemoryXids[] = {13, 31};

Instant span_end(const Usage& usage) { return usage.at + milliseconds(usage.span_ms); }

// The GPUs of one node about which the same is to be said, each with its figure.
struct NodeFinding {
  std::set<std::string> gpus;
  std::uint64_t most = 0;
};
using NodeKey = std::pair<ClusterId, NodeId>;
using NodeFindings = std::map<NodeKey, NodeFinding>;

void add_finding(NodeFindings& findings, const Usage& usage, std::uint64_t figure) {
  NodeFinding& finding = findings[{usage.cluster, usage.node}];
  finding.gpus.insert(usage.gpu.text());
  finding.most = std::max(finding.most, figure);
}

std::string gpus_named(const NodeFinding& finding) {
  std::vector<std::string> names(finding.gpus.begin(), finding.gpus.end());
  const std::size_t count = names.size();
  if (count > kGpusNamedMax) names.resize(kGpusNamedMax);
  std::string text = fmt::format("{} ({}", counted(count, "GPU"), fmt::join(names, ", "));
  if (count > kGpusNamedMax) text += fmt::format(" and {} more", count - kGpusNamedMax);
  return text + ")";
}

std::string node_name(const NodeKey& node) {
  return fmt::format("{}/{}", node.first.text(), node.second.text());
}

AlertCondition node_condition(std::string rule, const NodeKey& node, AlertSeverity severity,
                              std::string summary) {
  return {.rule = std::move(rule),
          .scope = node_name(node),
          .subject = node_name(node),
          .severity = severity,
          .summary = std::move(summary)};
}

// The newest fresh span of each GPU, or its newest reading. A row of a MIG instance counts for its
// GPU.
enum class Newest { kSpan, kReading };
std::vector<const Usage*> newest_of_gpus(std::span<const Usage> usages, Instant now, Newest which) {
  std::map<std::tuple<ClusterId, GpuId>, std::vector<const Usage*>> by_gpu;
  for (const Usage& usage : usages) {
    if ((usage.span_ms == 0) != (which == Newest::kReading)) continue;
    if (span_end(usage) + kFresh < now || usage.at > now) continue;
    auto& kept = by_gpu[{usage.cluster, usage.gpu}];
    if (!kept.empty() && span_end(*kept.front()) < span_end(usage)) kept.clear();
    if (kept.empty() || span_end(*kept.front()) == span_end(usage)) kept.push_back(&usage);
  }
  std::vector<const Usage*> newest;
  for (const auto& [gpu, kept] : by_gpu) newest.insert(newest.end(), kept.begin(), kept.end());
  return newest;
}

bool is_memory_full(const Usage& usage, int percent) {
  const auto used =
      usage.memory_used_max_bytes ? usage.memory_used_max_bytes : usage.memory_used_bytes;
  if (!used || !usage.memory_total_bytes || *usage.memory_total_bytes == 0) return false;
  return Int128{*used} * 100 >= Int128{*usage.memory_total_bytes} * percent;
}

void add_heat_and_throttling(std::span<const Usage> usages, Instant now,
                             const AlertThresholds& thresholds, std::vector<AlertCondition>& out) {
  NodeFindings hot;
  NodeFindings throttled;
  const auto add_hot = [&](const Usage& usage) {
    if (usage.temperature_celsius.value_or(0) <= thresholds.temperature) return;
    add_finding(hot, usage, *usage.temperature_celsius);
  };
  std::set<std::pair<ClusterId, GpuId>> read;
  for (const Usage* usage : newest_of_gpus(usages, now, Newest::kReading)) {
    if (usage->temperature_celsius) read.emplace(usage->cluster, usage->gpu);
    add_hot(*usage);
  }
  for (const Usage* usage : newest_of_gpus(usages, now, Newest::kSpan)) {
    if (!read.contains({usage->cluster, usage->gpu})) add_hot(*usage);
    if (usage->throttled_ms && usage->span_ms > 0) {
      const std::uint64_t percent = *usage->throttled_ms * 100 / usage->span_ms;
      if (percent >= thresholds.throttled_percent) add_finding(throttled, *usage, percent);
    }
  }
  for (const auto& [node, finding] : hot) {
    out.push_back(node_condition(
        "gpu_hot", node, AlertSeverity::kCritical,
        fmt::format("{} of node {} up to {} °C hot, more than {}: check the cooling, or move the "
                    "work away",
                    gpus_named(finding), node_name(node), finding.most, thresholds.temperature)));
  }
  for (const auto& [node, finding] : throttled) {
    AlertCondition condition = node_condition(
        "gpu_throttled", node, AlertSeverity::kWarning,
        fmt::format("{} of node {} slowed down for up to {} % of the time by heat or power limits",
                    gpus_named(finding), node_name(node), finding.most));
    condition.wait = milliseconds(thresholds.throttled_for_ms);
    // The heat is the cause, and its alert the graver one.
    condition.is_inhibited = hot.contains(node);
    out.push_back(std::move(condition));
  }
}

void add_errors(std::span<const Usage> usages, Instant now, const AlertThresholds& thresholds,
                std::vector<AlertCondition>& out) {
  std::map<std::pair<NodeKey, std::uint64_t>, NodeFinding> fatal;
  NodeFindings full;
  NodeFindings ecc;
  for (const Usage& usage : usages) {
    const milliseconds errors_for(thresholds.errors_for_ms);
    if (span_end(usage) + errors_for < now || usage.at > now) continue;
    if (usage.ecc_errors.value_or(0) > 0) add_finding(ecc, usage, *usage.ecc_errors);
    if (usage.xid_errors.value_or(0) == 0 || !usage.last_xid) continue;
    const std::uint64_t code = *usage.last_xid;
    const auto meaning = xid_meaning(code);
    if (meaning && meaning->is_fatal) {
      fatal[{{usage.cluster, usage.node}, code}].gpus.insert(usage.gpu.text());
    }
    const bool may_be_memory =
        std::ranges::find(kOutOfMemoryXids, code) != std::end(kOutOfMemoryXids);
    if (may_be_memory && is_memory_full(usage, thresholds.memory_percent)) {
      add_finding(full, usage, code);
    }
  }
  for (const auto& [key, finding] : fatal) {
    const auto& [node, code] = key;
    const auto meaning = xid_meaning(code);
    AlertCondition condition = node_condition(
        "gpu_xid", node, AlertSeverity::kCritical,
        fmt::format("XID {} on {} of node {}: {}{}", code, gpus_named(finding), node_name(node),
                    meaning->description, meaning->action.empty() ? "" : "; " + meaning->action));
    condition.scope = fmt::format("{}: XID {}", node_name(node), code);
    out.push_back(std::move(condition));
  }
  for (const auto& [node, finding] : full) {
    out.push_back(node_condition(
        "gpu_out_of_memory", node, AlertSeverity::kCritical,
        fmt::format("{} of node {} ended with XID {} while the memory was full: the work needs "
                    "more memory, or a smaller batch",
                    gpus_named(finding), node_name(node), finding.most)));
  }
  for (const auto& [node, finding] : ecc) {
    const bool has_xid =
        std::ranges::any_of(fatal, [&](const auto& one) { return one.first.first == node; });
    AlertCondition condition = node_condition(
        "gpu_ecc", node, AlertSeverity::kCritical,
        fmt::format("Uncorrected memory errors on {} of node {}: drain the node and reset the GPU; "
                    "replace it if they come again",
                    gpus_named(finding), node_name(node)));
    condition.is_inhibited = has_xid;
    out.push_back(std::move(condition));
  }
}

}  // namespace

milliseconds device_window(const AlertThresholds& thresholds) {
  return std::max(milliseconds(thresholds.errors_for_ms), kFresh);
}

std::vector<AlertCondition> device_conditions(std::span<const Usage> usages, Instant now,
                                              const AlertThresholds& thresholds) {
  std::vector<AlertCondition> out;
  add_heat_and_throttling(usages, now, thresholds, out);
  add_errors(usages, now, thresholds, out);
  return out;
}

void keep_telling(std::vector<Usage>& usages, Instant now) {
  std::set<const Usage*> newest;
  for (const Usage* usage : newest_of_gpus(usages, now, Newest::kSpan)) newest.insert(usage);
  std::vector<Usage> kept;
  for (Usage& usage : usages) {
    const bool has_errors = usage.xid_errors.value_or(0) > 0 || usage.ecc_errors.value_or(0) > 0;
    if (has_errors || newest.contains(&usage)) kept.push_back(std::move(usage));
  }
  usages = std::move(kept);
}

void note_telemetry(std::span<const Usage> usages, LastTelemetry& last) {
  const auto note = [](auto& times, const auto& key, Instant end) {
    const auto [place, is_new] = times.try_emplace(key, end);
    if (!is_new) place->second = std::max(place->second, end);
  };
  for (const Usage& usage : usages) {
    note(last.clusters, usage.cluster, span_end(usage));
    if (!usage.node.empty())
      note(last.nodes, std::pair(usage.cluster, usage.node), span_end(usage));
  }
}

void forget_nodes(LastTelemetry& last, Instant now) {
  std::erase_if(last.nodes, [&](const auto& one) { return now - one.second > kNodeForgotten; });
}

std::vector<AlertCondition> silence_conditions(
    const LastTelemetry& last, Instant now, const AlertThresholds& thresholds,
    const std::function<bool(const ClusterId&, const NodeId&)>& is_held) {
  std::vector<AlertCondition> out;
  const milliseconds silent_for(thresholds.silent_for_ms);
  std::set<ClusterId> silent;
  for (const auto& [cluster, at] : last.clusters) {
    if (now - at < silent_for) continue;
    silent.insert(cluster);
    out.push_back({.rule = "telemetry_missing",
                   .scope = cluster.text(),
                   .subject = cluster.text(),
                   .severity = AlertSeverity::kCritical,
                   .summary = fmt::format("No telemetry of cluster {} since {}: what runs there is "
                                          "counted as not observed; check what sends it",
                                          cluster.text(), to_text(at))});
  }
  for (const auto& [node, at] : last.nodes) {
    if (now - at < silent_for || !is_held || !is_held(node.first, node.second)) continue;
    AlertCondition condition = node_condition(
        "node_missing", node, AlertSeverity::kCritical,
        fmt::format("No telemetry of node {} since {}, while work holds its GPUs: is it down?",
                    node_name(node), to_text(at)));
    condition.is_inhibited = silent.contains(node.first);
    out.push_back(std::move(condition));
  }
  return out;
}

void inhibit_on_missing_nodes(std::vector<AlertCondition>& conditions) {
  std::set<std::string> missing;
  for (const AlertCondition& one : conditions) {
    if (one.rule == "node_missing") missing.insert(one.subject);
  }
  for (AlertCondition& one : conditions) {
    const bool is_of_device = one.rule.starts_with("gpu_") && one.rule != "gpu_xid";
    if (is_of_device && missing.contains(one.subject)) one.is_inhibited = true;
  }
}

}  // namespace pennyweight
