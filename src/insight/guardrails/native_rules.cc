#include "insight/guardrails/native_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/crypto/sha256.h"
#include "core/json_text.h"
#include "core/plain_text.h"
#include "insight/guardrails/owner_kinds.h"

namespace pennyweight::guardrails {
namespace {

// Kinds whose pods are stated plainly. Others are judged by the webhook.
constexpr std::string_view kNativeKinds =
    "Pod, ReplicationController, Deployment, StatefulSet, ReplicaSet, Job, CronJob";
// Kyverno's "Job" is that of any group.
constexpr std::string_view kKyvernoKinds =
    "v1/Pod, v1/ReplicationController, apps/v1/Deployment, apps/v1/StatefulSet, "
    "apps/v1/ReplicaSet, batch/v1/Job, batch/v1/CronJob";

// A text of CEL in quotes.
std::string cel_text(std::string_view text) { return json_string(text); }

// A pattern as a regular expression (RE2) that ignores case, without flags that some engines lack.
std::string cel_pattern(std::string_view pattern) {
  std::string expression = "^";
  for (const char c : pattern) {
    if (c == '*') {
      expression += "(.|\n)*";
    } else if (ascii::is_letter_or_digit(c) &&
               ascii::lower_case(std::string(1, c)) != ascii::upper_case(std::string(1, c))) {
      expression += fmt::format("[{}{}]", ascii::lower_case(std::string(1, c)),
                                ascii::upper_case(std::string(1, c)));
    } else if (ascii::is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 || c == '_' ||
               c == '/' || c == ' ' || c == '-' || c == ':' || c == '=') {
      expression += c;
    } else {
      expression +=
          fmt::format("[{}]", c == '^' || c == '\\' || c == '[' || c == ']' ? std::string("\\") + c
                                                                            : std::string(1, c));
    }
  }
  return expression + "$";
}

std::string joined_terms(const std::vector<std::string>& terms, std::string_view by) {
  if (terms.size() == 1) return terms[0];
  std::string text;
  for (const std::string& term : terms) {
    if (!text.empty()) text += fmt::format(" {} ", by);
    text += "(" + term + ")";
  }
  return text;
}

std::string cel_fits_any(std::string_view value, const std::vector<std::string>& patterns) {
  std::vector<std::string> terms;
  for (const std::string& pattern : patterns) {
    if (pattern == "*") return "true";
    terms.push_back(fmt::format("{}.matches({})", value, cel_text(cel_pattern(pattern))));
  }
  return joined_terms(terms, "||");
}

// Where the labels of a workload's pods are; CEL reads a path only where all of it is there.
constexpr std::string_view kPodLabels[] = {"object.spec.template.metadata.labels",
                                           "object.spec.jobTemplate.spec.template.metadata.labels"};

std::string has_path(std::string_view path) {
  std::string text;
  for (std::size_t dot = path.find('.', path.find('.') + 1); dot != std::string_view::npos;
       dot = path.find('.', dot + 1)) {
    text += fmt::format("has({}) && ", path.substr(0, dot));
  }
  return text + fmt::format("has({})", path);
}

// A label of the workload: its own, else that of its pods. As the reader of manifests has it, the
// workload's own counts even where it is empty.
std::string label_value(const std::string& key) {
  const std::string name = cel_text(key);
  std::string text = "\"\"";
  for (const std::string_view path : kPodLabels) {
    text = fmt::format("({0} && {1} in {2} ? {2}[{1}] : {3})", has_path(path), name, path, text);
  }
  return fmt::format(
      "(has(object.metadata.labels) && {0} in object.metadata.labels ? "
      "object.metadata.labels[{0}] : {1})",
      name, text);
}

std::string label_stated(const std::string& key) {
  const std::string name = cel_text(key);
  std::string text =
      fmt::format("(has(object.metadata.labels) && {0} in object.metadata.labels)", name);
  for (const std::string_view path : kPodLabels) {
    text += fmt::format(" || ({} && {} in {})", has_path(path), name, path);
  }
  return "(" + text + ")";
}

// Why the conditions can't be said; empty: they can.
std::string unsayable(const RuleConditions& when) {
  if (when.per_hour_above || when.per_run_above || when.per_month_above || when.priced) {
    return "it asks for a price";
  }
  if (!when.gpu_models.empty() || !when.regions.empty() || !when.regions_except.empty() ||
      !when.providers.empty() || when.spot) {
    return "it asks for the machine that the workload is priced on";
  }
  if (!when.risks.empty() || !when.images.empty() || !when.images_except.empty() ||
      !when.annotations.empty() || !when.annotations_missing.empty()) {
    return "it looks into containers or at annotations, which kinds state elsewhere";
  }
  if (!when.runtime_classes_except.empty() || !when.storage_classes_except.empty() ||
      !when.unlimited_traffic.empty()) {
    return "it asks for what keeps pods apart, of which other objects have a part";
  }
  if (!when.hours.empty() || !when.hours_except.empty()) return "it asks for the time of the week";
  if (when.budget_used_permille_above || when.exceeds_budget) {
    return "it asks how far a budget has come";
  }
  if (when.gpus_above) return "it counts GPUs, which autoscalers and several kinds state elsewhere";
  if (when.run_ms_above) return "it asks for a time limit, which kinds state differently";
  return "";
}

// CEL: whether the conditions hold.
std::string condition_text(const RuleConditions& when) {
  std::vector<std::string> terms;
  if (!when.kinds.empty()) terms.push_back(cel_fits_any("object.kind", when.kinds));
  if (!when.namespaces.empty()) terms.push_back(cel_fits_any("request.namespace", when.namespaces));
  if (!when.names.empty()) {
    terms.push_back(cel_fits_any(
        "(has(object.metadata.name) ? object.metadata.name : (has(object.metadata.generateName) ? "
        "object.metadata.generateName : \"\"))",
        when.names));
  }
  for (const auto& [key, pattern] : when.labels) {
    terms.push_back(fmt::format("{} && {}.matches({})", label_stated(key), label_value(key),
                                cel_text(cel_pattern(pattern))));
  }
  if (!when.labels_missing.empty()) {
    std::vector<std::string> missing;
    for (const std::string& key : when.labels_missing) {
      missing.push_back(fmt::format("{} == \"\"", label_value(key)));
    }
    terms.push_back(joined_terms(missing, "||"));
  }
  std::erase(terms, "true");
  return terms.empty() ? "true" : joined_terms(terms, "&&");
}

// Whom the webhook leaves alone: namespaces, and pods that controllers make.
std::string exempt_text(const NativeScope& scope) {
  std::vector<std::string> terms;
  if (!scope.exempt_namespaces.empty()) {
    terms.push_back(cel_fits_any("request.namespace", scope.exempt_namespaces));
  }
  if (!scope.controllers.empty()) {
    std::string owner_kinds;
    for (const std::string_view kind : kOwnerKinds) {
      owner_kinds += (owner_kinds.empty() ? "" : ", ") + cel_text(kind);
    }
    terms.push_back(fmt::format(
        "({}) && has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, "
        "has(o.controller) && o.controller && o.kind in [{}])",
        cel_fits_any("request.userInfo.username", scope.controllers), owner_kinds));
  }
  return terms.empty() ? "false" : joined_terms(terms, "||");
}

// The name of a rule's object, which also becomes a kind of Gatekeeper, without its '-'. A name
// that changes by more than its case, or that another one became, is told apart by a hash.
std::string policy_name(const std::string& rule, std::set<std::string>& used) {
  constexpr std::size_t kNameLengthMax = 63;
  constexpr std::size_t kHashLength = 8;
  const std::string prefix = "pennyweight-";
  std::string name = prefix;
  for (const char c : ascii::lower_case(rule)) {
    const bool joins = !ascii::is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (!joins) {
      name += c;
    } else if (!name.ends_with('-')) {
      name += '-';
    }
  }
  const auto kind_of = [](std::string text) {
    std::erase(text, '-');
    return text;
  };
  if (name != prefix + ascii::lower_case(rule) || name.ends_with('-') ||
      name.size() > kNameLengthMax || used.contains(kind_of(name))) {
    name.resize(std::min(name.size(), kNameLengthMax - kHashLength - 1));
    while (name.ends_with('-')) name.pop_back();
    name += "-" + to_hex(sha256(rule)).substr(0, kHashLength);
  }
  used.insert(kind_of(name));
  return name;
}

std::string rule_message(const GuardrailRule& rule) {
  std::string text = fmt::format("rule '{}'", rule.name);
  for (const std::string* more : {&rule.reason, &rule.way_out}) {
    if (!more->empty()) text += "; " + *more;
  }
  return printable_text(text, 1000);
}

bool only_warns(const GuardrailRule& rule) {
  return rule.effect == RuleEffect::kWarn || rule.mode == RuleMode::kWarn;
}

std::string_view action_of(const GuardrailRule& rule) {
  if (rule.mode == RuleMode::kAudit) return "Audit";
  return only_warns(rule) ? "Warn" : "Deny";
}

// Lines that a comment may have.
std::string yaml_comment(std::string_view text) { return "# " + printable_text(text, 400) + "\n"; }

std::string write_cel(const std::string& name, const GuardrailRule& rule,
                      const std::string& expression) {
  return fmt::format(R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {0}
  labels: {{app.kubernetes.io/managed-by: pennyweight}}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {{apiGroups: [""], apiVersions: [v1], operations: [CREATE],
       resources: [pods, replicationcontrollers]}}
    - {{apiGroups: [apps], apiVersions: [v1], operations: [CREATE],
       resources: [deployments, statefulsets, replicasets]}}
    - {{apiGroups: [batch], apiVersions: [v1], operations: [CREATE],
       resources: [jobs, cronjobs]}}
  validations:
  - expression: {1}
    message: {2}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {0}
  labels: {{app.kubernetes.io/managed-by: pennyweight}}
spec:
  policyName: {0}
  validationActions: [{3}]
)",
                     name, json_string(expression), json_string(rule_message(rule)),
                     action_of(rule));
}

std::string write_kyverno(const std::string& name, const GuardrailRule& rule,
                          const std::string& expression) {
  return fmt::format(R"(apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: {0}
  labels: {{app.kubernetes.io/managed-by: pennyweight}}
spec:
  background: false{5}
  rules:
  - name: {0}
    match:
      any:
      - resources:
          kinds: [{1}]
          operations: [CREATE]
    validate:
      failureAction: {2}
      cel:
        expressions:
        - expression: {3}
          message: {4}
)",
                     name, kKyvernoKinds, action_of(rule) == "Deny" ? "Enforce" : "Audit",
                     json_string(expression), json_string(rule_message(rule)),
                     action_of(rule) == "Warn" ? "\n  emitWarning: true" : "");
}

