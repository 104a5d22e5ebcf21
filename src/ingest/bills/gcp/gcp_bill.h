// Bills of Google Cloud: the billing export to BigQuery, standard or detailed.
//
// Read here as CSV with the columns "service.id" or "service_id", and as CSV or Parquet with whole
// records ("service"). json_import.h reads it as JSON.
#pragma once

#include <span>
#include <string>

#include "ingest/bills/bill_format.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::gcp {

bill::RowReaderFactory gcp_bill();

// True for the columns of such a table.
bool is_gcp_header(std::span<const std::string> names);

extern const bill::BillFormat kGcpFormat;

}  // namespace pennyweight::gcp
