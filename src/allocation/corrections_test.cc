// Corrections: what they move, on which days, and which can't be made.
#include "allocation/distribute.h"
#include "allocation/distribute_test_scope.h"

namespace pennyweight::distribute_test {
namespace {

TEST(Corrections, MoveAllFourCostsFromOwnerToOwner) {
  TestScope scope;
  scope.corrections = {
      correction("one day", "2026-03-05", "2026-03-06", team("a"), team("b"), usd("10"))};
  const Distribution done = scope.distribute();
  ASSERT_EQ(done.transfers.size(), 2u);
  const Money ten = usd("10");
  EXPECT_EQ(done.transfers[0].workload, WorkloadId("(team=a)"));
  EXPECT_TRUE(done.transfers[0].costs == (Costs{-ten, -ten, -ten, -ten}));
  EXPECT_EQ(done.transfers[1].workload, WorkloadId("(team=b)"));
  EXPECT_TRUE(done.transfers[1].costs == (Costs{ten, ten, ten, ten}));
  for (const Posting& posting : done.transfers) {
    EXPECT_EQ(posting.kind, PostingKind::kUsed);
    EXPECT_EQ(posting.component, Component::kWhole);
    EXPECT_EQ(posting.day, day(5));
    EXPECT_TRUE(posting.interval == whole(day(5)));
    EXPECT_EQ(posting.charge, transfer_id(ClusterId("c"), "2026-03", "correction one day"));
  }
  EXPECT_EQ(done.dimensions.size(), 2u);
  EXPECT_TRUE(done.notes.empty());
}

TEST(Corrections, FromAndToTheUnallocatedBucket) {
  TestScope scope;
  scope.corrections = {
      correction("x", "2026-03-05", "2026-03-06", {}, team("b"), usd("10")),
      correction("y", "2026-03-05", "2026-03-06", team("b"), {}, usd("4")),
  };
  const Distribution done = scope.distribute();
  EXPECT_EQ(moved(done), (Moved{{"", "-6"}, {"b", "6"}}));
  for (const Posting& posting : done.transfers) {
    EXPECT_EQ(posting.kind,
              posting.workload.empty() ? PostingKind::kUnallocated : PostingKind::kUsed);
  }
}

TEST(Corrections, EachMonthPostsItsOwnDaysAndTogetherTheWhole) {
  TestScope scope;
  scope.corrections = {
      correction("spring", "2026-02-27", "2026-03-03T12:00:00Z", team("a"), team("b"), usd("10"))};
  const Distribution march = scope.distribute();
  // 4.5 days: two in February, two and a half in March.
  EXPECT_EQ(moved(march), (Moved{{"a", "-5.555555555555555555"}, {"b", "5.555555555555555555"}}));
  EXPECT_EQ(march.notes,
            std::vector<std::string>{"correction 'spring': 4.444444444444444445 USD of its 10 USD "
                                     "are booked on days of other months"});
  DistributionInput february{.cluster = ClusterId("c"),
                             .month = "2026-02",
                             .postings = {},
                             .dimensions = {},
                             .corrections = scope.corrections,
                             .policy = scope.policy};
  EXPECT_EQ(moved(distribute(february)),
            (Moved{{"a", "-4.444444444444444445"}, {"b", "4.444444444444444445"}}));
  february.month = "2026-01";
  EXPECT_TRUE(distribute(february).transfers.empty());
  EXPECT_TRUE(distribute(february).notes.empty());
}

TEST(Corrections, LocalDaysAreTheZones) {
  TestScope scope;
  scope.policy.time_zone = TimeZone::parse("America/New_York").value();
  // The local 8 March has 23 hours: summer time begins.
  scope.corrections = {correction("dst", "2026-03-08T05:00:00Z", "2026-03-10T04:00:00Z", team("a"),
                                  team("b"), usd("47"))};
  std::map<sys_days, Money> to_b;
  for (const Posting& posting : scope.distribute().transfers) {
    if (posting.workload == WorkloadId("(team=b)")) to_b.emplace(posting.day, posting.costs.billed);
  }
  EXPECT_EQ(to_b, (std::map<sys_days, Money>{{day(8), usd("23")}, {day(9), usd("24")}}));
}

TEST(Corrections, WhatCantBeMadeIsSaid) {
  TestScope scope;
  scope.is_of("w", owner({{"old", "x"}}));
  scope.policy.owners = {{.priority = 0, .when = {}, .set = {{"client", "acme"}}}};
  const auto moving = [](const char* name, Labels from, Labels to) {
    return correction(name, "2026-03-05", "2026-03-06", std::move(from), std::move(to), usd("1"));
  };
  scope.corrections = {
      moving("unknown", team("a"), owner({{"tema", "b"}})),
      moving("same", team("a"), team("a")),
      moving("known by a workload", team("a"), owner({{"old", "y"}})),
      moving("known by a rule", team("a"), owner({{"client", "acme"}})),
      moving("of another cluster", team("a"), team("b")),
  };
  scope.corrections.back().cluster = ClusterId("d");
  const Distribution done = scope.distribute();
  EXPECT_EQ(moved(done), (Moved{{"a", "-2"}, {"(old=y)", "1"}, {"(client=acme)", "1"}}));
  EXPECT_EQ(done.notes,
            (std::vector<std::string>{
                "correction 'same': not made: it moves money from an owner to itself",
                "correction 'unknown': not made: no rule and no workload has the dimension 'tema'; "
                "name one that the policy has, or add it there"}));
}

}  // namespace
}  // namespace pennyweight::distribute_test
