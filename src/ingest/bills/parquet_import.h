// Reads a bill in Parquet into batches of charges, in bounded memory, with DuckDB's Parquet reader.
//
// Every value becomes the text that a CSV of the same bill would hold, and goes through the same
// RowReader: decimals and integers with all their digits; a DOUBLE as the shortest text that reads
// back as the same double; times in UTC as "2026-03-01 00:00:00"; MAP, STRUCT and LIST as JSON (a
// MAP as an object).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "ingest/bills/import.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::bill {

// Rejected rows and errors say `name`, and rows give their number: Parquet has no lines.
Result<ImportSummary> import_parquet(const std::string& path, const std::string& name,
                                     RowReaderFactory open_reader, ImportSink& sink);

// Whether the values unpack to more bytes than that, as the file itself states: for files from
// people who are not trusted. A value that is packed with its neighbours counts as one byte.
Result<bool> unpacks_to_more(const std::string& path, std::uint64_t bytes_max);

// The names of a Parquet file's columns, from which its format is detected.
Result<std::vector<std::string>> parquet_columns(const std::string& path);

}  // namespace pennyweight::bill
