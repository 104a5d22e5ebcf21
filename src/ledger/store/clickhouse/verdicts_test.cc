#include "ledger/store/clickhouse/verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace pennyweight {
namespace {

using ::testing::ElementsAre;

Hash128 hash(std::uint64_t number) { return {number, number}; }
int below(int limit) { return *rc::gen::inRange(0, limit); }

TEST(KeyRanges, CutEveryFingerprintOnce) {
  EXPECT_EQ(KeyRanges(0).count(), 1u);
  EXPECT_EQ(KeyRanges(kRowsPerKeyRange).count(), 2u);
  const KeyRanges parts(10 * kRowsPerKeyRange);
  EXPECT_EQ(parts.begin(0), Hash128{});
  for (std::uint64_t part = 1; part < parts.count(); ++part) {
    EXPECT_LT(parts.begin(part - 1), parts.begin(part));
  }
  EXPECT_LT(parts.begin(parts.count() - 1).high, ~std::uint64_t{0});
}

TEST(Settle, TheLedgersFactIsKeptElseTheLeast) {
  const FactVerdict verdict = judge_facts({{hash(1), hash(10), 0},
                                           {hash(2), hash(22), 1},
                                           {hash(2), hash(21), 2},
                                           {hash(2), hash(21), 3},
                                           {hash(1), hash(11), 4},
                                           {hash(3), hash(30), 5}},
                                          {{hash(1), hash(11)}, {hash(4), hash(40)}});
  EXPECT_THAT(verdict.created, ElementsAre(2u, 5u));
  EXPECT_EQ(verdict.counts.created, 2u);
  EXPECT_EQ(verdict.counts.existing, 2u);
  ASSERT_EQ(verdict.counts.conflicts, 2u);
  EXPECT_EQ(verdict.conflicts[0].row, 0u);
  EXPECT_FALSE(verdict.conflicts[0].there_row);
  EXPECT_EQ(verdict.conflicts[1].row, 1u);
  EXPECT_EQ(verdict.conflicts[1].there_row, 2u);
}

TEST(Settle, WhatAReplacementLeavesOutIsTold) {
  const std::vector<LedgerCharge> ledger = {{hash(1), hash(100), hash(1), 0, true},
                                            {hash(2), hash(100), hash(1), 1, true},
                                            {hash(3), hash(100), hash(3), 0, false},
                                            {hash(4), hash(200), hash(4), 0, true}};
  const ChargeVerdict verdict = judge_charges(
      DeliveryStyle::kReplacement, {{hash(100), hash(1), 0}, {hash(100), hash(3), 1}}, ledger);
  EXPECT_EQ(verdict.counts.existing, 1u);
  ASSERT_EQ(verdict.created.size(), 1u);
  EXPECT_EQ(verdict.created[0].row, 1u);
  EXPECT_EQ(verdict.created[0].ordinal, 1u);  // the content existed before and was taken back
  EXPECT_THAT(verdict.left_out, ElementsAre(1u, 3u));
}

// A ledger after some deliveries, and one more delivery.
struct World {
  std::vector<LedgerCharge> ledger;
  std::vector<StagedCharge> staged;
};

World any_world() {
  World world;
  std::map<std::uint64_t, std::uint64_t> ordinals;
  for (int i = below(12); i > 0; --i) {
    const auto content = static_cast<std::uint64_t>(below(8));
    const std::uint64_t ordinal = ordinals[content]++;
    world.ledger.push_back(
        {{content, ordinal}, hash(content / 3), hash(content), ordinal, below(4) > 0});
  }
  for (int i = below(12); i > 0; --i) {
    const auto content = static_cast<std::uint64_t>(below(8));
    world.staged.push_back({hash(content / 3), hash(content), world.staged.size()});
  }
  return world;
}

DeliveryStyle any_style() {
  return *rc::gen::element(DeliveryStyle::kGuarded, DeliveryStyle::kReplacement,
                           DeliveryStyle::kDelta, DeliveryStyle::kLedger);
}

RC_GTEST_PROP(Settle, EveryLineIsCreatedThereOrInConflict, ()) {
  const World world = any_world();
  const DeliveryStyle style = any_style();
  const ChargeVerdict verdict = judge_charges(style, world.staged, world.ledger);
  RC_ASSERT(verdict.counts.created + verdict.counts.existing + verdict.counts.conflicts ==
            world.staged.size());
  RC_ASSERT(style == DeliveryStyle::kGuarded || verdict.conflicts.empty());
  std::set<FactId> ids;
  for (const LedgerCharge& line : world.ledger) ids.insert(numbered(line.content, line.ordinal));
  for (const CreatedCharge& line : verdict.created) {
    RC_ASSERT(ids.insert(numbered(world.staged[line.row].content, line.ordinal)).second);
  }
  for (const ChargeConflict& line : verdict.conflicts) {
    RC_ASSERT(std::ranges::any_of(world.ledger, [&](const LedgerCharge& there) {
      return there.id == line.left_out.hash && there.live &&
             there.natural_key == world.staged[line.row].natural_key;
    }));
  }
  // Delivering the same again: nothing is new.
  if (style == DeliveryStyle::kReplacement) {
    std::vector<LedgerCharge> after = world.ledger;
    for (const std::size_t gone : verdict.left_out) after[gone].live = false;
    for (const CreatedCharge& line : verdict.created) {
      const StagedCharge& staged = world.staged[line.row];
      after.push_back({numbered(staged.content, line.ordinal).hash, staged.natural_key,
                       staged.content, line.ordinal, true});
    }
    const ChargeVerdict again = judge_charges(style, world.staged, after);
    RC_ASSERT(again.created.empty());
    RC_ASSERT(again.left_out.empty());
  }
}

// So an import may be resolved one range of keys at a time.
RC_GTEST_PROP(Settle, KeysAreJudgedByThemselves, ()) {
  const World world = any_world();
  const DeliveryStyle style = any_style();
  const ChargeVerdict all = judge_charges(style, world.staged, world.ledger);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> created, conflicts;
  for (std::uint64_t key = 0; key < 3; ++key) {
    World part;
    std::ranges::copy_if(world.staged, std::back_inserter(part.staged),
                         [&](const StagedCharge& line) { return line.natural_key == hash(key); });
    std::ranges::copy_if(world.ledger, std::back_inserter(part.ledger),
                         [&](const LedgerCharge& line) { return line.natural_key == hash(key); });
    const ChargeVerdict verdict = judge_charges(style, part.staged, part.ledger);
    for (const auto& line : verdict.created) created.emplace_back(line.row, line.ordinal);
    for (const auto& line : verdict.conflicts) conflicts.emplace_back(line.row, line.id.hash.low);
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> want_created, want_conflicts;
  for (const auto& line : all.created) want_created.emplace_back(line.row, line.ordinal);
  for (const auto& line : all.conflicts) want_conflicts.emplace_back(line.row, line.id.hash.low);
  for (auto* list : {&created, &conflicts, &want_created, &want_conflicts})
    std::ranges::sort(*list);
  RC_ASSERT(created == want_created);
  RC_ASSERT(conflicts == want_conflicts);
}

}  // namespace
}  // namespace pennyweight
