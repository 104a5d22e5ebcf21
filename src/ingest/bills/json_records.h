// Reads a bill as JSON records into batches of charges: what billing APIs answer instead of CSV.
//
// The document is an array of flat objects; or an object with exactly one array among its members,
// whose other members (totals, the query repeated) are ignored; or a record on each line, as
// BigQuery and other warehouses write it (NDJSON). Each record becomes the row that a CSV of the
// same bill would hold, and goes through the same RowReader: numbers digit by digit as written,
// null as an empty field, a nested value as its JSON text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bills/import.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::bill {

// For one answer; APIs return pages.
inline constexpr std::size_t kJsonBytesMax = std::size_t{256} << 20;

// An Error is about the document as a whole, or came from the sink. Rejected rows name the file,
// and its line, or the number of the record, from 1, where records are not lines.
Result<ImportSummary> import_json(std::string_view text, const std::string& file,
                                  RowReaderFactory open_reader, ImportSink& sink);

}  // namespace pennyweight::bill
