// Tables of a report as one Parquet file, for those who go on reckoning with them.
#pragma once

#include <span>
#include <string>

#include "core/error.h"
#include "report/table.h"

namespace pennyweight {

// Money is DECIMAL(38,18) beside a column `currency`; GPU-hours are a decimal of four digits and
// the exact fraction as a text; percentages are decimals. Rows of all tables, no totals. An Error
// of kNotFound where there is no table, and so no column. REQUIRES: all have the same columns.
Result<void> write_parquet(std::span<const Table> tables, const std::string& path);

}  // namespace pennyweight
