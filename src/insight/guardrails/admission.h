// Answers the admission reviews of Kubernetes (admission.k8s.io/v1): whether a workload is admitted
// by the rules, and what they add to it.
//
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
//
// A review comes from whoever reaches the webhook, so reading it is bounded as any manifest is.
// What can't be judged (a kind that is not known, a scale, an object that can't be read) is
// admitted or refused as the policy says, never by accident. Pure: the day for exemptions is given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/date.h"
#include "core/error.h"
#include "insight/guardrails/approval.h"
#include "insight/guardrails/estimate.h"
#include "insight/guardrails/offers.h"
#include "insight/guardrails/rule_context.h"
#include "insight/guardrails/rules.h"
#include "insight/guardrails/usage_limit.h"

namespace pennyweight::guardrails {

inline constexpr std::size_t kReviewBytesMax = 8U << 20U;

// What admission asks of the approvals that people gave. Any thread may call it.
class ApprovalDesk {
 public:
  virtual ~ApprovalDesk() = default;
  // Uses an approval, or only looks whether it could: its id. An Error says why it does not hold.
  virtual Result<std::string> redeem(std::string_view token, const ApprovalClaim& claim,
                                     const std::string& by, bool only_looks) = 0;
  // Files a request and returns its id.
  virtual Result<std::string> file(ApprovalRequest request) = 0;
};

struct AdmissionPolicy {
  std::span<const GuardrailRule> rules;
  const Catalog& catalog;
  EstimateOptions pricing = {};
  // Patterns. Everything in these namespaces is admitted, and nothing there is changed.
  std::vector<std::string> exempt_namespaces = {};
  // Patterns of users that make pods for workloads which were judged as a whole.
  std::vector<std::string> controllers = {};
  bool admits_unknown = false;        // what can't be judged
  ApprovalDesk* approvals = nullptr;  // null: what needs an approval is refused
  // How much of the limits is used, and what is left of the month.
  std::span<const LimitUse> limits = {};
  std::uint64_t month_left_ms = 0;
  const OfferLists* offers = nullptr;  // of the same catalog, kept; null: listed with each review
  // Where rules ask for them: the time on the wall, and how far budgets have come.
  std::optional<WallTime> now = {};
  std::span<const BudgetUse> budgets = {};
  std::string_view budgets_problem = {};
  const Policy* charging = nullptr;  // by whose dimensions budgets and limits count
  const manifests::ClusterObjects* cluster = nullptr;  // see RuleContext

  RuleContext context(Date today) const {
    return {.today = today,
            .now = now,
            .budgets = budgets,
            .budgets_problem = budgets_problem,
            .policy = charging,
            .cluster = cluster};
  }
};

enum class AdmissionEndpoint { kValidate, kMutate };

enum class AdmissionOutcome { kAdmitted, kExempt, kWarned, kRefused, kChanged, kUnknown };
inline constexpr std::string_view kAdmissionOutcomeWords[] = {"admitted", "exempt",  "warned",
                                                              "refused",  "changed", "unknown"};

struct AdmissionAnswer {
  std::string body;  // an AdmissionReview with its response, JSON
  AdmissionOutcome outcome = AdmissionOutcome::kAdmitted;
  bool is_allowed = true;
  std::string workload;  // "Job ml/train"; plain text
  std::string user;
  std::string message;  // why it is refused or unknown
};

// An Error for a body that is no AdmissionReview: there is then nothing to answer it with, and the
// API server does what its failurePolicy says. Thread-safe.
Result<AdmissionAnswer> answer_review(std::string_view body, AdmissionEndpoint endpoint,
                                      const AdmissionPolicy& policy, Date today);

}  // namespace pennyweight::guardrails
