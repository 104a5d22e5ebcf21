// Any bytes as a price file: an error, or a catalog in which every price can be found.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocation/pricing/catalog.h"
#include "allocation/pricing/price_table.h"
#include "core/check.h"

namespace {

void check_price_file(std::string_view text) {
  using namespace pennyweight;
  const auto table = parse_price_table(text, "fuzz.csv");
  if (!table) {
    CHECK(table.error().message.find("fuzz.csv") != std::string::npos, "an error names the file");
    return;
  }
  const auto catalog = Catalog().overridden_by(text, "fuzz.csv");
  if (!catalog) {
    // One of the two rates of hosts alone, in another currency than the built-in ones.
    CHECK(table->host_currency && !(table->per_cpu_hour && table->per_gib_hour),
          "what parses can be used");
    return;
  }
  CHECK(catalog->rates().size() == table->rates.size(), "no price is lost");
  for (const Rate& rate : table->rates) {
    if (rate.instance_type.empty()) continue;
    const auto found = catalog->find_rate({.instance_type = rate.instance_type,
                                           .region = rate.region,
                                           .option = rate.option,
                                           .at = rate.from});
    // Without a region, the cheapest of several prices; none if currencies differ.
    CHECK(rate.region.empty() || (found.has_value() && *found == rate), "a price is found again");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_price_file({reinterpret_cast<const char*>(data), size});
  return 0;
}
