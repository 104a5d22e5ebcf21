#include "app/alerting/serving_conditions.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <utility>

namespace pennyweight {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLooks{10'000};

// "850 ms", "2.4 s", "120 s".
std::string latency_text(std::uint64_t ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 100'000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  return fmt::format("{} s", ms / 1000);
}

}  // namespace

live::LatencyRule latency_rule(const AlertThresholds& thresholds) {
  return {.window = milliseconds(thresholds.latency_window_ms),
          .times = thresholds.latency_times,
          .requests = thresholds.latency_requests};
}

std::vector<AlertCondition> oom_conditions(const OomKills& kills, Instant now,
                                           const AlertThresholds& thresholds,
                                           const OwnerLookup& owner) {
  // One alert for each pod, whichever of its containers it was.
  std::map<std::pair<ClusterId, WorkloadId>, const OomKill*> newest;
  for (const OomKill& one : kills.kills) {
    if (one.at + milliseconds(thresholds.errors_for_ms) < now) continue;
    const OomKill*& known = newest[{one.cluster, one.workload}];
    if (known == nullptr || known->at < one.at) known = &one;
  }
  std::vector<AlertCondition> out;
  for (const auto& [key, kill] : newest) {
    const std::string subject = kill->cluster.text() + "/" + kill->workload.text();
    out.push_back(
        {.rule = "pod_oom_killed",
         .scope = subject,
         .subject = subject,
         .severity = AlertSeverity::kCritical,
         .owner = owner(kill->cluster, kill->workload),
         .summary = fmt::format(
             "Container {} of pod {} of cluster {}, which holds GPUs, was killed at {} since it "
             "used more memory than its limit (OOMKilled): raise the limit, or let it load less",
             kill->container, kill->workload.text(), kill->cluster.text(), to_text(kill->at))});
  }
  return out;
}

bool is_oom_unknown(const OomKills& kills, const ClusterId& cluster, Instant now,
                    const AlertThresholds& thresholds) {
  return !kills.heard.contains(cluster) &&
         now < kills.since + milliseconds(thresholds.errors_for_ms);
}

std::vector<AlertCondition> latency_conditions(const std::vector<live::LatencyReading>& services,
                                               const AlertThresholds& thresholds,
                                               const OwnerLookup& owner) {
  std::vector<AlertCondition> out;
  for (const live::LatencyReading& one : services) {
    if (!one.is_slow) continue;
    const std::string subject = one.cluster.text() + "/" + one.service;
    out.push_back(
        {.rule = "latency_high",
         .scope = subject,
         .subject = subject,
         .severity = AlertSeverity::kCritical,
         .owner = owner(one.cluster, one.workload),
         .summary = fmt::format(
             "Requests to {} of cluster {} take {}{} (p95 of {} requests), more than {} times the "
             "usual {} (p95 of {} requests in the last 24 hours)",
             one.service, one.cluster.text(), one.is_at_least ? "more than " : "",
             latency_text(one.p95_ms), one.requests, thresholds.latency_times,
             latency_text(one.usual_p95_ms), one.usual_requests),
         // Buckets of one scrape arrive one after another: what is there at one look only is none.
         .wait = kLooks});
  }
  return out;
}

}  // namespace pennyweight
