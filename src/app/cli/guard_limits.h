// guard limits and guard export: limits and rules as this program sees them, and in the words of
// Kubernetes, Kueue, Volcano, Kyverno, Gatekeeper and Slurm.
#pragma once

#include <string>
#include <vector>

#include "app/cli/guard_cases.h"
#include "app/cli/serve_request.h"
#include "app/cli/shared_options.h"
#include "app/context/context.h"
#include "config/config.h"
#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/guardrails/rule_context.h"
#include "insight/guardrails/usage_limit.h"

namespace pennyweight {

struct GuardLimitArguments {
  std::string system;              // an export; empty: tables
  std::vector<std::string> drift;  // files of what a cluster has
  bool checks = false;
  TableOptions table;
};

struct GuardExportArguments {
  std::string system = "cel";
};

Result<ExitCode> run_guard_limits(const GuardLimitArguments& arguments, Context& context);
Result<ExitCode> run_guard_export(const GuardExportArguments& arguments, Context& context);

// The limits of money and GPU-hours, measured in the ledger; empty, without opening the ledger,
// where there are none.
Result<std::vector<guardrails::LimitUse>> measured_limits(Context& context);

// How far budgets have come on a day; empty, without opening the ledger, where no rule asks for it.
Result<std::vector<guardrails::BudgetUse>> measured_budgets(Context& context, Date today);
// The same as a case states it. An Error: it names a budget that the configuration does not have.
Result<std::vector<guardrails::BudgetUse>> stated_budgets(const GuardCase& one,
                                                          const Config& config, Date today);

// What `guard stops` asks a running `serve`.
struct GuardStopArguments {
  ServeAddress serve;
  bool due_only = false;
  std::string cluster;  // empty: all
  std::string format = "text";
};

// The work that limits stop while it runs, as `serve` knows it. Nothing is stopped by this.
Result<ExitCode> run_guard_stops(const GuardStopArguments& arguments, Context& context);

}  // namespace pennyweight
