// A FOCUS bill as Parquet → batches of charges, in bounded memory, read by DuckDB's Parquet reader.
//
// Every value becomes the text that a CSV of the same bill would hold, and goes through the same
// ChargeReader: decimals and integers with all their digits; a DOUBLE by its shortest text that
// reads back as the same double; times in UTC; MAP, STRUCT and LIST as JSON.
#pragma once

#include <string>

#include "core/error.h"
#include "ingest/focus/import.h"

namespace pennyweight::focus {

// Rejected rows name the file by its path and say the number of the row: Parquet has no lines.
Result<ImportSummary> import_parquet(const std::string& path, ImportSink& sink);

}  // namespace pennyweight::focus
