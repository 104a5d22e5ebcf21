#include "telemetry/live/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <tuple>

#include "ledger/outcome.h"
#include "telemetry/prometheus/write_request.h"

namespace pennyweight::live {
namespace {

using prometheus::Label;
using prometheus::Sample;
using ::testing::HasSubstr;

constexpr std::int64_t kStart = 1'767'225'600'000;  // 2026-01-01, on a minute
constexpr std::int64_t kMinuteMs = 60'000;

class Folder {
 public:
  Folder() {
    std::array<char, 64> name = {"/tmp/pennyweight-live-XXXXXX"};
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// No test cuts the power, so nothing waits for the disk; it fails on request.
struct QuickDisk : Disk {
  bool is_full = false;
  bool sync_fails = false;
  std::int64_t write(int file, const char* bytes, std::size_t size) override {
    if (!is_full) return Disk::write(file, bytes, size);
    errno = ENOSPC;
    return -1;
  }
  int sync_data(int) override {
    errno = EIO;
    return sync_fails ? -1 : 0;
  }
  int sync(int) override { return 0; }
};

// Stands for the store: each fact once, and never another under the same key.
struct Ledger {
  std::map<Hash128, Usage> usages;
  std::map<Hash128, Outcome> outcomes;
  std::map<Hash128, Gpu> gpus;
  std::uint64_t conflicts = 0;
  bool fails_after_commit = false;
  bool fails_before = false;

  template <class Fact>
  void add(std::map<Hash128, Fact>& facts, std::span<const Fact> rows) {
    for (const Fact& fact : rows) {
      const auto [at, is_new] = facts.try_emplace(natural_key(fact), fact);
      if (!is_new && content_hash(at->second) != content_hash(fact)) ++conflicts;
    }
  }
  RowImporter importer() {
    return [this](const FlushRows& rows) -> Result<void> {
      if (fails_before) return fail(ErrorCode::kStore, "locked");
      const auto read = rows.read({.usages = [&](auto batch) -> Result<void> {
                                     add(usages, batch);
                                     return {};
                                   },
                                   .gpus = [&](auto batch) -> Result<void> {
                                     add(gpus, batch);
                                     return {};
                                   },
                                   .outcomes = [&](auto batch) -> Result<void> {
                                     add(outcomes, batch);
                                     return {};
                                   }});
      if (fails_after_commit) return fail(ErrorCode::kStore, "the answer was lost");
      return read;
    };
  }
  std::uint64_t energy(const std::string& gpu = "") const {
    std::uint64_t total = 0;
    for (const auto& [key, usage] : usages) {
      if (gpu.empty() || usage.gpu.text() == gpu) {
        total += usage.energy_used_millijoules.value_or(0);
      }
    }
    return total;
  }
  std::uint64_t counted() const {
    std::uint64_t total = 0;
    for (const auto& [key, outcome] : outcomes) total += outcome.count;
    return total;
  }
  // The time that a column covers; nothing where some of it is covered twice.
  std::optional<std::set<std::pair<std::int64_t, std::int64_t>>> covered(
      const std::string& gpu, std::optional<std::uint64_t> Usage::* column) const {
    std::set<std::pair<std::int64_t, std::int64_t>> spans;
    for (const auto& [key, usage] : usages) {
      if (usage.gpu.text() != gpu || !(usage.*column)) continue;
      const std::int64_t from = unix_ms(usage.at);
      if (!spans.emplace(from, from + usage.span_ms).second) return std::nullopt;
    }
    // Adjacent spans become one.
    std::set<std::pair<std::int64_t, std::int64_t>> joined;
    std::optional<std::pair<std::int64_t, std::int64_t>> open;
    for (const auto& [from, to] : spans) {
      if (open && from < open->second) return std::nullopt;
      if (open && from == open->second) {
        open->second = to;
        continue;
      }
      if (open) joined.insert(*open);
      open = {from, to};
    }
    if (open) joined.insert(*open);
    return joined;
  }
};

std::vector<Label> dcgm(const std::string& metric, const std::string& gpu,
                        std::vector<Label> more = {}) {
  std::vector<Label> labels = {{"__name__", metric}, {"Hostname", "node-1"},
                               {"UUID", gpu},        {"gpu", "3"},
                               {"job", "dcgm"},      {"modelName", "NVIDIA H100 80GB HBM3"}};
  labels.insert(labels.end(), more.begin(), more.end());
  std::ranges::sort(labels);
  return labels;
}

EngineOptions options_for(const std::string& folder, Disk* disk = nullptr) {
  EngineOptions options{
      .folder = folder,
      .stream = {.classification = {.cluster = ClusterId("prod")}, .timing = {}, .limits = {}}};
  options.disk = disk;
  return options;
}

struct World {
  QuickDisk disk;
  SimulatedClock clock{from_unix_ms(kStart)};
  std::unique_ptr<Engine> engine;
  Ledger ledger;

  explicit World(const std::string& folder) { open(folder); }
  void open(const std::string& folder) {
    engine.reset();
    auto opened = Engine::open(options_for(folder, &disk), clock);
    EXPECT_TRUE(opened) << opened.error().message;
    if (opened) engine = std::move(*opened);
  }
  Result<IngestResult> send(
      const std::vector<std::pair<std::vector<Label>, std::vector<Sample>>>& series,
      const std::string& stream = {}) {
    prometheus::WriteRequestBuilder builder;
    for (const auto& [labels, samples] : series) builder.add(labels, samples);
    const std::string body = builder.snappy();
    return engine->ingest({.content_type = "application/x-protobuf",
                           .content_encoding = "snappy",
                           .body = body,
                           .stream = stream});
  }
  void to(std::int64_t at_ms) { clock.advance(from_unix_ms(at_ms) - clock.now()); }
  void flush() {
    const auto flushed = engine->flush(ledger.importer());
    EXPECT_TRUE(flushed) << flushed.error().message;
  }
  // No samples until then: at the first flush the clock might have been set, at the second it was
  // not.
  void silence_until(std::int64_t at_ms) {
    to(at_ms);
    flush();
    to(at_ms + 20 * kMinuteMs);
    flush();
  }
};

TEST(Engine, MakesSpansOfSamples) {
  const Folder folder;
  World world(folder.path());
  for (int i = 0; i <= 8; ++i) {
    const std::int64_t at = kStart + i * 30'000;
    world.to(at);
    const double energy = 1'000.0 * i;
    ASSERT_TRUE(
        world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, i % 2 == 0 ? 40.0 : 80.0}}},
                    {dcgm("DCGM_FI_DEV_FB_USED", "GPU-1"), {{at, 100.0}}},
                    {dcgm("DCGM_FI_DEV_FB_FREE", "GPU-1"), {{at, 800.0}}},
                    {dcgm("DCGM_FI_DEV_FB_RESERVED", "GPU-1"), {{at, 100.0}}},
                    {dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-1"), {{at, energy}}}}));
  }
  world.flush();
  ASSERT_EQ(world.ledger.usages.size(), 4u);  // whole minutes, one row each
  for (const auto& [key, usage] : world.ledger.usages) {
    EXPECT_EQ(usage.cluster.text(), "prod");
    EXPECT_EQ(usage.node.text(), "node-1");
    EXPECT_EQ(usage.gpu.text(), "GPU-1");
    EXPECT_EQ(usage.span_ms, 60'000u);
    EXPECT_EQ(usage.gpu_util_ppm, 600'000u);
    EXPECT_EQ(usage.activity_max_ppm, 800'000u);
    EXPECT_EQ(usage.memory_used_bytes, 100u << 20);
    EXPECT_EQ(usage.memory_total_bytes, 1000u << 20);
    EXPECT_EQ(usage.energy_used_millijoules, 2'000u);
    EXPECT_EQ(usage.energy_millijoules, std::nullopt);
  }
  ASSERT_EQ(world.ledger.gpus.size(), 1u);
  const Gpu& gpu = world.ledger.gpus.begin()->second;
  EXPECT_EQ(gpu.index, 3u);
  EXPECT_EQ(gpu.memory_bytes, 1000u << 20);
  EXPECT_EQ(unix_ms(gpu.from), kStart);
  world.flush();
  EXPECT_EQ(world.ledger.usages.size(), 4u);
  EXPECT_EQ(world.ledger.gpus.size(), 1u);
}

TEST(Engine, MemoryIsNotKnownWithoutWhatIsReserved) {
  const Folder folder;
  World world(folder.path());
  for (int i = 0; i <= 8; ++i) {
    const std::int64_t at = kStart + i * 30'000;
    world.to(at);
    ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_FB_USED", "GPU-1"), {{at, 100.0}}},
                            {dcgm("DCGM_FI_DEV_FB_FREE", "GPU-1"), {{at, 900.0}}}}));
  }
  world.flush();
  ASSERT_EQ(world.ledger.usages.size(), 4u);
  EXPECT_EQ(world.ledger.usages.begin()->second.memory_used_bytes, 100u << 20);
  EXPECT_EQ(world.ledger.usages.begin()->second.memory_total_bytes, std::nullopt);
  ASSERT_EQ(world.ledger.gpus.size(), 1u);
  EXPECT_EQ(world.ledger.gpus.begin()->second.memory_bytes, std::nullopt);
}

// 132 SMs at 2 GHz: 2^53 cycles in ten hours.
TEST(Engine, CyclesOfDaysAreCounted) {
  const Folder folder;
  World world(folder.path());
  for (int i = 0; i <= 4; ++i) {
    const std::int64_t at = kStart + i * 30'000;
    const double elapsed = 0x1p56 + 30.0 * i * 132 * 2e9;
    world.to(at);
    ASSERT_TRUE(
        world.send({{dcgm("DCGM_FI_PROF_SM_CYCLES_ELAPSED_TOTAL", "GPU-1"), {{at, elapsed}}},
                    {dcgm("DCGM_FI_PROF_SM_CYCLES_ACTIVE_TOTAL", "GPU-1"),
                     {{at, 0x1p55 + 30.0 * i * 33 * 2e9}}}}));
  }
  world.flush();
  EXPECT_EQ(world.engine->counters().at("out_of_range"), 0u);
  ASSERT_EQ(world.ledger.usages.size(), 2u);
  for (const auto& [key, usage] : world.ledger.usages) EXPECT_EQ(usage.sm_active_ppm, 250'000u);
}

TEST(Engine, RecentShowsOpenBuckets) {
  const Folder folder;
  World world(folder.path());
  for (int i = 0; i <= 3; ++i) {
    const std::int64_t at = kStart + i * 30'000;
    world.to(at);
    ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 50.0}}}}));
    if (i == 2) world.flush();
  }
  const auto rows = world.engine->recent(ClusterId("prod"));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].part, 0u);
  EXPECT_EQ(rows[0].span_ms, 30'000u);
  EXPECT_TRUE(world.engine->recent(ClusterId("other")).empty());
}

