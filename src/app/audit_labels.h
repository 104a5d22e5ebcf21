// `audit labels`: how much of the money has the labels that the configuration requires.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/table_options.h"
#include "app/verb.h"

namespace pennyweight {

struct LabelAuditOptions {
  CLI::App* command = nullptr;
  std::string month;
  std::string by = "none";
  std::vector<std::string> keys;
  std::uint64_t top = 10;
  std::string fail_below;
  std::string show = "all";
  TableOptions table;
};

std::shared_ptr<LabelAuditOptions> declare_label_audit(CLI::App& audit);
Result<ExitCode> run_label_audit(const LabelAuditOptions& options, Context& context);

}  // namespace pennyweight
