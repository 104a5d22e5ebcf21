#include "app/cli/guard_approvals.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/audit_events/audit_events.h"
#include "app/context/paths.h"
#include "config/guardrail_config.h"
#include "core/try.h"

namespace pennyweight {

void add_guard_approval_options(CLI::App& command, GuardApprovalOptions& options) {
  command.add_option("--approval", options.tokens,
                     "The token of an approval, beside those in the annotation "
                     "pennyweight.io/approval; may be repeated");
  command.add_flag(
      "--use-approvals", options.uses,
      "Use approvals up, where no admission does it; without it they are only checked");
  command.add_option("--request", options.request,
                     "Ask for the approvals that are missing, for this reason");
}

Result<std::unique_ptr<ApprovalBook>> open_approval_book(const Context& context) {
  const Config& config = context.config;
  std::error_code problem;
  std::filesystem::create_directories(live_folder(config), problem);
  if (problem) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot create {}: {}", live_folder(config), problem.message()));
  }
  return std::make_unique<ApprovalBook>(approval_book_path(config), approval_key_path(config),
                                        config.guardrails->approvals);
}

ApprovalBook::Recorder approval_recorder(Context& context) {
  return [&context](std::string_view action, const std::string& subject, const std::string& facts) {
    return announce_audit_event(context, action, subject, "", facts);
  };
}

Result<ApprovalOutcome> settle_approval(const guardrails::WorkloadEstimate& workload,
                                        const guardrails::Verdict& verdict, Currency currency,
                                        const GuardApprovalOptions& options, Context& context) {
  std::vector<std::string> tokens = options.tokens;
  if (!workload.workload.approval.empty()) tokens.push_back(workload.workload.approval);
  const auto claim = guardrails::claim_of(workload, verdict, currency);
  const Instant now = context.clock.now();
  const std::string by = cli_author().actor;
  ApprovalOutcome outcome;
  if (tokens.empty() && options.request.empty()) return outcome;
  const auto book = TRY(open_approval_book(context));
  for (const std::string& token : tokens) {
    const auto approval = options.uses
                              ? book->use(token, claim, by, now, approval_recorder(context))
                              : book->check(token, claim, now);
    if (approval) return ApprovalOutcome{true, approval->request.id + " lifts it"};
    if (!outcome.what.empty()) outcome.what += "; ";
    outcome.what += approval.error().message;
  }
  if (options.request.empty()) return outcome;
  auto request = guardrails::request_of(workload, verdict, currency, &context.config.policy);
  request.by = by;
  request.source = "cli";
  request.reason = options.request;
  const auto filed = TRY(book->request(std::move(request), now, approval_recorder(context)));
  if (!outcome.what.empty()) outcome.what += "; ";
  outcome.what += fmt::format("{} asks for it and is {}", filed.request.id,
                              to_text(guardrails::state_of(filed, book->terms(), now)));
  return outcome;
}

}  // namespace pennyweight
