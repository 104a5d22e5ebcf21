#include "insight/guardrails/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocation/pricing/rate_card.h"
#include "core/card_share.h"
#include "core/int128.h"
#include "core/plain_text.h"
#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

bool fits_any(const std::vector<std::string>& patterns, std::string_view text) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return fits_pattern(pattern, text);
         });
}

std::string amount_and_code(Money amount) {
  return fmt::format("{} {}", format_minor(amount), amount.currency().text());
}

// The figures of a workload that rules ask for.
struct JudgedWorkload {
  const WorkloadEstimate& workload;
  EstimateTotals totals;
  std::uint64_t gpus = 0;
  bool knows_gpus = true;               // false: it may ask for more than that
  std::optional<std::uint64_t> run_ms;  // of the longest replica; absent: not limited
  bool is_priced = true;
  bool is_run = false;
};

// The GPUs of the machines that a group takes as a whole.
std::uint64_t machine_gpus(const GroupEstimate& group) {
  const UInt128 units = std::max(group.gpu_units, group.gpu_units_max);
  return static_cast<std::uint64_t>((units + CardShare::kUnitsPerCard - 1) /
                                    CardShare::kUnitsPerCard);
}

JudgedWorkload measure_workload(const WorkloadEstimate& workload, Currency currency) {
  JudgedWorkload judged{.workload = workload,
                        .totals = totals_of(workload, currency),
                        .gpus = 0,
                        .knows_gpus = true,
                        .run_ms = 0,
                        .is_priced = true,
                        .is_run = workload.workload.lifetime != manifests::Lifetime::kService};
  judged.is_priced = judged.totals.not_priced == 0;
  for (const GroupEstimate& group : workload.groups) {
    const std::uint64_t replicas = group.group.replicas_max.value_or(group.group.replicas);
    std::uint64_t gpus = 0;
    for (const RequestedDevice& device : group.group.gpus) gpus += replicas * device.count;
    if (group.group.takes_whole_machines) gpus = std::max(gpus, machine_gpus(group));
    judged.gpus += gpus;
    // A claim that can't be read, or a whole machine of an unknown kind, may hold any number.
    const bool is_unknown_machine = group.group.takes_whole_machines && !group.problem.empty();
    if (!group.group.problem.empty() || is_unknown_machine) judged.knows_gpus = false;
    const auto& all_ms = group.group.replica_ms_max;
    if (!all_ms) {
      judged.run_ms.reset();
    } else if (judged.run_ms && group.group.replicas > 0) {
      judged.run_ms = std::max(*judged.run_ms, *all_ms / group.group.replicas);
    }
  }
  return judged;
}

class ConditionCheck {
 public:
  explicit ConditionCheck(const JudgedWorkload& judged) : judged_(judged) {}

  // Whether all conditions hold; because() then says what met them.
  bool holds(const RuleConditions& when) {
    const manifests::WorkloadRequest& request = judged_.workload.workload;
    if (!fits_any(when.kinds, request.kind) || !fits_any(when.namespaces, request.name_space) ||
        !fits_any(when.names, request.name)) {
      return false;
    }
    for (const auto& [key, pattern] : when.labels) {
      const auto label = request.labels.find(key);
      if (label == request.labels.end() || !fits_pattern(pattern, label->second)) return false;
    }
    return misses_label(when) && has_machines(when) && leaves_regions(when) && is_above(when) &&
           is_priced_as(when);
  }
  const std::string& because() const { return because_; }

 private:
  void add(std::string_view text) {
    if (!because_.empty()) because_ += "; ";
    because_ += text;
  }

  bool misses_label(const RuleConditions& when) {
    if (when.labels_missing.empty()) return true;
    const auto& labels = judged_.workload.workload.labels;
    for (const std::string& key : when.labels_missing) {
      const auto label = labels.find(key);
      if (label != labels.end() && !label->second.empty()) continue;
      add(fmt::format("the label '{}' is missing", key));
      return true;
    }
    return false;
  }

  bool has_machines(const RuleConditions& when) {
    const bool asks = !when.gpu_models.empty() || !when.regions.empty() ||
                      !when.providers.empty() || when.spot.has_value();
    if (!asks) return true;
    for (const GroupEstimate& group : judged_.workload.groups) {
      if (!group.machine) continue;
      const PricedMachine& machine = *group.machine;
      if (!when.gpu_models.empty() && machine.gpu_model.empty()) continue;
      if (!fits_any(when.gpu_models, machine.gpu_model) ||
          !fits_any(when.regions, machine.region) || !fits_any(when.providers, machine.provider)) {
        continue;
      }
      if (when.spot && *when.spot != (machine.option == PurchaseOption::kSpot)) continue;
      add(fmt::format("it runs on {} {}{}{}", machine.provider, machine.instance_type,
                      machine.region.empty() ? "" : " in ", machine.region));
      return true;
    }
    return false;
  }

