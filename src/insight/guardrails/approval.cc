#include "insight/guardrails/approval.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>

#include "allocation/pricing/rate_card.h"
#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/crypto/sha256.h"
#include "core/json_text.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/guardrails/findings.h"
#include "reporting/minor_unit.h"

namespace pennyweight::guardrails {
namespace {

constexpr std::size_t kAlternativesMax = 3;
constexpr std::size_t kShownTextMax = 1000;
constexpr std::size_t kNoteBytesMax = 1000;
constexpr std::string_view kLinkPrefix = "link:";
constexpr std::string_view kEarlierVersion =
    "was asked for in an earlier version, which bound approvals to less of a workload";
// What controllers add to an object and make anew for each.
constexpr std::string_view kGeneratedLabels[] = {
    "controller-uid", "job-name", "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name", "pod-template-hash"};

std::string shown_amount(Money amount) {
  return fmt::format("{} {}", format_minor(amount), amount.currency().text());
}

// The part of a name that is the person's.
std::string person_part(std::string_view name) {
  std::string_view part = name.substr(0, name.find('@'));
  part.remove_prefix(part.find_last_of(":/#\\") + 1);  // npos + 1 is 0
  return ascii::lower_case(part.empty() ? name : part);
}

std::size_t approving_count(const Approval& approval) {
  return static_cast<std::size_t>(
      std::ranges::count_if(approval.decisions, &ApprovalDecision::approves));
}

// A line "key=value", with the value as a JSON string, so that no value can look like two lines.
class ContentText {
 public:
  void add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{}={}\n", key, json_string(value));
  }
  void add(std::string_view key, std::uint64_t value) {
    text_ += fmt::format("{}={}\n", key, value);
  }
  template <class T>
  void add(std::string_view key, const std::optional<T>& value) {
    if (value) add(key, std::uint64_t{*value});
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = "pennyweight workload 4\n";
};

void add_device(const RequestedDevice& device, ContentText& out) {
  out.add("device", static_cast<std::uint64_t>(device.kind));
  out.add("count", device.count);
  out.add("mig", device.mig_profile);
  out.add("cores", device.cores_percent);
  out.add("memory", device.memory_bytes);
  out.add("memory_percent", device.memory_percent);
  out.add("compute_share", device.compute.units());
  out.add("memory_share", device.memory.units());
}

void add_isolation(const manifests::PodIsolation& pods, ContentText& out) {
  out.add("runtime_class", pods.runtime_class);
  out.add("host_network", std::uint64_t{pods.is_on_host_network});
  for (const manifests::PodVolume& volume : pods.volumes) {
    out.add("volume", volume.name);
    out.add("claim", volume.claim);
    out.add("storage_class", volume.storage_class);
    out.add("source", volume.source);
  }
}

void add_group(const manifests::ReplicaGroup& group, ContentText& out) {
  out.add("group", group.name);
  out.add("replicas", group.replicas);
  out.add("replicas_max", group.replicas_max);
  out.add("cpu", group.cpu_milli);
  out.add("memory", group.memory_bytes);
  for (const RequestedDevice& device : group.gpus) add_device(device, out);
  out.add("provider", group.place.provider);
  out.add("gpu_model", group.place.gpu_model);
  out.add("instance_type", group.place.instance_type);
  out.add("region", group.place.region);
  out.add("spot", std::uint64_t{group.place.is_spot});
  out.add("whole_machines", std::uint64_t{group.takes_whole_machines});
  out.add("spans_machines", std::uint64_t{group.may_span_machines});
  out.add("replica_ms", group.replica_ms_max);
  out.add("problem", group.problem);
  for (const std::string& image : group.images) out.add("image", image);
  for (const manifests::PodRisk& risk : group.risks) {
    out.add("risk", manifests::kRiskKindWords[static_cast<std::size_t>(risk.kind)]);
    out.add("of", risk.what);
  }
  for (const std::string& name : group.unknown_resources) out.add("resource", name);
  if (group.isolation) add_isolation(*group.isolation, out);
  if (!group.pod_labels) return;
  out.add("pods", "labels");
  for (const auto& [key, value] : *group.pod_labels) {
    if (std::ranges::find(kGeneratedLabels, key) != std::end(kGeneratedLabels)) continue;
    out.add("label", key);
    out.add("value", value);
  }
}

struct JudgedCost {
  std::optional<Money> amount;  // absent: not known
  std::string_view of;
};

// By what approvers decide: the most that a run costs, or a month of a service or schedule.
JudgedCost judged_cost(const WorkloadEstimate& workload, Currency currency) {
  if (workload.workload.lifetime != manifests::Lifetime::kRun) {
    return {month_max_of(workload, currency), "month"};
  }
  const EstimateTotals totals = totals_of(workload, currency);
  if (totals.not_priced > 0 || totals.without_length > 0) return {std::nullopt, "run"};
  return {totals.per_run_max, "run"};
}

bool is_covered_by(const ApproverLimit& limit, const ApprovalRequest& request) {
  if (!limit.up_to) return true;
  return request.cost && request.cost->currency() == limit.up_to->currency() &&
         request.cost->ticks() <= limit.up_to->ticks();
}

bool is_delegate(const ApproverLimit& limit, const std::string& who, Date today) {
  return limit.delegate && fits_pattern(limit.delegate->to, who) && limit.delegate->from <= today &&
         today <= limit.delegate->until;
}

// Whether a name is the approver's as whose delegate somebody decides.
bool is_approver(const std::string& approver, const std::string& name) {
  const std::string_view own =
      name.starts_with(kLinkPrefix) ? std::string_view(name).substr(kLinkPrefix.size()) : name;
  return is_same_person(approver, name) || fits_pattern(approver, own);
}

// Whether two names of approvers, for whom delegates decide, may be one person's.
bool may_be_same_approver(const std::string& one, const std::string& other) {
  return !other.empty() && (is_approver(one, other) || is_approver(other, one));
}

// For whom a delegate may approve it, besides whoever asked for it or approved it already; empty:
// for nobody.
std::string principal_of_delegate(const Approval& approval, const std::string& who,
                                  const ApprovalTerms& terms, Date today) {
  for (const ApproverLimit& limit : terms.approvers) {
    if (!is_delegate(limit, who, today) || !is_covered_by(limit, approval.request)) continue;
    const bool decides_already =
        std::ranges::any_of(approval.decisions, [&](const ApprovalDecision& other) {
          return is_approver(limit.who, other.by) ||
                 may_be_same_approver(limit.who, other.on_behalf);
        });
    if (!decides_already && !is_approver(limit.who, approval.request.by)) return limit.who;
  }
  return "";
}

// The approver for whom somebody may approve it: empty for themselves.
Result<std::string> approving_for(const Approval& approval, const std::string& who,
                                  const ApprovalTerms& terms, Date today) {
  if (terms.approvers.empty()) return std::string();
  std::optional<Money> most;
  bool acts_for_some = false;
  for (const ApproverLimit& limit : terms.approvers) {
    const bool is_own = fits_pattern(limit.who, who);
    const bool is_for_another = is_delegate(limit, who, today);
    if (!is_own && !is_for_another) continue;
    if (is_covered_by(limit, approval.request)) {
      if (is_own) return std::string();
      acts_for_some = true;
    } else if (!most || most->ticks() < limit.up_to->ticks()) {
      most = limit.up_to;
    }
  }
  std::string principal = principal_of_delegate(approval, who, terms, today);
  if (!principal.empty()) return principal;
  if (acts_for_some) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' may approve as a delegate only, of somebody who asked for it or "
                            "approved it already; let another person decide",
                            who));
  }
  if (!most) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not among guardrails.approvals.approvers", who));
  }
  const auto& cost = approval.request.cost;
  return fail(
      ErrorCode::kBadValue,
      fmt::format("'{}' may approve up to {}, and this {}", who, shown_amount(*most),
                  cost ? fmt::format("costs {} a {}", shown_amount(*cost), approval.request.cost_of)
                       : std::string("has no known cost")));
}

