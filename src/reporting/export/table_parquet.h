// Writes the tables of a report as one Parquet file, for further calculation.
#pragma once

#include <span>
#include <string>

#include "core/error.h"
#include "reporting/table.h"

namespace pennyweight {

// Money is DECIMAL(38,18) beside a column `currency`; GPU-hours are a decimal of four digits and
// the exact fraction as a text; percentages are decimals. It has the rows of all tables, without
// totals. An Error of kNotFound where there is no table. REQUIRES: all have the same columns.
Result<void> write_parquet(std::span<const Table> tables, const std::string& path);

}  // namespace pennyweight
