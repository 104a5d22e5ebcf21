// The prices in force: the built-in lists, and the configured file over them.
#pragma once

#include "config/config.h"
#include "core/error.h"
#include "pricing/catalog.h"

namespace pennyweight {

Result<Catalog> load_catalog(const Config& config);

}  // namespace pennyweight