// The labels that no component contradicts, and the namespace of all.
std::map<std::string, std::string, std::less<>> labels_of_all(
    const manifests::WorkloadRequest& workload) {
  auto labels = workload.labels;
  for (const manifests::WorkloadPart& part : workload.parts) {
    for (const auto& [key, value] : part.labels) {
      const auto label = labels.find(key);
      if (label != labels.end() && label->second != value) labels.erase(label);
    }
  }
  return labels;
}

std::string namespace_of_all(const manifests::WorkloadRequest& workload) {
  const bool is_one = std::ranges::all_of(workload.parts, [&](const manifests::WorkloadPart& part) {
    return part.name_space == workload.name_space;
  });
  return is_one ? workload.name_space : "";
}

// Whoever decides within a scope sees and lifts only what lies in it wholly: with each group.
std::vector<PlannedDimensions> owners_of_all(const manifests::WorkloadRequest& workload,
                                             const Policy* charging) {
  std::vector<PlannedDimensions> owners;
  if (charging == nullptr) return owners;
  const auto add = [&](const PlannedWork& work) {
    PlannedDimensions own = planned_dimensions(work, *charging);
    if (std::ranges::find(owners, own) == owners.end()) owners.push_back(std::move(own));
  };
  for (const PlannedGroup& group : planned_groups(workload)) add(group.work);
  if (owners.empty()) add(planned_whole(workload));
  return owners;
}

