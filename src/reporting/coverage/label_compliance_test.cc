#include "reporting/coverage/label_compliance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reporting/coverage/label_compliance_tables.h"

namespace pennyweight {
namespace {

Instant at(const char* text) { return *parse_instant(text); }
Date day(const char* text) { return *parse_date(text); }

FactId fact(std::uint64_t number) { return FactId{{.high = 1, .low = number}}; }

Holding holding(std::uint64_t id, const char* workload,
                std::initializer_list<std::pair<const char*, const char*>> labels) {
  Holding held(ClusterId("c"), WorkloadId(workload),
               *Interval::of(at("2026-03-01T00:00:00Z"), at("2026-03-09T00:00:00Z")),
               InPool{{}, 1});
  held.id = fact(id);
  for (const auto& [key, value] : labels) EXPECT_TRUE(held.labels.set(key, value));
  return held;
}

Posting posting(std::uint64_t id, const char* workload, Date on, std::int64_t units,
                Currency currency = kUsd, PostingKind kind = PostingKind::kUsed) {
  Costs costs = Costs::zero(currency);
  costs.effective = Money::from_units(units, currency);
  const Instant begin(on);
  return Posting{.charge = fact(1000),
                 .kind = kind,
                 .component = Component::kGpu,
                 .interval = *Interval::of(begin, begin + std::chrono::hours(1)),
                 .day = on,
                 .node = NodeId("n"),
                 .gpu = GpuId(""),
                 .workload = WorkloadId(workload),
                 .holding = id == 0 ? std::optional<FactId>() : fact(id),
                 .weight = 1,
                 .costs = costs,
                 .gpu_time = GpuTime::of(static_cast<UInt128>(units < 0 ? -units : units)),
                 .memory_time = {},
                 .observed_time = {}};
}

const LabelCompliance::FindHolding kNone = [](const FactId&) { return std::nullopt; };
const Scope kScope{ClusterId("c"), "2026-03"};

LabelPolicy one_key(std::vector<std::string> allowed = {}) {
  LabelRequirement team{.key = "team-id", .labels = {"team"}};
  team.allowed = std::move(allowed);
  team.dimension = "team";
  return {{team}};
}

TEST(LabelCompliance, JudgesEachDayByItsHolding) {
  LabelCompliance compliance(one_key({"nlp", "cv"}), {{"team", "(unowned)"}}, TimeBucket::kDay);
  Labels cv, none;
  ASSERT_TRUE(cv.set("team", "cv"));
  ASSERT_TRUE(none.set("team", "(unowned)"));
  compliance.begin_run(kScope, {{WorkloadId("b/x"), cv}, {WorkloadId("a/p"), none}}, kNone);
  // One pod that got its label on the second day: two holdings of one workload.
  compliance.add(holding(1, "a/p", {{"namespace", "a"}}));
  compliance.add(holding(2, "a/p", {{"namespace", "a"}, {"team", "nlp"}}));
  compliance.add(holding(3, "b/x", {{"namespace", "b"}}));
  compliance.add(holding(4, "b/y", {{"namespace", "b"}, {"team", "NLP"}, {"user", "ann"}}));
  compliance.add(posting(1, "a/p", day("2026-03-01"), 10));
  compliance.add(posting(2, "a/p", day("2026-03-02"), 20));
  compliance.add(posting(3, "b/x", day("2026-03-02"), 5));
  compliance.add(posting(4, "b/y", day("2026-03-02"), 7));
  compliance.add(posting(0, "", day("2026-03-02"), 100, kUsd, PostingKind::kUnallocated));
  compliance.add(posting(0, "(team=nlp)", day("2026-03-02"), 3, kUsd, PostingKind::kUnallocated));
  compliance.add(posting(0, "", day("2026-03-02"), -3, kUsd, PostingKind::kUnallocated));

  const auto all = compliance.finish();
  ASSERT_EQ(all.size(), 1U);
  const CurrencyCompliance& found = all[0];
  EXPECT_EQ(found.held, Money::from_units(42, kUsd));
  EXPECT_EQ(found.unowned, Money::from_units(97, kUsd));
  EXPECT_EQ(found.transferred, Money::from_units(3, kUsd));
  const auto money = [](const KeyCompliance& key, LabelStatus status) {
    return key.of(status).effective;
  };
  using enum LabelStatus;
  const KeyCompliance& key = found.keys.at(0);
  EXPECT_EQ(money(key, kStated), Money::from_units(20, kUsd));
  EXPECT_EQ(money(key, kDerived), Money::from_units(5, kUsd));
  EXPECT_EQ(money(key, kNotAllowed), Money::from_units(7, kUsd));
  EXPECT_EQ(money(key, kMissing), Money::from_units(10, kUsd));
  EXPECT_EQ(key.of(kMissing).gpu_time.count(), 10U);
  // By its worst day: a/p is among the missing only.
  EXPECT_EQ(key.of(kStated).workloads, 0U);
  EXPECT_EQ(key.of(kMissing).workloads, 1U);
  EXPECT_EQ(key.evaluated().workloads, 3U);

  ASSERT_EQ(found.periods.size(), 2U);
  EXPECT_EQ(found.periods[0].first_day, day("2026-03-01"));
  EXPECT_EQ(money(found.periods[0].sums, kMissing), Money::from_units(10, kUsd));
  EXPECT_EQ(found.periods[1].sums.met(), Money::from_units(25, kUsd));

  ASSERT_EQ(found.offenders.size(), 2U);
  EXPECT_EQ(found.offenders[0].group, "namespace a");
  EXPECT_EQ(found.offenders[0].status, kMissing);
  EXPECT_EQ(found.offenders[0].example, "a/p");
  EXPECT_EQ(found.offenders[1].group, "namespace b");
  EXPECT_EQ(found.offenders[1].user, "ann");
  EXPECT_EQ(found.offenders[1].value, "NLP");
  EXPECT_EQ(found.offenders[1].sums.effective, Money::from_units(7, kUsd));
}

TEST(LabelCompliance, DaysBeforeItIsInForceAreNotJudged) {
  LabelPolicy policy = one_key();
  policy.required[0].in_force_from = day("2026-03-02");
  LabelCompliance compliance(policy, {}, TimeBucket::kWeek);
  compliance.begin_run(kScope, {}, kNone);
  compliance.add(holding(1, "a/p", {}));
  compliance.add(posting(1, "a/p", day("2026-03-01"), 10));  // a Sunday
  compliance.add(posting(1, "a/p", day("2026-03-02"), 20));
  const auto all = compliance.finish();
  const KeyCompliance& key = all.at(0).keys.at(0);
  EXPECT_EQ(key.before.effective, Money::from_units(10, kUsd));
  EXPECT_EQ(key.evaluated().effective, Money::from_units(20, kUsd));
  ASSERT_EQ(all[0].periods.size(), 2U);
  EXPECT_EQ(all[0].periods[0].first_day, day("2026-02-23"));
  EXPECT_EQ(all[0].periods[1].first_day, day("2026-03-02"));
}

TEST(LabelCompliance, HoldingsThatNoScanBroughtAreLookedUp) {
  LabelCompliance compliance(one_key(), {}, TimeBucket::kNone);
  int asked = 0;
  compliance.begin_run(kScope, {}, [&](const FactId& id) -> std::optional<Holding> {
    ++asked;
    if (id != fact(7)) return std::nullopt;
    return holding(7, "job", {{"team", "nlp"}, {"account", "acc"}});
  });
  compliance.add(posting(7, "job", day("2026-03-01"), 1));
  compliance.add(posting(7, "job", day("2026-03-02"), 2));
  compliance.add(posting(8, "gone/pod", day("2026-03-02"), 4));
  compliance.add(posting(9, "(odd)", day("2026-03-02"), 16));  // a name, and no owner of a rule
  compliance.add(posting(0, "bare", day("2026-03-02"), 8));
  const auto all = compliance.finish();
  EXPECT_EQ(all.at(0).keys.at(0).of(LabelStatus::kStated).effective, Money::from_units(3, kUsd));
  EXPECT_EQ(all[0].keys[0].of(LabelStatus::kMissing).effective, Money::from_units(28, kUsd));
  EXPECT_EQ(asked, 3);
  ASSERT_EQ(all[0].offenders.size(), 2U);
  EXPECT_EQ(all[0].offenders[0].group, "workloads without a group");
  EXPECT_EQ(all[0].offenders[1].group, "namespace gone");
}

TEST(LabelCompliance, PercentIsExact) {
  KeyCompliance key("k", kUsd);
  const auto set = [&](std::int64_t stated, std::int64_t missing) {
    key.by_status[0].effective = Money::from_units(stated, kUsd);
    key.by_status[3].effective = Money::from_units(missing, kUsd);
  };
  const auto percent = [](const char* text) { return *parse_exact_decimal(text); };
  set(2, 1);
  EXPECT_TRUE(meets_percent(key, percent("66.666666666666666666")));
  EXPECT_FALSE(meets_percent(key, percent("66.666666666666666667")));
  set(1, 1);
  EXPECT_TRUE(meets_percent(key, percent("50")));
  EXPECT_FALSE(meets_percent(key, percent("50.000000000000000001")));
  set(0, 0);
  EXPECT_TRUE(meets_percent(key, percent("100"))) << "nothing to judge";
  key.by_status[3].gpu_time = GpuTime::of(1);  // machines of one's own, at no price
  EXPECT_FALSE(meets_percent(key, percent("1")));
}

TEST(LabelCompliance, TablesSayTheSame) {
  LabelCompliance compliance(default_label_policy(), {}, TimeBucket::kDay);
  compliance.begin_run(kScope, {}, kNone);
  compliance.add(holding(1, "a/p", {{"team", "nlp"}}));
  compliance.add(posting(1, "a/p", day("2026-03-01"), 10));
  compliance.add(posting(1, "a/p", day("2026-03-01"), 10, kEur));
  const auto all = compliance.finish();
  ASSERT_EQ(all.size(), 2U);
  const auto keys = label_tables(all, "2026-03");
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].rows.size(), 12U);
  const std::string csv = render_csv(keys);
  EXPECT_NE(csv.find("team-id,stated,USD,10,100"), std::string::npos) << csv;
  const auto offenders = label_offender_tables(all, "2026-03", 1);
  EXPECT_EQ(offenders[0].rows.size(), 2U);  // project-id, user-id
  EXPECT_EQ(label_period_tables(all, "2026-03")[1].rows.size(), 3U);
}

