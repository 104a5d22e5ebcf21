// Any bytes as exchange rates: an error that names the file, or rates that are each in force on
// their own date, in both directions.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocation/pricing/exchange.h"
#include "core/check.h"

namespace {

void check_rates(std::string_view text) {
  using namespace pennyweight;
  const auto rates = ExchangeRates::parse(text, "fuzz.csv");
  if (!rates) {
    CHECK(rates.error().message.find("fuzz.csv") != std::string::npos, "an error names the file");
    return;
  }
  for (const ExchangeRate& rate : rates->rates()) {
    const auto found = rates->rate_on(rate.from, rate.to, rate.date, {});
    CHECK(found.has_value() && found->rate == rate.rate, "a rate is found on its date");
    CHECK(found->path == RatePath::kDirect, "the pair's own rate comes first");
    CHECK(rates->rate_on(rate.to, rate.from, rate.date, {}).has_value(), "and backwards");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_rates({reinterpret_cast<const char*>(data), size});
  return 0;
}
