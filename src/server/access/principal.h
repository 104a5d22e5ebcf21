// Principal: an authenticated user or token with its role, permissions and scope.
//
// Deny by default: a permission that is not listed for a role is denied, and a scoped principal
// gets no answer that can't be cut to its scope.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/instant.h"
#include "ledger/summary.h"

namespace pennyweight::access {

enum class Role { kViewer, kTeamLead, kFinance, kOperator, kAdmin, kClient };
inline constexpr Role kRoles[] = {Role::kViewer,   Role::kTeamLead, Role::kFinance,
                                  Role::kOperator, Role::kAdmin,    Role::kClient};

enum class Permission {
  kReadCosts,     // costs, explain, units, coverage, workloads: can be cut to a scope
  kReadLive,      // what runs now
  kReadFleet,     // nodes and GPUs, and who holds them
  kReadBills,     // charges, imports, reconcile, restatements, periods
  kReadInvoices,  // issued invoices
  kReadRules,     // policies and runs
  kReadAudit,     // the audit log
  kReadMetrics,   // /metrics
  kDecideAdvice,  // accept, dismiss and verify advice
  kIssueInvoices,
  kClosePeriods,
  kManageUsers,     // users, roles, scopes, tokens of others
  kManageOwn,       // own password, second factor, tokens, saved views
  kManageBudgets,   // budgets in the own scope
  kManageAlerts,    // silence alerts, and test receivers
  kApprove,         // approve or refuse workloads that a guardrail stops, in the own scope
  kSendTelemetry,   // remote_write and pushed expositions
  kImportFiles,     // upload bills, inventories and records of what ran; divide an open month anew
  kReadStatements,  // what the customers in the own scope are charged, by month
};
inline constexpr Permission kPermissions[] = {
    Permission::kReadCosts,     Permission::kReadLive,      Permission::kReadFleet,
    Permission::kReadBills,     Permission::kReadInvoices,  Permission::kReadRules,
    Permission::kReadAudit,     Permission::kReadMetrics,   Permission::kDecideAdvice,
    Permission::kIssueInvoices, Permission::kClosePeriods,  Permission::kManageUsers,
    Permission::kManageOwn,     Permission::kManageBudgets, Permission::kManageAlerts,
    Permission::kApprove,       Permission::kSendTelemetry, Permission::kImportFiles,
    Permission::kReadStatements};

std::string_view to_text(Role role);  // "viewer", "team_lead", "finance", …
std::optional<Role> parse_role(std::string_view text);
std::string_view to_text(Permission permission);  // "read_costs", …
std::optional<Permission> parse_permission(std::string_view text);

// Whether a role has a permission.
bool allows(Role role, Permission permission);

enum class SignedInBy { kPassword, kOpenId, kToken, kLoopback };

struct Principal {
  std::string name = {};          // "ana", unique
  std::string display_name = {};  // "Ana Lima"
  Role role = Role::kViewer;
  // Every filter applies; none: sees everything. Filters are never negated.
  std::vector<SummaryFilter> scope = {};
  // For a token: limits it to these permissions; nothing: all of the role.
  std::optional<std::vector<Permission>> only = {};
  SignedInBy by = SignedInBy::kPassword;
  std::string session = {};  // id of the session or token, for the audit log; never its secret
  std::string csrf = {};     // of a session; empty for tokens, which browsers never send unasked
  bool must_change_password = false;  // then only that is allowed
  // When the user last proved who they are: the sign-in, or its confirmation. Never for tokens.
  std::optional<Instant> proved_at = {};

  bool is_scoped() const { return !scope.empty(); }
  // Somebody else's customer: without a scope they see nothing, where others see everything.
  bool is_client() const { return role == Role::kClient; }
};

// Whether the principal has the permission, given the limits of a token and a password that must be
// changed first.
bool may(const Principal& who, Permission permission);

// Whether scope `wider` shows everything that `narrower` shows, judged by the scopes alone. Scopes
// that are equal only for the current data don't count as equal.
bool covers(const std::vector<SummaryFilter>& wider, const std::vector<SummaryFilter>& narrower);

}  // namespace pennyweight::access
