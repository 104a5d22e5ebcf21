// export focus: the bill lines of a month in FOCUS, as billed or as their current runs allocate
// them, with a metadata file beside.
#pragma once

#include <string>
#include <vector>

#include "app/verb.h"

namespace pennyweight {

struct FocusExportOptions {
  std::string version = "1.4";
  std::string format = "csv";
  std::string month;
  std::string out;
  std::string metadata;            // empty: `out` with .metadata.json behind
  std::string rows = "allocated";  // or "charges"
  std::vector<std::string> by;     // dimensions; empty: by workload
  bool with_transfers = false;
};

Result<ExitCode> export_focus(const FocusExportOptions& options, Context& context);

}  // namespace pennyweight