  bool leaves_regions(const RuleConditions& when) {
    if (when.regions_except.empty()) return true;
    for (const GroupEstimate& group : judged_.workload.groups) {
      const std::string region = group.machine ? group.machine->region : group.group.place.region;
      if (!region.empty() && fits_any(when.regions_except, region)) continue;
      add(region.empty() ? "the files do not decide its region"
                         : fmt::format("it runs in {}", region));
      return true;
    }
    return false;
  }

  bool is_amount_above(std::string_view what, Money amount, const std::optional<Money>& limit,
                       bool is_limited) {
    if (!limit) return true;
    if (!judged_.is_priced) {
      add(fmt::format("its cost is not known, and {} is the limit", amount_and_code(*limit)));
      return true;
    }
    if (!is_limited) {
      add(fmt::format("nothing limits its time, and a run may cost {}", amount_and_code(*limit)));
      return true;
    }
    if (amount.ticks() <= limit->ticks()) return false;
    add(fmt::format("{} {} is more than {}", amount_and_code(amount), what,
                    amount_and_code(*limit)));
    return true;
  }

  bool is_above(const RuleConditions& when) {
    if (when.gpus_above) {
      if (judged_.gpus > *when.gpus_above) {
        add(fmt::format("{} GPUs are more than {}", judged_.gpus, *when.gpus_above));
      } else if (judged_.knows_gpus) {
        return false;
      } else {
        add(fmt::format("how many GPUs it asks for is not known, and {} is the limit",
                        *when.gpus_above));
      }
    }
    if (when.run_ms_above || when.per_run_above) {
      if (!judged_.is_run) return false;
    }
    if (when.run_ms_above) {
      if (judged_.run_ms && *judged_.run_ms <= *when.run_ms_above) return false;
      add(judged_.run_ms ? fmt::format("it may run for {} minutes", *judged_.run_ms / 60'000)
                         : "nothing limits its time");
    }
    const EstimateTotals& totals = judged_.totals;
    return is_amount_above("an hour", totals.per_hour, when.per_hour_above, true) &&
           is_amount_above("a run", totals.per_run_max, when.per_run_above,
                           totals.without_length == 0) &&
           is_amount_above("a month", totals.per_month_max, when.per_month_above, true);
  }

  bool is_priced_as(const RuleConditions& when) {
    if (!when.priced) return true;
    if (*when.priced != judged_.is_priced) return false;
    if (!judged_.is_priced) add("something of it can't be priced");
    return true;
  }

  const JudgedWorkload& judged_;
  std::string because_;
};

Decision decision_of(const RuleHit& hit) {
  if (!hit.exempted_for.empty() || hit.mode == RuleMode::kAudit) return Decision::kAllowed;
  Decision decision = Decision::kAllowed;
  switch (hit.effect) {
    case RuleEffect::kAllow:
    case RuleEffect::kMutate:
      return Decision::kAllowed;
    case RuleEffect::kWarn:
      decision = Decision::kWarned;
      break;
    case RuleEffect::kRequireApproval:
      decision = Decision::kNeedsApproval;
      break;
    case RuleEffect::kDeny:
      decision = Decision::kDenied;
      break;
  }
  return hit.mode == RuleMode::kWarn ? std::min(decision, Decision::kWarned) : decision;
}

// The reason of the exemption that holds today; empty where none does.
std::string exemption_reason(const GuardrailRule& rule, const JudgedWorkload& judged, Date today) {
  for (const RuleExemption& exemption : rule.exemptions) {
    if (today > exemption.until || !ConditionCheck(judged).holds(exemption.when)) continue;
    return fmt::format("{} (until {})", exemption.reason, pennyweight::to_text(exemption.until));
  }
  return "";
}

template <class Action>
void for_each_amount(const RuleConditions& when, const Action& action) {
  for (const auto* amount : {&when.per_hour_above, &when.per_run_above, &when.per_month_above}) {
    if (*amount) action(**amount);
  }
}

}  // namespace

