// UsageLimit: how much a team or a client may use: money and GPU-hours a month, and GPUs at once.
//
// A hard limit of money or GPU-hours stops new work, and not what runs, save with StopTerms
// (stop_notice.h) and by GrpTRESMins of Slurm.
// GPUs at once are left to those who place work: Kueue, Volcano, Slurm, … (limit_export.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/guardrails/estimate.h"
#include "insight/guardrails/rules.h"

namespace pennyweight::guardrails {

// GPUs of one model that may run at once.
struct GpuQuota {
  std::string model;  // "H100-SXM5-80GB"
  std::uint64_t count = 0;
  std::uint64_t borrowed_max = 0;  // beyond it, of what others in the cohort leave idle
  bool operator==(const GpuQuota&) const = default;
};

// The alert that tells an owner of it.
inline constexpr std::string_view kStopNoticeRule = "limit_stop_notice";

// Work that a limit never stops while it runs: all that is stated must hold.
struct StopExemption {
  std::string workload = {};                       // a pattern of its name; empty: any
  std::map<std::string, std::string> labels = {};  // patterns of labels or dimensions
  std::string reason = {};
  Date until = {};  // the last day
  bool operator==(const StopExemption&) const = default;
};

// That work which runs is to be stopped once a hard limit is used up, and how long before that its
// owner is told.
struct StopTerms {
  std::uint64_t grace_ms = 0;
  std::vector<StopExemption> exemptions = {};
  bool operator==(const StopTerms&) const = default;
};

struct UsageLimit {
  std::string name = {};  // also of queues: small letters, digits and '-'
  std::string dimension = "team";
  std::string value = {};               // empty: the name
  std::optional<Money> per_month = {};  // in the currency of the rules
  // A month; in kGpuHourUnit, as budgets have it.
  std::optional<Money> gpu_hours = {};
  std::vector<GpuQuota> gpus = {};
  bool is_hard = true;
  std::vector<std::string> namespaces = {};  // where their work is, in Kubernetes
  std::string cohort = {};                   // those who lend each other what is idle
  std::string slurm_account = {};
  std::string slurm_qos = {};
  std::optional<StopTerms> stop_running = {};  // nothing: what runs is never stopped
  bool operator==(const UsageLimit&) const = default;

  const std::string& selected() const { return value.empty() ? name : value; }
};

// How much of a limit is used in the month of today.
struct LimitUse {
  UsageLimit limit;
  std::optional<Money> spent = {};      // of per_month; absent: not measured
  std::optional<Money> gpu_hours = {};  // of gpu_hours
  std::string problem = {};             // why something is not measured
  bool operator==(const LimitUse&) const = default;

  bool is_exhausted() const;
  // "exhausted", "unknown" (it could not be measured), "near" (80 % and more), "within".
  std::string_view state() const;
};

// Whether a workload is of the limit's scope: by the dimensions of the policy, as the ledger counts
// what is used. Where those are not known before it runs, or the policy is null: by its label or
// its namespace.
bool is_limited_by(const UsageLimit& limit, const manifests::WorkloadRequest& workload,
                   const Policy* policy);

// What limits say of new work; "limit nlp" stands where a rule's name does. A hard limit that is
// exhausted, or that the work may exceed this month, denies; so does a hard one that could not be
// measured. A soft one warns. `left_ms`: what is left of the month. `policy`: see is_limited_by().
std::vector<RuleHit> limit_hits(const WorkloadEstimate& workload, std::span<const LimitUse> uses,
                                Currency currency, std::uint64_t left_ms, const Policy* policy);

// Adds hits to a verdict that has been reached by the rules.
void add_hits(std::vector<RuleHit> hits, Verdict& verdict);

}  // namespace pennyweight::guardrails
