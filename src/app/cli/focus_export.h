// `export focus`: writes the charges of a month in FOCUS, as billed or as allocated, and a metadata
// file.
#pragma once

#include <string>
#include <vector>

#include "app/cli/verb.h"

namespace pennyweight {

struct FocusExportOptions {
  std::string version = "1.4";
  std::string format = "csv";
  std::string month;
  std::string out;
  std::string metadata;            // empty: `out` plus .metadata.json
  std::string rows = "allocated";  // or "charges"
  std::vector<std::string> by;     // dimensions; empty: by workload
  bool with_transfers = false;
};

Result<ExitCode> export_focus(const FocusExportOptions& options, Context& context);

}  // namespace pennyweight
