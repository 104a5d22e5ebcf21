#include "insight/queries/approval_budgets.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "allocation/policy/default_policy.h"
#include "core/label.h"

namespace pennyweight {
namespace {

constexpr Date kAskedDay = std::chrono::sys_days(std::chrono::year(2026) / 11 / 27);

PlannedDimensions owned_by(const std::string& team, std::vector<std::string> unknown = {}) {
  PlannedDimensions owner{.known = {}, .unknown = std::move(unknown), .unset = {"client"}};
  if (!team.empty()) {
    EXPECT_TRUE(owner.known.set("team", team));
  }
  return owner;
}

guardrails::ApprovalRequest asked_for(std::vector<PlannedDimensions> owners) {
  return {.workload = "Job ml/train",
          .name_space = "ml",
          .labels = {{"team", "of the object"}},
          .cost = Money::from_units(40, kUsd),
          .cost_of = "run",
          .owners = std::move(owners)};
}

// Whoever decides within a scope decides on what is wholly in it, whatever the object says of
// itself.
TEST(ApprovalBudgets, ScopesAreThoseOfTheDimensions) {
  const Policy policy = default_policy();
  const std::vector<SummaryFilter> nlp = {{.dimension = "team", .values = {"nlp"}}};
  const std::vector<SummaryFilter> not_cv = {
      {.dimension = "team", .values = {"cv"}, .negate = true}};
  const std::vector<SummaryFilter> of_node = {{.dimension = "node", .values = {"n1"}}};
  const struct {
    const char* name;
    std::vector<PlannedDimensions> owners;
    bool is_nlp, is_not_cv;
  } cases[] = {
      {"all", {owned_by("nlp")}, true, true},
      {"another's", {owned_by("cv")}, false, false},
      {"one group is another's", {owned_by("nlp"), owned_by("cv")}, false, false},
      {"not known", {owned_by("", {"team"})}, false, false},
      {"one group is not known", {owned_by("nlp"), owned_by("", {"team"})}, false, false},
  };
  for (const auto& one : cases) {
    const auto request = asked_for(one.owners);
    EXPECT_EQ(is_about(request, nlp, policy), one.is_nlp) << one.name;
    EXPECT_EQ(is_about(request, not_cv, policy), one.is_not_cv) << one.name;
    EXPECT_FALSE(is_about(request, of_node, policy)) << one.name;
    EXPECT_TRUE(is_about(request, {}, policy)) << one.name;
  }
  // Of before: by its labels, as the policy reads them.
  guardrails::ApprovalRequest old = asked_for({});
  EXPECT_FALSE(is_about(old, nlp, policy));
  old.labels["team"] = "nlp";
  EXPECT_TRUE(is_about(old, nlp, policy));
}

TEST(ApprovalBudgets, BudgetsThatMayBeChargedAreShownAsSuch) {
  const auto budget = [](const std::string& name, std::vector<std::string> filters,
                         Currency currency = kUsd) {
    return Budget{.name = name,
                  .filters = std::move(filters),
                  .amounts = {{.from = Date(), .amount = Money::from_units(100, currency)}}};
  };
  const std::vector<Budget> budgets = {budget("all", {}),
                                       budget("nlp", {"team=nlp"}),
                                       budget("cv", {"team=cv"}),
                                       budget("node", {"node=n1"}),
                                       budget("node of cv", {"node=n1", "team=cv"}),
                                       budget("euros", {}, kEur)};
  const SummarySource nothing_spent = [](const SummaryQuery&) { return std::vector<SummaryRow>(); };
  const auto names = [&](std::vector<PlannedDimensions> owners) {
    const auto after = budgets_after(asked_for(std::move(owners)), budgets, kAskedDay,
                                     default_policy(), nothing_spent);
    EXPECT_TRUE(after) << after.error().message;
    std::string text;
    for (const BudgetAfter& one : after.value_or(std::vector<BudgetAfter>())) {
      EXPECT_EQ(one.after, one.left - Money::from_units(40, kUsd));
      text += one.name + (one.is_certain ? "; " : "?; ");
    }
    return text;
  };
  EXPECT_EQ(names({owned_by("nlp")}), "all; nlp; node?; ");
  EXPECT_EQ(names({owned_by("nlp"), owned_by("cv")}), "all; nlp; cv; node?; node of cv?; ");
  EXPECT_EQ(names({owned_by("", {"team"})}), "all; nlp?; cv?; node?; node of cv?; ");
}

}  // namespace
}  // namespace pennyweight
