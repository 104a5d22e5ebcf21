#include "server/access/principal.h"

#include <algorithm>

namespace pennyweight::access {
namespace {

struct RoleName {
  Role role;
  std::string_view name;
};
constexpr RoleName kRoleNames[] = {{Role::kViewer, "viewer"},   {Role::kTeamLead, "team_lead"},
                                   {Role::kFinance, "finance"}, {Role::kOperator, "operator"},
                                   {Role::kAdmin, "admin"},     {Role::kClient, "client"}};

struct PermissionName {
  Permission permission;
  std::string_view name;
};
constexpr PermissionName kPermissionNames[] = {
    {Permission::kReadCosts, "read_costs"},          {Permission::kReadLive, "read_live"},
    {Permission::kReadFleet, "read_fleet"},          {Permission::kReadBills, "read_bills"},
    {Permission::kReadInvoices, "read_invoices"},    {Permission::kReadRules, "read_rules"},
    {Permission::kReadAudit, "read_audit"},          {Permission::kReadMetrics, "read_metrics"},
    {Permission::kDecideAdvice, "decide_advice"},    {Permission::kIssueInvoices, "issue_invoices"},
    {Permission::kClosePeriods, "close_periods"},    {Permission::kManageUsers, "manage_users"},
    {Permission::kManageOwn, "manage_own"},          {Permission::kManageBudgets, "manage_budgets"},
    {Permission::kManageAlerts, "manage_alerts"},    {Permission::kApprove, "approve"},
    {Permission::kSendTelemetry, "send_telemetry"},  {Permission::kImportFiles, "import_files"},
    {Permission::kReadStatements, "read_statements"}};
static_assert(std::size(kPermissionNames) == std::size(kPermissions));

bool viewer_may(Permission permission) {
  switch (permission) {
    case Permission::kReadCosts:
    case Permission::kReadLive:
    case Permission::kReadFleet:
    case Permission::kReadInvoices:
    case Permission::kManageOwn:
      return true;
    case Permission::kReadBills:
    case Permission::kReadRules:
    case Permission::kReadAudit:
    case Permission::kReadMetrics:
    case Permission::kDecideAdvice:
    case Permission::kIssueInvoices:
    case Permission::kClosePeriods:
    case Permission::kManageUsers:
    case Permission::kManageBudgets:
    case Permission::kManageAlerts:
    case Permission::kApprove:
    case Permission::kSendTelemetry:
    case Permission::kImportFiles:
    case Permission::kReadStatements:
      return false;
  }
  return false;
}

// What is charged to them, and nothing of what it cost: that would tell of prices and of others.
bool client_may(Permission permission) {
  return permission == Permission::kReadInvoices || permission == Permission::kReadStatements ||
         permission == Permission::kManageOwn;
}

bool team_lead_may(Permission permission) {
  return viewer_may(permission) || permission == Permission::kReadRules ||
         permission == Permission::kManageBudgets || permission == Permission::kDecideAdvice ||
         permission == Permission::kApprove;
}

bool finance_may(Permission permission) {
  return team_lead_may(permission) || permission == Permission::kReadBills ||
         permission == Permission::kIssueInvoices || permission == Permission::kClosePeriods ||
         permission == Permission::kReadAudit || permission == Permission::kManageAlerts ||
         permission == Permission::kImportFiles || permission == Permission::kReadStatements;
}

bool operator_may(Permission permission) {
  // Whoever runs the clusters does not decide what may be spent on them.
  return (team_lead_may(permission) && permission != Permission::kApprove) ||
         permission == Permission::kReadBills || permission == Permission::kReadMetrics ||
         permission == Permission::kManageAlerts || permission == Permission::kSendTelemetry ||
         permission == Permission::kImportFiles;
}

}  // namespace

std::string_view to_text(Role role) {
  for (const RoleName& known : kRoleNames) {
    if (known.role == role) return known.name;
  }
  return {};
}

std::optional<Role> parse_role(std::string_view text) {
  for (const RoleName& known : kRoleNames) {
    if (known.name == text) return known.role;
  }
  return std::nullopt;
}

std::string_view to_text(Permission permission) {
  for (const PermissionName& known : kPermissionNames) {
    if (known.permission == permission) return known.name;
  }
  return {};
}

std::optional<Permission> parse_permission(std::string_view text) {
  for (const PermissionName& known : kPermissionNames) {
    if (known.name == text) return known.permission;
  }
  return std::nullopt;
}

bool allows(Role role, Permission permission) {
  switch (role) {
    case Role::kViewer:
      return viewer_may(permission);
    case Role::kTeamLead:
      return team_lead_may(permission);
    case Role::kFinance:
      return finance_may(permission);
    case Role::kOperator:
      return operator_may(permission);
    case Role::kAdmin:
      return true;
    case Role::kClient:
      return client_may(permission);
  }
  return false;
}

bool may(const Principal& who, Permission permission) {
  // Changing the password is covered by kManageOwn.
  if (who.must_change_password && permission != Permission::kManageOwn) return false;
  if (who.only && std::ranges::find(*who.only, permission) == who.only->end()) return false;
  return allows(who.role, permission);
}

bool covers(const std::vector<SummaryFilter>& wider, const std::vector<SummaryFilter>& narrower) {
  return std::ranges::all_of(wider, [&](const SummaryFilter& wide) {
    return std::ranges::any_of(narrower, [&](const SummaryFilter& narrow) {
      return !wide.negate && !narrow.negate && narrow.dimension == wide.dimension &&
             std::ranges::all_of(narrow.values, [&](const std::string& value) {
               return std::ranges::find(wide.values, value) != wide.values.end();
             });
    });
  });
}

}  // namespace pennyweight::access
