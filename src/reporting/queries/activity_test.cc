#include "reporting/queries/activity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "ledger/job_without_time.h"
#include "ledger/task_count.h"

namespace pennyweight {
namespace {

const Policy kBerlin = [] {
  Policy policy;
  policy.time_zone = TimeZone::parse("Europe/Berlin").value();
  return policy;
}();

Instant at(const char* text) { return parse_instant(text).value(); }

Node node_of(const char* name, std::uint32_t gpus) {
  return {.cluster = ClusterId("c"),
          .name = NodeId(name),
          .provider_id = {},
          .instance_type = {},
          .region = {},
          .pool = PoolId("a"),
          .gpu_model = "NVIDIA A100-SXM4-40GB",
          .gpu_count = gpus,
          .cpu_milli = 64'000,
          .memory_bytes = {},
          .from = at("2026-03-28"),
          .to = {},
          .id = {},
          .source = {}};
}

Holding job(const char* name, const char* begin, const char* end, Placement where) {
  Holding holding(ClusterId("c"), WorkloadId(name), Interval(at(begin), at(end)), std::move(where));
  holding.cpu_milli = 8000;
  holding.memory_bytes = std::uint64_t{64} << 30;
  EXPECT_TRUE(holding.labels.set("user", "ann"));
  return holding;
}

ActivityMeasures measures_of(const Activity& activity, const char* bucket,
                             std::vector<std::string> keys) {
  const auto found = activity.rows().find({bucket, std::move(keys)});
  return found == activity.rows().end() ? ActivityMeasures() : found->second;
}

constexpr std::uint64_t kHour = 3'600'000;

TEST(Activity, CutsAtLocalMidnightsAlsoInANightWithoutItsThirdHour) {
  const ActivityOptions options{
      .by = {"user"}, .filters = {}, .from = {}, .to = {}, .step = TimeBucket::kDay};
  const std::vector<Node> nodes = {node_of("n1", 4), node_of("n2", 4)};
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  // From noon of the 28th to noon of the 29th in Berlin: 12 hours, and 11.
  activity.add(job("1", "2026-03-28T11:00:00Z", "2026-03-29T10:00:00Z",
                   OnNodes{{{NodeId("n1"), 4}, {NodeId("n2"), 2}}}));
  const auto first = measures_of(activity, "2026-03-28", {"ann"});
  const auto second = measures_of(activity, "2026-03-29", {"ann"});
  EXPECT_EQ(first.wall, UInt128{12 * kHour});
  EXPECT_EQ(second.wall, UInt128{11 * kHour});
  EXPECT_EQ(first.gpu, (CardShare::whole() * 6).over_ms(12 * kHour));
  EXPECT_EQ(second.cpu_milli, UInt128{8000} * 11 * kHour);
  EXPECT_EQ(second.nodes, UInt128{2} * 11 * kHour);
  EXPECT_EQ(first.gpu_memory.count(), UInt128{6} * (std::uint64_t{40} << 30) * 12 * kHour);
  EXPECT_EQ(first.started, 1u);
  EXPECT_EQ(first.ended, 0u);
  EXPECT_EQ(second.started, 0u);
  EXPECT_EQ(second.ended, 1u);
  EXPECT_EQ(second.running, 1u);
  EXPECT_EQ(activity.total().running, 1u);
}

// A job waits in the day in which it begins, and once.
TEST(Activity, WaitsFromSubmissionToBegin) {
  const ActivityOptions options{
      .by = {"user"}, .filters = {}, .from = {}, .to = {}, .step = TimeBucket::kDay};
  const std::vector<Node> nodes = {node_of("n1", 4)};
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  const auto submitted = [](const char* name, const char* begin, const char* label) {
    Holding one = job(name, begin, "2026-03-29T10:00:00Z", OnNodes{{{NodeId("n1"), 1}}});
    if (*label != '\0') {
      EXPECT_TRUE(one.labels.set("submit_time", label));
    }
    return one;
  };
  activity.add(submitted("1", "2026-03-28T11:00:00Z", "2026-03-27T23:30:00Z"));
  activity.add(submitted("2", "2026-03-28T11:00:00Z", "2026-03-28T11:00:00Z"));  // at once
  activity.add(submitted("3", "2026-03-28T11:00:00Z", "2026-03-28T11:00:01Z"));  // can't be
  activity.add(submitted("4", "2026-03-28T11:00:00Z", "yesterday"));
  activity.add(submitted("5", "2026-03-28T11:00:00Z", ""));
  const auto first = measures_of(activity, "2026-03-28", {"ann"});
  EXPECT_EQ(first.started, 5u);
  EXPECT_EQ(first.waited, 2u);
  EXPECT_EQ(first.wait, UInt128{11 * kHour + kHour / 2});
  EXPECT_EQ(measures_of(activity, "2026-03-29", {"ann"}).waited, 0u);
  EXPECT_EQ(activity.total().wait, first.wait);
  EXPECT_EQ(activity.gaps().without_submit, 3u);
}

TEST(Activity, CountsTheTasksOfJobsThatSaySo) {
  const ActivityOptions options{
      .by = {"user"}, .filters = {}, .from = {}, .to = {}, .step = TimeBucket::kDay};
  const std::vector<Node> nodes = {node_of("n1", 4)};
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  for (const char* tasks : {"8", "1", "", "eight", "4294967297"}) {
    Holding one =
        job(tasks, "2026-03-28T11:00:00Z", "2026-03-29T10:00:00Z", OnNodes{{{NodeId("n1"), 1}}});
    if (*tasks != '\0') {
      EXPECT_TRUE(one.labels.set(kTasksLabel, tasks));
    }
    activity.add(one);
  }
  const auto first = measures_of(activity, "2026-03-28", {"ann"});
  EXPECT_EQ(first.started, 5u);
  EXPECT_EQ(first.with_tasks, 2u);
  EXPECT_EQ(first.tasks, 9u);
  EXPECT_EQ(measures_of(activity, "2026-03-29", {"ann"}).tasks, 0u);
  EXPECT_EQ(activity.total().tasks, 9u);
  EXPECT_EQ(activity.gaps().without_tasks, 3u);
}

// Who submitted it, what ran, and how its node was bought.
TEST(Activity, BySubmitterImageAndPriceTier) {
  const ActivityOptions options{.by = {"submitter", "image", "price_tier"},
                                .filters = {{"price_tier", {"on_demand"}, true}},
                                .from = {},
                                .to = {}};
  const std::vector<Node> nodes = {node_of("n1", 4), node_of("n2", 4), node_of("n3", 4)};
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  activity.set_price_tiers({{{"c", "n1"}, "spot"}, {{"c", "n2"}, "on_demand"}});
  for (const char* node : {"n1", "n2", "n3"}) {
    Holding one =
        job(node, "2026-03-28T11:00:00Z", "2026-03-28T12:00:00Z", OnNodes{{{NodeId(node), 1}}});
    if (*(node + 1) == '3') {
      EXPECT_TRUE(one.labels.set("submitter", "ci"));
      EXPECT_TRUE(one.labels.set("image", "vllm:1"));
    }
    activity.add(one);
  }
  EXPECT_EQ(activity.rows().size(), 2u);
  EXPECT_EQ(measures_of(activity, "", {"ann", kNoValue, "spot"}).started, 1u);
  EXPECT_EQ(measures_of(activity, "", {"ci", "vllm:1", kNoValue}).started, 1u);
}

// What nodes have, by how they were bought: the rest of it is idle.
TEST(Activity, PriceTiersHaveCapacity) {
  const ActivityOptions options{
      .by = {"price_tier"}, .filters = {}, .from = at("2026-03-28"), .to = at("2026-03-29")};
  const std::vector<Node> nodes = {node_of("n1", 4), node_of("n2", 2)};
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  activity.set_price_tiers({{{"c", "n1"}, "spot"}});
  activity.add(job("1", "2026-03-28T11:00:00Z", "2026-03-28T13:00:00Z",
                   OnNodes{{{NodeId("n1"), 4}, {NodeId("n2"), 2}}}));
  activity.add_capacity(at("2026-03-29"));
  const auto spot = measures_of(activity, "", {"spot"});
  EXPECT_EQ(spot.gpu, (CardShare::whole() * 4).over_ms(2 * kHour));
  EXPECT_EQ(spot.gpu_capacity, (CardShare::whole() * 4).over_ms(24 * kHour));
  EXPECT_EQ(measures_of(activity, "", {kNoValue}).gpu_capacity,
            (CardShare::whole() * 2).over_ms(24 * kHour));
}

// A job with an H100 and two MIG instances has a holding for each kind, and is one job.
TEST(Activity, CountsAJobWithSeveralKindsOfDeviceOnce) {
  const ActivityOptions options{
      .by = {"sharing"}, .filters = {}, .from = {}, .to = {}, .step = TimeBucket::kDay};
  const std::vector<Node> nodes = {node_of("n1", 4)};
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  for (const bool is_mig : {false, true}) {
    Holding one = job("1", "2026-03-27T22:00:00Z", "2026-03-28T01:00:00Z",
                      OnNodes{{{NodeId("n1"), is_mig ? 2U : 1U}}});
    one.attempt = is_mig ? "2026-03-27T22:00:00Z/gpu:a100_1g.5gb" : "2026-03-27T22:00:00Z/gpu:a100";
    if (is_mig) {
      one.device = MigSlice{"1g.5gb"};
      one.cpu_milli = one.memory_bytes = 0;
    }
    activity.add(one);
  }
  EXPECT_EQ(activity.total().wall, UInt128{3 * kHour});
  EXPECT_EQ(activity.total().nodes, UInt128{3 * kHour});
  EXPECT_EQ(activity.total().running, 1u);
  EXPECT_EQ(activity.total().started, 1u);
  EXPECT_EQ(activity.total().ended, 1u);
  EXPECT_EQ(activity.total().devices, UInt128{3 * 3 * kHour});
  EXPECT_EQ(activity.total().gres_gpus, UInt128{3 * 3 * kHour});
  // It is in both rows, since it held both.
  EXPECT_EQ(measures_of(activity, "2026-03-28", {"whole"}).wall, UInt128{2 * kHour});
  EXPECT_EQ(measures_of(activity, "2026-03-28", {"mig"}).wall, UInt128{2 * kHour});
  EXPECT_EQ(measures_of(activity, "2026-03-27", {"mig"}).devices, UInt128{2 * kHour});
}

// As sreport counts it: the processors are free while a job is suspended, and its GPUs are not.
TEST(Activity, ASuspendedJobKeepsItsDevices) {
  const ActivityOptions options{
      .by = {"user"}, .filters = {}, .from = {}, .to = {}, .step = TimeBucket::kDay};
  const std::vector<Node> nodes = {node_of("n1", 4)};
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  Holding one =
      job("1", "2026-03-27T20:00:00Z", "2026-03-27T22:00:00Z", OnNodes{{{NodeId("n1"), 2}}});
  one.suspended_ms = 3 * kHour;  // it ended at 01:00Z, on the next day
  activity.add(one);
  const auto first = measures_of(activity, "2026-03-27", {"ann"});
  const auto second = measures_of(activity, "2026-03-28", {"ann"});
  EXPECT_EQ(first.cpu_milli, UInt128{8000} * 2 * kHour);
  EXPECT_EQ(second.cpu_milli, UInt128{0});
  EXPECT_EQ(first.devices, UInt128{2} * 3 * kHour);
  EXPECT_EQ(second.devices, UInt128{2} * 2 * kHour);
  EXPECT_EQ(second.nodes, UInt128{2} * kHour);
  EXPECT_EQ(first.wall + second.wall, UInt128{2} * kHour);
  EXPECT_EQ(first.ended, 0u);
  EXPECT_EQ(second.ended, 1u);
  EXPECT_EQ(activity.total().devices, UInt128{2} * 5 * kHour);
  EXPECT_EQ(activity.gaps().suspended, 1u);
  EXPECT_EQ(activity.gaps().suspended_ms, UInt128{3} * kHour);
}

TEST(Activity, CountsJobsThatHeldNothing) {
  const ActivityOptions options{
      .by = {"user", "state"}, .filters = {}, .from = {}, .to = {}, .step = TimeBucket::kDay};
  const std::vector<Node> nodes;
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  const auto without_time = [](const char* name, std::string_view measure, const char* exit_code) {
    Labels labels;
    EXPECT_TRUE(labels.set("user", "ann"));
    EXPECT_TRUE(labels.set("state", "CANCELLED"));
    EXPECT_TRUE(labels.set("submit_time", "2026-03-28T10:00:00Z"));
    if (*exit_code != '\0') {
      EXPECT_TRUE(labels.set("exit_code", exit_code));
    }
    return job_without_time(ClusterId("c"), WorkloadId(name), measure, at("2026-03-28T11:00:00Z"),
                            labels);
  };
  activity.add(without_time("1", kJobsNeverStarted, ""));
  activity.add(without_time("1", kJobsNeverStarted, "0:0"));  // the same, told by another export
  activity.add(without_time("2", kJobsOfZeroLength, ""));
  activity.add(Outcome(ClusterId("c"), WorkloadId("3"), "requests",
                       Interval(at("2026-03-28"), at("2026-03-29")), 5));
  const auto day = measures_of(activity, "2026-03-28", {"ann", "CANCELLED"});
  EXPECT_EQ(day.ended, 2u);
  EXPECT_EQ(day.never_started, 1u);
  EXPECT_EQ(day.started, 1u);
  EXPECT_EQ(day.wait, UInt128{kHour});
  EXPECT_EQ(day.wall, UInt128{0});
  EXPECT_EQ(activity.total().ended, 2u);
  EXPECT_EQ(activity.rows().size(), 1u);
}

TEST(Activity, IsOfNodesWithWhatTheyHave) {
  const ActivityOptions options{
      .by = {"node"}, .filters = {}, .from = at("2026-03-28"), .to = at("2026-03-30")};
  const std::vector<Node> nodes = {node_of("n1", 4), node_of("n2", 4)};
  const std::vector<Gpu> gpus;
  Activity activity(options, kBerlin, nodes, gpus);
  activity.add(job("1", "2026-03-28T11:00:00Z", "2026-03-28T13:00:00Z",
                   OnNodes{{{NodeId("n1"), 4}, {NodeId("n2"), 2}}}));
  activity.add_capacity(at("2026-03-30"));
  const auto n2 = measures_of(activity, "", {"n2"});
  EXPECT_EQ(n2.gpu, (CardShare::whole() * 2).over_ms(2 * kHour));
  EXPECT_EQ(n2.cpu_milli, UInt128{4000} * 2 * kHour);
  EXPECT_EQ(n2.gpu_capacity, (CardShare::whole() * 4).over_ms(48 * kHour));
  EXPECT_EQ(activity.total().started, 1u);
  EXPECT_EQ(activity.total().node_capacity, UInt128{2} * 48 * kHour);
}

TEST(Activity, SaysWhatItCannotCount) {
  const std::vector<Node> nodes;
  const std::vector<Gpu> gpus;
  const ActivityOptions options{.by = {"array", "sharing"}, .filters = {}, .from = {}, .to = {}};
  Activity activity(options, kBerlin, nodes, gpus);
  Holding slice = job("77_3", "2026-03-28T11:00:00Z", "2026-03-28T12:00:00Z",
                      InPool{.pools = {PoolId("a")}, .devices = 1});
  slice.device = MigSlice{"3g.20gb"};
  slice.cpu_milli.reset();
  slice.ended = false;
  activity.add(slice);
  const auto row = measures_of(activity, "", {"77", "mig"});
  EXPECT_EQ(row.running, 1u);
  EXPECT_EQ(row.ended, 0u);
  EXPECT_EQ(activity.gaps().without_cpu, 1u);
  EXPECT_EQ(activity.gaps().without_share, 1u);
  EXPECT_EQ(activity.gaps().without_node, 1u);
}

RC_GTEST_PROP(Activity, DaysAddUpToTheWhole, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const std::vector<Node> nodes = {node_of("n1", 8), node_of("n2", 8)};
  const std::vector<Gpu> gpus;
  ActivityOptions options{.by = {"node", "user"}, .filters = {}, .from = {}, .to = {}};
  Activity whole(options, kBerlin, nodes, gpus);
  options.step = TimeBucket::kDay;
  Activity daily(options, kBerlin, nodes, gpus);
  for (std::uint64_t i = below(20); i > 0; --i) {
    const Instant begin =
        at("2026-03-28") + std::chrono::milliseconds(static_cast<std::int64_t>(below(96 * kHour)));
    const Instant end =
        begin + std::chrono::milliseconds(static_cast<std::int64_t>(1 + below(60 * kHour)));
    Holding holding(ClusterId("c"), WorkloadId(std::to_string(i)), Interval(begin, end),
                    OnNodes{{{NodeId("n1"), static_cast<std::uint32_t>(below(5))},
                             {NodeId("n2"), static_cast<std::uint32_t>(below(5))}}});
    holding.cpu_milli = below(100'000);
    holding.memory_bytes = below(1'000'000'000'000);
    whole.add(holding);
    daily.add(holding);
  }
  std::map<std::vector<std::string>, ActivityMeasures> sums;
  for (const auto& [key, measures] : daily.rows()) sums[key.keys] += measures;
  for (const auto& [key, measures] : whole.rows()) {
    const ActivityMeasures& sum = sums.at(key.keys);
    RC_ASSERT(sum.gpu == measures.gpu);
    RC_ASSERT(sum.gpu_memory == measures.gpu_memory);
    RC_ASSERT(sum.cpu_milli == measures.cpu_milli);
    RC_ASSERT(sum.memory_bytes == measures.memory_bytes);
    RC_ASSERT(sum.nodes == measures.nodes);
    RC_ASSERT(sum.wall == measures.wall);
    RC_ASSERT(sum.started == measures.started);
    RC_ASSERT(sum.ended == measures.ended);
  }
  RC_ASSERT(whole.total().gpu == daily.total().gpu);
  RC_ASSERT(whole.total().cpu_milli == daily.total().cpu_milli);
}

}  // namespace
}  // namespace pennyweight
