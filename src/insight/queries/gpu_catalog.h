// Lists GPU models with what they can do and what an hour of one costs, and says which of them
// would run a given load, how fast and for how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "core/error.h"
#include "insight/advice/formulas/measured_fit.h"
#include "reporting/table.h"

namespace pennyweight {

// Work on a GPU that is known: shares of that GPU.
struct CatalogLoad {
  std::string model;
  advising::MeasuredLoad load;
};

struct GpuCatalogQuery {
  std::string model = {};     // only this one, in any spelling of find_gpu_model(); empty: all
  std::string provider = {};  // empty: all
  std::string region = {};    // empty: the cheapest of any
  Instant at;                 // prices in force then
  std::optional<CatalogLoad> load = {};
};

// One table a currency: models by name, then provider, each with its cheapest instance by GPU-hour;
// of models without a price one row. kBadValue: a model, provider or region that is not known.
Result<std::vector<Table>> gpu_catalog_tables(const Catalog& catalog, const GpuCatalogQuery& query);

}  // namespace pennyweight
