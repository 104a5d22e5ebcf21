#include "server/access/principal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace pennyweight::access {
namespace {

using enum Permission;

struct Row {
  Role role;
  std::set<Permission> may;
};

TEST(Principal, RolesHaveThesePermissionsAndNoOthers) {
  const std::set<Permission> everything(std::begin(kPermissions), std::end(kPermissions));
  const Row rows[] = {
      {Role::kViewer, {kReadCosts, kReadLive, kReadFleet, kReadInvoices, kManageOwn}},
      {Role::kTeamLead,
       {kReadCosts, kReadLive, kReadFleet, kReadInvoices, kManageOwn, kReadRules, kDecideAdvice,
        kManageBudgets, kApprove}},
      {Role::kFinance,
       {kReadCosts, kReadLive, kReadFleet, kReadInvoices, kManageOwn, kReadRules, kDecideAdvice,
        kManageBudgets, kReadBills, kIssueInvoices, kClosePeriods, kReadAudit, kManageAlerts,
        kApprove, kImportFiles, kReadStatements}},
      {Role::kOperator,
       {kReadCosts, kReadLive, kReadFleet, kReadInvoices, kManageOwn, kReadRules, kDecideAdvice,
        kManageBudgets, kReadBills, kReadMetrics, kSendTelemetry, kManageAlerts, kImportFiles}},
      {Role::kAdmin, everything},
      {Role::kClient, {kReadInvoices, kReadStatements, kManageOwn}},
  };
  ASSERT_EQ(std::size(rows), std::size(kRoles));
  EXPECT_EQ(everything.size(), 19u);
  for (const Row& row : rows) {
    for (const Permission permission : kPermissions) {
      EXPECT_EQ(allows(row.role, permission), row.may.contains(permission))
          << to_text(row.role) << " " << to_text(permission);
    }
  }
}

TEST(Principal, NamesAreReadAsTheyAreWritten) {
  for (const Role role : kRoles) {
    EXPECT_FALSE(to_text(role).empty());
    EXPECT_EQ(parse_role(to_text(role)), role);
  }
  for (const Permission permission : kPermissions) {
    EXPECT_FALSE(to_text(permission).empty());
    EXPECT_EQ(parse_permission(to_text(permission)), permission);
  }
  for (const char* text : {"", "Admin", "root", "read_costs"}) EXPECT_FALSE(parse_role(text));
  for (const char* text : {"", "all", "read_cost", "admin"}) EXPECT_FALSE(parse_permission(text));
}

TEST(Principal, ATokenMayNoMoreThanItSaysNorThanItsUser) {
  Principal who{.name = "bo", .display_name = "Bo", .role = Role::kViewer};
  who.only = {kReadCosts, kReadBills};
  EXPECT_TRUE(may(who, kReadCosts));
  EXPECT_FALSE(may(who, kReadBills));  // a viewer may not
  EXPECT_FALSE(may(who, kReadLive));   // the token may not
  who.only = std::vector<Permission>{};
  for (const Permission permission : kPermissions) EXPECT_FALSE(may(who, permission));
}

TEST(Principal, AUserWhoMustChangeThePasswordMayDoNothingElse) {
  const Principal who{
      .name = "admin", .display_name = "", .role = Role::kAdmin, .must_change_password = true};
  for (const Permission permission : kPermissions) {
    EXPECT_EQ(may(who, permission), permission == kManageOwn) << to_text(permission);
  }
}

TEST(Principal, AScopeCoversWhatIsCutOutOfIt) {
  using Scope = std::vector<SummaryFilter>;
  const Scope everything = {};
  const Scope nlp = {{"team", {"nlp"}}};
  const Scope two = {{"team", {"cv", "nlp"}}};
  const Scope nlp_in_a = {{"team", {"nlp"}}, {"cluster", {"a"}}};
  EXPECT_TRUE(covers(everything, everything));
  EXPECT_TRUE(covers(everything, nlp_in_a));
  EXPECT_FALSE(covers(nlp, everything));
  EXPECT_TRUE(covers(nlp, nlp));
  EXPECT_TRUE(covers(two, nlp));
  EXPECT_FALSE(covers(nlp, two));
  EXPECT_TRUE(covers(nlp, nlp_in_a));
  EXPECT_FALSE(covers(nlp_in_a, nlp));
  EXPECT_FALSE(covers(nlp, Scope{{"project", {"nlp"}}}));
  EXPECT_FALSE(covers(nlp, Scope{{"team", {"nlp"}, true}}));  // all but nlp
}

}  // namespace
}  // namespace pennyweight::access
