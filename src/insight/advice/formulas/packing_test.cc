#include "insight/advice/formulas/packing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace pennyweight::advising {
namespace {

std::size_t card_count(const std::vector<std::size_t>& cards) {
  return cards.empty() ? 0 : *std::ranges::max_element(cards) + 1;
}

// The fewest cards, by trying everything.
std::size_t fewest_cards(const std::vector<PackedLoad>& loads) {
  std::size_t best = loads.size();
  std::vector<PackedLoad> filled;
  const std::function<void(std::size_t)> place = [&](std::size_t at) {
    if (filled.size() >= best && at < loads.size()) return;
    if (at == loads.size()) {
      best = std::min(best, filled.size());
      return;
    }
    for (std::size_t card = 0; card < filled.size(); ++card) {
      if (filled[card].activity_ppm + loads[at].activity_ppm > kSharedActivityPpm ||
          filled[card].memory_ppm + loads[at].memory_ppm > kSharedMemoryPpm) {
        continue;
      }
      filled[card].activity_ppm += loads[at].activity_ppm;
      filled[card].memory_ppm += loads[at].memory_ppm;
      place(at + 1);
      filled[card].activity_ppm -= loads[at].activity_ppm;
      filled[card].memory_ppm -= loads[at].memory_ppm;
    }
    filled.push_back(loads[at]);
    place(at + 1);
    filled.pop_back();
  };
  place(0);
  return best;
}

// docs/methods/advice.md
TEST(Packing, TheWorkedExample) {
  const std::vector<PackedLoad> loads = {
      {250'000, 300'000}, {500'000, 200'000}, {300'000, 450'000}, {100'000, 100'000}};
  EXPECT_EQ(pack_on_cards(loads), (std::vector<std::size_t>{1, 0, 0, 1}));
}

TEST(Packing, WhatNeedsACardHasItAlone) {
  const std::vector<PackedLoad> loads = {{900'000, 100'000}, {100'000, 950'000}, {0, 0}};
  const auto cards = pack_on_cards(loads);
  EXPECT_NE(cards[0], cards[1]);
  EXPECT_EQ(card_count(pack_on_cards({})), 0u);
}

// docs/methods/advice.md
TEST(Packing, CardsThatAnySoManyShare) {
  const std::map<std::string, PackedLoad> loads = {
      {"embed", {190'000, 200'000}}, {"rank", {120'000, 220'000}}, {"chat", {450'000, 600'000}}};
  const std::map<std::string, std::uint64_t> counts = {{"embed", 6}, {"rank", 5}, {"chat", 2}};
  const SharedPlan four = plan_sharing(counts, loads, 4, 2);
  EXPECT_EQ((std::vector{four.shared, four.alone, four.shared_nodes, four.nodes}),
            (std::vector<std::uint64_t>{11, 2, 2, 3}));
  // Five of "rank" would be within 80 %, but need 110 % of the memory.
  EXPECT_EQ(plan_sharing(counts, loads, 5, 2).shared, 0u);
  EXPECT_EQ(plan_sharing(counts, loads, 5, 2).nodes, 7u);
}

RC_GTEST_PROP(Packing, WhatSharesFitsInAnyMix, ()) {
  std::map<std::string, PackedLoad> loads;
  std::map<std::string, std::uint64_t> counts;
  for (int i = 0; i < 6; ++i) {
    const std::string work(1, static_cast<char>('a' + i));
    loads[work] = {*rc::gen::inRange<std::uint64_t>(0, 1'000'000),
                   *rc::gen::inRange<std::uint64_t>(0, 1'000'000)};
    counts[work] = *rc::gen::inRange<std::uint64_t>(0, 5);
  }
  const auto sharers = *rc::gen::inRange<std::uint64_t>(2, kSharersMax + 1);
  const auto each = *rc::gen::inRange<std::uint64_t>(1, 9);
  const SharedPlan plan = plan_sharing(counts, loads, sharers, each);
  std::vector<PackedLoad> shared;
  std::uint64_t all = 0;
  for (const auto& [work, count] : counts) {
    all += count;
    if (fits(loads[work], sharers)) shared.insert(shared.end(), count, loads[work]);
  }
  RC_ASSERT(plan.shared + plan.alone == all);
  RC_ASSERT(plan.shared == shared.size());
  RC_ASSERT(plan.shared <= plan.shared_nodes * each * sharers);
  RC_ASSERT(plan.alone <= (plan.nodes - plan.shared_nodes) * each);
  // The worst mix that a scheduler could make.
  std::ranges::sort(shared, std::ranges::greater(), &PackedLoad::activity_ppm);
  std::uint64_t activity = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(sharers, shared.size()); ++i) {
    activity += shared[i].activity_ppm;
  }
  RC_ASSERT(activity <= kSharedActivityPpm);
}

RC_GTEST_PROP(Packing, NoCardIsOverfull, ()) {
  const auto shares = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 1'000'001), rc::gen::inRange(0, 1'000'001)));
  std::vector<PackedLoad> loads;
  for (const auto& [activity, memory] : shares) {
    loads.push_back({static_cast<std::uint64_t>(activity), static_cast<std::uint64_t>(memory)});
  }
  const auto cards = pack_on_cards(loads);
  std::map<std::size_t, PackedLoad> filled;
  std::map<std::size_t, std::size_t> members;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    filled[cards[i]].activity_ppm += loads[i].activity_ppm;
    filled[cards[i]].memory_ppm += loads[i].memory_ppm;
    ++members[cards[i]];
  }
  for (const auto& [card, load] : filled) {
    if (members[card] == 1) continue;
    RC_ASSERT(load.activity_ppm <= kSharedActivityPpm);
    RC_ASSERT(load.memory_ppm <= kSharedMemoryPpm);
  }
}

// First-fit decreasing in two dimensions takes few more cards than the best there is.
RC_GTEST_PROP(Packing, SmallPoolsTakeAtMostOneCardMoreThanNeeded, ()) {
  const auto shares =
      *rc::gen::resize(7, rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(
                              rc::gen::inRange(0, 800'001), rc::gen::inRange(0, 900'001))));
  std::vector<PackedLoad> loads;
  for (const auto& [activity, memory] : shares) {
    loads.push_back({static_cast<std::uint64_t>(activity), static_cast<std::uint64_t>(memory)});
  }
  RC_PRE(loads.size() <= 7);
  const std::size_t best = fewest_cards(loads);
  const std::size_t taken = card_count(pack_on_cards(loads));
  RC_ASSERT(taken >= best);
  RC_ASSERT(taken <= best + 1);
}

}  // namespace
}  // namespace pennyweight::advising