Verdict judge_workload(const WorkloadEstimate& workload, std::span<const GuardrailRule> rules,
                       Currency currency, Date today) {
  Verdict verdict;
  const JudgedWorkload judged = measure_workload(workload, currency);
  for (const GuardrailRule& rule : rules) {
    ConditionCheck check(judged);
    if (!check.holds(rule.when)) continue;
    RuleHit hit{.rule = rule.name,
                .effect = rule.effect,
                .mode = rule.mode,
                .because = printable_text(check.because(), 1000),
                .reason = rule.reason,
                .way_out = rule.way_out,
                .exempted_for = exemption_reason(rule, judged, today)};
    const bool ends = rule.effect == RuleEffect::kAllow && rule.mode == RuleMode::kEnforce &&
                      hit.exempted_for.empty();
    verdict.decision = std::max(verdict.decision, decision_of(hit));
    verdict.hits.push_back(std::move(hit));
    if (ends) break;
  }
  return verdict;
}

std::vector<WorkloadChange> changes_of(const WorkloadEstimate& workload,
                                       std::span<const GuardrailRule> rules, Currency currency,
                                       Date today) {
  std::vector<WorkloadChange> changes;
  const bool has_any = std::ranges::any_of(
      rules, [](const GuardrailRule& rule) { return rule.effect == RuleEffect::kMutate; });
  if (!has_any) return changes;
  for (const RuleHit& hit : judge_workload(workload, rules, currency, today).hits) {
    const bool counts = hit.effect == RuleEffect::kMutate && hit.mode == RuleMode::kEnforce &&
                        hit.exempted_for.empty();
    if (!counts) continue;
    changes.push_back(std::ranges::find(rules, hit.rule, &GuardrailRule::name)->change);
  }
  return changes;
}

void apply_changes(std::span<const WorkloadChange> changes, manifests::WorkloadRequest& request) {
  for (const WorkloadChange& change : changes) {
    for (const auto& [key, value] : change.labels) {
      std::string& label = request.labels[key];
      if (label.empty()) label = value;
    }
    if (!change.run_ms || !takes_time_limit(request)) continue;
    for (manifests::ReplicaGroup& group : request.groups) {
      if (!group.replica_ms_max) group.replica_ms_max = *change.run_ms * group.replicas;
    }
  }
}

bool takes_time_limit(const manifests::WorkloadRequest& request) {
  if (request.kind == "Slurm job") return true;
  // Volcano has Jobs too, and they have no such field.
  if (request.kind == "Job" || request.kind == "CronJob") return request.api_group == "batch";
  return request.kind == "Pod" && request.lifetime == manifests::Lifetime::kRun;
}

std::string hit_text(const RuleHit& hit) {
  std::string text = fmt::format("rule '{}'", hit.rule);
  if (!hit.because.empty()) text += ": " + hit.because;
  for (const std::string* more : {&hit.reason, &hit.way_out}) {
    if (!more->empty()) text += "; " + *more;
  }
  return text;
}

VerdictText verdict_text(const Verdict& verdict) {
  VerdictText text;
  for (const RuleHit& hit : verdict.hits) {
    const bool counts = hit.exempted_for.empty() && hit.mode != RuleMode::kAudit;
    if (!counts || hit.effect == RuleEffect::kAllow || hit.effect == RuleEffect::kMutate) continue;
    const bool stops = hit.effect != RuleEffect::kWarn && hit.mode == RuleMode::kEnforce;
    if (!stops) {
      text.warnings.push_back(hit_text(hit));
      continue;
    }
    if (!text.refusal.empty()) text.refusal += " | ";
    text.refusal += hit_text(hit);
    if (hit.effect == RuleEffect::kRequireApproval) text.refusal += "; it needs an approval";
  }
  return text;
}

Result<std::optional<Currency>> rules_currency(std::span<const GuardrailRule> rules) {
  std::optional<Currency> currency;
  std::optional<Currency> other;
  const auto add = [&](Money amount) {
    if (!currency) currency = amount.currency();
    if (*currency != amount.currency()) other = amount.currency();
  };
  for (const GuardrailRule& rule : rules) {
    for_each_amount(rule.when, add);
    for (const RuleExemption& exemption : rule.exemptions) for_each_amount(exemption.when, add);
  }
  if (!other) return currency;
  return fail(ErrorCode::kConfig, fmt::format("guardrails have amounts in {} and {}; state them in "
                                              "one currency",
                                              currency->text(), other->text()));
}

std::string_view to_text(RuleEffect effect) {
  return kRuleEffectWords[static_cast<std::size_t>(effect)];
}
std::string_view to_text(RuleMode mode) { return kRuleModeWords[static_cast<std::size_t>(mode)]; }
std::string_view to_text(Decision decision) {
  return kDecisionWords[static_cast<std::size_t>(decision)];
}

std::optional<Decision> parse_decision(std::string_view text) {
  const auto* const at = std::ranges::find(kDecisionWords, text);
  if (at == std::end(kDecisionWords)) return std::nullopt;
  return static_cast<Decision>(at - std::begin(kDecisionWords));
}

}  // namespace pennyweight::guardrails
