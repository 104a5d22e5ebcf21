// Quantity: an amount of a resource. Each kind is a type of its own, so that GPU time can't be
// added to bytes.
//
// The name of the type or of its kind states the unit. Quantities of one kind add, subtract to a
// remainder that is not negative, and compare; there are no other operations.
#pragma once

#include <compare>
#include <cstdint>

#include "core/check.h"
#include "core/int128.h"

namespace pennyweight {

template <class Kind>
class Quantity {
 public:
  constexpr Quantity() = default;
  static constexpr Quantity of(UInt128 count) { return Quantity(count); }
  constexpr UInt128 count() const { return count_; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    UInt128 sum{};
    const bool overflow = __builtin_add_overflow(a.count_, b.count_, &sum);
    CHECK(!overflow, "quantity overflow");
    return Quantity(sum);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    CHECK(a.count_ >= b.count_, "a quantity is never negative");
    return Quantity(a.count_ - b.count_);
  }
  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr auto operator<=>(const Quantity&) const = default;

 private:
  explicit constexpr Quantity(UInt128 count) : count_(count) {}
  UInt128 count_ = 0;
};

// Milliseconds of 1/72,072,000 of a GPU (core/card_share.h): exact for every way to share a GPU.
using GpuTime = Quantity<struct GpuShareMilliseconds>;
// Bytes of GPU memory held, times milliseconds.
using MemoryTime = Quantity<struct MemoryByteMilliseconds>;
using Energy = Quantity<struct Millijoules>;

}  // namespace pennyweight
