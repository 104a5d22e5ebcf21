// Whether the work of clients ran only where and beside whom it may: residency and isolation, from
// the charges and facts of a month.
//
// A finding has its evidence and the money that was charged for it. What nobody recorded is no
// finding and no clean bill: workloads that no fact places on a node are counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "config/config.h"
#include "core/error.h"
#include "core/money.h"
#include "insight/guardrails/client_terms.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

struct ComplianceQuery {
  std::string month;  // "2026-03", of the bill
  // Empty: all. The findings of one client don't name those beside whom its work was.
  std::string client = {};
  std::span<const guardrails::ClientTerms> clients;
};

enum class ComplianceRule { kRegion, kAccount, kNodePool, kDedicatedNode, kSharedGpu };
std::string_view to_text(ComplianceRule rule);  // "region"

struct ComplianceFinding {
  std::string client;
  ComplianceRule rule = ComplianceRule::kRegion;
  std::string where;     // the region, account, pool, node or GPU
  std::string evidence;  // a workload, and when or beside whom
  std::uint64_t workloads = 0;
  Money cost = Money::zero(kUsd);
};

struct ClientCompliance {
  std::string client;
  Money charged = Money::zero(kUsd);  // for work on nodes
  std::uint64_t workloads = 0;
  std::uint64_t not_placed = 0;  // held somewhere in a pool; on which node nobody recorded
};

// Somebody who sees what a client is charged, or a part of it.
struct ComplianceAccess {
  std::string client;
  std::string who;  // a user, or a token of one
  std::string role;
  std::string sees;  // "everything", "all of the client", "a part of the client"
};

// A line of the audit log.
struct ComplianceChange {
  std::string at;
  std::string who;
  std::string action;
  std::string subject;
};

struct Compliance {
  std::string month;
  std::vector<ClientCompliance> clients = {};    // one for each currency
  std::vector<ComplianceFinding> findings = {};  // by client, rule and place
  std::vector<std::string> without_cost = {};    // clients that were charged for no work
  // Of accounts and the audit log, which the ledger knows nothing of (server/api adds them).
  bool has_access = false;
  std::vector<ComplianceAccess> access = {};
  bool has_changes = false;
  bool has_all_changes = false;                // false: only those about one client
  std::vector<ComplianceChange> changes = {};  // the oldest first; the last of them
  std::uint64_t changes_in_month = 0;          // all
};

// An Error of kNotFound for a client that the configuration does not have, and for a month without
// bill lines.
Result<Compliance> query_compliance(const ComplianceQuery& query, const Policy& policy,
                                    Store& store);

// The tables of the monthly report: for each currency one of clients and, where there are any, one
// of findings, which has this title; then who sees and who changed what, where that was added.
inline constexpr std::string_view kFindingsTitle = "Findings";
std::vector<Table> compliance_tables(const Compliance& compliance);
// The same as a PDF, with what the client's terms are. Errors: as render_tables_pdf().
Result<std::string> render_compliance_pdf(const ComplianceQuery& query,
                                          const Compliance& compliance, const Config& config);

}  // namespace pennyweight
