// Any bytes as a file of owned hardware: an error that names the file, or assets whose daily
// amounts add up to the total depreciation.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocation/pricing/owned.h"
#include "core/check.h"

namespace {

constexpr std::size_t kDaysMax = 2000;  // a short life tests as much as a long one

void check_assets(std::string_view text) {
  using namespace pennyweight;
  const auto assets = parse_owned_assets(text, "fuzz.csv");
  if (!assets) {
    CHECK(assets.error().message.find("fuzz.csv") != std::string::npos, "an error names the file");
    return;
  }
  for (const OwnedAsset& asset : *assets) {
    const Date end = std::min(end_of_life(asset), asset.in_service + std::chrono::days(kDaysMax));
    Money sum = Money::zero(asset.currency());
    for (const OwnedDay& day : owned_days(asset, asset.in_service, end, {})) {
      CHECK(!day.total().is_negative(), "nothing is earned by owning");
      sum += day.depreciation;
    }
    const Date last = asset.retired ? std::min(end, *asset.retired) : end;
    CHECK(sum == depreciated_before(asset, last), "the days add up");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_assets({reinterpret_cast<const char*>(data), size});
  return 0;
}
