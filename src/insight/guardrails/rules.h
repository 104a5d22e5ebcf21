// GuardrailRule: what a workload may not be, or what has to happen first, as conditions and
// effects.
//
// Rules are tried in their order on an estimate of one workload. A rule with the effect `allow`
// that applies ends the trial: later rules don't count. All others that apply count together, and
// the strictest decides. What is not known never passes a limit: a workload that is not wholly
// priced meets every condition on cost, and a run whose time nothing limits every condition on its
// cost and its time. Pure: day, time and budgets are given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/date.h"
#include "core/money.h"
#include "ingest/manifests/pod_security.h"
#include "insight/guardrails/estimate.h"
#include "insight/guardrails/rule_context.h"

namespace pennyweight::guardrails {

// All that are stated must hold. Of a list one suffices. Texts are patterns, in which '*' stands
// for any characters; case does not matter.
//
// "One of" its containers, risks or groups suffices for a rule to stop a workload. In exemptions
// and for the effect kAllow it takes all of them: each container that the rule may be about (for
// its image or its risk, or any), each risk that the rule found, each group; and what is not known
// of them is not met.
struct RuleConditions {
  std::vector<std::string> kinds = {};
  std::vector<std::string> namespaces = {};
  std::vector<std::string> names = {};
  std::vector<std::pair<std::string, std::string>> labels = {};  // each of them
  std::vector<std::string> labels_missing = {};                  // one of them is missing or empty
  std::vector<std::pair<std::string, std::string>> annotations = {};  // each of them
  std::vector<std::string> annotations_missing = {};  // one of them is missing or empty
  std::vector<manifests::RiskKind> risks = {};        // one of them, in one of its pods
  std::vector<std::string> images = {};               // of one container
  std::vector<std::string> images_except = {};        // one container's image is none of these
  // One group of pods runs in none of these runtime classes, or states none.
  std::vector<std::string> runtime_classes_except = {};
  // One volume is of none of these storage classes, or of one that is not known.
  std::vector<std::string> storage_classes_except = {};
  // In one of these directions no NetworkPolicy that is known limits the traffic of one group of
  // pods.
  std::vector<manifests::TrafficDirection> unlimited_traffic = {};
  std::vector<std::string> gpu_models = {};  // of one group; a model that is not known fits none
  std::vector<std::string> regions = {};     // of the priced machine
  // One group runs in none of these, or in a region that is not known: for work that may run in
  // some regions only.
  std::vector<std::string> regions_except = {};
  std::vector<std::string> providers = {};
  std::optional<std::uint64_t> gpus_above = {};  // of all replicas, at most as many as may start
  std::optional<Money> per_hour_above = {};
  std::optional<Money> per_run_above = {};
  std::optional<Money> per_month_above = {};       // with autoscalers at their limits
  std::optional<std::uint64_t> run_ms_above = {};  // of one replica; nothing limits it: above
  std::optional<bool> spot = {};
  std::optional<bool> priced = {};           // false: something of it is not priced
  std::vector<WeekHours> hours = {};         // it is now in one of them
  std::vector<WeekHours> hours_except = {};  // it is now in none of them
  // Of a budget that it is charged to more is spent; one that is not measured counts as above, but
  // in exemptions and for the effect kAllow, where it meets nothing (see RuleContext).
  std::optional<std::uint32_t> budget_used_permille_above = {};
  // A run of it, or a month, may cost more than such a budget has left, or nobody knows.
  std::optional<bool> exceeds_budget = {};
  bool operator==(const RuleConditions&) const = default;
};

// kMutate stops nothing: it adds what its change says, where the workload does not state it.
enum class RuleEffect { kAllow, kWarn, kRequireApproval, kDeny, kMutate };
// How far a rule goes: audit only records, warn only warns, enforce does what it says.
enum class RuleMode { kAudit, kWarn, kEnforce };

// What a rule with the effect kMutate adds. What the workload states itself is left as it is.
struct WorkloadChange {
  std::vector<std::pair<std::string, std::string>> labels = {};  // that are missing or empty
  std::optional<std::uint64_t> run_ms = {};  // the time limit of a run that has none; whole seconds
  std::string priority_class = {};
  std::vector<std::string> tolerations = {};  // keys of taints, whatever their value
  bool operator==(const WorkloadChange&) const = default;
};

struct RuleExemption {
  RuleConditions when = {};
  std::string reason = {};
  Date until = {};  // inclusive
  bool operator==(const RuleExemption&) const = default;
};

struct GuardrailRule {
  std::string name = {};
  RuleMode mode = RuleMode::kEnforce;
  RuleEffect effect = RuleEffect::kDeny;
  RuleConditions when = {};
  std::string reason = {};   // why the rule is there
  std::string way_out = {};  // what to do instead; may be empty
  std::vector<RuleExemption> exemptions = {};
  WorkloadChange change = {};  // of the effect kMutate
  bool operator==(const GuardrailRule&) const = default;
};

// What of new pods, beyond what they hold, some rule asks for.
struct LooksAtPods {
  bool images = false;
  bool isolation = false;  // runtime and storage classes, network policies
  std::vector<std::string> annotations = {};
  std::vector<manifests::RiskKind> risks = {};
};
LooksAtPods looks_at_pods(std::span<const GuardrailRule> rules);

// Whether some condition, also of an exemption, asks for the time or for budgets.
bool looks_at_hours(std::span<const GuardrailRule> rules);
bool looks_at_budgets(std::span<const GuardrailRule> rules);
bool changes_workloads(std::span<const GuardrailRule> rules);  // whether some rule does

// What becomes of a workload; a later value is stricter.
enum class Decision { kAllowed, kWarned, kNeedsApproval, kDenied };

struct RuleHit {
  std::string rule;
  RuleEffect effect = RuleEffect::kDeny;
  RuleMode mode = RuleMode::kEnforce;
  std::string because;  // what of the workload met it: "24 GPUs are more than 16"
  std::string reason;   // of the rule
  std::string way_out;
  std::string exempted_for;  // the exemption's reason; empty: it counts
};

struct Verdict {
  Decision decision = Decision::kAllowed;
  std::vector<RuleHit> hits = {};  // in the order of the rules, those that don't count too
};

// "rule 'owner': the label 'team' is missing; who pays must be known; add the label team"
std::string hit_text(const RuleHit& hit);

// What whoever asked is told of a verdict: what stops the workload, in one line, and what does not.
struct VerdictText {
  std::string refusal;
  std::vector<std::string> warnings;
};
VerdictText verdict_text(const Verdict& verdict);

// Judges a workload, and each component of an AppWrapper by its own kind, name and labels too: what
// applies to one of them applies to the whole, but what rules add (kMutate) is added to the whole
// only. REQUIRES: amounts of the rules are in the estimate's currency; see rules_currency().
Verdict judge_workload(const WorkloadEstimate& workload, std::span<const GuardrailRule> rules,
                       Currency currency, const RuleContext& context);

// The changes of the rules that apply, in their order; each is tried on the workload as it is
// given. REQUIRES: as judge_workload().
std::vector<WorkloadChange> changes_of(const WorkloadEstimate& workload,
                                       std::span<const GuardrailRule> rules, Currency currency,
                                       const RuleContext& context);

// Whether a change can limit the time of such a workload: a Job, a CronJob, a Slurm job, a Pod that
// is a run.
bool takes_time_limit(const manifests::WorkloadRequest& request);

// The request as it is after the changes. Tolerations and priorities are no part of a request.
void apply_changes(std::span<const WorkloadChange> changes, manifests::WorkloadRequest& request);

// The currency of the rules' amounts, or nothing where they have none; an Error where they have
// two.
Result<std::optional<Currency>> rules_currency(std::span<const GuardrailRule> rules);

std::string_view to_text(RuleEffect effect);  // "require_approval"
std::string_view to_text(RuleMode mode);      // "audit"
std::string_view to_text(Decision decision);  // "needs_approval"
std::optional<Decision> parse_decision(std::string_view text);
inline constexpr std::string_view kRuleEffectWords[] = {"allow", "warn", "require_approval", "deny",
                                                        "mutate"};
inline constexpr std::string_view kRuleModeWords[] = {"audit", "warn", "enforce"};
inline constexpr std::string_view kDecisionWords[] = {"allowed", "warned", "needs_approval",
                                                      "denied"};

}  // namespace pennyweight::guardrails
