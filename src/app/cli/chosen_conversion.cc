#include "app/cli/chosen_conversion.h"

#include "app/context/price_files.h"
#include "core/try.h"
#include "insight/budgets/budget.h"

namespace pennyweight {

Result<std::optional<CurrencyConversion>> chosen_conversion(const CurrencyOptions& options,
                                                            const std::string& cost,
                                                            const Config& config) {
  const auto currency = TRY(chosen_currency(options, config));
  std::optional<CurrencyConversion> conversion;
  if (!currency || cost == kGpuHourCost) return conversion;
  conversion.emplace(
      *currency,
      [&options, &config, to = *currency](const Currency& foreign) {
        return rates_between(foreign, to, options, config);
      },
      rate_search(config));
  return conversion;
}

}  // namespace pennyweight
