// Price files: the CSV in which list prices are built in, and in which a site states its own.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "pricing/catalog.h"

namespace pennyweight {

struct PriceTable {
  std::vector<Rate> rates;                   // in the order of the text
  std::vector<InstanceType> instance_types;  // of the rows that state any of their four columns
  std::optional<Decimal> per_cpu_hour;       // of the row "(cpu)"
  std::optional<Decimal> per_gib_hour;       // of the row "(memory_gib)"
};

// Columns as Catalog::overridden_by names them, and `source`, optional too; a row without one has
// its place, "prices.csv:12". An error carries the place. Refused are, besides malformed values:
// two prices of one (region, instance type, option) from one date, two statements about one
// instance type that differ, a negative price, and one above kRatePerHourMax.
Result<PriceTable> parse_price_table(std::string_view csv, std::string_view name);

// Columns provider,name,gpu_model,gpu_count,vcpu,memory_gib.
Result<std::vector<InstanceType>> parse_instance_types(std::string_view csv, std::string_view name);

}  // namespace pennyweight
