// Rules in the words of Kubernetes itself: ValidatingAdmissionPolicy, Kyverno and Gatekeeper, all
// of which evaluate the same expressions of the Common Expression Language (CEL), so that they also
// hold while `serve` is down.
//
// Only what a manifest says can be said there: kinds, namespaces, names, labels, GPUs and time
// limits of kinds that state their pods plainly. Prices, regions, approvals and dates of exemptions
// can't be; such rules are left to the webhook, and named with the reason. The expressions are true
// where an object is admitted, and give the same verdict as the rule does at CREATE. An update is
// left to the webhook, which compares it with what was there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "insight/guardrails/rules.h"

namespace pennyweight::guardrails {

enum class NativeSystem { kValidatingAdmissionPolicy, kKyverno, kGatekeeper };
inline constexpr std::string_view kNativeSystemWords[] = {"cel", "kyverno", "gatekeeper"};

struct NativeRule {
  std::string rule;
  std::string expression;  // CEL, true where the rule does not apply; empty: it can't be said
  std::string why_not;
};

struct NativeScope {
  std::vector<std::string> exempt_namespaces = {};
  std::vector<std::string> controllers = {};
};

// One for each rule, in their order.
std::vector<NativeRule> native_rules(std::span<const GuardrailRule> rules,
                                     const NativeScope& scope);

// YAML documents of the rules that can be said, and comments about those that can't.
std::string native_policies(std::span<const GuardrailRule> rules, const NativeScope& scope,
                            NativeSystem system);

}  // namespace pennyweight::guardrails
