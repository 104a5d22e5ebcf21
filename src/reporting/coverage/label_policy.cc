#include "reporting/coverage/label_policy.h"

#include <algorithm>

#include "core/check.h"

namespace pennyweight {
namespace {

bool is_allowed(const LabelRequirement& requirement, std::string_view value) {
  if (requirement.allowed.empty() && !requirement.allowed_pattern) return true;
  const bool is_listed = std::ranges::any_of(
      requirement.allowed, [&](const std::string& each) { return meets_pattern(value, each); });
  return is_listed || (requirement.allowed_pattern && requirement.allowed_pattern->matches(value));
}

LabelEvaluation evaluate_value(const LabelRequirement& requirement, LabelStatus status,
                               std::string value) {
  return {is_allowed(requirement, value) ? status : LabelStatus::kNotAllowed, std::move(value)};
}

}  // namespace

LabelPolicy default_label_policy() {
  return {{default_requirement("project-id"), default_requirement("team-id"),
           default_requirement("user-id")}};
}

LabelRequirement default_requirement(std::string_view key) {
  // Kubernetes' recommended labels, and Slurm's names; the account is what Slurm charges by.
  if (key == "project-id") {
    return {
        .key = "project-id",
        .labels = {"project-id", "project_id", "project", "app.kubernetes.io/part-of", "account"},
        .dimension = "project"};
  }
  if (key == "team-id") {
    return {.key = "team-id", .labels = {"team-id", "team_id", "team"}, .dimension = "team"};
  }
  if (key == "user-id") {
    return {
        .key = "user-id", .labels = {"user-id", "user_id", "user", "owner"}, .dimension = "user"};
  }
  return {.key = std::string(key), .labels = {std::string(key)}};
}

std::string_view to_text(LabelStatus status) {
  switch (status) {
    case LabelStatus::kStated:
      return "stated";
    case LabelStatus::kDerived:
      return "derived";
    case LabelStatus::kNotAllowed:
      return "not allowed";
    case LabelStatus::kMissing:
      return "missing";
  }
  CHECK(false, "every status has a name");
}

bool is_met(LabelStatus status) {
  return status == LabelStatus::kStated || status == LabelStatus::kDerived;
}

LabelEvaluation evaluate_label(const LabelRequirement& requirement, const Labels& labels,
                               std::optional<std::string_view> dimension) {
  for (const std::string& label : requirement.labels) {
    const auto value = labels.find(label);
    if (!value || value->empty()) continue;
    return evaluate_value(requirement, LabelStatus::kStated, std::string(*value));
  }
  const LabelLookup lookup = [&](std::string_view key) { return labels.find(key); };
  if (auto value = derive(requirement.derive, lookup)) {
    return evaluate_value(requirement, LabelStatus::kDerived, *std::move(value));
  }
  if (dimension && !dimension->empty()) {
    return evaluate_value(requirement, LabelStatus::kDerived, std::string(*dimension));
  }
  return {LabelStatus::kMissing, ""};
}

}  // namespace pennyweight
