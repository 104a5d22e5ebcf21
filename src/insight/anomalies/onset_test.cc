#include "insight/anomalies/onset.h"

#include <gtest/gtest.h>

#include <vector>

namespace pennyweight {
namespace {

const Currency kUsd = *Currency::parse("USD");
using Hours = std::vector<Money>;

// What 48 hours cost, in dollars: `base`, and `more` from `first` until `last`.
Hours hours(int base, int more = 0, std::size_t first = 48, std::size_t last = 48) {
  Hours all(48, Money::from_units(base, kUsd));
  for (std::size_t at = first; at < last; ++at) all[at] = Money::from_units(base + more, kUsd);
  return all;
}

TEST(Onset, IsTheHourInWhichTheCostChanges) {
  for (const std::size_t hour : {1u, 24u, 38u, 46u, 47u}) {
    EXPECT_EQ(find_onset(hours(100, 50, hour), hours(100), true), hour);
    EXPECT_EQ(find_onset(hours(100, -50, hour), hours(100), false), hour);
  }
  // What ends before the day does.
  EXPECT_EQ(find_onset(hours(100, 50, 38, 42), hours(100), true), 38u);
}

TEST(Onset, UsualHoursAreTakenOut) {
  Hours usual = hours(100, 400, 32, 42);  // a day at work, which is dear as ever
  Hours actual = usual;
  for (std::size_t at = 38; at < 48; ++at) actual[at] += Money::from_units(30, kUsd);
  EXPECT_EQ(find_onset(actual, usual, true), 38u);
}

TEST(Onset, NothingIsSaidWhereItIsNotClear) {
  EXPECT_FALSE(find_onset(hours(100), hours(100), true));
  EXPECT_FALSE(find_onset(hours(150), hours(100), true));  // it began earlier
  EXPECT_FALSE(find_onset(hours(100, 50, 38), hours(100), false));
  // It grows from hour to hour.
  Hours drift = hours(100);
  for (std::size_t at = 0; at < 48; ++at)
    drift[at] += Money::from_units(static_cast<int>(at), kUsd);
  EXPECT_FALSE(find_onset(drift, hours(100), true));
  EXPECT_FALSE(find_onset({}, {}, true));
  EXPECT_FALSE(
      find_onset(Hours(1, Money::from_units(2, kUsd)), Hours(1, Money::from_units(1, kUsd)), true));
}

}  // namespace
}  // namespace pennyweight
