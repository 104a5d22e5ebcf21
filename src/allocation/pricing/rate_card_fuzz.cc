// Any bytes as a rate card: an error that names the file, or a card in which each row's own usage
// is priced by that row or a more specific one, or refused with a message.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocation/pricing/rate_card.h"
#include "core/check.h"

namespace {

void check_card(std::string_view text) {
  using namespace pennyweight;
  const auto card = RateCard::parse(text, "fuzz.csv");
  if (!card) {
    CHECK(card.error().message.find("fuzz.csv") != std::string::npos, "an error names the file");
    return;
  }
  for (const CardRate& rate : card->rates()) {
    const auto own = [&](CardField field) -> std::string_view {
      return rate.match[static_cast<std::size_t>(field)];
    };
    const Instant begin = rate.from.value_or(kInstantMin);
    const auto during = Interval::of(begin, begin + std::chrono::milliseconds(1));
    if (!during || (rate.to && *rate.to <= begin)) continue;
    const auto found = card->find({.provider = own(CardField::kProvider),
                                   .skus = {own(CardField::kSku), "", ""},
                                   .service = own(CardField::kService),
                                   .gpu_model = own(CardField::kGpuModel),
                                   .instance_type = own(CardField::kInstanceType),
                                   .region = own(CardField::kRegion),
                                   .unit = rate.unit,
                                   .currency = rate.currency,
                                   .during = *during});
    CHECK(found || found.error().code == ErrorCode::kConflict, "a price is found again");
    if (!found) continue;
    const auto amounts = amounts_of(**found, Decimal::from_units(1), 1);
    CHECK(amounts && amounts->cost.amount() == (*found)->price, "one unit costs the price");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_card({reinterpret_cast<const char*>(data), size});
  return 0;
}
