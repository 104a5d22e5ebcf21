// Approval: a person's consent to one workload that a rule with the effect require_approval stops.
//
// It is bound to the content of the workload (everything that rules judge), to the rules that it
// was asked for, and to the cost that was shown. Whatever changes afterwards takes another one.
// Nobody approves their own request; above an amount it takes two persons. Pure: the time is given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/money.h"
#include "insight/guardrails/charged_scope.h"
#include "insight/guardrails/estimate.h"
#include "insight/guardrails/rules.h"

namespace pennyweight::guardrails {

struct ApprovalRequest {
  std::string id = {};
  Instant at = {};
  std::string by = {};        // "ana", "cli:ana", "kubernetes:ana@example.org"
  std::string source = {};    // "admission", "cli", "api"
  std::string workload = {};  // "Job ml/train"
  std::string content = {};   // see content_hash()
  std::vector<std::string> rules = {};
  std::string because = {};  // what of the workload met them
  std::string reason = {};   // why it is needed, in the requester's words; may be empty
  std::string name_space = {};
  std::map<std::string, std::string, std::less<>> labels = {};
  std::optional<Money> cost = {};  // of a run, or of a month; absent: not known
  std::string cost_of = {};        // "run", "month"
  std::vector<std::string> alternatives = {};
  // Whose it is, as the policy made of its pods when it was asked for: of each group of replicas
  // that differs. Empty: it was asked for before requests said so.
  std::vector<PlannedDimensions> owners = {};
  bool operator==(const ApprovalRequest&) const = default;
};

struct ApprovalDecision {
  Instant at = {};
  std::string by = {};
  bool approves = false;
  std::string note = {};
  Instant until = {};  // of one that approves: its end
  bool is_once = true;
  std::string on_behalf = {};  // of the approver as whose delegate it was made; empty: their own
  bool operator==(const ApprovalDecision&) const = default;
};

struct ApprovalUse {
  Instant at = {};
  std::string by = {};
  bool operator==(const ApprovalUse&) const = default;
};

struct Approval {
  ApprovalRequest request;
  std::vector<ApprovalDecision> decisions = {};  // in their order
  std::vector<ApprovalUse> uses = {};
  bool operator==(const Approval&) const = default;
};

enum class ApprovalState { kPending, kApproved, kRefused, kExpired, kUsed };
inline constexpr std::string_view kApprovalStateWords[] = {"pending", "approved", "refused",
                                                           "expired", "used"};
std::string_view to_text(ApprovalState state);

// Who decides in an approver's place, on which days (UTC).
struct ApproverDelegate {
  std::string to;  // a pattern of names
  Date from = {};
  Date until = {};  // inclusive
  bool operator==(const ApproverDelegate&) const = default;
};

// Who may approve up to which amount.
struct ApproverLimit {
  std::string who;                  // a pattern of names
  std::optional<Money> up_to = {};  // absent: any amount, and what is not priced
  std::optional<ApproverDelegate> delegate = {};
  bool operator==(const ApproverLimit&) const = default;
};

inline constexpr std::int64_t kApprovalMsDefault = 7 * 86'400'000LL;

inline constexpr std::int64_t kApprovalLinkMsDefault = 86'400'000LL;

struct ApprovalTerms {
  std::int64_t pending_ms = kApprovalMsDefault;  // a request that nobody decides on ends then
  std::int64_t valid_ms = kApprovalMsDefault;  // the most, and what is meant where nothing is said
  bool is_once = true;                         // where nothing is said
  // Above it two persons approve, and also where the cost is not known; absent: one suffices.
  std::optional<Money> two_persons_above = {};
  std::vector<ApproverLimit> approvers = {};  // none: whoever has the permission
  // After so long without a decision the next approver is asked, too; absent: nobody else.
  std::optional<std::int64_t> escalate_ms = {};
  // "https://pennyweight.example.org": where links decide; empty: there are none.
  std::string link_address = {};
  std::int64_t link_ms = kApprovalLinkMsDefault;
  bool operator==(const ApprovalTerms&) const = default;
};

std::size_t approvers_needed(const ApprovalRequest& request, const ApprovalTerms& terms);
ApprovalState state_of(const Approval& approval, const ApprovalTerms& terms, Instant now);
// When an approved one ends: the earliest end that an approver has stated.
std::optional<Instant> end_of(const Approval& approval);
bool is_once(const Approval& approval);

// Whether two names are of one person, however they came: "ana", "cli:ana", "ana@example.org" and
// "kubernetes:ANA" are one. It errs on the side of one person.
bool is_same_person(std::string_view one, std::string_view other);

// What a decision states; what it leaves open follows from the terms.
struct DecisionWish {
  std::string by = {};
  bool approves = false;
  std::string note = {};
  std::optional<Instant> until = {};
  std::optional<bool> is_once = {};
  bool is_by_link = false;  // by whoever has the link of `by`
};

// The decision to be recorded, or why it may not be made: by the requester, twice by one person,
// above the approver's limit, too late, for too long. A delegate counts as who they decide for: for
// a requester they approve nothing, and both together are one person. A refusal also takes an
// approval back, but not by a link: that decides once, on what is pending, in the name of an
// approver whom the terms list by this name. Its decision is of "link:ana".
Result<ApprovalDecision> decide(const Approval& approval, const DecisionWish& wish,
                                const ApprovalTerms& terms, Instant now);

// What somebody wants to run with an approval.
struct ApprovalClaim {
  std::string content = {};
  std::vector<std::string> rules = {};  // that it has to lift
  std::optional<Money> cost = {};
};

// Success: the approval covers it now. An Error says why not and what to do.
Result<void> check_claim(const Approval& approval, const ApprovalClaim& claim,
                         const ApprovalTerms& terms, Instant now);

// In front of a digest, so that one that was taken of less is told from one of another workload.
inline constexpr std::string_view kApprovalContentVersion = "4:";

// The SHA-256 of what rules judge, but annotations, in hexadecimal, behind the version of what is
// taken: kind, namespace, name, labels, replicas, requests, images, risks, isolation, places and
// limits.
// Labels that Kubernetes makes anew for each object don't count.
std::string content_hash(const manifests::WorkloadRequest& workload);
// Whether a request is bound to a digest of an earlier version; it is expired then, unless it was
// refused or used up.
bool is_of_earlier_version(const ApprovalRequest& request);

// The rules of a verdict that wait for an approval; empty where none does.
std::vector<std::string> rules_to_lift(const Verdict& verdict);
ApprovalClaim claim_of(const WorkloadEstimate& workload, const Verdict& verdict, Currency currency);
// The request for a workload that a verdict sends to approval, without id, time and author.
// `charging`: by whose dimensions it will be charged; null: whose it is is not stated.
ApprovalRequest request_of(const WorkloadEstimate& workload, const Verdict& verdict,
                           Currency currency, const Policy* charging);

}  // namespace pennyweight::guardrails
