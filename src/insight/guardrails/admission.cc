#include "insight/guardrails/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "allocation/pricing/rate_card.h"
#include "core/base_encoding.h"
#include "core/int128.h"
#include "core/json_text.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/manifests/document.h"
#include "ingest/manifests/kubernetes_objects.h"
#include "ingest/manifests/pod_places.h"
#include "insight/guardrails/findings.h"
#include "insight/guardrails/json_patch.h"
#include "insight/guardrails/owner_kinds.h"

namespace pennyweight::guardrails {
namespace {

using manifests::DocumentNode;
using manifests::WorkloadRequest;

constexpr std::size_t kUidBytesMax = 256;
// Of all warnings of an answer; the API server cuts them at 4096.
constexpr std::size_t kWarningsMax = 16;
constexpr std::size_t kWarningBytesMax = 240;
constexpr std::size_t kMessageBytesMax = 4000;
// Kinds whose pods are described by a template that may be changed later.
constexpr std::string_view kChangeableKinds[] = {"Deployment", "StatefulSet", "CronJob",
                                                 "LeaderWorkerSet"};

bool is_same(const DocumentNode& one, const DocumentNode& other) {
  const auto is_same_field = [](const DocumentNode::Field& a, const DocumentNode::Field& b) {
    return a.key == b.key && is_same(a.value, b.value);
  };
  return one.kind == other.kind && one.scalar == other.scalar &&
         std::ranges::equal(one.items, other.items, is_same) &&
         std::ranges::equal(one.fields, other.fields, is_same_field);
}

// Takes a value out of a mapping, so that large objects are not copied.
DocumentNode take(DocumentNode& mapping, std::string_view key) {
  const auto at = std::ranges::find(mapping.fields, key, &DocumentNode::Field::key);
  return at == mapping.fields.end() ? DocumentNode() : std::move(at->value);
}

bool fits_any_pattern(const std::vector<std::string>& patterns, std::string_view text) {
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return fits_pattern(pattern, text); });
}

// What a rule may look at, without the places in the text.
WorkloadRequest without_lines(WorkloadRequest request, const LooksAtPods& looks) {
  request.line = 0;
  request.notes.clear();
  request.approval.clear();
  const auto forget = [&](auto& annotations) {
    std::erase_if(annotations, [&](const auto& annotation) {
      return std::ranges::find(looks.annotations, annotation.first) == looks.annotations.end();
    });
  };
  forget(request.annotations);
  for (manifests::WorkloadPart& part : request.parts) forget(part.annotations);
  for (manifests::ReplicaGroup& group : request.groups) {
    group.line = 0;
    // A new version of what runs asks for no more, unless some rule looks at images.
    std::erase_if(group.risks, [&](const manifests::PodRisk& risk) {
      return std::ranges::find(looks.risks, risk.kind) == looks.risks.end();
    });
    if (!looks.isolation) group.isolation.reset();
    if (!looks.images) {
      group.images.clear();
      for (manifests::PodRisk& risk : group.risks) risk.image.clear();
      std::ranges::sort(group.risks);
    }
  }
  return request;
}

// Whether `after` is `before`, or the same with fewer replicas.
bool asks_for_no_more(const WorkloadRequest& before, const WorkloadRequest& after,
                      const LooksAtPods& looks) {
  WorkloadRequest old = without_lines(before, looks);
  WorkloadRequest fresh = without_lines(after, looks);
  if (old.groups.size() != fresh.groups.size()) return false;
  for (std::size_t i = 0; i < old.groups.size(); ++i) {
    manifests::ReplicaGroup& was = old.groups[i];
    manifests::ReplicaGroup& is = fresh.groups[i];
    const std::uint64_t most_before = was.replicas_max.value_or(was.replicas);
    const std::uint64_t most_now = is.replicas_max.value_or(is.replicas);
    if (is.replicas > was.replicas || most_now > most_before) return false;
    // The time of all replicas follows from their number; one replica's may not grow.
    if (was.replica_ms_max.has_value() != is.replica_ms_max.has_value()) return false;
    // Of one replica: is_ms / is.replicas <= was_ms / was.replicas.
    const bool is_longer = was.replica_ms_max && UInt128{*is.replica_ms_max} * was.replicas >
                                                     UInt128{*was.replica_ms_max} * is.replicas;
    if (is_longer) return false;
    if (!std::ranges::includes(was.risks, is.risks)) return false;
    is.risks = was.risks;
    is.replicas = was.replicas;
    is.replicas_max = was.replicas_max;
    is.replica_ms_max = was.replica_ms_max;
  }
  return old == fresh;
}

