// A bill as Parquet → batches of charges, in bounded memory, read by DuckDB's Parquet reader.
//
// Every value becomes the text that a CSV of the same bill would hold, and goes through the same
// BillReader: decimals and integers with all their digits; a DOUBLE by its shortest text that reads
// back as the same double; times in UTC as "2026-03-01 00:00:00"; MAP, STRUCT and LIST as JSON (a
// MAP as an object).
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/bill/import.h"

namespace pennyweight::bill {

// Rejected rows name the file by its path and say the number of the row: Parquet has no lines.
Result<ImportSummary> import_parquet(const std::string& path, BillReader& reader, ImportSink& sink);

// The names of a Parquet file's columns, by which its format is told.
Result<std::vector<std::string>> parquet_columns(const std::string& path);

}  // namespace pennyweight::bill