std::string write_gatekeeper(const std::string& name, const GuardrailRule& rule,
                             const std::string& expression) {
  // Gatekeeper asks at updates, too.
  const std::string at_create =
      "(has(request.operation) && request.operation != \"CREATE\") || " + expression;
  std::string kind;
  bool begins = true;
  for (const char c : name) {
    if (c == '-') {
      begins = true;
      continue;
    }
    kind += begins ? ascii::upper_case(std::string(1, c)) : std::string(1, c);
    begins = false;
  }
  return fmt::format(R"(apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata:
  name: {0}
  labels: {{app.kubernetes.io/managed-by: pennyweight}}
spec:
  crd:
    spec:
      names:
        kind: {1}
  targets:
  - target: admission.k8s.gatekeeper.sh
    code:
    - engine: K8sNativeValidation
      source:
        validations:
        - expression: {2}
          message: {3}
---
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: {1}
metadata:
  name: {4}
  labels: {{app.kubernetes.io/managed-by: pennyweight}}
spec:
  enforcementAction: {5}
  match:
    kinds:
    - {{apiGroups: [""], kinds: [Pod, ReplicationController]}}
    - {{apiGroups: [apps], kinds: [Deployment, StatefulSet, ReplicaSet]}}
    - {{apiGroups: [batch], kinds: [Job, CronJob]}}
)",
                     ascii::lower_case(kind), kind, json_string(at_create),
                     json_string(rule_message(rule)), name,
                     action_of(rule) == "Deny"   ? "deny"
                     : action_of(rule) == "Warn" ? "warn"
                                                 : "dryrun");
}

}  // namespace

