#include "app/context/catalog_file.h"

#include "core/files/file.h"

namespace pennyweight {
namespace {

constexpr std::size_t kPriceFileBytesMax = 256u << 20;

}  // namespace

Result<Catalog> load_catalog(const Config& config) {
  if (config.price_file.empty()) return Catalog::built_in();
  const auto text = read_file(config.price_file, kPriceFileBytesMax);
  if (!text) return std::unexpected(text.error().during("prices.override"));
  return Catalog::built_in().overridden_by(*text, config.price_file);
}

}  // namespace pennyweight