TEST(Engine, RecentShowsADeviceAfterItsFirstSample) {
  const Folder folder;
  World world(folder.path());
  ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{kStart, 50.0}}}}));
  world.to(kStart + 10'000);
  const auto rows = world.engine->recent(ClusterId("prod"));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].span_ms, 10'000u);
  EXPECT_EQ(rows[0].gpu_util_ppm, 500'000u);
  world.to(kStart + 50'000);
  EXPECT_EQ(world.engine->recent(ClusterId("prod"))[0].span_ms, 50'000u);
}

TEST(Engine, RecentCanBeginLater) {
  const Folder folder;
  World world(folder.path());
  for (int i = 0; i <= 8; ++i) {
    const std::int64_t at = kStart + i * 30'000;
    world.to(at);
    ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 50.0}}}}));
    world.flush();
  }
  EXPECT_EQ(world.engine->recent(ClusterId("prod")).size(), 4u);
  EXPECT_EQ(world.engine->recent(ClusterId("prod"), from_unix_ms(kStart + 2 * kMinuteMs)).size(),
            2u);
}

// The mean of the minute is still cool when the device says that it is hot.
TEST(Engine, ReadingsAreTheLastValuesWhileTheyHold) {
  const Folder folder;
  World world(folder.path());
  const auto heat = dcgm("DCGM_FI_DEV_GPU_TEMP", "GPU-1");
  const auto power = dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-1");
  for (int i = 0; i <= 5; ++i) {
    const std::int64_t at = kStart + i * 10'000;
    world.to(at);
    ASSERT_TRUE(world.send({{heat, {{at, i < 5 ? 60.0 : 96.0}}}, {power, {{at, 10.0 * i}}}}));
  }
  const auto readings = world.engine->readings();
  ASSERT_EQ(readings.size(), 1u);
  EXPECT_EQ(readings[0].temperature_celsius, 96u);
  EXPECT_EQ(readings[0].energy_used_millijoules, std::nullopt);
  EXPECT_EQ(readings[0].span_ms, 0u);
  EXPECT_EQ(unix_ms(readings[0].at), kStart + 50'000);
  EXPECT_EQ(world.engine->recent(ClusterId("prod"))[0].temperature_celsius, 60u);
  // A late sample does not take the place of a newer one.
  ASSERT_TRUE(world.send({{heat, {{kStart + 45'000, 50.0}}}}));
  EXPECT_EQ(world.engine->readings().at(0).temperature_celsius, 96u);
  world.to(kStart + 5 * kMinuteMs);
  EXPECT_TRUE(world.engine->readings().empty());
}

TEST(Engine, RecentKeepsNothingOfABacklog) {
  const Folder folder;
  World world(folder.path());
  world.to(kStart + 6 * 60 * kMinuteMs);
  std::vector<Sample> samples;
  for (int i = 0; i <= 6 * 120; ++i) samples.push_back({kStart + i * 30'000, 50.0});
  ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), samples}}));
  world.flush();
  EXPECT_EQ(world.ledger.usages.size(), 6u * 60);
  EXPECT_EQ(world.engine->recent(ClusterId("prod")).size(), 10u);
  const std::uint64_t kept = world.engine->counters().at("recent_bytes");
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 10u * 200);
}

TEST(Engine, RecentForgetsTheOldestAboveItsBytes) {
  EngineOptions options = options_for("");
  options.recent_bytes_max = 150;
  World world("");
  world.engine = *Engine::open(std::move(options), world.clock);
  for (int i = 0; i <= 10; ++i) {
    const std::int64_t at = kStart + i * 30'000;
    world.to(at);
    ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 50.0}}}}));
    world.flush();
  }
  EXPECT_EQ(world.ledger.usages.size(), 5u);
  const auto rows = world.engine->recent(ClusterId("prod"));
  ASSERT_GT(rows.size(), 0u);
  EXPECT_LT(rows.size(), 4u);
  EXPECT_EQ(unix_ms(rows.back().at), kStart + 4 * kMinuteMs);
  EXPECT_LE(world.engine->counters().at("recent_bytes"), 150u);
}

