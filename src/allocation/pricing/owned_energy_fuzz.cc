// Any bytes as a file of measured energy: an error that names the file, or readings that are not
// negative.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocation/pricing/owned.h"
#include "core/check.h"

namespace {

void check_energy(std::string_view text) {
  using namespace pennyweight;
  const auto energy = parse_energy(text, "fuzz.csv");
  if (!energy) {
    CHECK(energy.error().message.find("fuzz.csv") != std::string::npos, "an error names the file");
    return;
  }
  for (const auto& [key, kwh] : *energy) CHECK(!kwh.is_negative(), "energy is used, not made");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_energy({reinterpret_cast<const char*>(data), size});
  return 0;
}
