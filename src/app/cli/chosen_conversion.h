// The conversion that --currency and --rates, or the configuration, ask for.
#pragma once

#include <optional>
#include <string>

#include "app/cli/shared_options.h"
#include "config/config.h"
#include "core/error.h"
#include "reporting/queries/currency.h"

namespace pennyweight {

// Nothing: costs stay as they are billed, as GPU-hours do. `options` and `config` outlive it.
Result<std::optional<CurrencyConversion>> chosen_conversion(const CurrencyOptions& options,
                                                            const std::string& cost,
                                                            const Config& config);

}  // namespace pennyweight
