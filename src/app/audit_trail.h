// `audit verify` and `audit log`: the audit log proved whole, and read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/table_options.h"
#include "app/verb.h"

namespace pennyweight {

struct TrailOptions {
  CLI::App* verify = nullptr;
  CLI::App* log = nullptr;
  std::string file;  // empty: the ledger's
  std::string head;  // "N:HASH"
  std::uint64_t limit = 20;
  std::string actor;
  std::string action;
  TableOptions table;
};

std::shared_ptr<TrailOptions> declare_trail_audit(CLI::App& audit);
Result<ExitCode> run_trail_verify(const TrailOptions& options, Context& context);
Result<ExitCode> run_trail_log(const TrailOptions& options, Context& context);

}  // namespace pennyweight
