// Quantities and card shares: every way a card is cut is exact, and nothing wraps round.
#include "core/quantity.h"

#include <gtest/gtest.h>

#include "core/card_share.h"

namespace pennyweight {
namespace {

constexpr UInt128 kUInt128Max = ~UInt128{0};

TEST(Quantity, AddsSubtractsToARestAndNeverWraps) {
  const auto five = Energy::of(5);
  EXPECT_EQ(five + Energy::of(2), Energy::of(7));
  EXPECT_EQ(five - Energy::of(5), Energy());
  EXPECT_LT(Energy::of(4), five);
  EXPECT_THROW((void)(five - Energy::of(6)), InvariantError);
  EXPECT_THROW((void)(five + Energy::of(kUInt128Max)), InvariantError);
}

TEST(CardShare, HoldsEveryCutThatIsUsed) {
  // MIG's sevenths and eighths, thousandths of a card, percent, and the usual numbers of replicas.
  for (const std::uint64_t n : {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,  14,
                                15, 16, 20, 24, 25, 28, 30, 32, 40, 48, 50, 64, 100, 1000}) {
    const auto part = CardShare::of(1, n);
    ASSERT_TRUE(part.has_value()) << n;
    EXPECT_EQ(*part * n, CardShare::whole()) << n;
  }
  EXPECT_EQ(*CardShare::of(3, 7) + *CardShare::of(4, 7), CardShare::whole());
  EXPECT_EQ(*CardShare::of(8, 1), CardShare::whole() * 8);
  EXPECT_EQ(CardShare::of(0, 5), CardShare());
}

TEST(CardShare, RefusesWhatItCannotHold) {
  for (const std::uint64_t n : {0, 17, 19, 27, 128, 72'072'001}) {
    EXPECT_FALSE(CardShare::of(1, n).has_value()) << n;
  }
  EXPECT_FALSE(CardShare::of(~std::uint64_t{0}, 1).has_value());
  EXPECT_THROW((void)(CardShare::from_units(~std::uint64_t{0}) + CardShare::whole()),
               InvariantError);
  EXPECT_THROW((void)(CardShare::whole() * ~std::uint64_t{0}), InvariantError);
}

TEST(CardShare, NearestBelowNeverGivesMoreThanThereIs) {
  // 10 GiB of the 85,520,809,984 bytes that an 80 GB card reports.
  const auto share = CardShare::nearest_below(10'737'418'240, 85'520'809'984);
  EXPECT_EQ(share.units(), 9'048'876u);
  EXPECT_EQ(CardShare::nearest_below(7, 7), CardShare::whole());
  EXPECT_THROW((void)CardShare::nearest_below(1, 0), InvariantError);
  EXPECT_THROW((void)CardShare::nearest_below(~std::uint64_t{0}, 1), InvariantError);
}

TEST(CardShare, TimeIsShareTimesMilliseconds) {
  EXPECT_EQ(CardShare::whole().over_ms(3'600'000), kGpuHour);
  EXPECT_EQ(CardShare::of(1, 4)->over_ms(4 * 3'600'000), kGpuHour);
  const auto most = CardShare::from_units(~std::uint64_t{0}).over_ms(~std::uint64_t{0});
  EXPECT_GT(most, kGpuHour);  // a product of two 64-bit numbers fits
}

}  // namespace
}  // namespace pennyweight
