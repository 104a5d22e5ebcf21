// CardShare: an exact share of one physical GPU, of its compute or of its memory.
//
// It counts units of 1/72,072,000 of a GPU. 72,072,000 = 2^6 * 3^2 * 5^3 * 7 * 11 * 13 is divisible
// by every denominator in use: the sevenths and eighths of MIG, the thousandths of gpu_milli,
// percent, and 1/n for n = 1…16, 20, 24, 25, 28, 30, 32, 40, 48, 50, 64, 100. of() refuses any
// other share rather than round it; nearest_below() rounds down.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "core/check.h"
#include "core/int128.h"
#include "core/quantity.h"

namespace pennyweight {

class CardShare {
 public:
  static constexpr std::uint64_t kUnitsPerCard = 72'072'000;

  constexpr CardShare() = default;
  static constexpr CardShare whole() { return CardShare(kUnitsPerCard); }
  static constexpr CardShare from_units(std::uint64_t units) { return CardShare(units); }
  // parts/whole, such as of(3, 7); nothing when that is not a whole number of units, or `whole` is
  // 0.
  static constexpr std::optional<CardShare> of(std::uint64_t parts, std::uint64_t whole) {
    if (whole == 0) return std::nullopt;
    const UInt128 units = UInt128{kUnitsPerCard} * parts;
    if (units % whole != 0 || units / whole > ~std::uint64_t{0}) return std::nullopt;
    return CardShare(static_cast<std::uint64_t>(units / whole));
  }
  // The largest share not above parts/whole: for shares that are measured in bytes.
  static constexpr CardShare nearest_below(std::uint64_t parts, std::uint64_t whole) {
    CHECK(whole > 0, "a part of nothing");
    const UInt128 units = UInt128{kUnitsPerCard} * parts / whole;
    CHECK(units <= ~std::uint64_t{0}, "card share overflow");
    return CardShare(static_cast<std::uint64_t>(units));
  }
  constexpr std::uint64_t units() const { return units_; }

  friend constexpr CardShare operator+(CardShare a, CardShare b) {
    std::uint64_t sum{};
    const bool overflow = __builtin_add_overflow(a.units_, b.units_, &sum);
    CHECK(!overflow, "card share overflow");
    return CardShare(sum);
  }
  constexpr CardShare& operator+=(CardShare other) { return *this = *this + other; }
  // n devices of this share each.
  friend constexpr CardShare operator*(CardShare share, std::uint64_t n) {
    std::uint64_t product{};
    const bool overflow = __builtin_mul_overflow(share.units_, n, &product);
    CHECK(!overflow, "card share overflow");
    return CardShare(product);
  }
  constexpr auto operator<=>(const CardShare&) const = default;

  // This share, held for that long.
  constexpr GpuTime over_ms(std::uint64_t milliseconds) const {
    return GpuTime::of(UInt128{units_} * milliseconds);
  }

 private:
  explicit constexpr CardShare(std::uint64_t units) : units_(units) {}
  std::uint64_t units_ = 0;
};

// One GPU for one hour.
inline constexpr GpuTime kGpuHour = CardShare::whole().over_ms(3'600'000);

}  // namespace pennyweight
