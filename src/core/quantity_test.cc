// Quantities and card shares: every division of a GPU is exact, and nothing wraps around.
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
  // MIG's sevenths and eighths, thousandths of a GPU, percent, and the usual numbers of replicas.
  for (const std::uint64_t n :
       {1u,  2u,  3u,  4u,  5u,  6u,  7u,  8u,  9u,  10u, 11u, 12u, 13u,  14u,
        15u, 16u, 20u, 24u, 25u, 28u, 30u, 32u, 40u, 48u, 50u, 64u, 100u, 1000u}) {
    const auto part = CardShare::of(1, n);
    ASSERT_TRUE(part.has_value()) << n;
    EXPECT_EQ(*part * n, CardShare::whole()) << n;
  }
  EXPECT_EQ(*CardShare::of(3, 7) + *CardShare::of(4, 7), CardShare::whole());
  EXPECT_EQ(*CardShare::of(8, 1), CardShare::whole() * 8);
  EXPECT_EQ(CardShare::of(0, 5), CardShare());
}

TEST(CardShare, RefusesWhatItCannotHold) {
  for (const std::uint64_t n : {0u, 17u, 19u, 27u, 128u, 72'072'001u}) {
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
