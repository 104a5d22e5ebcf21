#include "app/alerting/limit_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "app/alerting/delivery.h"
#include "config/guardrail_config.h"
#include "core/plain_text.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::size_t kStopsNamed = 8;
constexpr std::size_t kStopNameMax = 200;

// "3 workloads with 24 GPUs: lab/1001, lab/1002 and 1 other"
std::string named_stops(const LimitStops& stops, const std::string& limit, StopStage stage) {
  std::vector<std::string> names;
  std::uint64_t count = 0;
  std::uint64_t gpu_milli = 0;
  for (const LimitStop& stop : stops.stops) {
    if (stop.limit != limit || stop.stage != stage) continue;
    ++count;
    gpu_milli += stop.gpu_milli;
    if (names.size() >= kStopsNamed) continue;
    names.push_back(
        printable_text(fmt::format("{}/{}", stop.cluster, stop.workload), kStopNameMax));
  }
  if (count == 0) return "";
  std::string text =
      fmt::format("{} with {} {}: {}", counted(count, "workload"), gpus_text(gpu_milli),
                  gpu_milli == 1000 ? "GPU" : "GPUs", fmt::join(names, ", "));
  if (count > names.size()) text += fmt::format(" and {} more", count - names.size());
  return text;
}

}  // namespace

std::vector<AlertCondition> limit_conditions(const guardrails::StopState& state,
                                             const LimitStops& stops, const Config& config,
                                             Instant now) {
  std::vector<AlertCondition> conditions;
  for (const guardrails::UsageLimit& limit : config.guardrails->limits) {
    const auto at = state.notices.find(limit.name);
    if (at == state.notices.end() || !limit.stop_running) continue;
    const guardrails::StopNotice& notice = at->second;
    if (!notice.is_of_month(now)) continue;
    const auto add = [&](std::string_view rule, std::string summary, bool is_repeated) {
      conditions.push_back({.rule = std::string(rule),
                            .scope = notice.scope(),
                            .subject = limit.name,
                            .severity = AlertSeverity::kCritical,
                            .owner = limit.selected(),
                            .summary = std::move(summary),
                            .keep = std::chrono::milliseconds(0),
                            .is_repeated = is_repeated});
    };
    const Instant from = notice.since + std::chrono::milliseconds(limit.stop_running->grace_ms);
    std::string announced = named_stops(stops, limit.name, StopStage::kAnnounced);
    const std::string due = named_stops(stops, limit.name, StopStage::kDue);
    if (announced.empty()) announced = due.empty() ? "nothing that is known runs now" : due;
    add(guardrails::kStopNoticeRule,
        fmt::format("Limit {}: {}, so what runs of {} {} is to be stopped, not before {}: {}. End "
                    "it in order before, or have the limit raised",
                    limit.name, notice.because, limit.dimension,
                    printable_text(limit.selected(), kStopNameMax), pennyweight::to_text(from),
                    announced),
        false);
    if (due.empty()) continue;
    add("limit_stop_due",
        fmt::format("Limit {}: {}, and the grace is over: {} may be stopped; 'pennyweight guard "
                    "stops --due' lists them",
                    limit.name, notice.because, due),
        true);
  }
  return conditions;
}

bool keeps_deliveries(std::string_view rule) { return rule == guardrails::kStopNoticeRule; }

std::map<std::string, Instant> told_stop_notices(const AlertsNow& now, const AlertConfig& config) {
  std::map<std::string, Instant> told;
  for (const Alert& alert : now.alerts) {
    if (alert.condition.rule != guardrails::kStopNoticeRule) continue;
    std::optional<Instant> first;
    for (const ReceiverConfig& receiver : config.receivers) {
      const bool waits =
          receiver.digest != DigestPeriod::kNone || receiver.after_ms > 0 || receiver.is_in_hours;
      if (waits || !hears_of(receiver, alert.condition)) continue;
      const auto at = alert.delivered.find(receiver.name);
      if (at != alert.delivered.end()) first = first ? std::min(*first, at->second) : at->second;
    }
    if (first) told.emplace(alert.condition.scope, *first);
  }
  return told;
}

}  // namespace pennyweight
