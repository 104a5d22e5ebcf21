// Approvals in `guard check`: tokens that lift what a rule stops, and requests for new ones.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/context/context.h"
#include "insight/guardrails/approval.h"
#include "server/approval_book/approval_book.h"

namespace pennyweight {

struct GuardApprovalOptions {
  std::vector<std::string> tokens;
  bool uses = false;
  std::string request;  // the reason; empty: nothing is asked for
};

void add_guard_approval_options(CLI::App& command, GuardApprovalOptions& options);

// The book beside the ledger of the configuration, in a folder that exists.
Result<std::unique_ptr<ApprovalBook>> open_approval_book(const Context& context);
// Records changes of the book in the audit log, as who runs the command.
ApprovalBook::Recorder approval_recorder(Context& context);

// What became of a workload that needs an approval.
struct ApprovalOutcome {
  bool is_approved = false;
  std::string what;  // "ap-0123… lifts it", why none does, or which request was filed
};
Result<ApprovalOutcome> settle_approval(const guardrails::WorkloadEstimate& workload,
                                        const guardrails::Verdict& verdict, Currency currency,
                                        const GuardApprovalOptions& options, Context& context);

}  // namespace pennyweight
