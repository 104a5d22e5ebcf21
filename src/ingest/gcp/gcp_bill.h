// A bill of Google Cloud, as its billing export to BigQuery has it, as a format of ingest/bill.
//
// The standard and the detailed export: as CSV with the columns "service.id" or "service_id"; as
// CSV or Parquet with whole records, "service"; JSON is json_import.h.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ingest/bill/bill_reader.h"

namespace pennyweight::gcp {

std::unique_ptr<bill::BillReader> gcp_bill();

// Whether these are the names of such a table's columns.
bool is_gcp_header(std::span<const std::string> names);

}  // namespace pennyweight::gcp
