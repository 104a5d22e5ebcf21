// Reads a bill in Parquet into batches of charges, in bounded memory, with DuckDB's Parquet reader.
//
// Every value becomes the text that a CSV of the same bill would hold, and goes through the same
// RowReader: decimals and integers with all their digits; a DOUBLE as the shortest text that reads
// back as the same double; times in UTC as "2026-03-01 00:00:00"; MAP, STRUCT and LIST as JSON (a
// MAP as an object).
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/bills/import.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::bill {

// Rejected rows name the file by its path and give the number of the row: Parquet has no lines.
Result<ImportSummary> import_parquet(const std::string& path, RowReaderFactory open_reader,
                                     ImportSink& sink);

// The names of a Parquet file's columns, from which its format is detected.
Result<std::vector<std::string>> parquet_columns(const std::string& path);

}  // namespace pennyweight::bill
