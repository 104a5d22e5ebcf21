// Cases of guardrails as text: a manifest, and what the rules must decide about it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/week_hours.h"
#include "insight/guardrails/rule_context.h"
#include "insight/guardrails/rules.h"

namespace pennyweight {

struct GuardCase {
  std::string name;
  int line = 1;
  std::string manifest;  // its text
  guardrails::Decision expected = guardrails::Decision::kAllowed;
  // The rules that must hit, in their order; absent: any.
  std::optional<std::vector<std::string>> rules = std::nullopt;
  std::string today = {};                      // for exemptions; empty: the day of the trial
  std::optional<WallTime> now = std::nullopt;  // absent: the time of the trial
  // How much of budgets is spent, in thousandths, by their names; of others it is not known.
  std::map<std::string, std::uint32_t> budgets_used = {};
};

// Reads a file of cases: `cases:`, a list of name, manifest, expect, and optionally rules, today,
// now and budgets. An Error is the first mistake, with its place.
Result<std::vector<GuardCase>> parse_guard_cases(std::string_view yaml, const std::string& name);

}  // namespace pennyweight