class Review {
 public:
  Review(DocumentNode& request, AdmissionEndpoint endpoint, const AdmissionPolicy& policy,
         Date today)
      : request_(request),
        endpoint_(endpoint),
        policy_(policy),
        today_(today),
        uid_(request["uid"].scalar),
        name_space_(request["namespace"].scalar) {
    answer_.user = printable_text(request_.at("userInfo.username").scalar, 200);
    answer_.workload =
        printable_text(fmt::format("{} {}{}{}", request_.at("kind.kind").scalar, name_space_,
                                   name_space_.empty() ? "" : "/", request_["name"].scalar),
                       400);
  }

  AdmissionAnswer run() {
    decide();
    write();
    return std::move(answer_);
  }

 private:
  void decide() {
    const std::string operation = request_["operation"].scalar;
    if (operation == "DELETE" || operation == "CONNECT") return;
    // The namespace of the request, which the API server has checked; an object may state another.
    if (!name_space_.empty() && fits_any_pattern(policy_.exempt_namespaces, name_space_)) {
      answer_.outcome = AdmissionOutcome::kExempt;
      return;
    }
    const std::string part = request_["subResource"].scalar;
    if (part == "status") return;  // what it asks for can't be changed there
    object_document_.node = take(request_, "object");
    old_document_.node = take(request_, "oldObject");
    const bool is_update = operation == "UPDATE";
    if (!is_update && operation != "CREATE") {
      return not_judged(
          fmt::format("the operation '{}' is not known", printable_text(operation, 40)));
    }
    if (part == "scale") return decide_scale();
    if (is_update && object_["metadata"].has("deletionTimestamp")) return;  // it is going away
    if (is_made_by_controller()) {
      answer_.outcome = AdmissionOutcome::kExempt;
      return;
    }
    if (!manifests::is_kubernetes_object(object_)) {
      return not_judged("the review has no object with apiVersion and kind");
    }
    judge(is_update);
  }

  // Only the numbers are in a scale, so more of it can't be judged.
  void decide_scale() {
    const auto before = parse_count(old_.at("spec.replicas").scalar, manifests::kReplicasMax);
    const auto after = parse_count(object_.at("spec.replicas").scalar, manifests::kReplicasMax);
    // A count of 0 is left out by some clients.
    const std::uint64_t most = before ? *before : 0;
    if (!object_.at("spec.replicas") || (after && *after <= most)) return;
    if (fits_any_pattern(policy_.controllers, request_.at("userInfo.username").scalar)) {
      answer_.outcome = AdmissionOutcome::kExempt;
      return;
    }
    not_judged("a scale does not say what is scaled; change spec.replicas of the workload itself");
  }

  // Pods of a workload that was judged as a whole. Who makes them is told by the API server, and
  // can't be claimed; what owns them can.
  bool is_made_by_controller() const {
    if (!fits_any_pattern(policy_.controllers, request_.at("userInfo.username").scalar)) {
      return false;
    }
    return std::ranges::any_of(
        object_.at("metadata.ownerReferences").items, [](const DocumentNode& owner) {
          return owner["controller"].scalar == "true" &&
                 std::ranges::find(kOwnerKinds, owner["kind"].scalar) != std::end(kOwnerKinds);
        });
  }

  manifests::ManifestReading read(const manifests::SourcedDocument& document) const {
    manifests::ManifestReading reading = manifests::read_kubernetes_objects({&document, 1});
    for (WorkloadRequest& workload : reading.workloads) {
      workload.move_to_namespace(name_space_);
    }
    return reading;
  }

  Result<Estimate> estimate(const manifests::ManifestReading& reading,
                            bool lists_alternatives) const {
    EstimateOptions options = policy_.pricing;
    options.lists_alternatives = lists_alternatives;
    return estimate_workloads(reading, policy_.catalog, options, policy_.offers);
  }

  // Whether the reading of a review is one workload that can be priced, so that nobody has to look
  // at it where no rule changes any.
  bool stays_unchanged(const manifests::ManifestReading& reading) const {
    return endpoint_ == AdmissionEndpoint::kMutate && !changes_workloads(policy_.rules) &&
           reading.unpriced.empty() && reading.workloads.size() == 1 &&
           reading.workloads[0].groups.size() <= kGroupsMax;
  }

