// Charges that stand under two billing periods are found in a sample of a large bill too.
#include "app/import/other_periods.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/instant.h"

namespace pennyweight {
namespace {

Charge charge_of(unsigned machine, const char* month, const char* after, std::int64_t ticks) {
  const Instant begin = *parse_instant("2026-03-05") + std::chrono::hours(machine % 24);
  Costs costs = Costs::zero(kUsd);
  costs.billed = costs.effective = Money::from_decimal(Decimal::from_ticks(ticks), kUsd);
  Charge charge(Interval(*parse_instant(month), *parse_instant(after)),
                Interval(begin, begin + std::chrono::hours(1)), costs);
  charge.billing_account_id = "12";
  charge.resource_id = fmt::format("vm-{}", machine);
  return charge;
}

TEST(OtherPeriods, ASampleTellsTheSameAsAllLines) {
  constexpr unsigned kMachines = 2'000;
  for (const std::size_t cells_max : {10'000u, 300u}) {
    PeriodCells delivered(cells_max), fewer(cells_max), elsewhere;
    for (unsigned machine = 0; machine < kMachines; ++machine) {
      const std::int64_t ticks = 1'000'000 + machine;
      elsewhere.add(charge_of(machine, "2026-03-01", "2026-04-01", ticks));
      delivered.add(charge_of(machine, "2026-04-01", "2026-05-01", ticks));
      // The provider states a third of them anew, and bills other machines.
      fewer.add(charge_of(machine + (machine % 3 == 0 ? 0 : kMachines * 24), "2026-04-01",
                          "2026-05-01", ticks));
    }
    SCOPED_TRACE(delivered.sampled());
    EXPECT_EQ(delivered.sampled() > 1, cells_max < kMachines);
    DoubleFindings all, some;
    find_in_other_periods(delivered, elsewhere, all);
    ASSERT_EQ(all.doubles.size(), 1u);
    EXPECT_THAT(all.doubles.front(), ::testing::HasSubstr(" USD of account 12 stand in it under"));
    EXPECT_EQ(all.doubles.front().starts_with("about "), delivered.sampled() > 1);
    EXPECT_THAT(all.similar, ::testing::IsEmpty());
    find_in_other_periods(fewer, elsewhere, some);
    EXPECT_THAT(some.doubles, ::testing::IsEmpty());
    EXPECT_EQ(some.similar.size(), 1u);
  }
}

}  // namespace
}  // namespace pennyweight
