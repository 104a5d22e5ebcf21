// `audit verify` and `audit log`: verify and show the audit log.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"

namespace pennyweight {

struct AuditLogOptions {
  CLI::App* verify = nullptr;
  CLI::App* log = nullptr;
  CLI::App* accept = nullptr;
  std::string file;  // empty: the ledger's
  std::string head;  // "N:HASH"
  bool allow_accepted = false;
  std::string reason;
  std::uint64_t limit = 20;
  std::string actor;
  std::string action;
  TableOptions table;
};

std::shared_ptr<AuditLogOptions> declare_audit_log(CLI::App& audit);
Result<ExitCode> run_audit_verify(const AuditLogOptions& options, Context& context);
Result<ExitCode> run_audit_accept(const AuditLogOptions& options, Context& context);
Result<ExitCode> run_audit_log(const AuditLogOptions& options, Context& context);

}  // namespace pennyweight
