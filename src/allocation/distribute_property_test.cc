// distribute(): what it promises for any scope, policy and order. A failing seed prints itself.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <tuple>

#include "allocation/distribute.h"
#include "allocation/distribute_test_scope.h"

namespace pennyweight::distribute_test {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

class ScopeMaker {
 public:
  explicit ScopeMaker(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  Money any_money(Currency currency) {
    const auto ticks = static_cast<Int128>(random_() >> below(64)) * (below(5) == 0 ? 1'000 : 1);
    return Money::from_ticks(below(6) == 0 ? -ticks : ticks, currency);
  }

  SpreadRule any_rule(PostingKind kind) {
    SpreadRule made;
    made.kind = kind;
    made.how = static_cast<Spread>(below(4));
    made.within = static_cast<SpreadWithin>(below(3));
    made.over = static_cast<SpreadOver>(below(2));
    made.measure = static_cast<SpreadMeasure>(below(7));
    made.dimension = below(2) == 0 ? "team" : "user";
    for (std::uint64_t i = below(4); i > 0; --i) {
      made.parts.push_back(
          {fmt::format("t{}", below(6)), Decimal::from_ticks(static_cast<Int128>(below(1000)))});
    }
    return made;
  }

  TestScope make() {
    TestScope scope;
    for (int n = 0; n < 4; ++n) scope.node(fmt::format("n{}", n), n % 2 == 0 ? "p" : "q");
    const std::uint64_t workloads = 1 + below(8);
    for (std::uint64_t w = 0; w < workloads; ++w) {
      Labels labels = team(fmt::format("t{}", below(4)));
      if (below(2) == 0) labels = owner({{"team", "t1"}, {"user", fmt::format("u{}", below(3))}});
      scope.is_of(fmt::format("w{}", w), labels);
    }
    const Currency currencies[] = {kUsd, kUsd, kUsd, kEur};
    for (std::uint64_t p = below(60); p > 0; --p) {
      const auto kind = static_cast<PostingKind>(below(7));
      const bool is_held = kind == PostingKind::kUsed || below(3) == 0;
      const bool may_be_held = kind == PostingKind::kUsed || kind == PostingKind::kHeldIdle ||
                               kind == PostingKind::kOverhead;
      Posting& posting = scope.post(
          kind, may_be_held && is_held ? fmt::format("w{}", below(workloads)) : "",
          any_money(currencies[below(4)]), 1 + static_cast<unsigned>(below(3)),
          static_cast<Component>(below(4)), below(3) == 0 ? "" : fmt::format("n{}", below(4)));
      const Currency currency = posting.costs.currency();
      posting.costs = {any_money(currency), posting.costs.effective, any_money(currency),
                       any_money(currency)};
      posting.gpu_time = GpuTime::of(below(1'000'000));
      posting.memory_time = MemoryTime::of(below(1'000'000'000));
      const auto begin = static_cast<std::int64_t>(below(20));
      posting.interval = {Instant(posting.day) + std::chrono::milliseconds(begin * kHourMs),
                          Instant(posting.day) + std::chrono::milliseconds((begin + 2) * kHourMs)};
    }
    for (int kind = 1; kind < 7; ++kind) {
      if (below(5) > 0) scope.policy.spread.push_back(any_rule(static_cast<PostingKind>(kind)));
    }
    if (below(3) == 0) {
      scope.corrections.push_back(correction("moved", "2026-03-01T07:00:00Z", "2026-03-03",
                                             team("t0"), team("t9"), any_money(kUsd)));
    }
    return scope;
  }

  template <class T>
  void shuffle(std::vector<T>& all) {
    std::shuffle(all.begin(), all.end(), random_);
  }

 private:
  std::mt19937_64 random_;
};

Costs negative(const Costs& costs) {
  return {-costs.billed, -costs.effective, -costs.list, -costs.contracted};
}

RC_GTEST_PROP(DistributeProperty, EveryTransferAddsUpToZeroInFourCostsOnItsDay, (std::uint64_t s)) {
  const Distribution done = ScopeMaker(s).make().distribute();
  std::map<std::pair<FactId, sys_days>, Costs> sums;
  for (const Posting& posting : done.transfers) {
    const Costs none = Costs::zero(posting.costs.currency());
    sums.try_emplace({posting.charge, posting.day}, none).first->second += posting.costs;
    RC_ASSERT(posting.gpu_time == GpuTime());
    RC_ASSERT(posting.memory_time == MemoryTime());
    RC_ASSERT(whole(posting.day).overlap(posting.interval) == posting.interval);
  }
  for (const auto& [id, sum] : sums) RC_ASSERT(sum == Costs::zero(sum.currency()));
}

// A transfer whose kind has a rule takes the whole bucket out, whatever the costs are.
RC_GTEST_PROP(DistributeProperty, ABucketIsMovedWholeOrStays, (std::uint64_t s)) {
  TestScope scope = ScopeMaker(s).make();
  scope.corrections.clear();
  using Key = std::tuple<PostingKind, Component, Currency, sys_days>;
  for (SpreadRule& spread : scope.policy.spread) spread.within = SpreadWithin::kCluster;
  const Distribution whole_cluster = scope.distribute();
  std::map<Key, Costs> in_cluster;
  for (const Posting& posting : scope.postings) {
    const bool counts = posting.kind == PostingKind::kOverhead || posting.workload.empty();
    if (!counts || posting.kind == PostingKind::kUsed) continue;
    const Key key{posting.kind, posting.component, posting.costs.currency(), posting.day};
    in_cluster.try_emplace(key, Costs::zero(posting.costs.currency())).first->second +=
        posting.costs;
  }
  for (const Posting& posting : whole_cluster.transfers) {
    if (!posting.workload.empty()) continue;
    const Key key{posting.kind, posting.component, posting.costs.currency(), posting.day};
    RC_ASSERT(in_cluster.at(key) == negative(posting.costs));
  }
}

RC_GTEST_PROP(DistributeProperty, TheOrderOfTheInputMeansNothing, (std::uint64_t s)) {
  ScopeMaker maker(s);
  TestScope scope = maker.make();
  const Distribution before = scope.distribute();
  maker.shuffle(scope.postings);
  maker.shuffle(scope.dimensions);
  maker.shuffle(scope.nodes);
  maker.shuffle(scope.corrections);
  const Distribution after = scope.distribute();
  RC_ASSERT(before.transfers == after.transfers);
  RC_ASSERT(before.dimensions == after.dimensions);
  RC_ASSERT(before.notes == after.notes);
}

// Posting by posting, a credit for everything idle gives everything idle back.
RC_GTEST_PROP(DistributeProperty, ACreditMirrorsTheChargeItUndoes, (std::uint64_t s)) {
  TestScope scope = ScopeMaker(s).make();
  scope.corrections.clear();
  const Distribution charged = scope.distribute();
  for (Posting& posting : scope.postings) {
    const bool is_bucket = posting.kind == PostingKind::kOverhead || posting.workload.empty();
    if (is_bucket) posting.costs = negative(posting.costs);
  }
  const Distribution credited = scope.distribute();
  RC_ASSERT(charged.transfers.size() == credited.transfers.size());
  for (std::size_t i = 0; i < charged.transfers.size(); ++i) {
    RC_ASSERT(charged.transfers[i].workload == credited.transfers[i].workload);
    RC_ASSERT(charged.transfers[i].costs == negative(credited.transfers[i].costs));
  }
}

// The owners of one cluster-wide bucket, with the weights given to them.
struct OneBucket {
  std::vector<std::uint64_t> paid;
  Int128 idle;

  TestScope scope(Spread how, std::uint64_t scale = 1) const {
    TestScope made;
    for (std::size_t i = 0; i < paid.size(); ++i) {
      const std::string name = fmt::format("t{:03}", i);
      made.is_of(name, team(name));
      made.used(name, Money::from_ticks(static_cast<Int128>(paid[i]) * scale, kUsd));
    }
    made.idle(Money::from_ticks(idle, kUsd));
    made.policy.spread = {rule(PostingKind::kUnallocated, how)};
    return made;
  }
  std::map<std::string, Int128> shares(Spread how, std::uint64_t scale = 1) const {
    std::map<std::string, Int128> ticks;
    for (const Posting& posting : scope(how, scale).distribute().transfers) {
      if (posting.workload.empty()) continue;
      ticks[posting.workload.text()] = posting.costs.effective.ticks();
    }
    return ticks;
  }
};

OneBucket any_bucket() {
  OneBucket bucket;
  bucket.paid = *rc::gen::container<std::vector<std::uint64_t>>(
      rc::gen::inRange<std::uint64_t>(0, 1'000'000));
  bucket.idle = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
  return bucket;
}
std::string name_of(std::size_t i) { return fmt::format("(team=t{:03})", i); }

RC_GTEST_PROP(DistributeProperty, ProportionalIsWithinATickOfTheExactShare, ()) {
  const OneBucket bucket = any_bucket();
  Int128 sum = 0;
  for (const std::uint64_t paid : bucket.paid) sum += paid;
  auto shares = bucket.shares(Spread::kProportional);
  for (std::size_t i = 0; i < bucket.paid.size() && sum > 0; ++i) {
    const Int128 off = shares[name_of(i)] * sum - bucket.idle * Int128{bucket.paid[i]};
    RC_ASSERT(off < sum && off > -sum);
    if (bucket.paid[i] == 0) RC_ASSERT(shares[name_of(i)] == 0);  // a dummy bears nothing
    for (std::size_t j = 0; j < i; ++j) {                         // equals pay the same but a tick
      if (bucket.paid[i] != bucket.paid[j]) continue;
      const Int128 apart = shares[name_of(j)] - shares[name_of(i)];
      RC_ASSERT(apart == 0 || apart == 1);
    }
  }
}

RC_GTEST_PROP(DistributeProperty, EvenIsEqualButForATick, ()) {
  const OneBucket bucket = any_bucket();
  auto shares = bucket.shares(Spread::kEven);
  Int128 least = bucket.idle, most = 0, sum = 0;
  for (std::size_t i = 0; i < bucket.paid.size(); ++i) {
    const Int128 share = shares[name_of(i)];
    if (bucket.paid[i] == 0) {
      RC_ASSERT(share == 0);
      continue;
    }
    least = std::min(least, share);
    most = std::max(most, share);
    sum += share;
  }
  if (sum > 0) {
    RC_ASSERT(most - least <= 1);
    RC_ASSERT(sum == bucket.idle);
  }
}

RC_GTEST_PROP(DistributeProperty, OnlyTheRatioOfWhatIsPaidCounts, ()) {
  const OneBucket bucket = any_bucket();
  const auto scale = *rc::gen::inRange<std::uint64_t>(1, 1'000'000'000);
  RC_ASSERT(bucket.shares(Spread::kProportional) == bucket.shares(Spread::kProportional, scale));
  RC_ASSERT(bucket.shares(Spread::kEven) == bucket.shares(Spread::kEven, scale));
}

// A million postings of 500 owners on 1,000 nodes in a month: a sketch, with room for a slow
// machine and for sanitizers. Around 0.7 s within the cluster and 1 s within nodes, as
// RelWithDebInfo.
// With sanitizers, and without optimisation, everything takes many times as long.
#ifdef PENNYWEIGHT_SANITIZED
constexpr int kSlowness = 10;
#else
constexpr int kSlowness = 1;
#endif

TEST(Distribute, AMillionPostingsInSeconds) {
  constexpr std::uint64_t kWorkloads = 5'000;
  TestScope scope;
  ScopeMaker maker(1);
  scope.postings.reserve(1'000'000);
  for (std::uint64_t w = 0; w < kWorkloads; ++w) {
    scope.is_of(fmt::format("namespace/workload-{}", w),
                owner({{"team", fmt::format("team-{}", w % 50)},
                       {"user", fmt::format("user-{}", w % 500)}}));
  }
  for (int p = 0; p < 1'000'000; ++p) {
    const bool is_idle = p % 10 == 0;
    const std::uint64_t workload = maker.below(kWorkloads);
    scope.post(is_idle ? PostingKind::kUnallocated : PostingKind::kUsed,
               is_idle ? "" : fmt::format("namespace/workload-{}", workload),
               Money::from_ticks(static_cast<Int128>(maker.below(1'000'000'000'000'000)), kUsd),
               1 + static_cast<unsigned>(maker.below(31)), static_cast<Component>(maker.below(3)),
               fmt::format("node-{}", workload % 1'000));
  }
  scope.policy.spread = {rule(PostingKind::kUnallocated, Spread::kProportional)};
  for (const auto within : {SpreadWithin::kCluster, SpreadWithin::kNode}) {
    scope.policy.spread[0].within = within;
    const auto begin = std::clock();
    const Distribution done = scope.distribute();
    const auto took_ms = (std::clock() - begin) * 1000 / CLOCKS_PER_SEC;  // of CPU
    RecordProperty(within == SpreadWithin::kNode ? "within_node_ms" : "within_cluster_ms",
                   static_cast<int>(took_ms));
    EXPECT_GT(done.transfers.size(), 40'000u);
    EXPECT_LT(took_ms, 20'000 * kSlowness);
  }
}

}  // namespace
}  // namespace pennyweight::distribute_test
