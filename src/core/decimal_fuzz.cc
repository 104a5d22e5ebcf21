// Text that parse_decimal accepts prints and reads back as the same value; all other text is
// refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "core/decimal.h"
#include "core/whole_count.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_decimal(text);
  const auto exact = parse_exact_decimal(text);
  CHECK(exact.has_value() == (parsed.has_value() && !parsed->rounded), "exact means not rounded");
  if (!parsed) return 0;
  const auto again = parse_exact_decimal(to_text(parsed->value));
  CHECK(again.has_value() && *again == parsed->value, "printed text reads back");

  // Half-even is at most one tick away, and never nearer to zero than kDown.
  const auto half_even = multiply(parsed->value, parsed->value, Rounding::kHalfEven);
  const auto down = multiply(parsed->value, parsed->value, Rounding::kDown);
  if (half_even && down) {
    const Int128 difference = half_even->ticks() - down->ticks();
    CHECK(difference == 0 || difference == 1, "a square is not negative");
  }
  (void)nearest_count(parsed->value, 1'000);
  return 0;
}