  void judge(bool is_update) {
    const manifests::ManifestReading reading = read(object_document_);
    if (stays_unchanged(reading)) {
      answer_.workload = printable_text(workload_title(reading.workloads[0]), 400);
      return;
    }
    const auto now = estimate(reading, false);
    if (!now) return not_judged(now.error().message);
    for (const manifests::UnpricedObject& object : now->unpriced) {
      if (!object.runs_nothing) return not_judged(object.reason);
    }
    if (now->workloads.empty()) return;  // it starts nothing
    if (now->workloads.size() > 1) return not_judged("it is a list of objects");
    const WorkloadEstimate& workload = now->workloads[0];
    answer_.workload = printable_text(workload_title(workload.workload), 400);
    if (endpoint_ == AdmissionEndpoint::kMutate) return change(workload, is_update);
    if (is_update && has_not_grown(workload.workload)) return;
    Verdict verdict =
        judge_workload(workload, policy_.rules, now->currency, policy_.context(today_));
    add_hits(limit_hits(workload, policy_.limits, now->currency, policy_.month_left_ms,
                        policy_.charging),
             verdict);
    decide_by(verdict);
    const bool may_be_approved =
        verdict.decision == Decision::kNeedsApproval && policy_.approvals != nullptr;
    if (!may_be_approved) return;
    // Those who decide are told what would cost less.
    const auto told = estimate(reading, true);
    ask_approvals(told ? told->workloads[0] : workload, verdict);
  }

  // Work that was admitted under former rules must be able to end, to shrink, and to carry on.
  bool has_not_grown(const WorkloadRequest& now) const {
    if (!manifests::is_kubernetes_object(old_)) return false;
    const manifests::ManifestReading before = read(old_document_);
    return before.workloads.size() == 1 &&
           asks_for_no_more(before.workloads[0], now, looks_at_pods(policy_.rules));
  }

  void decide_by(const Verdict& verdict) {
    std::string applied;
    for (const RuleHit& hit : verdict.hits) {
      applied += applied.empty() ? "" : ", ";
      applied += hit.rule;
    }
    VerdictText told = verdict_text(verdict);
    for (const std::string& warning : told.warnings) warn(warning);
    answer_.message = std::move(told.refusal);
    annotations_.emplace_back("decision", std::string(to_text(verdict.decision)));
    if (!applied.empty()) annotations_.emplace_back("rules", printable_text(applied, 1000));
    answer_.is_allowed = verdict.decision < Decision::kNeedsApproval;
    if (!answer_.is_allowed) {
      answer_.outcome = AdmissionOutcome::kRefused;
    } else if (verdict.decision == Decision::kWarned) {
      answer_.outcome = AdmissionOutcome::kWarned;
    }
  }

  // Admits what an approval covers. Otherwise a request is filed, so that somebody can decide.
  // REQUIRES: there are approvals.
  void ask_approvals(const WorkloadEstimate& judged, const Verdict& verdict) {
    WorkloadEstimate workload = judged;
    // The API server makes the name anew for each object; the approval is for what was written.
    const std::string& prefix = object_.at("metadata.generateName").scalar;
    if (!prefix.empty()) workload.workload.name = prefix;
    const Currency currency = policy_.pricing.currency;
    const bool is_dry = request_["dryRun"].scalar == "true";
    const std::string by = "kubernetes:" + answer_.user;
    if (!workload.workload.approval.empty()) {
      const auto redeemed = policy_.approvals->redeem(
          workload.workload.approval, claim_of(workload, verdict, currency), by, is_dry);
      if (redeemed) {
        annotations_.emplace_back("approval", *redeemed);
        answer_.is_allowed = true;
        answer_.outcome = AdmissionOutcome::kAdmitted;
        answer_.message.clear();
        return;
      }
      answer_.message += "; its approval does not hold: " + redeemed.error().message;
    }
    if (is_dry) return;
    ApprovalRequest request = request_of(workload, verdict, currency, policy_.charging);
    request.by = by;
    request.source = "admission";
    const auto filed = policy_.approvals->file(std::move(request));
    answer_.message += filed ? fmt::format(
                                   "; {} asks for it: once it is approved, put its token "
                                   "into the annotation {}",
                                   *filed, manifests::kApprovalAnnotation)
                             : "; and it can't be asked for: " + filed.error().message;
  }