std::vector<NativeRule> native_rules(std::span<const GuardrailRule> rules,
                                     const NativeScope& scope) {
  std::vector<NativeRule> natives;
  const std::string exempt = exempt_text(scope);
  std::vector<std::string> passes = {exempt};  // what rules with the effect allow let through
  std::string blocked_by;                      // such a rule that can't be said
  for (const GuardrailRule& rule : rules) {
    NativeRule native{.rule = rule.name, .expression = "", .why_not = ""};
    const bool lets_through = rule.effect == RuleEffect::kAllow && rule.mode == RuleMode::kEnforce;
    if (rule.effect == RuleEffect::kRequireApproval) {
      native.why_not = "an approval is looked up";
    } else if (rule.effect == RuleEffect::kMutate) {
      native.why_not = "it changes objects";
    } else if (!rule.exemptions.empty()) {
      native.why_not = "its exemptions end on a day";
    } else {
      native.why_not = unsayable(rule.when);
    }
    if (lets_through) {
      if (native.why_not.empty()) {
        passes.push_back(condition_text(rule.when));
        native.why_not = "it allows, which the rules behind it consider";
      } else if (blocked_by.empty()) {
        blocked_by = rule.name;
      }
    } else if (native.why_not.empty() && !blocked_by.empty()) {
      native.why_not = fmt::format("the rule '{}' before it allows, and can't be said", blocked_by);
    } else if (native.why_not.empty() && rule.effect == RuleEffect::kAllow) {
      native.why_not = "it allows, and stops nothing";
    }
    if (native.why_not.empty()) {
      native.expression =
          fmt::format("{} || !({})", joined_terms(passes, "||"), condition_text(rule.when));
    }
    natives.push_back(std::move(native));
  }
  return natives;
}

