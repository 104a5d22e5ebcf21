// The formats of bills that the program reads.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ingest/bills/bill_format.h"

namespace pennyweight::bill {

// In the order in which lists of them are shown.
std::span<const BillFormat* const> bill_formats();

// Null where no format has the name.
const BillFormat* find_bill_format(std::string_view name);

// The format whose columns these are, of a CSV or Parquet file; null if none has them.
const BillFormat* detect_bill_format(std::span<const std::string> column_names);

}  // namespace pennyweight::bill
