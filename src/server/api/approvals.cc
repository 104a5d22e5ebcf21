// Approvals: GET and POST /api/v1/approvals, one of them, and decisions about it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "config/guardrail_config.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/date.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/week_hours.h"
#include "ingest/manifests/manifest_files.h"
#include "insight/guardrails/approval.h"
#include "insight/guardrails/changed_estimate.h"
#include "insight/guardrails/findings.h"
#include "insight/queries/approval_budgets.h"
#include "insight/queries/budget_uses.h"
#include "ledger/store.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/budget_scope.h"
#include "server/api/endpoints.h"
#include "server/api/guard.h"
#include "server/api/route_helpers.h"
#include "server/api/scoped_queries.h"
#include "server/approval_book/approval_book.h"
#include "server/approval_book/approval_json.h"
#include "server/budget_book/budget_book.h"

namespace pennyweight::api {
namespace {

using access::Permission;
using access::Principal;
using guardrails::Approval;
using guardrails::ApprovalRequest;
using guardrails::ApprovalState;
using server::problem;
using server::Request;
using server::Response;

constexpr std::string_view kApprovalList = "approvals";
constexpr std::ptrdiff_t kWorkloadsAskedMax = 50;

std::string too_many_workloads() {
  return fmt::format("it has more than {} workloads", kWorkloadsAskedMax);
}

Response no_approvals() {
  return problem(503, "Service unavailable", "This server has no book of approvals.");
}

Date approvals_today(const Services& services) {
  const auto day = parse_date(local_date(services.clock.now(), services.config.policy.time_zone));
  CHECK(day.has_value(), "local_date() writes a date");
  return *day;
}

// Their own requests, and those in their scope.
bool is_visible(const ApprovalRequest& request, const Principal& who, const Policy& policy) {
  return !who.is_scoped() || request.by == who.name || is_about(request, who.scope, policy);
}

// Whether the request is theirs, where the two names leave no doubt. It errs on the side of another
// person, unlike is_same_person().
bool has_asked(std::string_view by, std::string_view name) {
  for (const std::string_view source : {"cli:", "kubernetes:"}) {
    if (!by.starts_with(source)) continue;
    by.remove_prefix(source.size());
    break;
  }
  if (by == name) return true;
  const bool have_domains = by.contains('@') && name.contains('@');
  return !by.contains(':') && !have_domains && guardrails::is_same_person(by, name);
}

// Who may decide on it or has asked for it may also use it.
bool may_hold_token(const ApprovalRequest& request, const Principal& who) {
  return may_access(who, Permission::kApprove) || has_asked(request.by, who.name);
}

Result<Approval> visible_approval(const Services& services, const Request& request) {
  Approval approval = TRY(services.approval_book->find(request.param("id")));
  if (is_visible(approval.request, principal_of(request), services.config.policy)) return approval;
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no approval '{}'", printable_text(request.param("id"), 100)));
}

std::string amount_text(const Money& amount) {
  return fmt::format("{} {}", to_text(amount.amount()), amount.currency().text());
}

void write_members(const Services& services, const Approval& approval, JsonWriter& out) {
  const auto& terms = services.approval_book->terms();
  const Instant now = services.clock.now();
  out.field("state", to_text(guardrails::state_of(approval, terms, now)))
      .field("needed", approvers_needed(approval.request, terms))
      .raw_field("request", "{" + request_members(approval.request) + "}");
  out.key("decisions").begin_list();
  for (const auto& decision : approval.decisions) {
    out.begin_object()
        .field("at", decision.at)
        .field("by", decision.by)
        .field("approves", decision.approves)
        .field("note", decision.note)
        .field("until", decision.approves ? std::optional(decision.until) : std::nullopt)
        .field("is_once", decision.is_once)
        .field("on_behalf", decision.on_behalf)
        .end_object();
  }
  out.end_list().key("uses").begin_list();
  for (const auto& use : approval.uses) {
    out.begin_object().field("at", use.at).field("by", use.by).end_object();
  }
  out.end_list();
}

// The approval with what only one answer has: its token, and the budgets after it.
Response one_approval(const Services& services, const Request& request, const Approval& approval) {
  const Principal& who = principal_of(request);
  const auto& terms = services.approval_book->terms();
  std::optional<std::string> token;
  const bool is_approved =
      guardrails::state_of(approval, terms, services.clock.now()) == ApprovalState::kApproved;
  if (is_approved && may_hold_token(approval.request, who)) {
    const auto made = services.approval_book->token(approval);
    if (!made) return refusal(made.error());
    token = *made;
  }
  const auto budgets = visible_budgets(services, who);
  if (!budgets) return refusal(budgets.error());
  const ScopedQueries queries(services, request);
  auto after =
      budgets_after(approval.request, *budgets, approvals_today(services), services.config.policy,
                    [&](const SummaryQuery& query) { return queries.summarise(query); });
  // The decision is made, and the token is good, whether or not the ledger can be read now.
  if (!after) after = std::vector<BudgetAfter>();
  JsonWriter out;
  out.begin_object();
  write_members(services, approval, out);
  out.field("token", token).key("budgets").begin_list();
  for (const BudgetAfter& one : *after) {
    out.begin_object()
        .field("name", one.name)
        .field("owner", one.owner)
        .field("amount", amount_text(one.amount))
        .field("left", amount_text(one.left))
        .field("after", amount_text(one.after))
        .field("is_certain", one.is_certain)
        .end_object();
  }
  out.end_list().end_object();
  return json(out);
}

ApprovalBook::Recorder recorder_of(const Services& services, const Request& request) {
  return [&services, &request](std::string_view action, const std::string& subject,
                               const std::string& facts) {
    return append(services, request, action, subject, "", facts);
  };
}

// What a manifest asks for, as the rules leave it.
Result<guardrails::Estimate> estimate_asked(const Services& services, const std::string& manifest,
                                            const std::string& name_space, Instant now,
                                            const guardrails::RuleContext& context) {
  const GuardrailConfig& guardrails = *services.config.guardrails;
  const manifests::ManifestFile file{.name = "manifest", .text = manifest};
  auto reading = TRY(manifests::read_manifest_files({&file, 1}));
  // Claims become part of what uses them.
  const auto is_workload = [](const manifests::WorkloadRequest& one) {
    return one.kind != "ResourceClaim";
  };
  if (std::ranges::count_if(reading.workloads, is_workload) > kWorkloadsAskedMax) {
    return fail(ErrorCode::kLimit, too_many_workloads());
  }
  for (manifests::WorkloadRequest& workload : reading.workloads) {
    if (workload.name_space.empty()) workload.move_to_namespace(name_space);
  }
  guardrails::EstimateOptions pricing = guardrails.pricing;
  pricing.at = now;
  const auto arrived = TRY(guardrails::estimate_workloads(reading, services.catalog, pricing));
  return guardrails::estimate_changed(arrived, guardrails.rules, services.catalog, pricing,
                                      context);
}

// How far budgets have come, where rules ask for it.
Result<std::vector<guardrails::BudgetUse>> asked_budgets(const Services& services) {
  if (!guardrails::looks_at_budgets(services.config.guardrails->rules)) {
    return std::vector<guardrails::BudgetUse>();
  }
  const auto budgets = TRY(services.budget_book->with(services.config.budgets));
  return ask_ledger(services, [&](Store& store) {
    return query_budget_uses(budgets, approvals_today(services), services.config.policy,
                             [&](const SummaryQuery& query) { return store.summarise(query); });
  });
}

}  // namespace

Response get_approvals(const Services& services, const Request& request) {
  QueryParams params(request);
  const std::string state =
      params.choice("state", {"all", "pending", "approved", "refused", "expired", "used"});
  const Page page = params.page(kApprovalList);
  if (auto problem = params.problem()) return *std::move(problem);
  if (services.approval_book == nullptr) return no_approvals();
  auto all = services.approval_book->approvals();
  if (!all) return refusal(all.error());
  const auto& terms = services.approval_book->terms();
  const Instant now = services.clock.now();
  std::erase_if(*all, [&](const Approval& approval) {
    return !is_visible(approval.request, principal_of(request), services.config.policy) ||
           (state != "all" && to_text(guardrails::state_of(approval, terms, now)) != state);
  });
  // The newest first.
  const auto key = [](const Approval& approval) {
    return descending_key(static_cast<std::uint64_t>(unix_ms(approval.request.at))) +
           approval.request.id;
  };
  std::ranges::sort(*all, {}, key);
  const auto part = cut_page(kApprovalList, page, *std::move(all), key);
  return list(part.entries, part.next, [&](JsonWriter& out, const Approval& approval) {
    out.begin_object();
    write_members(services, approval, out);
    out.end_object();
  });
}

Response get_approval(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (services.approval_book == nullptr) return no_approvals();
  const auto approval = visible_approval(services, request);
  if (!approval) return refusal(approval.error());
  return one_approval(services, request, *approval);
}

Response request_approvals(const Services& services, const Request& request) {
  // The answer has prices, which roles that may not read costs don't see.
  if (!access::allows(principal_of(request).role, access::Permission::kReadCosts)) {
    return server::problem(403, "Forbidden", "Your role asks for no approvals.");
  }
  QueryParams params(request);
  JsonBody body(request);
  const std::string manifest = body.required("manifest");
  const std::string reason = body.required("reason");
  const std::string name_space = body.text("namespace").value_or("");
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (services.approval_book == nullptr) return no_approvals();
  const Instant now = services.clock.now();
  const auto budgets = asked_budgets(services);
  if (!budgets) return refusal(budgets.error());
  const auto cluster = services.cluster_objects ? services.cluster_objects() : nullptr;
  const guardrails::RuleContext context{.today = std::chrono::floor<std::chrono::days>(now),
                                        .now = wall_time(now, services.config.policy.time_zone),
                                        .budgets = *budgets,
                                        .policy = &services.config.policy,
                                        .cluster = cluster.get()};
  const auto estimate = estimate_asked(services, manifest, name_space, now, context);
  if (!estimate) return bad_parameter("manifest", estimate.error().message);
  for (const manifests::UnpricedObject& object : estimate->unpriced) {
    if (object.runs_nothing) continue;
    return bad_parameter("manifest", "no rule can judge it: " + object.reason);
  }
  if (std::ssize(estimate->workloads) > kWorkloadsAskedMax) {
    return bad_parameter("manifest", too_many_workloads());
  }
  JsonWriter out;
  out.begin_object().key("data").begin_list();
  for (const guardrails::WorkloadEstimate& workload : estimate->workloads) {
    const auto verdict = guardrails::judge_workload(workload, services.config.guardrails->rules,
                                                    estimate->currency, context);
    std::optional<std::string> id;
    if (verdict.decision == guardrails::Decision::kNeedsApproval) {
      ApprovalRequest wanted =
          guardrails::request_of(workload, verdict, estimate->currency, &services.config.policy);
      wanted.by = principal_of(request).name;
      wanted.source = "api";
      wanted.reason = reason;
      const auto filed =
          services.approval_book->request(std::move(wanted), now, recorder_of(services, request));
      if (!filed) return refusal(filed.error());
      id = filed->request.id;
    }
    out.begin_object()
        .field("workload", guardrails::workload_title(workload.workload))
        .field("decision", to_text(verdict.decision))
        .field("approval", id)
        .end_object();
  }
  out.end_list().field("next", std::optional<std::string>()).end_object();
  return json(out);
}

Response decide_approval(const Services& services, const Request& request) {
  // An approval is a person's.
  if (auto refused = refuse_token(request)) return *std::move(refused);
  QueryParams params(request);
  JsonBody body(request);
  const std::string decision = body.required("decision");
  if (decision != "approve" && decision != "refuse") {
    body.reject("decision", "must be approve or refuse");
  }
  guardrails::DecisionWish wish{.by = principal_of(request).name,
                                .approves = decision == "approve",
                                .note = body.text("note").value_or(""),
                                .until = body.instant("until"),
                                .is_once = body.boolean("is_once")};
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (services.approval_book == nullptr) return no_approvals();
  const auto known = visible_approval(services, request);
  if (!known) return refusal(known.error());
  const auto decided = services.approval_book->decide(known->request.id, wish, services.clock.now(),
                                                      recorder_of(services, request));
  if (!decided) return refusal(decided.error());
  return one_approval(services, request, *decided);
}

}  // namespace pennyweight::api
