#include "app/alerting/reported_costs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/context/price_files.h"

namespace pennyweight {

std::optional<BudgetConversion> configured_conversion(const CurrencyConfig& config) {
  if (!config.report) return std::nullopt;
  BudgetConversion conversion{
      .rates = [file = config.rates_file](const Currency& foreign) -> Result<ExchangeRates> {
        if (!file.empty()) return load_exchange_rates(file);
        return fail(ErrorCode::kConfig,
                    fmt::format("there are costs in {}, but no exchange rates to convert them; set "
                                "currencies.rates in the configuration",
                                foreign.text()));
      },
      .search = {.days_valid_max = config.days_valid_max, .pivot = config.pivot}};
  std::error_code ignored;
  const auto written = std::filesystem::last_write_time(config.rates_file, ignored);
  if (!ignored) {
    conversion.version = static_cast<std::uint64_t>(written.time_since_epoch().count());
  }
  return conversion;
}

ReportedCosts::ReportedCosts(const CurrencyConfig& config, SummarySource as_billed)
    : source_(std::move(as_billed)) {
  const auto conversion = configured_conversion(config);
  if (!conversion) return;
  conversion_.emplace(*config.report, conversion->rates, conversion->search);
  source_ = convert_source(std::move(source_), *conversion_);
}

std::string ReportedCosts::newest_rates() const {
  return conversion_ ? fmt::format("{}", fmt::join(conversion_->newest(), "; ")) : std::string();
}

}  // namespace pennyweight
