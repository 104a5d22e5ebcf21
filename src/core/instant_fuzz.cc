// Text that parse_instant accepts prints and reads back as the same instant, and has a day, a week
// and a month in every zone.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/billing_period.h"
#include "core/check.h"
#include "core/instant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const TimeZone kZones[] = {*TimeZone::parse("America/Sao_Paulo"),
                                    *TimeZone::parse("America/St_Johns"),
                                    *TimeZone::parse("Europe/Berlin"), TimeZone::utc()};
  const auto at = parse_instant(text);
  for (const TimeZone& zone : kZones) {
    (void)parse_local_time(text, zone, Ambiguous::kLater);
    (void)BillingPeriod::parse(text, zone);
    if (!at) continue;
    CHECK(start_of_week(*at, zone) <= start_of_day(*at, zone), "a week begins with a day");
    CHECK(start_of_month(*at, zone) <= start_of_day(*at, zone), "a month begins with a day");
    CHECK(start_of_day(*at, zone) <= *at, "a day begins before it goes on");
    CHECK(BillingPeriod::containing(*at, zone).to_interval().contains(*at), "the month holds it");
  }
  if (at) CHECK(parse_instant(to_text(*at)).value() == *at, "printed text reads back");
  return 0;
}