TEST(Engine, BlanksNansAndSharesAboveTheWhole) {
  const Folder folder;
  World world(folder.path());
  const double stale = std::bit_cast<double>(prometheus::kStaleNan);
  const auto engine = dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "GPU-1");
  ASSERT_TRUE(world.send({{engine,
                           {{kStart, 1.3},
                            {kStart + 1'000, 9223372036854775794.0},
                            {kStart + 2'000, 7.0},
                            {kStart + 3'000, -1.0},
                            {kStart + 4'000, std::nan("")},
                            {kStart + 10'000, stale}}}}));
  const auto counters = world.engine->counters();
  EXPECT_EQ(counters.at("clamped_shares"), 1u);
  EXPECT_EQ(counters.at("blank_values"), 2u);
  EXPECT_EQ(counters.at("out_of_range"), 2u);
  EXPECT_EQ(counters.at("stale_markers"), 1u);
  EXPECT_EQ(counters.at("samples"), 1u);
  world.silence_until(kStart + 20 * kMinuteMs);
  ASSERT_EQ(world.ledger.usages.size(), 1u);
  EXPECT_EQ(world.ledger.usages.begin()->second.engine_active_ppm, 1'000'000u);
  EXPECT_EQ(world.ledger.usages.begin()->second.span_ms, 10'000u);
}

TEST(Engine, OneOfTwoSendersThatEndsEndsNothing) {
  const Folder folder;
  World world(folder.path());
  const double stale = std::bit_cast<double>(prometheus::kStaleNan);
  const auto a = dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1", {{"prometheus_replica", "a"}});
  const auto b = dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1", {{"prometheus_replica", "b"}});
  ASSERT_TRUE(world.send({{a, {{kStart, 50.0}}}, {b, {{kStart + 1'000, 50.0}}}}));
  ASSERT_TRUE(world.send({{a, {{kStart + 5'000, stale}}}}));
  ASSERT_TRUE(world.send({{b, {{kStart + 31'000, 50.0}}}}));
  ASSERT_TRUE(world.send({{b, {{kStart + kMinuteMs, stale}}}}));
  world.silence_until(kStart + 20 * kMinuteMs);
  const auto covered = world.ledger.covered("GPU-1", &Usage::gpu_util_ppm);
  ASSERT_TRUE(covered);
  EXPECT_EQ(*covered,
            (std::set<std::pair<std::int64_t, std::int64_t>>{{kStart, kStart + kMinuteMs}}));
}

TEST(Engine, ASeriesThatIsForgottenAndComesBackIsNotCountedAgain) {
  const Folder folder;
  World world(folder.path());
  const auto util = dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1");
  ASSERT_TRUE(world.send({{util, {{kStart, 50.0}, {kStart + 30'000, 50.0}}}}));
  world.silence_until(kStart + 60 * kMinuteMs);
  world.to(kStart + 4 * 60 * kMinuteMs);
  world.flush();
  EXPECT_EQ(world.engine->counters().at("accumulators"), 0u);
  EXPECT_EQ(world.engine->counters().at("series"), 0u);
  world.open(folder.path());
  ASSERT_TRUE(world.send({{util, {{kStart, 50.0}, {kStart + 30'000, 50.0}}}}));
  EXPECT_EQ(world.engine->counters().at("duplicates"), 2u);
  world.flush();
  EXPECT_TRUE(world.ledger.covered("GPU-1", &Usage::gpu_util_ppm));
}

// A minute whose samples all came, one of them after our clock was set and something was flushed.
TEST(Engine, AClockThatIsSetEndsNothing) {
  for (const std::int64_t jump_s : {-86'400, -7'200, 300, 7'200, 86'400}) {
    for (const bool a_delivery_first : {false, true}) {
      const Folder folder;
      World world(folder.path());
      const auto util = dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1");
      const auto other = dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-2");
      const auto send = [&](const std::vector<Label>& labels, std::int64_t after_s, double value) {
        ASSERT_TRUE(world.send({{labels, {{kStart + after_s * 1'000, value}}}}));
      };
      // Samples must not be of the future, whichever way the clock is set.
      world.to(kStart + 2 * 86'400'000);
      send(util, 0, 100);
      send(util, 30, 100);
      world.flush();
      world.clock.advance(std::chrono::seconds(jump_s));
      if (a_delivery_first) send(other, 30, 1);
      world.flush();
      world.flush();
      send(util, 60, 0);
      send(util, 90, 0);
      send(util, 120, 0);
      world.flush();
      EXPECT_EQ(world.engine->counters().at("series_forgotten"), 0u);
      std::map<std::int64_t, std::optional<std::uint64_t>> covered;
      for (const auto& [key, usage] : world.ledger.usages) {
        if (usage.gpu.text() == "GPU-1") covered[unix_ms(usage.at) - kStart] = usage.gpu_util_ppm;
      }
      EXPECT_EQ(covered, (decltype(covered){{0, 1'000'000}, {kMinuteMs, 0}})) << jump_s;
    }
  }
}

// Our clock was ahead and is right again: a device that fell silent meanwhile still is.
TEST(Engine, ADeviceThatFellSilentIsToldAfterOurClockWentBack) {
  const Folder folder;
  World world(folder.path());
  world.to(kStart + 86'400'000);
  ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{kStart, 100.0}}}}));
  world.flush();
  world.silence_until(kStart + kMinuteMs);
  EXPECT_EQ(world.ledger.usages.size(), 2u);
}

TEST(Engine, ABackfillHasItsOwnOrderOfTime) {
  const Folder folder;
  World world(folder.path());
  const auto energy = dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-1");
  const std::int64_t day = 24 * 60 * kMinuteMs;
  ASSERT_TRUE(world.send({{energy, {{kStart, 5'000.0}, {kStart + 30'000, 6'000.0}}}}));
  for (int i = 0; i <= 10; ++i) {
    ASSERT_TRUE(world.send({{energy, {{kStart - 30 * day + i * 30'000, 100.0 * i}}}}, "window-1"));
    if (i == 5) world.open(folder.path());
  }
  world.flush();
  ASSERT_TRUE(world.engine->close_stream("window-1", from_unix_ms(kStart - 29 * day)));
  world.open(folder.path());
  world.silence_until(kStart + 20 * kMinuteMs);
  EXPECT_EQ(world.ledger.energy(), 1'000u + 1'000u);
  EXPECT_EQ(world.engine->counters().at("lanes_of_the_past"), 0u);
  EXPECT_EQ(world.ledger.conflicts, 0u);
}

// What has come since the last flush is in no row yet. It counts wherever the program is killed:
// before the stream is closed, and between two flushes of which the first had no room for it.
TEST(Engine, ABackfillLosesNothingWhereverItIsKilled) {
  const std::int64_t day = 24 * 60 * kMinuteMs;
  for (const bool flushes_first : {false, true}) {
    const Folder folder;
    World world(folder.path());
    EngineOptions few = options_for(folder.path(), &world.disk);
    few.stream.limits.rows_per_flush = 1;
    few.bytes_of_a_snapshot = 1;
    const auto open = [&] {
      world.engine.reset();
      auto opened = Engine::open(few, world.clock);
      ASSERT_TRUE(opened);
      world.engine = std::move(*opened);
    };
    open();
    for (int i = 0; i <= 10; ++i) {
      for (const char* gpu : {"GPU-1", "GPU-2", "GPU-3"}) {
        const auto energy = dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", gpu);
        ASSERT_TRUE(
            world.send({{energy, {{kStart - 30 * day + i * 30'000, 100.0 * i}}}}, "window-1"));
      }
    }
    if (flushes_first) {  // its first round has rows of one GPU, and then it ends
      (void)world.engine->flush(
          [](const FlushRows&) -> Result<void> { return fail(ErrorCode::kStore, "not now"); });
    }
    open();
    ASSERT_TRUE(world.engine->close_stream("window-1", from_unix_ms(kStart - 29 * day)));
    open();
    for (int i = 0; i < 20; ++i) world.flush();
    for (const char* gpu : {"GPU-1", "GPU-2", "GPU-3"}) {
      EXPECT_EQ(world.ledger.energy(gpu), 1'000u) << gpu << flushes_first;
    }
    EXPECT_EQ(world.ledger.conflicts, 0u);
  }
}

TEST(Engine, ADiskThatIsFullRefusesAndLosesNothing) {
  const Folder folder;
  World world(folder.path());
  const auto energy = dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-1");
  ASSERT_TRUE(world.send({{energy, {{kStart, 0.0}}}}));
  world.disk.is_full = true;
  const auto refused = world.send({{energy, {{kStart + 30'000, 700.0}}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_FALSE(world.engine->flush(world.ledger.importer()));
  world.disk.is_full = false;
  ASSERT_TRUE(world.send({{energy, {{kStart + 30'000, 700.0}}}}));
  world.open(folder.path());
  world.silence_until(kStart + 20 * kMinuteMs);
  EXPECT_EQ(world.ledger.energy(), 700u);
}

TEST(Engine, AfterAFailedSyncAFlushMendsIt) {
  const Folder folder;
  World world(folder.path());
  const auto energy = dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-1");
  ASSERT_TRUE(world.send({{energy, {{kStart, 0.0}}}}));
  world.disk.sync_fails = true;
  EXPECT_FALSE(world.send({{energy, {{kStart + 30'000, 700.0}}}}));
  world.disk.sync_fails = false;
  EXPECT_FALSE(world.send({{energy, {{kStart + 60'000, 900.0}}}}));
  world.flush();
  ASSERT_TRUE(world.send({{energy, {{kStart + 60'000, 900.0}}}}));
  world.open(folder.path());
  world.silence_until(kStart + 20 * kMinuteMs);
  EXPECT_EQ(world.ledger.energy(), 900u);
}

TEST(Engine, RefusesWhatTheSenderDidWrong) {
  const Folder folder;
  World world(folder.path());
  bool refused = false;
  const auto bad = world.engine->ingest(
      {.content_type = "application/x-protobuf", .content_encoding = "snappy", .body = "garbage"},
      &refused);
  EXPECT_FALSE(bad);
  EXPECT_TRUE(refused);
  EXPECT_EQ(world.engine->counters().at("journal_records"), 0u);
}

TEST(Engine, TakesScrapes) {
  const Folder folder;
  World world(folder.path());
  const auto scrape = [&](std::int64_t at, int value) {
    const std::string body = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-9\",Hostname=\"n9\"} " +
                             std::to_string(value) + "\n";
    return world.engine->ingest({.kind = IngestRequest::Kind::kExposition,
                                 .content_type = "text/plain; version=0.0.4",
                                 .body = body,
                                 .cluster = ClusterId("edge"),
                                 .scraped_at = from_unix_ms(at),
                                 .target = {.labels = {{"instance", "n9:9400"}, {"job", "gpu"}}}});
  };
  ASSERT_TRUE(scrape(kStart, 30));
  ASSERT_TRUE(scrape(kStart + 30'000, 30));
  world.open(folder.path());
  ASSERT_TRUE(scrape(kStart + 60'000, 30));
  world.flush();
  ASSERT_EQ(world.ledger.usages.size(), 1u);
  EXPECT_EQ(world.ledger.usages.begin()->second.cluster.text(), "edge");
  EXPECT_EQ(world.ledger.usages.begin()->second.gpu_util_ppm, 300'000u);
}

// A target with two GPUs: the second disappears, and then the target fails.
TEST(Engine, SeriesThatAScrapeNoLongerTellsEnd) {
  for (const int crash_after : {-1, 0, 1, 2, 3}) {
    for (const bool snapshot : {false, true}) {
      const Folder folder;
      World world(folder.path());
      const auto crash = [&](int step) {
        if (step != crash_after) return;
        if (snapshot) world.flush();
        world.open(folder.path());
      };
      const auto scrape = [&](std::int64_t at, const std::string& cards, bool answered = true,
                              const std::string& type = "text/plain; version=0.0.4") {
        world.to(at);
        std::string body;
        for (const char card : cards) {
          body += std::string("DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n9\",UUID=\"GPU-") + card +
                  "\"} 50\n";
        }
        return world.engine->ingest({.kind = IngestRequest::Kind::kExposition,
                                     .content_type = type,
                                     .body = body,
                                     .scraped_at = from_unix_ms(at),
                                     .target = {.labels = {{"instance", "n9"}, {"job", "gpu"}}},
                                     .target_id = "gpu n9",
                                     .answered = answered});
      };
      ASSERT_TRUE(scrape(kStart, "ab"));
      crash(0);
      ASSERT_TRUE(scrape(kStart + 30'000, "ab"));
      crash(1);
      const auto one_is_gone = scrape(kStart + 60'000, "a");
      ASSERT_TRUE(one_is_gone);
      EXPECT_EQ(one_is_gone->ended, 1u);
      crash(2);
      if (crash_after == 3) {
        EXPECT_FALSE(scrape(kStart + 70'000, "a", true, "application/json"));
      } else {
        ASSERT_TRUE(scrape(kStart + 70'000, "", false));
      }
      crash(3);
      ASSERT_TRUE(scrape(kStart + 75'000, "", false));
      EXPECT_EQ(world.engine->counters().at("scraped_targets"), 0u);
      world.silence_until(kStart + 20 * kMinuteMs);
      using Spans = std::set<std::pair<std::int64_t, std::int64_t>>;
      EXPECT_EQ(world.ledger.covered("GPU-a", &Usage::gpu_util_ppm),
                (Spans{{kStart, kStart + 70'000}}));
      EXPECT_EQ(world.ledger.covered("GPU-b", &Usage::gpu_util_ppm),
                (Spans{{kStart, kStart + 60'000}}));
      EXPECT_EQ(world.engine->counters().at("bad_labels"), 0u);
      EXPECT_EQ(world.engine->counters().at("replay_refused"), 0u);
    }
  }
}

// A target that is down fails at every interval.
TEST(Engine, AScrapeThatEndsNothingIsNotJournaled) {
  const Folder folder;
  World world(folder.path());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(world.engine->ingest({.kind = IngestRequest::Kind::kExposition,
                                      .scraped_at = from_unix_ms(kStart),
                                      .target_id = "gpu n9",
                                      .answered = false}));
  }
  EXPECT_EQ(world.engine->counters().at("journal_records"), 0u);
}

// An end with an unknown key makes the key no better known: its series may still come.
TEST(Engine, AnEndOfAnUnknownSeriesIsNotRemembered) {
  class Undecodable : public prometheus::EncodedLabels {
    bool decode(std::vector<Label>&) const override { return false; }
  };
  StreamCounts counts = {};
  std::map<std::string, std::uint64_t> unusable;
  const EngineOptions options = options_for("");
  SampleStream stream(options.stream, false, counts, unusable, nullptr);
  stream.begin_body(kStart, ClusterId(""));
  const Sample end{kStart, std::bit_cast<double>(prometheus::kStaleNan)};
  stream.series({1, 2}, Undecodable(), std::span(&end, 1));
  EXPECT_EQ(stream.keys(), 0u);
  EXPECT_EQ(counts[static_cast<std::size_t>(StreamCounter::kStale)], 1u);
}

TEST(Engine, TooMuchThatWaitsForTheLedgerPushesBack) {
  const Folder folder;
  QuickDisk disk;
  SimulatedClock clock(from_unix_ms(kStart));
  EngineOptions options = options_for(folder.path(), &disk);
  options.journal_bytes_max = 600;
  auto engine = Engine::open(std::move(options), clock);
  ASSERT_TRUE(engine);
  World world(folder.path() + "/other");
  world.engine = std::move(*engine);
  Result<IngestResult> taken;
  std::int64_t at = kStart;
  for (; taken && at < kStart + 100 * kMinuteMs; at += 1'000) {
    taken = world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 1.0}}}});
  }
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kLimit);
  world.flush();  // the snapshot covers the journal
  EXPECT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 1.0}}}}));
}

// A sender that drains a backlog between two flushes.
TEST(Engine, SamplesFasterThanFlushesPushBack) {
  World world("");
  EngineOptions options = options_for("");
  options.pieces_max = 100;
  options.stream.limits.rows_per_flush = 7;
  world.engine = *Engine::open(std::move(options), world.clock);
  world.to(kStart + 24 * 60 * kMinuteMs);
  Result<IngestResult> taken;
  std::int64_t at = kStart;
  EXPECT_FALSE(world.engine->wants_flush());
  for (; taken && at < kStart + 1000 * kMinuteMs; at += 30'000) {
    taken = world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 1.0}}}});
  }
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kStore);
  EXPECT_TRUE(world.engine->wants_flush());
  const std::uint64_t waiting = world.engine->counters().at("pieces");
  EXPECT_GT(waiting, 100u);
  EXPECT_LT(waiting, 110u);
  world.flush();
  EXPECT_FALSE(world.engine->wants_flush());
  EXPECT_GE(world.ledger.usages.size(), waiting);  // all of them, though seven at a time
  EXPECT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 1.0}}}}));
}

// A sender that drains its queue, of which nothing becomes rows while older samples may come.
TEST(Engine, SamplesThatWaitForOlderOnesPushBack) {
  World world("");
  EngineOptions options = options_for("");
  options.waiting_samples_max = 100;
  options.stream.order_wait_ms = kMinuteMs;
  world.engine = *Engine::open(std::move(options), world.clock);
  const std::int64_t now = kStart + 24 * 60 * kMinuteMs;
  world.to(now);
  std::int64_t at = kStart;
  ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 1.0}}}}));
  world.flush();
  EXPECT_EQ(world.ledger.usages.size(), 0u);
  EXPECT_EQ(world.engine->counters().at("waiting_samples"), 1u);
  Result<IngestResult> taken;
  for (at += 10'000; taken && at < kStart + 50 * kMinuteMs; at += 10'000) {
    taken = world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 1.0}}}});
  }
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kStore);
  EXPECT_EQ(taken.error().message,
            "101 samples of the last hour wait to be put in order; they become rows once nothing "
            "old has come for 60 s");
  world.to(now + 2 * kMinuteMs);
  world.flush();
  EXPECT_EQ(world.engine->counters().at("waiting_samples"), 0u);
  EXPECT_GE(world.ledger.usages.size(), 16u);  // of 1,000 s
  EXPECT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, 1.0}}}}));
}

// While senders drain their queues, a snapshot would contain every sample that waits.
TEST(Engine, AFlushWithoutRowsLeavesTheJournal) {
  const Folder folder;
  World world(folder.path());
  EngineOptions options = options_for(folder.path(), &world.disk);
  options.stream.order_wait_ms = kMinuteMs;
  const auto open = [&] {
    world.engine.reset();
    world.engine = *Engine::open(options, world.clock);
  };
  open();
  world.to(kStart + 60 * kMinuteMs);
  const auto energy = dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-1");
  for (int i = 0; i <= 20; ++i) {
    ASSERT_TRUE(world.send({{energy, {{kStart + i * 30'000, 100.0 * i}}}}));
    if (i % 5 == 0) world.flush();
  }
  EXPECT_EQ(world.engine->counters().at("snapshot_bytes"), 0u);
  EXPECT_EQ(world.ledger.energy("GPU-1"), 0u);
  open();  // killed
  EXPECT_EQ(world.engine->counters().at("samples"), 21u);
  world.to(kStart + 62 * kMinuteMs);
  world.flush();
  EXPECT_EQ(world.ledger.energy("GPU-1"), 2'000u);
  EXPECT_GT(world.engine->counters().at("snapshot_bytes"), 0u);
  // A journal that is long is replaced.
  options.journal_bytes_max = 4'000;
  open();
  const std::uint64_t before = world.engine->counters().at("snapshot_bytes");
  world.to(kStart + 100 * kMinuteMs);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(world.send(
        {{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-2"), {{kStart + 90 * kMinuteMs + i, 1.0}}}}));
  }
  EXPECT_GT(world.engine->counters().at("journal_bytes"), 1'000u);
  world.flush();
  EXPECT_LT(world.engine->counters().at("journal_bytes"), 1'000u);
  EXPECT_NE(world.engine->counters().at("snapshot_bytes"), before);
}

// A label that differs from pod to pod was taken for the cluster's name.
TEST(Engine, SeriesOfTooManyClustersAreUnusable) {
  World world("");
  EngineOptions options = options_for("");
  options.stream.limits.clusters = 2;
  options.stream.limits.unseen_ms = 60 * kMinuteMs;
  world.engine = *Engine::open(std::move(options), world.clock);
  const auto send = [&](const char* cluster, std::int64_t at) {
    EXPECT_TRUE(world.send(
        {{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1", {{"cluster", cluster}}), {{at, 50.0}}}}));
    const auto counters = world.engine->counters();
    return std::pair(counters.at("samples"), counters.at("unusable"));
  };
  using Counts = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(send("a", kStart), Counts(1, 0));
  EXPECT_EQ(send("b", kStart), Counts(2, 0));
  EXPECT_EQ(send("c", kStart), Counts(2, 1));
  EXPECT_EQ(send("a", kStart + kMinuteMs), Counts(3, 1));
  EXPECT_EQ(world.engine->counters().at("unusable: of a cluster beyond the first 2; look at the "
                                        "label that names clusters"),
            1u);
  // Once the others have been silent for long, there is room again, also for what was refused.
  for (int minutes = 2; minutes <= 70; ++minutes) {
    world.to(kStart + minutes * kMinuteMs);
    send("a", kStart + minutes * kMinuteMs);
    world.flush();
  }
  EXPECT_EQ(send("c", kStart + 70 * kMinuteMs), Counts(73, 1));
  EXPECT_EQ(send("e", kStart + 70 * kMinuteMs), Counts(73, 2));
}

TEST(Engine, ADeviceIsSilentAfterTheGraceAndWhatItsValuesHold) {
  for (const std::int64_t grace_s : {30, 300}) {
    World world("");
    EngineOptions options = options_for("");
    options.stream.grace_ms = grace_s * 1'000;
    world.engine = *Engine::open(std::move(options), world.clock);
    ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{kStart, 50.0}}}}));
    for (int i = 1; i <= 10; ++i) {
      world.to(kStart + i * 20'000);
      world.flush();
    }
    EXPECT_EQ(world.ledger.usages.size(), grace_s == 30 ? 2u : 0u);
  }
  EngineOptions options = options_for("");
  options.stream.grace_ms = kGraceMsMax + 1;
  SimulatedClock clock(from_unix_ms(kStart));
  EXPECT_EQ(Engine::open(std::move(options), clock).error().code, ErrorCode::kConfig);
}

TEST(Engine, ADamagedSnapshotIsAnError) {
  const Folder folder;
  {
    World world(folder.path());
    ASSERT_TRUE(world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{kStart, 1.0}}}}));
    world.flush();
  }
  std::fstream file(folder.path() + "/live.snapshot",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(60);
  file.put('!');
  file.close();
  SimulatedClock clock(from_unix_ms(kStart));
  const auto opened = Engine::open(options_for(folder.path()), clock);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kBadFile);
  EXPECT_THAT(opened.error().message, HasSubstr("checksum"));
}

// nvidia_gpu_exporter names the model in a series of its own, which may come before all others, and
// comes again after a restart.
TEST(Engine, TheModelOfNvidiaGpuExporterIsTheGpus) {
  for (const bool is_restarted : {false, true}) {
    const Folder folder;
    World world(folder.path());
    const std::vector<Label> info = {{"__name__", "nvidia_smi_gpu_info"},
                                     {"instance", "gpu01:9835"},
                                     {"name", "NVIDIA H100 80GB HBM3"},
                                     {"uuid", "5b0d"}};
    const std::vector<Label> power = {
        {"__name__", "nvidia_smi_power_draw_watts"}, {"instance", "gpu01:9835"}, {"uuid", "5b0d"}};
    for (int i = 0; i < 12; ++i) {
      const std::int64_t at = kStart + i * 30'000;
      world.to(at);
      ASSERT_TRUE(world.send({{info, {{at, 1}}}, {power, {{at, 300}}}}));
      if (i == 6 && is_restarted) world.open(folder.path());
    }
    world.silence_until(kStart + 30 * kMinuteMs);
    ASSERT_EQ(world.ledger.gpus.size(), 1u);
    const Gpu& gpu = world.ledger.gpus.begin()->second;
    EXPECT_EQ(gpu.uuid.text(), "GPU-5b0d");
    EXPECT_EQ(gpu.node.text(), "gpu01");
    EXPECT_EQ(gpu.model, "NVIDIA H100 80GB HBM3");
  }
}

TEST(Engine, MigLayoutsBecomeFactsWhenTheyAreWhole) {
  const Folder folder;
  World world(folder.path());
  const auto slice = [](const std::string& instance) {
    return dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "GPU-1",
                {{"GPU_I_ID", instance}, {"GPU_I_PROFILE", "3g.40gb"}});
  };
  std::int64_t at = kStart;
  for (int i = 0; i < 40; ++i, at += 30'000) {
    world.to(at);
    ASSERT_TRUE(world.send({{slice("1"), {{at, 0.5}}}}));
    if (i < 20) {
      ASSERT_TRUE(world.send({{slice("2"), {{at, 0.5}}}}));
    }
    world.flush();
  }
  ASSERT_EQ(world.ledger.gpus.size(), 2u);
  std::vector<Gpu> facts;
  for (const auto& [key, gpu] : world.ledger.gpus) facts.push_back(gpu);
  std::ranges::sort(facts, {}, &Gpu::from);
  EXPECT_EQ(facts[0].mig_instances.size(), 2u);
  EXPECT_EQ(facts[0].mig_instances[0].id.text(), "GPU-1/gi1");
  EXPECT_EQ(facts[0].mig_instances[0].profile, "3g.40gb");
  ASSERT_EQ(facts[1].mig_instances.size(), 1u);
  EXPECT_EQ(unix_ms(facts[1].from), kStart + 19 * 30'000 + 1);
}

struct States : StateSink {
  std::vector<std::string> said;
  std::string saved;
  std::uint64_t declare(const telemetry::StateSeries& series) override {
    said.push_back("declare " + series.metric);
    return said.size();
  }
  void sample(std::uint64_t, std::int64_t, double) override { said.emplace_back("sample"); }
  void stale(std::uint64_t, std::int64_t) override { said.emplace_back("stale"); }
  std::string save() const override { return "state of " + std::to_string(said.size()); }
  Result<void> load(std::string_view bytes) override {
    saved = bytes;
    return {};
  }
};

TEST(Engine, SamplesOfKubernetesGoToTheirSinkAndIntoTheSnapshot) {
  const Folder folder;
  SimulatedClock clock(from_unix_ms(kStart));
  World sender(folder.path() + "/unused");
  const std::vector<Label> pod = {{"__name__", "kube_pod_status_phase"},
                                  {"namespace", "ml"},
                                  {"phase", "Running"},
                                  {"pod", "train-0"},
                                  {"uid", "4f6c"}};
  for (int round = 0; round < 2; ++round) {
    States states;
    EngineOptions options = options_for(folder.path(), &sender.disk);
    options.state = &states;
    auto engine = Engine::open(std::move(options), clock);
    ASSERT_TRUE(engine);
    if (round == 1) {
      EXPECT_EQ(states.saved, "state of 2");
      EXPECT_EQ(states.said.size(), 2u);  // declared again, and the sample after the snapshot
      break;
    }
    sender.engine = std::move(*engine);
    ASSERT_TRUE(sender.send({{pod, {{kStart, 1.0}}}}));
    EXPECT_EQ(states.said, (std::vector<std::string>{"declare kube_pod_status_phase", "sample"}));
    sender.flush();
    ASSERT_TRUE(sender.send({{pod, {{kStart + 1'000, 1.0}}}}));
    sender.engine.reset();
  }
}

TEST(Engine, SamplesOfKubernetesFromTheFutureAreCountedAndPassedOver) {
  const Folder folder;
  SimulatedClock clock(from_unix_ms(kStart));
  QuickDisk disk;
  States states;
  EngineOptions options = options_for(folder.path(), &disk);
  options.state = &states;
  auto engine = Engine::open(std::move(options), clock);
  ASSERT_TRUE(engine);
  prometheus::WriteRequestBuilder builder;
  const std::vector<Label> pod = {{"__name__", "kube_pod_status_phase"},
                                  {"namespace", "ml"},
                                  {"phase", "Running"},
                                  {"pod", "train-0"},
                                  {"uid", "4f6c"}};
  const std::vector<Sample> samples = {{kStart + kFutureMsMax, 1.0},
                                       {kStart + kFutureMsMax + 1, 1.0},
                                       {std::numeric_limits<std::int64_t>::max(), 1.0}};
  builder.add(pod, samples);
  const std::string body = builder.snappy();
  ASSERT_TRUE((*engine)->ingest({.content_type = "application/x-protobuf",
                                 .content_encoding = "snappy",
                                 .body = body,
                                 .stream = {}}));
  EXPECT_EQ(states.said, (std::vector<std::string>{"declare kube_pod_status_phase", "sample"}));
}

// What a container has in use is a level, and its processor time a counter, after a restart too.
TEST(Engine, WhatContainersUseIsTheSameAfterARestart) {
  const auto counts = [](bool is_restarted) {
    const Folder folder;
    World world(folder.path());
    const auto open = [&] {
      world.engine.reset();
      EngineOptions options = options_for(folder.path(), &world.disk);
      options.stream.classification.host_usage = telemetry::HostUsageSource::kCadvisor;
      auto opened = Engine::open(std::move(options), world.clock);
      ASSERT_TRUE(opened) << opened.error().message;
      world.engine = std::move(*opened);
    };
    open();
    const auto series = [](const std::string& metric) {
      return std::vector<Label>{{"__name__", metric},  {"container", "main"}, {"cpu", "total"},
                                {"id", "/kubepods/a"}, {"namespace", "ml"},   {"pod", "train-0"}};
    };
    for (int i = 0; i <= 8; ++i) {
      const std::int64_t at = kStart + i * 30'000;
      world.to(at);
      EXPECT_TRUE(
          world.send({{series("container_cpu_usage_seconds_total"), {{at, 100.0 + 15 * i}}},
                      {series("container_memory_working_set_bytes"), {{at, 1024.0 * 2048}}}}));
      if (i == 4) world.flush();  // writes the snapshot
      if (i == 4 && is_restarted) open();
    }
    world.silence_until(kStart + 30 * kMinuteMs);
    EXPECT_EQ(world.ledger.conflicts, 0U);
    std::map<std::string, std::uint64_t> sums;
    for (const auto& [key, outcome] : world.ledger.outcomes) sums[outcome.measure] += outcome.count;
    return sums;
  };
  const auto whole = counts(false);
  ASSERT_TRUE(whole.contains("cpu_used_core_ms") && whole.contains("memory_used_kib_ms"));
  EXPECT_EQ(whole.at("cpu_used_core_ms"), 120'000U);
  // 2048 KiB of at least the four minutes that were measured.
  EXPECT_GE(whole.at("memory_used_kib_ms"), 2048U * 4 * kMinuteMs);
  EXPECT_EQ(counts(true), whole);
}

// Bodies with late, repeated and mixed-up samples, flushes, failed imports and crashes at any
// point: energy and outcomes to the last unit, no millisecond of a column twice, and the same time
// covered as by an engine that never crashed.
// The facts without the numbers of the flushes that wrote them.
std::vector<Usage> facts_of(const Ledger& ledger) {
  std::vector<Usage> facts;
  for (const auto& [key, usage] : ledger.usages) {
    facts.push_back(usage);
    facts.back().part = 0;
  }
  std::ranges::sort(facts, {}, [](const Usage& usage) {
    return std::tuple(usage.at, usage.span_ms, usage.gpu, usage.workload);
  });
  return facts;
}

// As content with its numbers, in an order of its own.
template <class Fact>
std::vector<Hash128> contents_of(const std::map<Hash128, Fact>& facts) {
  std::vector<Hash128> contents;
  for (const auto& [key, fact] : facts) contents.push_back(content_hash(fact));
  std::ranges::sort(contents);
  return contents;
}

using SentSample = std::pair<std::vector<Label>, Sample>;

// An hour of samples of one GPU, as a sender that was cut off has them in its queue.
std::vector<SentSample> samples_of_an_hour(std::uint64_t seed) {
  std::vector<SentSample> all;
  double energy = 1'000'000;
  for (std::int64_t at = kStart; at < kStart + 59 * kMinuteMs; at += 30'000) {
    seed = seed * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    const auto digit = static_cast<double>(seed >> 60);
    energy = digit == 7 ? digit : energy + 1'000 * digit;  // sometimes the driver is loaded again
    all.push_back({dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {at, 5 * digit}});
    all.push_back({dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-1"), {at, energy}});
    all.push_back({dcgm("DCGM_FI_DEV_XID_ERRORS", "GPU-1"), {at, digit < 2 ? 79.0 : 0.0}});
  }
  return all;
}

void open_with_wait(World& world, const std::string& folder) {
  world.engine.reset();
  EngineOptions options = options_for(folder, &world.disk);
  options.stream.order_wait_ms = kMinuteMs;
  auto opened = Engine::open(options, world.clock);
  ASSERT_TRUE(opened) << opened.error().message;
  world.engine = std::move(*opened);
}

RC_GTEST_PROP(EngineProperty, WithinAnHourTheOrderOfSamplesDoesNotMatter, (std::uint64_t seed)) {
  const auto samples = samples_of_an_hour(seed);
  const Folder ordered_folder, folder;
  World ordered(ordered_folder.path());
  ordered.to(kStart + 60 * kMinuteMs);
  for (const SentSample& one : samples) RC_ASSERT(ordered.send({{one.first, {one.second}}}));
  ordered.silence_until(kStart + 120 * kMinuteMs);

  std::vector<SentSample> mixed = samples;
  mixed.insert(mixed.end(), samples.begin(), samples.end());
  std::mt19937_64 random(seed);
  std::ranges::shuffle(mixed, random);
  World world(folder.path());
  open_with_wait(world, folder.path());
  world.to(kStart + 60 * kMinuteMs);
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < mixed.size();) {
    std::vector<std::pair<std::vector<Label>, std::vector<Sample>>> body;
    for (auto size = 1 + random() % 8; size > 0 && i < mixed.size(); --size, ++i) {
      body.push_back({mixed[i].first, {mixed[i].second}});
    }
    const auto sent = world.send(body);
    RC_ASSERT(sent.has_value());
    refused += sent->refused;
    const auto event = random() % 20;
    if (event == 0) world.flush();
    if (event == 1) open_with_wait(world, folder.path());  // killed and started again
    if (event < 10) world.clock.advance(std::chrono::seconds(1));
  }
  world.silence_until(kStart + 120 * kMinuteMs);
  RC_ASSERT(refused == 0u);
  RC_ASSERT(world.ledger.conflicts == 0u);
  RC_ASSERT(facts_of(world.ledger).size() > 50u);
  RC_ASSERT(facts_of(world.ledger) == facts_of(ordered.ledger));
  RC_ASSERT(contents_of(world.ledger.gpus) == contents_of(ordered.ledger.gpus));
}

// An hour of several GPUs, one of which two pods hold in turn, and of a server of tokens.
std::vector<SentSample> samples_of_a_fleet(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<SentSample> all;
  double tokens = 0;
  std::array<double, 3> energy = {5, 1e9, 7e12};
  for (std::int64_t at = kStart; at < kStart + 59 * kMinuteMs; at += kMinuteMs) {
    tokens = random() % 50 == 0 ? 0 : tokens + static_cast<double>(random() % 1'000);
    all.push_back({{{"__name__", "vllm:generation_tokens_total"},
                    {"model_name", "llama"},
                    {"namespace", "ml"},
                    {"pod", "vllm-0"}},
                   {at, tokens}});
    for (std::size_t gpu = 0; gpu < energy.size(); ++gpu) {
      if (random() % 20 == 0) continue;
      const std::string uuid = "GPU-" + std::to_string(gpu);
      energy[gpu] += static_cast<double>(random() % 30'000'000);
      std::vector<Label> holder;
      if (gpu == 0) {
        const bool is_first = at < kStart + 20 * kMinuteMs;
        holder = {{"namespace", "ml"}, {"pod", is_first ? "train-0" : "train-1"}};
      }
      const auto value = static_cast<double>(random() % 101);
      all.push_back({dcgm("DCGM_FI_DEV_GPU_UTIL", uuid, holder), {at, value}});
      all.push_back({dcgm("DCGM_FI_DEV_FB_USED", uuid, holder), {at, 100 * value}});
      all.push_back({dcgm("DCGM_FI_DEV_POWER_USAGE", uuid, holder), {at, value + 0.25}});
      all.push_back(
          {dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", uuid, holder), {at, energy[gpu]}});
    }
  }
  return all;
}

RC_GTEST_PROP(EngineProperty, OverFourConnectionsMixedAndTwiceTheFactsAreTheSame,
              (std::uint64_t seed)) {
  constexpr std::size_t kConnections = 4;
  const auto samples = samples_of_a_fleet(seed);
  const Folder ordered_folder, folder;
  World ordered(ordered_folder.path());
  ordered.to(kStart + 60 * kMinuteMs);
  for (const SentSample& one : samples) RC_ASSERT(ordered.send({{one.first, {one.second}}}));
  ordered.silence_until(kStart + 120 * kMinuteMs);

  std::vector<SentSample> mixed = samples;
  mixed.insert(mixed.end(), samples.begin(), samples.end());
  std::mt19937_64 random(seed);
  std::ranges::shuffle(mixed, random);
  World world(folder.path());
  open_with_wait(world, folder.path());
  world.to(kStart + 60 * kMinuteMs);
  std::array<std::size_t, kConnections> refused = {};
  {
    std::vector<std::jthread> connections;
    for (std::size_t connection = 0; connection < kConnections; ++connection) {
      connections.emplace_back([&, connection] {
        for (std::size_t i = connection; i < mixed.size(); i += 7 * kConnections) {
          std::vector<std::pair<std::vector<Label>, std::vector<Sample>>> body;
          for (std::size_t k = i; k < std::min(i + 7 * kConnections, mixed.size());
               k += kConnections) {
            body.push_back({mixed[k].first, {mixed[k].second}});
          }
          const auto sent = world.send(body);
          refused[connection] += sent ? sent->refused : 1'000'000;
        }
      });
    }
  }
  world.silence_until(kStart + 120 * kMinuteMs);
  RC_ASSERT(refused == (std::array<std::size_t, kConnections>{}));
  RC_ASSERT(world.ledger.usages.size() > 100u);
  RC_ASSERT(world.ledger.energy() == ordered.ledger.energy());
  RC_ASSERT(facts_of(world.ledger) == facts_of(ordered.ledger));
  RC_ASSERT(contents_of(world.ledger.usages) == contents_of(ordered.ledger.usages));
  RC_ASSERT(contents_of(world.ledger.outcomes) == contents_of(ordered.ledger.outcomes));
  RC_ASSERT(contents_of(world.ledger.gpus) == contents_of(ordered.ledger.gpus));
}

TEST(Engine, RefusesWhatComesAfterItsTimeBecameRows) {
  const Folder folder;
  World world(folder.path());
  const auto send = [&](std::int64_t at, double value) {
    const auto sent = world.send({{dcgm("DCGM_FI_DEV_GPU_UTIL", "GPU-1"), {{at, value}}}});
    EXPECT_TRUE(sent);
    return sent ? sent->refused : 0;
  };
  for (int i = 0; i <= 8; ++i) {
    if (i == 3) continue;
    world.to(kStart + i * 30'000);
    EXPECT_EQ(send(kStart + i * 30'000, 50), 0u);
  }
  world.flush();
  EXPECT_EQ(send(kStart + 3 * 30'000, 90), 1u) << "it is not taken, and not said to be";
  EXPECT_EQ(send(kStart + 4 * 30'000, 50), 0u) << "it was taken before";
  EXPECT_EQ(world.engine->counters().at("out_of_order"), 1u);
  EXPECT_EQ(world.engine->counters().at("duplicates"), 1u);
}

RC_GTEST_PROP(EngineProperty, CountsEachAcknowledgedSampleOnce,
              (std::vector<std::uint32_t> steps)) {
  const Folder folder;
  World world(folder.path());
  World twin("");
  std::map<std::string, std::map<std::int64_t, std::uint64_t>> taken;  // of each counter, by time
  std::map<std::string, std::int64_t> flushed_until;
  std::uint64_t tokens = 0;
  // What came between two flushes counts in the order of its times.
  const auto counts = [&](const std::string& name, std::int64_t at, std::uint64_t value) {
    if (at > flushed_until[name]) taken[name].emplace(at, value);
  };
  const auto flushes = [&] {
    for (const auto& [name, samples] : taken) flushed_until[name] = samples.rbegin()->first;
  };
  const auto expected = [&](const std::string& name) {
    std::uint64_t sum = 0;
    std::optional<std::uint64_t> before;
    Accumulator holding(Aggregation::kMean);  // says how long a value holds
    for (const auto& [at, value] : taken[name]) {
      const bool is_bridge = before && at - holding.last_at() > kBridgeMsMax &&
                             at > holding.hold_end(Timing{}) && !name.starts_with("tokens");
      if (before && !is_bridge) sum += value < *before ? value : value - *before;
      before = value;
      holding.add_sample(at, value, Timing{});
    }
    return sum;
  };
  std::int64_t now = kStart;
  for (const std::uint32_t step : steps) {
    now += step % 40'000;
    world.to(now);
    twin.to(now);
    switch (step % 9) {
      case 0:
        world.open(folder.path());
        break;
      case 1:
        world.flush();
        twin.flush();
        flushes();
        break;
      case 2:
        world.ledger.fails_after_commit = step % 2 == 0;
        world.ledger.fails_before = step % 2 == 1;
        (void)world.engine->flush(world.ledger.importer());
        world.ledger.fails_after_commit = world.ledger.fails_before = false;
        twin.flush();
        flushes();
        break;
      default: {
        const std::string gpu = step % 2 == 0 ? "GPU-a" : "GPU-b";
        const std::int64_t at = now - static_cast<std::int64_t>(step / 9 % 50'000);
        tokens += step % 5'000;
        const std::uint64_t energy = step % 13 == 0 ? 5 : tokens;
        const std::vector<Label> outcome = {{"__name__", "vllm:generation_tokens_total"},
                                            {"model_name", "llama"},
                                            {"namespace", "ml"},
                                            {"pod", "vllm-" + gpu}};
        const std::vector<std::pair<std::vector<Label>, std::vector<Sample>>> series = {
            {dcgm("DCGM_FI_DEV_GPU_UTIL", gpu), {{at, step % 101 + 0.0}, {at - 700, 3.0}}},
            {dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", gpu),
             {{at, static_cast<double>(energy)}}},
            {outcome, {{at, static_cast<double>(tokens)}, {at, 1e9}}}};
        RC_ASSERT(world.send(series).has_value());
        RC_ASSERT(twin.send(series).has_value());
        counts(gpu, at, energy);
        counts("tokens " + gpu, at, tokens);
      }
    }
  }
  // All devices are silent.
  world.silence_until(now + 30 * kMinuteMs);
  twin.silence_until(now + 30 * kMinuteMs);
  world.open(folder.path());
  world.flush();
  RC_ASSERT(world.ledger.conflicts == 0u);
  for (const std::string gpu : {"GPU-a", "GPU-b"}) {
    RC_ASSERT(world.ledger.energy(gpu) == expected(gpu));
    for (const auto column : {&Usage::gpu_util_ppm, &Usage::energy_used_millijoules}) {
      const auto covered = world.ledger.covered(gpu, column);
      RC_ASSERT(covered.has_value());
      RC_ASSERT(*covered == twin.ledger.covered(gpu, column));
    }
  }
  RC_ASSERT(world.ledger.counted() == expected("tokens GPU-a") + expected("tokens GPU-b"));
}

// A child ingests bodies and prints which were acknowledged; it is killed at some moment, during
// flushes and imports too. After recovery each acknowledged sample counts, and counts once.
TEST(Engine, SurvivesKill) {
  for (int round = 0; round < 5; ++round) {
    const Folder folder;
    std::array<int, 2> pipe = {};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const auto energy = dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-1");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      World world(folder.path());
      for (std::uint32_t i = 0;; ++i) {
        const std::int64_t at = kStart + std::int64_t{i} * 15'000;
        world.to(at);
        if (!world.send({{energy, {{at, 1'000.0 * i}}}})) ::_exit(1);
        if (::write(pipe[1], &i, sizeof i) != sizeof i) ::_exit(1);
        // The ledger is lost with the child: only what was never imported may come again.
        if (i % 7 == 6) {
          (void)world.engine->flush(
              [](const FlushRows&) -> Result<void> { return fail(ErrorCode::kStore, "not now"); });
        }
      }
    }
    ::close(pipe[1]);
    std::uint32_t acknowledged = 0;
    const auto enough = static_cast<std::uint32_t>(30 + round * 41);
    while (acknowledged < enough &&
           ::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    ::close(pipe[0]);
    World world(folder.path());
    world.silence_until(kStart + 24 * 60 * kMinuteMs);
    EXPECT_EQ(world.ledger.conflicts, 0u);
    EXPECT_TRUE(world.ledger.covered("GPU-1", &Usage::energy_used_millijoules));
    // At most one more was durable than the child could print.
    const std::uint64_t covered = world.ledger.energy();
    EXPECT_GE(covered, std::uint64_t{acknowledged} * 1'000);
    EXPECT_LE(covered, std::uint64_t{acknowledged + 1} * 1'000);
    EXPECT_EQ(covered % 1'000, 0u);
  }
}

TEST(Engine, ManyThreadsAtOnce) {
  const Folder folder;
  World world(folder.path());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const auto energy =
          dcgm("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "GPU-" + std::to_string(thread));
      for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(world.send({{energy, {{kStart + i * 1'000, 10.0 * i}}}}));
      }
    });
  }
  for (int i = 0; i < 5; ++i) world.flush();
  for (auto& thread : threads) thread.join();
  world.silence_until(kStart + 60 * kMinuteMs);
  world.flush();
  EXPECT_EQ(world.ledger.energy(), 4u * 990u);
}

}  // namespace
}  // namespace pennyweight::live
