// Reads price files: the CSV format of the built-in list prices and of a site's own prices.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/error.h"

namespace pennyweight {

struct PriceTable {
  std::vector<Rate> rates;                   // in the order of the text
  std::vector<InstanceType> instance_types;  // of the rows that state any of their four columns
  std::optional<Decimal> per_cpu_hour;       // of the row "(cpu)"
  std::optional<Decimal> per_gib_hour;       // of the row "(memory_gib)"
  std::optional<Currency> host_currency;     // of these two rows
};

// The columns are those of Catalog::overridden_by() and optionally `source`, by default the row's
// place, "prices.csv:12". An Error has the place. Besides malformed values it refuses two prices of
// one (region, instance type, option) from one date, rows that describe one instance type
// differently, a negative price, and a price above kRatePerHourMax.
Result<PriceTable> parse_price_table(std::string_view csv, std::string_view name);

// The columns are provider,name,gpu_model,gpu_count,vcpu,memory_gib.
Result<std::vector<InstanceType>> parse_instance_types(std::string_view csv, std::string_view name);

}  // namespace pennyweight
