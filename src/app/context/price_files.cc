#include "app/context/price_files.h"

#include "core/files/file.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kFileBytesMax = 256u << 20;

template <class Parsed>
Result<Parsed> load(const std::string& path,
                    Result<Parsed> (*parse)(std::string_view text, std::string_view name)) {
  const auto text = TRY(read_file(path, kFileBytesMax));
  return parse(text, path);
}

}  // namespace

Result<RateCard> load_rate_card(const std::string& path) { return load(path, RateCard::parse); }

Result<std::vector<OwnedAsset>> load_owned_assets(const std::string& path) {
  return load(path, parse_owned_assets);
}

Result<EnergyByDay> load_energy(const std::string& path) { return load(path, parse_energy); }

Result<ExchangeRates> load_exchange_rates(const std::string& path) {
  return load(path, ExchangeRates::parse);
}

RateSearch rate_search(const Config& config) {
  return {.days_valid_max = config.currencies.days_valid_max, .pivot = config.currencies.pivot};
}

}  // namespace pennyweight
