#include "insight/queries/limit_stops.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "allocation/pricing/rate_card.h"
#include "config/guardrail_config.h"
#include "core/ascii.h"
#include "core/billing_period.h"
#include "core/plain_text.h"
#include "reporting/minor_unit.h"

namespace pennyweight {
namespace {

using guardrails::StopExemption;
using guardrails::StopNotice;
using guardrails::StopState;
using guardrails::UsageLimit;

constexpr std::size_t kStopTextMax = 300;
// A view that is older says nothing of what runs now.
constexpr std::chrono::minutes kStopViewAgeMax{5};

struct ScaledKind {
  std::string_view kind;
  std::string_view resource;
};
constexpr ScaledKind kScaledKinds[] = {{"Deployment", "deployment"},
                                       {"StatefulSet", "statefulset"},
                                       {"ReplicaSet", "replicaset"},
                                       {"ReplicationController", "replicationcontroller"}};
constexpr ScaledKind kSuspendedKinds[] = {{"Job", "job"}, {"JobSet", "jobset"}};

// Only what a shell takes as it is.
bool is_shell_word(std::string_view text, std::string_view more) {
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [&](char c) {
    return ascii::is_letter_or_digit(c) || more.find(c) != std::string_view::npos;
  });
}

std::string_view label_of(const LiveShare& share, std::string_view name) {
  return share.labels.find(name).value_or("");
}

// A pod comes back unless what made it is told to make no more.
std::string kubernetes_command(const LiveShare& share) {
  const std::string_view name_space = label_of(share, "namespace");
  const std::string_view pod = label_of(share, "pod");
  const std::string_view kind = label_of(share, "owner_kind");
  const std::string_view name = label_of(share, "owner_name");
  if (!is_shell_word(name_space, "-.")) return "";
  if (kind.empty() || kind == "Pod") {
    if (!is_shell_word(pod, "-.")) return "";
    return fmt::format("kubectl delete pod --namespace={} {}", name_space, pod);
  }
  if (!is_shell_word(name, "-.")) return "";
  for (const ScaledKind& one : kScaledKinds) {
    if (kind != one.kind) continue;
    return fmt::format("kubectl scale {} --namespace={} {} --replicas=0", one.resource, name_space,
                       name);
  }
  for (const ScaledKind& one : kSuspendedKinds) {
    if (kind != one.kind) continue;
    return fmt::format("kubectl patch {} --namespace={} {} --type=merge --patch='{}'", one.resource,
                       name_space, name, R"({"spec":{"suspend":true}})");
  }
  return "";
}

std::string command_of(const LiveRow& row, const Config& config) {
  const auto cluster = std::ranges::find(config.clusters, row.cluster, &ClusterConfig::name);
  const ClusterKind kind = cluster == config.clusters.end() ? ClusterKind::kUnknown : cluster->kind;
  const std::string job = row.share().workload.text();
  if (kind == ClusterKind::kSlurm) {
    return is_shell_word(job, "_+.") ? "scancel " + job : "";
  }
  return kind == ClusterKind::kKubernetes ? kubernetes_command(row.share()) : "";
}

// As the ledger charges it; a label only where the policy makes no such dimension.
std::string_view value_of(const LiveShare& share, const std::string& dimension,
                          const Policy& policy) {
  const bool is_dimension = std::ranges::find(policy.dimensions, dimension,
                                              &DimensionRule::dimension) != policy.dimensions.end();
  return (is_dimension ? share.dimensions : share.labels).find(dimension).value_or("");
}

bool is_exempt(const StopExemption& exemption, const LiveRow& row, Date today) {
  if (exemption.until < today) return false;
  const LiveShare& share = row.share();
  if (!exemption.workload.empty() && !fits_pattern(exemption.workload, share.workload.text())) {
    return false;
  }
  return std::ranges::all_of(exemption.labels, [&](const auto& label) {
    const auto& [name, pattern] = label;
    const auto dimension = share.dimensions.find(name);
    const auto value = dimension ? dimension : share.labels.find(name);
    return value && fits_pattern(pattern, *value);
  });
}

// Whether a limit of this notice may stop a workload.
bool is_stopped_by(const UsageLimit& limit, const StopNotice& notice, const LiveRow& row,
                   const Policy& policy) {
  if (row.is_unallocated || !row.runs) return false;
  if (!notice.is_of_money && row.gpu_milli == 0) return false;
  return value_of(row.share(), limit.dimension, policy) == limit.selected();
}

// What one command stops at once: an owner with all its pods, else the workload alone.
std::string unit_of(const LiveRow& row) {
  const LiveShare& share = row.share();
  const std::string_view kind = label_of(share, "owner_kind");
  if (kind.empty() || kind == "Pod") {
    return fmt::format("{}\nworkload\n{}", row.cluster.text(), share.workload.text());
  }
  return fmt::format("{}\nowner\n{}\n{}\n{}", row.cluster.text(), label_of(share, "namespace"),
                     kind, label_of(share, "owner_name"));
}

// Of which row a stop is, and what its command stops.
struct ListedRow {
  const LiveRow* row = nullptr;
  std::string unit;
};

// Leaves a command only where everything that runs and that it stops is due, and no limit exempts
// any of it. `listed`: of each stop, in their order.
void keep_safe_commands(const ViewRows& view, const std::vector<ListedRow>& listed,
                        std::vector<LimitStop>& stops) {
  std::set<const LiveRow*> due;
  std::set<const LiveRow*> exempt;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    if (stops[i].stage == StopStage::kDue) due.insert(listed[i].row);
    if (stops[i].stage == StopStage::kExempt) exempt.insert(listed[i].row);
  }
  std::set<std::string> spared;
  for (const LiveRow& row : view.rows) {
    if (row.is_unallocated || !row.runs) continue;
    if (!due.contains(&row) || exempt.contains(&row)) spared.insert(unit_of(row));
  }
  for (std::size_t i = 0; i < stops.size(); ++i) {
    if (spared.contains(listed[i].unit)) stops[i].command.clear();
  }
}

}  // namespace

