// The label policy: which labels a workload must have, which values are allowed, and what may
// replace a missing label. Values only; config/label_config.h reads them.
//
// It measures compliance and changes no figure. The dimensions of reports and invoices come from
// the policy's `dimensions` (docs/guide/policy.md), which a requirement can refer to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/label_pattern.h"
#include "core/date.h"
#include "core/label.h"

namespace pennyweight {

struct LabelRequirement {
  std::string key;                  // "project-id": the name that reports show
  std::vector<std::string> labels;  // the first of these that is not empty states the value
  // Derives the value where none of them is there; tried in order.
  std::vector<DeriveRule> derive = {};
  std::string dimension =
      {};  // derives it from the run's value of this dimension; empty: from none
  // A value is allowed if it equals one of these ('*' at the end matches any rest) or matches the
  // pattern. With neither, every value is allowed.
  std::vector<std::string> allowed = {};
  std::optional<LabelPattern> allowed_pattern = {};
  std::optional<Date> in_force_from = {};  // earlier days are not evaluated; empty: all are
  bool operator==(const LabelRequirement&) const = default;
};

struct LabelPolicy {
  std::vector<LabelRequirement> required;  // each key once
  bool operator==(const LabelPolicy&) const = default;
};

// Requires project-id, team-id and user-id, under their usual label names.
LabelPolicy default_label_policy();
// The requirement for a key that is configured by its name alone.
LabelRequirement default_requirement(std::string_view key);

enum class LabelStatus {
  kStated,      // the workload has the label
  kDerived,     // a rule derives the value
  kNotAllowed,  // the value, stated or derived, is not allowed
  kMissing,
};
inline constexpr LabelStatus kLabelStatuses[] = {LabelStatus::kStated, LabelStatus::kDerived,
                                                 LabelStatus::kNotAllowed, LabelStatus::kMissing};
// "stated", "derived", "not allowed", "missing".
std::string_view to_text(LabelStatus status);
// Whether the status meets the requirement: stated or derived.
bool is_met(LabelStatus status);

struct LabelEvaluation {
  LabelStatus status;
  std::string value;  // empty where it is missing
  bool operator==(const LabelEvaluation&) const = default;
};

// `dimension` is the run's value of the requirement's dimension; empty for a fallback. A stated
// value that is not allowed is not replaced by a derived one: it is a mistake to be fixed.
LabelEvaluation evaluate_label(const LabelRequirement& requirement, const Labels& labels,
                               std::optional<std::string_view> dimension);

}  // namespace pennyweight
