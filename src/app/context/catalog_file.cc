#include "app/context/catalog_file.h"

#include "app/context/price_files.h"
#include "core/files/file.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kPriceFileBytesMax = 256u << 20;

Result<Catalog> load_prices(const Config& config) {
  if (config.price_file.empty()) return Catalog::built_in();
  const auto text = read_file(config.price_file, kPriceFileBytesMax);
  if (!text) return std::unexpected(text.error().during("prices.override"));
  return Catalog::built_in().overridden_by(*text, config.price_file);
}

}  // namespace

Result<Catalog> load_catalog(const Config& config) {
  auto catalog = TRY(load_prices(config));
  if (config.currencies.rates_file.empty()) return catalog;
  auto rates = load_exchange_rates(config.currencies.rates_file);
  if (!rates) return std::unexpected(rates.error().during("currencies.rates"));
  return catalog.with_exchange_rates(*std::move(rates), rate_search(config));
}

}  // namespace pennyweight