LimitStops list_limit_stops(const StopState& state, const ViewRows* view, const Config& config,
                            Instant now) {
  LimitStops out;
  if (state.notices.empty()) return out;
  const auto today = parse_date(local_date(now, config.policy.time_zone));
  const bool is_fresh = view != nullptr && view->view->at <= now + kStopViewAgeMax &&
                        now - view->view->at <= kStopViewAgeMax;
  if (!is_fresh || !today) {
    out.notes.emplace_back("What runs now is not known, so nothing is listed");
    return out;
  }
  std::vector<ListedRow> units;
  for (const UsageLimit& limit : config.guardrails->limits) {
    const auto at = state.notices.find(limit.name);
    if (at == state.notices.end() || !limit.stop_running) continue;
    const StopNotice& notice = at->second;
    // The next look takes it back.
    if (!notice.is_of_month(now)) continue;
    const bool is_over = is_grace_over(notice, *limit.stop_running, state, now);
    const Instant from = stops_from(notice, *limit.stop_running, state, now);
    for (const LiveRow& row : view->rows) {
      const auto cluster = view->view->clusters.find(row.cluster);
      const bool is_watched = cluster != view->view->clusters.end() && cluster->second.is_watched;
      if (!is_watched || !is_stopped_by(limit, notice, row, config.policy)) continue;
      const LiveShare& share = row.share();
      LimitStop stop{.limit = limit.name,
                     .stage = is_over ? StopStage::kDue : StopStage::kAnnounced,
                     .from = from,
                     .cluster = row.cluster.text(),
                     .workload = std::string(share.workload.text()),
                     .gpu_milli = row.gpu_milli,
                     .per_hour = row.hour,
                     .command = is_over ? command_of(row, config) : ""};
      const std::string_view kind = label_of(share, "owner_kind");
      if (!kind.empty()) {
        stop.owner =
            printable_text(fmt::format("{} {}", kind, label_of(share, "owner_name")), kStopTextMax);
      }
      const auto exemption = std::ranges::find_if(
          limit.stop_running->exemptions,
          [&](const StopExemption& one) { return is_exempt(one, row, *today); });
      if (exemption != limit.stop_running->exemptions.end()) {
        stop.stage = StopStage::kExempt;
        stop.exempt_for = exemption->reason;
        stop.command.clear();
      }
      out.stops.push_back(std::move(stop));
      units.push_back({&row, unit_of(row)});
    }
    const std::string told = state.told.contains(notice.scope())
                                 ? "its owner was told"
                                 : "nobody could be told so far, so nothing is due";
    out.notes.push_back(fmt::format("Limit {}: {}, seen since {}; {}{}", limit.name, notice.because,
                                    to_text(notice.since), told,
                                    notice.is_measured ? "" : "; it can't be measured now"));
  }
  keep_safe_commands(*view, units, out.stops);
  std::ranges::sort(out.stops, {}, [](const LimitStop& stop) {
    return std::tie(stop.limit, stop.stage, stop.cluster, stop.workload);
  });
  return out;
}

Table limit_stops_table(const LimitStops& stops) {
  Table table;
  table.title = "Work that limits stop";
  table.columns = {{"limit", "limit", ColumnKind::kText},
                   {"stage", "stage", ColumnKind::kText},
                   {"not_before", "not before", ColumnKind::kText},
                   {"cluster", "cluster", ColumnKind::kText},
                   {"workload", "workload", ColumnKind::kId},
                   {"of", "of", ColumnKind::kText},
                   {"gpus", "GPUs", ColumnKind::kText},
                   {"per_hour", "per hour", ColumnKind::kText},
                   {"command", "command", ColumnKind::kId},
                   {"exempt_for", "exempt for", ColumnKind::kText}};
  for (const LimitStop& stop : stops.stops) {
    const bool is_exempt = stop.stage == StopStage::kExempt;
    table.rows.push_back({stop.limit,
                          std::string(kStopStageWords[static_cast<std::size_t>(stop.stage)]),
                          is_exempt ? Cell() : Cell(to_text(stop.from)), stop.cluster,
                          stop.workload, stop.owner, gpus_text(stop.gpu_milli),
                          stop.per_hour ? Cell(fmt::format("{} {}", format_minor(*stop.per_hour),
                                                           stop.per_hour->currency().text()))
                                        : Cell(),
                          stop.command.empty() ? Cell() : Cell(stop.command),
                          stop.exempt_for.empty() ? Cell() : Cell(stop.exempt_for)});
  }
  table.notes = stops.notes;
  return table;
}

std::string stop_commands(const LimitStops& stops) {
  std::string text = "# Work that is due to be stopped: see 'pennyweight guard stops'.\n";
  std::set<std::string> written;
  for (const LimitStop& stop : stops.stops) {
    if (stop.stage != StopStage::kDue) continue;
    std::string line = fmt::format("{}  # limit {}, cluster {}\n", stop.command, stop.limit,
                                   printable_text(stop.cluster, kStopTextMax));
    if (stop.command.empty()) {
      line = fmt::format("# by hand: {} of cluster {}, limit {}\n",
                         printable_text(stop.workload, kStopTextMax),
                         printable_text(stop.cluster, kStopTextMax), stop.limit);
    }
    if (written.insert(line).second) text += line;
  }
  return text;
}

}  // namespace pennyweight
