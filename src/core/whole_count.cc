#include "core/whole_count.h"

#include <fmt/format.h>

#include "core/int128.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

struct Counted {
  UInt128 whole;
  UInt128 rest;  // of kTicksPerUnit
};

Result<Counted> count(Decimal value, std::uint64_t units) {
  if (value.is_negative()) {
    return fail(ErrorCode::kBadValue, fmt::format("{} is negative", to_text(value)));
  }
  const auto [whole, rest] =
      multiply_divide(static_cast<UInt128>(value.ticks()), units, Decimal::kTicksPerUnit);
  if (whole >= ~std::uint64_t{0}) {
    return fail(ErrorCode::kBadValue, fmt::format("{} is too large", to_text(value)));
  }
  return Counted{whole, rest};
}

}  // namespace

Result<std::uint64_t> nearest_count(Decimal value, std::uint64_t units) {
  const auto counted = TRY(count(value, units));
  auto whole = static_cast<std::uint64_t>(counted.whole);
  const UInt128 twice = counted.rest * 2;
  const auto unit = static_cast<UInt128>(Decimal::kTicksPerUnit);
  if (twice > unit || (twice == unit && whole % 2 != 0)) ++whole;
  return whole;
}

Result<std::uint64_t> exact_count(Decimal value, std::uint64_t units) {
  const auto counted = TRY(count(value, units));
  if (counted.rest != 0) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} is not a whole number of 1/{}", to_text(value), units));
  }
  return static_cast<std::uint64_t>(counted.whole);
}

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  bool fits = true;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return fail(ErrorCode::kBadValue,
                  fmt::format("'{}' is not a whole number", printable_text(text, 60)));
    }
    fits = fits && !__builtin_mul_overflow(value, std::uint64_t{10}, &value) &&
           !__builtin_add_overflow(value, static_cast<std::uint64_t>(c - '0'), &value);
  }
  if (text.empty()) return fail(ErrorCode::kBadValue, "a whole number is missing");
  if (!fits || value > max) {
    return fail(ErrorCode::kBadValue, fmt::format("'{}' is more than {}", text.substr(0, 60), max));
  }
  return value;
}

}  // namespace pennyweight
