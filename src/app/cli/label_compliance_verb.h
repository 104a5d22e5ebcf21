// `audit labels`: how much cost has the labels that the configuration requires.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"

namespace pennyweight {

struct LabelComplianceOptions {
  CLI::App* command = nullptr;
  std::string month;
  std::string by = "none";
  std::vector<std::string> keys;
  std::uint64_t top = 10;
  std::string fail_below;
  std::string show = "all";
  TableOptions table;
};

std::shared_ptr<LabelComplianceOptions> declare_label_compliance(CLI::App& audit);
Result<ExitCode> run_label_compliance(const LabelComplianceOptions& options, Context& context);

}  // namespace pennyweight