// Why a link of an approver decides nothing; success: it may.
Result<void> check_link(const Approval& approval, const std::string& approver,
                        const ApprovalTerms& terms) {
  const bool is_listed =
      std::ranges::find(terms.approvers, approver, &ApproverLimit::who) != terms.approvers.end();
  if (terms.link_address.empty() || !is_listed) {
    return fail(ErrorCode::kBadValue,
                fmt::format("links of '{}' decide nothing any more: guardrails.approvals says so",
                            printable_text(approver, 200)));
  }
  for (const ApprovalDecision& decision : approval.decisions) {
    if (!is_same_person(decision.by, approver)) continue;
    return fail(ErrorCode::kConflict,
                fmt::format("{} has decided on {} already; a link decides once", approver,
                            approval.request.id));
  }
  return {};
}

std::unexpected<Error> refuse_state(const Approval& approval, ApprovalState state) {
  std::string what = fmt::format("{} is {}", approval.request.id, to_text(state));
  if (state == ApprovalState::kUsed && !approval.uses.empty()) {
    what = fmt::format("{} was used at {} by {}", approval.request.id,
                       pennyweight::to_text(approval.uses.front().at), approval.uses.front().by);
  }
  if (state == ApprovalState::kRefused && !approval.decisions.empty()) {
    what = fmt::format("{} was refused by {}", approval.request.id, approval.decisions.back().by);
  }
  if (state == ApprovalState::kExpired && is_of_earlier_version(approval.request)) {
    what = fmt::format("{} {}", approval.request.id, kEarlierVersion);
  }
  const bool waits = state == ApprovalState::kPending;
  return fail(ErrorCode::kBadValue, what + (waits ? "; wait for the decision" : "; ask again"));
}

}  // namespace

std::string_view to_text(ApprovalState state) {
  return kApprovalStateWords[static_cast<std::size_t>(state)];
}

std::size_t approvers_needed(const ApprovalRequest& request, const ApprovalTerms& terms) {
  if (!terms.two_persons_above) return 1;
  const bool is_below = request.cost &&
                        request.cost->currency() == terms.two_persons_above->currency() &&
                        request.cost->ticks() <= terms.two_persons_above->ticks();
  return is_below ? 1 : 2;
}

std::optional<Instant> end_of(const Approval& approval) {
  std::optional<Instant> end;
  for (const ApprovalDecision& decision : approval.decisions) {
    if (decision.approves && (!end || decision.until < *end)) end = decision.until;
  }
  return end;
}

bool is_once(const Approval& approval) {
  return std::ranges::any_of(approval.decisions, [](const ApprovalDecision& decision) {
    return decision.approves && decision.is_once;
  });
}

