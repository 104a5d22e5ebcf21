// The label policy: which labels a workload must have, which values count, and what may stand for
// a label that is missing. Values only; config/label_config.h reads them.
//
// It judges, and changes no figure: what derives a dimension for reports and invoices is the
// policy's `dimensions` (docs/guide/policy.md), on which a requirement can lean.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/date.h"
#include "core/label.h"
#include "policy/label_pattern.h"

namespace pennyweight {

struct LabelRequirement {
  std::string key;                  // "project-id", in the words of reports
  std::vector<std::string> labels;  // any of these states it; the first that is not empty
  // Where none of them is there, these may stand for it, in this order.
  std::vector<DeriveRule> derive = {};
  std::string dimension = {};  // of the policy: the value that a run gave; empty: none
  // A value counts where it meets one of these, '*' allowed at the end, or the pattern. With
  // neither, every value counts.
  std::vector<std::string> allowed = {};
  std::optional<LabelPattern> allowed_pattern = {};
  std::optional<Date> in_force_from = {};  // days before are not judged; nothing: all are
  bool operator==(const LabelRequirement&) const = default;
};

struct LabelPolicy {
  std::vector<LabelRequirement> required;  // each key once
  bool operator==(const LabelPolicy&) const = default;
};

// project-id, team-id and user-id under their usual names.
LabelPolicy default_label_policy();
// The requirement of a key that only its name is told of.
LabelRequirement requirement_of(std::string_view key);

enum class LabelStatus {
  kStated,      // the workload says so itself
  kDerived,     // it does not, and a rule does
  kNotAllowed,  // there is a value, stated or derived, that does not count
  kMissing,
};
inline constexpr LabelStatus kLabelStatuses[] = {LabelStatus::kStated, LabelStatus::kDerived,
                                                 LabelStatus::kNotAllowed, LabelStatus::kMissing};
// "stated", "derived", "not allowed", "missing".
std::string_view to_text(LabelStatus status);
// Whether it meets the requirement: stated or derived.
bool is_met(LabelStatus status);

struct LabelVerdict {
  LabelStatus status;
  std::string value;  // empty where it is missing
  bool operator==(const LabelVerdict&) const = default;
};

// `dimension` is what the run gave to the workload in the requirement's dimension, but for a
// fallback, which says that nothing is known. A stated value that is not allowed is not replaced
// by a derived one: somebody said something wrong.
LabelVerdict judge(const LabelRequirement& requirement, const Labels& labels,
                   std::optional<std::string_view> dimension);

}  // namespace pennyweight
