// A FOCUS bill, versions 1.0 to 1.4 by its header, as a format of ingest/bill.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bill/bill_reader.h"
#include "ingest/bill/import.h"

namespace pennyweight::focus {

using bill::ImportSink;
using bill::ImportSummary;

std::unique_ptr<bill::BillReader> focus_bill();

// A whole text at once, without a copy of it.
Result<ImportSummary> import_csv(std::string_view text, const std::string& file, ImportSink& sink);
// Of a Parquet file.
Result<ImportSummary> import_parquet(const std::string& path, ImportSink& sink);

}  // namespace pennyweight::focus
