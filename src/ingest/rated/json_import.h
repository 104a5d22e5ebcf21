// A bill as JSON records → batches of charges: what billing APIs answer instead of CSV.
//
// The document is an array of flat objects, or an object one of whose members is the only array, in
// which case the other members (totals, the query repeated) are not rows and are passed over; or it
// has a record in each line, as BigQuery and other warehouses write it (NDJSON). Each
// record becomes the row that a CSV of the same bill would hold, and goes through the same
// BillReader: numbers digit by digit as they stand, null as an empty field, a nested value as its
// JSON text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/bill/import.h"

namespace pennyweight::rated {

// Of one answer; APIs hand out pages.
inline constexpr std::size_t kJsonBytesMax = std::size_t{256} << 20;

// An Error is about the document as a whole, or came from the sink. Rejected rows name the file,
// and its line, or the number of the record, from 1, where records are no lines.
Result<bill::ImportSummary> import_json(std::string_view text, const std::string& file,
                                        bill::BillReader& reader, bill::ImportSink& sink);

}  // namespace pennyweight::rated