ApprovalState state_of(const Approval& approval, const ApprovalTerms& terms, Instant now) {
  const bool is_refused = !std::ranges::all_of(approval.decisions, &ApprovalDecision::approves);
  if (is_refused) return ApprovalState::kRefused;
  const bool is_used_up = is_once(approval) && !approval.uses.empty();
  // What it was bound to can't be compared with what runs now.
  if (is_of_earlier_version(approval.request) && !is_used_up) return ApprovalState::kExpired;
  if (approving_count(approval) < approvers_needed(approval.request, terms)) {
    const bool is_late = now >= approval.request.at + std::chrono::milliseconds(terms.pending_ms);
    return is_late ? ApprovalState::kExpired : ApprovalState::kPending;
  }
  if (is_used_up) return ApprovalState::kUsed;
  return now >= *end_of(approval) ? ApprovalState::kExpired : ApprovalState::kApproved;
}

bool is_same_person(std::string_view one, std::string_view other) {
  return person_part(one) == person_part(other);
}

Result<ApprovalDecision> decide(const Approval& approval, const DecisionWish& wish,
                                const ApprovalTerms& terms, Instant now) {
  const ApprovalState state = state_of(approval, terms, now);
  const bool takes_back = !wish.approves && state == ApprovalState::kApproved && !wish.is_by_link;
  if (state == ApprovalState::kExpired && is_of_earlier_version(approval.request)) {
    return fail(ErrorCode::kConflict, fmt::format("{} {}; let it be asked for again",
                                                  approval.request.id, kEarlierVersion));
  }
  if (state != ApprovalState::kPending && !takes_back) {
    return fail(ErrorCode::kConflict, fmt::format("{} is {}; there is nothing to decide",
                                                  approval.request.id, to_text(state)));
  }
  if (wish.is_by_link) TRY(check_link(approval, wish.by, terms));
  if (wish.note.size() > kNoteBytesMax || printable_text(wish.note, kNoteBytesMax) != wish.note) {
    return fail(ErrorCode::kBadValue,
                fmt::format("the note is plain text of at most {} bytes", kNoteBytesMax));
  }
  ApprovalDecision decision{.at = now,
                            .by = (wish.is_by_link ? std::string(kLinkPrefix) : "") + wish.by,
                            .approves = wish.approves,
                            .note = wish.note,
                            .until = now};
  if (!wish.approves) {
    if (wish.note.empty()) return fail(ErrorCode::kBadValue, "a refusal needs a note: why");
    return decision;
  }
  if (is_same_person(wish.by, approval.request.by)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} asked for it, and nobody approves their own request; let another "
                            "person decide",
                            approval.request.by));
  }
  for (const ApprovalDecision& other : approval.decisions) {
    if (!is_same_person(other.by, wish.by)) continue;
    return fail(ErrorCode::kBadValue,
                fmt::format("{} has approved it already, and it takes two persons", other.by));
  }
  for (const ApprovalDecision& other : approval.decisions) {
    if (other.on_behalf.empty() || !is_approver(other.on_behalf, wish.by)) continue;
    return fail(ErrorCode::kBadValue,
                fmt::format("{} has approved it for {} already, and it takes two persons", other.by,
                            other.on_behalf));
  }
  auto approver =
      approving_for(approval, wish.by, terms, std::chrono::floor<std::chrono::days>(now));
  if (!approver) return std::unexpected(approver.error());
  decision.on_behalf = *std::move(approver);
  const Instant latest = now + std::chrono::milliseconds(terms.valid_ms);
  decision.until = wish.until.value_or(latest);
  if (decision.until <= now || decision.until > latest) {
    return fail(ErrorCode::kBadValue,
                fmt::format("it may end until {}, and after now", pennyweight::to_text(latest)));
  }
  decision.is_once = wish.is_once.value_or(terms.is_once);
  return decision;
}