// Whatever comes, every posting of a holder has one status for each key.
RC_GTEST_PROP(LabelCompliance, StatusesAddUpToWhatIsHeld, ()) {
  LabelPolicy policy = one_key({"a"});
  LabelRequirement user{.key = "user-id", .labels = {"user"}};
  user.in_force_from = day("2026-03-04");
  policy.required.push_back(user);
  LabelCompliance compliance(policy, {{"team", "(none)"}}, TimeBucket::kDay);
  static const char* const kValues[] = {"", "a", "b"};
  std::vector<WorkloadDimensions> dimensions;
  static const char* const kWorkloads[] = {"n/x", "n/y", "z", ""};
  for (const char* workload : kWorkloads) {
    Labels given;
    RC_ASSERT(given.set("team", *rc::gen::element<std::string>("a", "(none)", "b")).has_value());
    dimensions.push_back({WorkloadId(workload), given});
  }
  compliance.begin_run(kScope, dimensions, kNone);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    compliance.add(holding(
        i, kWorkloads[*rc::gen::inRange(0, 3)],
        {{"team", kValues[*rc::gen::inRange(0, 3)]}, {"user", kValues[*rc::gen::inRange(0, 3)]}}));
  }
  const int count = *rc::gen::inRange(0, 40);
  Money total = Money::zero(kUsd), periods = Money::zero(kUsd);
  for (int i = 0; i < count; ++i) {
    const auto each =
        posting(*rc::gen::inRange<std::uint64_t>(0, 6), kWorkloads[*rc::gen::inRange(0, 4)],
                day("2026-03-01") + std::chrono::days(*rc::gen::inRange(0, 7)),
                *rc::gen::inRange<std::int64_t>(-50, 100));
    total += each.costs.effective;
    compliance.add(each);
  }
  for (const CurrencyCompliance& found : compliance.finish()) {
    RC_ASSERT(found.held + found.unowned + found.transferred == total);
    for (const KeyCompliance& key : found.keys) {
      Money offending = Money::zero(kUsd);
      periods = Money::zero(kUsd);
      for (const LabelOffender& each : found.offenders) {
        if (each.key == key.key) offending += each.sums.effective;
      }
      for (const KeyPeriodCompliance& each : found.periods) {
        if (each.sums.key == key.key) {
          periods += each.sums.evaluated().effective + each.sums.before.effective;
        }
      }
      RC_ASSERT(key.evaluated().effective + key.before.effective == found.held);
      RC_ASSERT(key.met() + offending == key.evaluated().effective);
      RC_ASSERT(periods == found.held);
    }
  }
}

}  // namespace
}  // namespace pennyweight