std::string native_policies(std::span<const GuardrailRule> rules, const NativeScope& scope,
                            NativeSystem system) {
  std::string text = yaml_comment(
      fmt::format("Rules of pennyweight for {}; made by pennyweight guard export.", kNativeKinds));
  const std::vector<NativeRule> natives = native_rules(rules, scope);
  bool has_any = false;
  std::set<std::string> used;
  for (std::size_t i = 0; i < natives.size(); ++i) {
    const NativeRule& native = natives[i];
    if (native.expression.empty()) {
      text += yaml_comment(
          fmt::format("Left to the webhook: rule '{}': {}", native.rule, native.why_not));
    }
  }
  for (std::size_t i = 0; i < natives.size(); ++i) {
    if (natives[i].expression.empty()) continue;
    if (has_any) text += "---\n";
    has_any = true;
    const std::string name = policy_name(rules[i].name, used);
    switch (system) {
      case NativeSystem::kValidatingAdmissionPolicy:
        text += write_cel(name, rules[i], natives[i].expression);
        break;
      case NativeSystem::kKyverno:
        text += write_kyverno(name, rules[i], natives[i].expression);
        break;
      case NativeSystem::kGatekeeper:
        text += write_gatekeeper(name, rules[i], natives[i].expression);
        break;
    }
  }
  return text;
}

}  // namespace pennyweight::guardrails
