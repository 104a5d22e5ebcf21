// Bills in FOCUS, versions 1.0 to 1.4, which the header tells apart.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/bills/import.h"
#include "ingest/bills/row_reader.h"

namespace pennyweight::focus {

using bill::ImportSink;
using bill::ImportSummary;

bill::RowReaderFactory focus_bill();

// A whole text at once, without a copy of it.
Result<ImportSummary> import_csv(std::string_view text, const std::string& file, ImportSink& sink);
// A Parquet file.
Result<ImportSummary> import_parquet(const std::string& path, ImportSink& sink);

}  // namespace pennyweight::focus
