// Loads the price catalog: the built-in lists, overridden by the configured file, with
// the configured exchange rates.
#pragma once

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "core/error.h"

namespace pennyweight {

Result<Catalog> load_catalog(const Config& config);

}  // namespace pennyweight
