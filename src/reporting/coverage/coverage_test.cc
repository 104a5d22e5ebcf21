// Coverage: what counts, where it stops, and that no digit is lost.
#include "reporting/coverage/coverage.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "core/decimal.h"
#include "ledger/posting.h"

namespace pennyweight {
namespace {

Money covered_usd(std::string_view text) {
  return Money::from_decimal(*parse_exact_decimal(text), kUsd);
}

SummaryRow row(std::vector<std::string> keys, const Money& money) {
  return {.bucket = std::nullopt,
          .keys = std::move(keys),
          .costs = {money, money, money, money},
          .gpu_time = {},
          .idle_time = {},
          .memory_time = {},
          .observed_time = {},
          .postings = 1};
}

bool has_gpus(std::string_view type) { return type == "p5"; }

std::vector<Coverage> cover(const std::vector<SummaryRow>& held,
                            const std::vector<SummaryRow>& bucket,
                            const std::vector<Money>& unposted = {}) {
  return coverage({.dimension = {"team", "(unowned)"},
                   .held = held,
                   .bucket = bucket,
                   .unposted_gpu = unposted,
                   .unposted_other = {},
                   .has_gpus = has_gpus});
}

// A posting of ten dollars: where it goes.
struct Case {
  std::vector<std::string> keys;
  bool has_holder;
  std::string want;
};

std::string place_of(const Coverage& one) {
  if (!one.reached.is_zero()) return "reached";
  if (!one.by_spreading.is_zero()) return "by spreading";
  if (!one.host.is_zero()) return "host";
  if (!one.unknown_commitment.is_zero()) return "unknown commitment";
  if (!one.other.is_zero()) return "other";
  return one.gap.empty() ? "nowhere" : std::string(to_text(one.gap.front().reason));
}

TEST(Coverage, EveryPostingHasItsPlace) {
  const Case cases[] = {
      {{"used", "gpu", "Usage", "p5", "nlp"}, true, "reached"},
      {{"held_idle", "gpu", "Usage", "p5", "nlp"}, true, "reached"},
      {{"used", "gpu", "Usage", "p5", "(unowned)"}, true, "holder lacks the label (fallback)"},
      {{"used", "gpu", "Usage", "p5", ""}, true, "holder lacks the label"},
      {{"used", "cpu", "Usage", "p5", "nlp"}, true, "host"},
      {{"unallocated", "memory", "Usage", "p5", ""}, false, "host"},
      {{"unallocated", "gpu", "Usage", "p5", ""}, false, "nobody held the GPU"},
      {{"held_idle", "gpu", "Usage", "p5", ""}, false, "held, and charged to nobody"},
      {{"stranded", "gpu", "Usage", "p5", ""}, false, "stranded beside a MIG layout"},
      {{"unavailable", "gpu", "Usage", "p5", ""}, false, "in an outage"},
      // A system's namespace is no team, though the rules of labels take it for one.
      {{"overhead", "gpu", "Usage", "p5", "kube-system"}, true, "system workloads"},
      {{"overhead", "gpu", "", "", "nlp"}, true, "by spreading"},
      {{"unallocated", "gpu", "", "", "nlp"}, true, "by spreading"},
      {{"shared", "whole", "Usage", "p5", ""}, false, "line joins no node"},
      {{"shared", "whole", "Credit", "p5", ""}, false, "line joins no node"},
      {{"shared", "whole", "Purchase", "p5", ""}, false, "other"},
      {{"shared", "whole", "Tax", "p5", ""}, false, "other"},
      {{"shared", "whole", "Usage", "m5", ""}, false, "other"},
      {{"shared", "whole", "", "", ""}, false, "other"},
      {{"unallocated", "whole", "Usage", "p5", ""}, false, "commitment that nothing used"},
      {{"unallocated", "whole", "Purchase", "p5", ""}, false, "commitment that nothing used"},
      {{"unallocated", "whole", "Usage", "", ""}, false, "unknown commitment"},
  };
  for (const Case& each : cases) {
    const std::vector<SummaryRow> rows = {row(each.keys, covered_usd("10"))};
    const auto got = each.has_holder ? cover(rows, {}) : cover({}, rows);
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(place_of(got[0]), each.want)
        << each.keys[0] << " " << each.keys[1] << " " << each.keys[2] << " " << each.keys[4];
    EXPECT_EQ(got[0].ledger_total(), covered_usd("10"));
  }
}

TEST(Coverage, SpreadingTakesFromItsBucketAndGivesToTeams) {
  const auto got = cover({row({"used", "gpu", "Usage", "p5", "nlp"}, covered_usd("60")),
                          row({"unallocated", "gpu", "", "", "nlp"}, covered_usd("25")),
                          row({"unallocated", "gpu", "", "", "(unowned)"}, covered_usd("5"))},
                         {row({"unallocated", "gpu", "Usage", "p5", ""}, covered_usd("40")),
                          row({"unallocated", "gpu", "", "", ""}, covered_usd("-30"))});
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].spend, covered_usd("100"));
  EXPECT_EQ(got[0].reached, covered_usd("60"));
  EXPECT_EQ(got[0].by_spreading, covered_usd("25"));
  EXPECT_EQ(got[0].gap, (std::vector<GapAmount>{{GapReason::kUnallocated, covered_usd("10")},
                                                {GapReason::kFallback, covered_usd("5")}}));
}

TEST(Coverage, LinesThatWereNeverAllocatedAreInTheGap) {
  const auto got = cover({}, {}, {covered_usd("7"), covered_usd("0.5")});
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].gap, (std::vector<GapAmount>{{GapReason::kNeverAllocated, covered_usd("7.5")}}));
  EXPECT_EQ(got[0].ledger_total(), covered_usd("7.5"));
}

TEST(Coverage, CurrenciesAreNeverMixed) {
  const Money euro = Money::from_units(3, kEur);
  const auto got = cover({row({"used", "gpu", "Usage", "p5", "nlp"}, euro),
                          row({"used", "gpu", "Usage", "p5", "nlp"}, covered_usd("2"))},
                         {});
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].spend, euro);
  EXPECT_EQ(got[1].spend, covered_usd("2"));
}

TEST(Advice, NamesTheDimension) {
  EXPECT_NE(advice(GapReason::kNoLabel, "project").find("dimensions.project.from"),
            std::string::npos);
}

RC_GTEST_PROP(Coverage, ReasonsAddUpToTheGap, ()) {
  const auto pick = [](const std::vector<std::string>& values) {
    return *rc::gen::elementOf(values);
  };
  std::vector<SummaryRow> held;
  std::vector<SummaryRow> bucket;
  Money total = Money::zero(kUsd);
  const int count = *rc::gen::inRange(0, 60);
  for (int i = 0; i < count; ++i) {
    const Money money = Money::from_ticks(*rc::gen::arbitrary<std::int64_t>(), kUsd);
    total += money;
    const bool has_holder = *rc::gen::arbitrary<bool>();
    (has_holder ? held : bucket)
        .push_back(row({pick({"used", "held_idle", "unallocated", "stranded", "overhead",
                              "unavailable", "shared"}),
                        pick({"gpu", "cpu", "memory", "whole"}),
                        pick({"", "Usage", "Purchase", "Tax", "Credit", "Adjustment"}),
                        pick({"", "p5", "m5"}), pick({"", "(unowned)", "nlp", "cv"})},
                       money));
  }
  for (const Coverage& one : cover(held, bucket)) {
    RC_ASSERT(one.ledger_total() == total);
    RC_ASSERT(one.reached + one.by_spreading + one.gap_total() == one.spend);
  }
}

}  // namespace
}  // namespace pennyweight
