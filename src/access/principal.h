// Principal: who asks, in which role, and how far he sees. The one answer to "may he?".
//
// Deny by default: a permission that is not listed for a role is refused, and a principal that is
// bound to a scope gets no answer that can't be cut to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/summary.h"

namespace pennyweight::access {

enum class Role { kViewer, kTeamLead, kFinance, kOperator, kAdmin };
inline constexpr Role kRoles[] = {Role::kViewer, Role::kTeamLead, Role::kFinance, Role::kOperator,
                                  Role::kAdmin};

enum class Permission {
  kReadCosts,     // costs, explain, units, coverage, workloads: what a scope can be cut to
  kReadLive,      // what runs now
  kReadFleet,     // nodes and cards, and whose they are
  kReadBills,     // bill lines, imports, reconcile, restatements, periods
  kReadInvoices,  // issued invoices
  kReadRules,     // policies and runs
  kReadAudit,     // the audit log
  kReadMetrics,   // /metrics
  kIssueInvoices,
  kClosePeriods,
  kManageUsers,    // users, roles, scopes, tokens of others
  kManageOwn,      // own password, second factor, tokens, saved views
  kSendTelemetry,  // remote_write and pushed expositions
};
inline constexpr Permission kPermissions[] = {
    Permission::kReadCosts,    Permission::kReadLive,     Permission::kReadFleet,
    Permission::kReadBills,    Permission::kReadInvoices, Permission::kReadRules,
    Permission::kReadAudit,    Permission::kReadMetrics,  Permission::kIssueInvoices,
    Permission::kClosePeriods, Permission::kManageUsers,  Permission::kManageOwn,
    Permission::kSendTelemetry};

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
  // All must hold; none: everything. Never negated.
  std::vector<SummaryFilter> scope = {};
  // Of a token: no more than these; nothing: all that the role has.
  std::optional<std::vector<Permission>> only = {};
  SignedInBy by = SignedInBy::kPassword;
  std::string session = {};  // id of the session or token, for the audit log; never its secret
  std::string csrf = {};  // of a session; empty for tokens, which browsers don't send by themselves
  bool must_change_password = false;  // then nothing but that is allowed

  bool is_scoped() const { return !scope.empty(); }
};

// Whether he may, his token's limits and a password that must be changed considered.
bool may(const Principal& who, Permission permission);

// Whether who is bound to `wider` sees everything that who is bound to `narrower` sees, as far as
// the scopes alone tell. Two scopes that only the data would show to be equal are not.
bool covers(const std::vector<SummaryFilter>& wider, const std::vector<SummaryFilter>& narrower);

}  // namespace pennyweight::access
