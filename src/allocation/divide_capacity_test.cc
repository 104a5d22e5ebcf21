// divide_capacity() and fill_machines(): nothing is given that is not there, and nothing is lost.
#include "allocation/divide_capacity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "allocation/fill_machines.h"

namespace pennyweight {
namespace {

Instant at_ms(std::int64_t ms) { return from_unix_ms(ms); }

TEST(ShareOut, GivesWhatIsAskedForWhileThereIsEnough) {
  const Interval day(at_ms(0), at_ms(100));
  const std::vector<CapacityRequest> requests = {{{at_ms(0), at_ms(50)}, 3},
                                                 {{at_ms(10), at_ms(100)}, 5}};
  const auto shared = divide_capacity(day, {{at_ms(0), 8}}, requests);
  EXPECT_EQ(shared.given, (std::vector<UInt128>{150, 450}));
  EXPECT_EQ(shared.residual, (Steps{{at_ms(0), 5}, {at_ms(10), 0}, {at_ms(50), 3}}));
}

TEST(ShareOut, ScalesDownOnlyWhereMoreIsAskedFor) {
  const Interval day(at_ms(0), at_ms(100));
  const std::vector<CapacityRequest> requests = {{{at_ms(0), at_ms(60)}, 6},
                                                 {{at_ms(40), at_ms(100)}, 6}};
  // From 40 to 60 twelve are asked for and eight are there: four each.
  const auto shared = divide_capacity(day, {{at_ms(0), 8}}, requests);
  EXPECT_EQ(shared.given, (std::vector<UInt128>{6 * 40 + 4 * 20, 4 * 20 + 6 * 40}));
  EXPECT_EQ(shared.residual, (Steps{{at_ms(0), 2}, {at_ms(40), 0}, {at_ms(60), 2}}));
}

TEST(ShareOut, FollowsACapacityThatComesAndGoes) {
  const Interval day(at_ms(0), at_ms(30));
  const std::vector<CapacityRequest> requests = {{{at_ms(0), at_ms(30)}, 2}};
  const auto shared =
      divide_capacity(day, {{at_ms(0), 0}, {at_ms(10), 4}, {at_ms(20), 1}}, requests);
  EXPECT_EQ(shared.given, (std::vector<UInt128>{30}));
  EXPECT_EQ(shared.residual, (Steps{{at_ms(0), 0}, {at_ms(10), 2}, {at_ms(20), 0}}));
}

// Claims and capacity drawn from small numbers, so that they meet and overlap often.
Steps any_capacity() {
  Steps steps{{at_ms(0), *rc::gen::inRange<std::uint64_t>(0, 20)}};
  for (std::int64_t t = *rc::gen::inRange<std::int64_t>(1, 40); t < 100;
       t += *rc::gen::inRange<std::int64_t>(1, 60)) {
    steps.push_back({at_ms(t), *rc::gen::inRange<std::uint64_t>(0, 20)});
  }
  return steps;
}

std::vector<CapacityRequest> any_claims() {
  std::vector<CapacityRequest> requests;
  const int count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    const auto begin = *rc::gen::inRange<std::int64_t>(0, 99);
    const auto end = *rc::gen::inRange<std::int64_t>(begin + 1, 101);
    requests.push_back({{at_ms(begin), at_ms(end)}, *rc::gen::inRange<std::uint64_t>(0, 12)});
  }
  return requests;
}

RC_GTEST_PROP(ShareOut, ConservesAndIsWhatEachMillisecondGives, ()) {
  const Interval day(at_ms(0), at_ms(100));
  const Steps capacity = any_capacity();
  const auto requests = any_claims();
  const auto shared = divide_capacity(day, capacity, requests);

  UInt128 given = 0;
  for (const UInt128 amount : shared.given) given += amount;
  RC_ASSERT(given + integral(day, shared.residual) == integral(day, capacity));

  // The oracle: millisecond by millisecond. Where a stretch is divided as a whole the requests may
  // differ from it by the rounding of each of its milliseconds, never by one or more units a
  // stretch.
  std::vector<UInt128> want(requests.size(), 0);
  std::vector<UInt128> scaled_ms(requests.size(), 0);
  for (std::int64_t t = 0; t < 100; ++t) {
    std::uint64_t available = 0;
    for (const Step& step : capacity) {
      if (step.at <= at_ms(t)) available = step.units;
    }
    std::uint64_t demand = 0;
    for (const CapacityRequest& request : requests) {
      if (request.during.contains(at_ms(t))) demand += request.units;
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!requests[i].during.contains(at_ms(t))) continue;
      if (demand <= available) {
        want[i] += requests[i].units;
      } else {
        want[i] += requests[i].units * available / demand;
        scaled_ms[i] += 1;
      }
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    RC_ASSERT(shared.given[i] >= want[i]);
    RC_ASSERT(shared.given[i] <= want[i] + scaled_ms[i] + 1);
  }
}

RC_GTEST_PROP(Fill, GivesEachHolderAllAndNoMachineMoreThanItsRoom, ()) {
  const auto numbers =
      rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 50));
  const auto wanted = *numbers;
  auto offered = *numbers;
  std::uint64_t sum = 0, space = 0;
  for (const auto w : wanted) sum += w;
  for (const auto o : offered) space += o;
  if (space < sum) offered.push_back(static_cast<std::uint32_t>(sum - space));
  const std::vector<UInt128> amounts(wanted.begin(), wanted.end());
  const std::vector<UInt128> room(offered.begin(), offered.end());
  std::vector<UInt128> by_holder(amounts.size(), 0), by_machine(room.size(), 0);
  const auto filled = fill_machines(room, amounts);
  for (const MachineFill& f : filled) {
    by_holder[f.holder] += f.amount;
    by_machine[f.machine] += f.amount;
  }
  RC_ASSERT(by_holder == amounts);
  for (std::size_t m = 0; m < room.size(); ++m) RC_ASSERT(by_machine[m] <= room[m]);
  RC_ASSERT(filled.size() <= room.size() + amounts.size());
}

}  // namespace
}  // namespace pennyweight