  void change(const WorkloadEstimate& workload, bool is_update) {
    // The pods of most kinds can't be changed once they are made, and a changed template would
    // start all pods anew; so an update is changed only where it changes the template itself.
    if (is_update && !changes_template()) return;
    const auto changes =
        changes_of(workload, policy_.rules, policy_.pricing.currency, policy_.context(today_));
    if (changes.empty()) return;
    const std::string patch = json_patch(object_, workload.workload, changes);
    if (patch == "[]") return;
    patch_ = to_base64(patch);
    answer_.outcome = AdmissionOutcome::kChanged;
  }

  bool changes_template() const {
    if (std::ranges::find(kChangeableKinds, object_["kind"].scalar) == std::end(kChangeableKinds)) {
      return false;
    }
    const auto now = manifests::find_pod_places(object_);
    const auto before = manifests::find_pod_places(old_);
    return !std::ranges::equal(now, before, [](const auto& one, const auto& other) {
      return one.pointer == other.pointer && is_same(*one.node, *other.node);
    });
  }

  void not_judged(const std::string& why) {
    answer_.outcome = AdmissionOutcome::kUnknown;
    annotations_.emplace_back("decision", "unknown");
    // The mutating webhook refuses nothing: the validating one sees the same object after it.
    if (endpoint_ == AdmissionEndpoint::kMutate) return;
    answer_.message = "no rule can judge it: " + why;
    answer_.is_allowed = policy_.admits_unknown;
    if (answer_.is_allowed) warn(answer_.message);
  }

  void warn(const std::string& text) {
    if (warnings_.size() < kWarningsMax) {
      warnings_.push_back(printable_text("pennyweight: " + text, kWarningBytesMax));
    }
  }

  void write() {
    std::string out = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":)";
    out += fmt::format(R"({{"uid":{},"allowed":{})", json_string(uid_), answer_.is_allowed);
    if (!answer_.is_allowed) {
      answer_.message = printable_text(answer_.message, kMessageBytesMax);
      out += fmt::format(R"(,"status":{{"code":403,"reason":"Forbidden","message":{}}})",
                         json_string("pennyweight: " + answer_.message));
    }
    if (!warnings_.empty()) {
      out += R"(,"warnings":[)";
      for (const std::string& warning : warnings_) {
        out += (out.ends_with('[') ? "" : ",") + json_string(warning);
      }
      out += "]";
    }
    if (!annotations_.empty()) {
      out += R"(,"auditAnnotations":{)";
      for (const auto& [key, value] : annotations_) {
        out += fmt::format("{}{}:{}", out.ends_with('{') ? "" : ",", json_string(key),
                           json_string(value));
      }
      out += "}";
    }
    if (!patch_.empty()) {
      out += fmt::format(R"(,"patchType":"JSONPatch","patch":{})", json_string(patch_));
    }
    answer_.body = out + "}}\n";
  }

  DocumentNode& request_;
  const AdmissionEndpoint endpoint_;
  const AdmissionPolicy& policy_;
  const Date today_;
  const std::string uid_;
  const std::string name_space_;
  manifests::SourcedDocument object_document_, old_document_;
  const DocumentNode& object_ = object_document_.node;
  const DocumentNode& old_ = old_document_.node;
  std::vector<std::string> warnings_;
  std::vector<std::pair<std::string, std::string>> annotations_;
  std::string patch_;
  AdmissionAnswer answer_;
};

}  // namespace

Result<AdmissionAnswer> answer_review(std::string_view body, AdmissionEndpoint endpoint,
                                      const AdmissionPolicy& policy, Date today) {
  auto documents = TRY(manifests::parse_json_documents(body, "review"));
  if (documents.size() != 1) {
    return fail(ErrorCode::kBadFile, "the body is not one AdmissionReview");
  }
  DocumentNode& review = documents[0];
  if (review["kind"].scalar != "AdmissionReview" ||
      review["apiVersion"].scalar != "admission.k8s.io/v1") {
    return fail(ErrorCode::kBadFile,
                "the body is no AdmissionReview of admission.k8s.io/v1; set "
                "admissionReviewVersions: [v1]");
  }
  const auto at = std::ranges::find(review.fields, "request", &DocumentNode::Field::key);
  const std::string uid = at == review.fields.end() ? std::string() : at->value["uid"].scalar;
  if (uid.empty() || uid.size() > kUidBytesMax) {
    return fail(ErrorCode::kBadFile, "the review has no request with a uid");
  }
  return Review(at->value, endpoint, policy, today).run();
}

}  // namespace pennyweight::guardrails
