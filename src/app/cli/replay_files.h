// What `replay --files` and `--report` write: each table as CSV and Parquet, charts as SVG, and the
// report as PDF.
#pragma once

#include <string>

#include "core/error.h"
#include "insight/queries/what_if_query.h"
#include "insight/what_if/what_if.h"

namespace pennyweight {

// Before the replay: a usage error where the folder is there and not empty, or can't be made.
Result<void> check_new_folder(const std::string& path);

// REQUIRES: check_new_folder() made the folder. Returns how many files it has then.
Result<std::size_t> write_replay_files(const std::string& folder, const WhatIfQuery& query,
                                       const WhatIfMonth& month, const what_if::WhatIf& result,
                                       const WhatIfTables& tables);

}  // namespace pennyweight
