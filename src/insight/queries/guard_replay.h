// Replays a month of the ledger against guardrails: who would have been stopped or warned, and the
// money that would not have been spent, or later.
//
// Each workload that has costs in the month is judged by what the ledger knows of it: its kind,
// namespace, name, labels and dimensions, the GPUs that it held, the time it ran, and what it cost.
// What nobody recorded is not judged: a run is tried with the time that it took, as its time limit
// may have been longer, so fewer are found than the rules would have stopped. Costs of the
// decisions add up to what workloads cost in the month, with ==.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/error.h"
#include "core/id.h"
#include "core/money.h"
#include "core/quantity.h"
#include "insight/guardrails/rules.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

struct GuardReplayQuery {
  std::string month;         // "2026-03", of the bill
  std::string cluster = {};  // empty: all
  std::span<const guardrails::GuardrailRule> rules;
  Currency currency = kUsd;  // of the rules; workloads that cost something else are counted
  std::string by = "team";   // who is told of
  std::vector<ClusterId> slurm_clusters = {};  // whose workloads are Slurm jobs, and no pods
};

struct ReplayedSum {
  std::uint64_t workloads = 0;
  GpuTime gpu_time = {};
  Money cost = Money::zero(kUsd);
};

struct RuleReplay {
  std::string rule;
  guardrails::RuleEffect effect = guardrails::RuleEffect::kDeny;
  guardrails::RuleMode mode = guardrails::RuleMode::kEnforce;
  ReplayedSum hit = {};       // that it applied to, exempted ones left out
  ReplayedSum exempted = {};  // by an exemption that held when they began
};

struct OwnerReplay {
  std::string owner;  // "" for none
  ReplayedSum denied;
  ReplayedSum delayed;
  ReplayedSum warned;
};

struct GuardReplay {
  Currency currency = kUsd;
  std::string month;
  std::string by;
  ReplayedSum all;
  std::array<ReplayedSum, std::size(guardrails::kDecisionWords)> decisions = {};  // by Decision
  std::vector<RuleReplay> rules = {};                                             // in their order
  std::vector<OwnerReplay> owners = {};   // that would have met something, the dearest first
  ReplayedSum without_holding = {};       // costs of workloads whose facts are not there
  std::uint64_t in_other_currencies = 0;  // workloads, not replayed
  std::uint64_t rules_on_what_is_unknown =
      0;  // rules with conditions or exemptions that the ledger can't decide
};

// An Error of kNotFound for a month without costs of workloads.
Result<GuardReplay> replay_guardrails(const GuardReplayQuery& query, const Policy& policy,
                                      Store& store);

std::vector<Table> guard_replay_tables(const GuardReplay& replay);

}  // namespace pennyweight