Result<void> check_claim(const Approval& approval, const ApprovalClaim& claim,
                         const ApprovalTerms& terms, Instant now) {
  const ApprovalRequest& request = approval.request;
  const ApprovalState state = state_of(approval, terms, now);
  if (state != ApprovalState::kApproved) return refuse_state(approval, state);
  if (request.content != claim.content) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} is for {} as it was then, and this is another or was changed; ask "
                            "again",
                            request.id, request.workload));
  }
  for (const std::string& rule : claim.rules) {
    if (std::ranges::find(request.rules, rule) != request.rules.end()) continue;
    return fail(ErrorCode::kBadValue, fmt::format("{} does not cover rule '{}'; ask again",
                                                  request.id, printable_text(rule, 200)));
  }
  if (!request.cost) return {};
  const bool is_covered = claim.cost && claim.cost->currency() == request.cost->currency() &&
                          claim.cost->ticks() <= request.cost->ticks();
  if (is_covered) return {};
  return fail(
      ErrorCode::kBadValue,
      fmt::format("{} is for {} a {}, and it now costs {}; ask again", request.id,
                  shown_amount(*request.cost), request.cost_of,
                  claim.cost ? shown_amount(*claim.cost) : std::string("an unknown amount")));
}

std::string content_hash(const manifests::WorkloadRequest& workload) {
  ContentText out;
  out.add("kind", workload.kind);
  out.add("namespace", workload.name_space);
  out.add("name", workload.name);
  for (const auto& [key, value] : workload.labels) {
    if (std::ranges::find(kGeneratedLabels, key) != std::end(kGeneratedLabels)) continue;
    out.add("label", key);
    out.add("value", value);
  }
  out.add("lifetime", static_cast<std::uint64_t>(workload.lifetime));
  out.add("schedule", workload.schedule);
  for (const manifests::ReplicaGroup& group : workload.groups) add_group(group, out);
  for (const manifests::WorkloadPart& part : workload.parts) {
    out.add("part", part.kind);
    out.add("namespace", part.name_space);
    out.add("name", part.name);
    out.add("lifetime", static_cast<std::uint64_t>(part.lifetime));
    out.add("schedule", part.schedule);
    for (const std::size_t index : part.groups) out.add("of", std::uint64_t{index});
    for (const auto& [key, value] : part.labels) {
      out.add("label", key);
      out.add("value", value);
    }
  }
  return std::string(kApprovalContentVersion) + to_hex(sha256(out.text()));
}

bool is_of_earlier_version(const ApprovalRequest& request) {
  return !request.content.starts_with(kApprovalContentVersion);
}

std::vector<std::string> rules_to_lift(const Verdict& verdict) {
  std::vector<std::string> rules;
  for (const RuleHit& hit : verdict.hits) {
    const bool waits = hit.effect == RuleEffect::kRequireApproval &&
                       hit.mode == RuleMode::kEnforce && hit.exempted_for.empty();
    if (waits) rules.push_back(hit.rule);
  }
  return rules;
}

ApprovalClaim claim_of(const WorkloadEstimate& workload, const Verdict& verdict,
                       Currency currency) {
  return {.content = content_hash(workload.workload),
          .rules = rules_to_lift(verdict),
          .cost = judged_cost(workload, currency).amount};
}

ApprovalRequest request_of(const WorkloadEstimate& workload, const Verdict& verdict,
                           Currency currency, const Policy* charging) {
  const JudgedCost cost = judged_cost(workload, currency);
  ApprovalRequest request{.workload = workload_title(workload.workload),
                          .content = content_hash(workload.workload),
                          .rules = rules_to_lift(verdict),
                          .name_space = namespace_of_all(workload.workload),
                          .labels = labels_of_all(workload.workload),
                          .cost = cost.amount,
                          .cost_of = std::string(cost.of),
                          .owners = owners_of_all(workload.workload, charging)};
  for (const RuleHit& hit : verdict.hits) {
    if (std::ranges::find(request.rules, hit.rule) == request.rules.end()) continue;
    if (!request.because.empty()) request.because += "; ";
    request.because += hit.because;
  }
  request.because = printable_text(request.because, kShownTextMax);
  for (const GroupEstimate& group : workload.groups) {
    for (const Alternative& other : group.alternatives) {
      if (request.alternatives.size() == kAlternativesMax) break;
      request.alternatives.push_back(printable_text(
          fmt::format("{} x {} {}{}: {} less an hour", other.machines, other.machine.provider,
                      other.machine.instance_type, other.is_other_gpu ? " (another GPU)" : "",
                      shown_amount(other.saving_per_hour)),
          kShownTextMax));
    }
  }
  return request;
}

}  // namespace pennyweight::guardrails
