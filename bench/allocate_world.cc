#include "allocate_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/check.h"

namespace pennyweight::bench {
namespace {

constexpr std::uint64_t kCardsPerNode = 8;
constexpr std::uint64_t kMinuteMs = 60'000;
constexpr std::uint64_t kHourMs = 60 * kMinuteMs;
const Instant kBegin = Instant(std::chrono::sys_days(std::chrono::year(2026) / 3 / 1));

// The only source of randomness; it depends on the purpose, not on the order of calls.
std::uint64_t random_of(std::uint64_t seed, std::uint64_t key) {
  std::uint64_t mixed = seed * 0x9e3779b97f4a7c15 + key;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

Instant after(Instant at, std::uint64_t ms) { return at + std::chrono::milliseconds(ms); }

const char* const kProfiles[kPlacesPerCard] = {"3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"};

}  // namespace

GpuId gpu_id(std::uint64_t gpu) {
  return GpuId(fmt::format("GPU-{:08d}-5a0c-4c1e-9d2b-0123456789ab", gpu));
}
GpuId instance_id(std::uint64_t gpu, std::uint64_t instance) {
  return GpuId(fmt::format("MIG-{:08d}-5a0c-4c1e-9d2b-{:012d}", gpu, instance));
}
WorkloadId workload_id(std::uint64_t holding) {
  return WorkloadId(fmt::format("research/run-{:09d}", holding));
}

World::World(const WorldOptions& with) : options(with) {
  policy.name = "bench";
  policy.basis = {.kind = Basis::Kind::kMax};
  policy.weights = {.compute = 500, .memory = 500};
  policy.node_split = options.whole_node ? NodeSplit::kWholeNode : NodeSplit::kResidual;
  policy.dimensions = {{"team", {"team"}, "(unowned)"}};
  const std::uint64_t nodes_needed = (options.gpus + kCardsPerNode - 1) / kCardsPerNode;
  for (std::uint64_t node = 0; node < nodes_needed; ++node) add_node(node);
}

Interval World::during() const { return {kBegin, kBegin + std::chrono::days(options.days)}; }

Interval World::day(std::uint32_t number) const {
  const Instant begin = kBegin + std::chrono::days(number);
  return {begin, begin + std::chrono::days(1)};
}

Mode World::mode_of(std::uint64_t gpu) const {
  const std::uint64_t of_twenty = gpu / kCardsPerNode * 7 % 20;
  return of_twenty < 14   ? Mode::kWhole
         : of_twenty < 16 ? Mode::kMig
         : of_twenty < 19 ? Mode::kTimeSliced
                          : Mode::kIdle;
}

void World::add_node(std::uint64_t number) {
  const std::uint64_t first = number * kCardsPerNode;
  const std::uint64_t cards = std::min(kCardsPerNode, options.gpus - first);
  const Mode mode = mode_of(first);
  nodes.push_back(
      {.cluster = ClusterId("prod"),
       .name = NodeId(fmt::format("gpu-node-{:06d}", number)),
       .provider_id = fmt::format("aws:///us-east-1a/i-{:012x}", number),
       .instance_type = "p5.48xlarge",
       .region = "us-east-1",
       .pool = PoolId("h100"),
       .gpu_model = "NVIDIA H100 80GB HBM3",
       .gpu_count = static_cast<std::uint32_t>(cards),
       .sharing = mode == Mode::kTimeSliced ? GpuSharing::kTimeSlicing : GpuSharing::kNone,
       .gpu_replicas = mode == Mode::kTimeSliced ? kPlacesPerCard : 0,
       .cpu_milli = 192'000,
       .memory_bytes = std::uint64_t{2048} << 30,
       .from = kBegin - std::chrono::days(1),
       .to = {},
       .id = {},
       .source = {}});
  for (std::uint64_t gpu = first; gpu < first + cards; ++gpu) {
    Gpu card{.cluster = ClusterId("prod"),
             .node = nodes.back().name,
             .uuid = gpu_id(gpu),
             .index = static_cast<std::uint32_t>(gpu - first),
             .model = nodes.back().gpu_model,
             .memory_bytes = {},
             .mig_instances = {},
             .from = nodes.back().from,
             .to = {},
             .id = {},
             .source = {}};
    const bool divided = mode == Mode::kMig || mode == Mode::kTimeSliced;
    for (std::uint32_t part = 0; part < (divided ? kPlacesPerCard : 1); ++part) {
      places.push_back({.gpu = gpu, .part = part, .mode = mode});
      if (mode == Mode::kMig) {
        card.mig_instances.push_back({instance_id(gpu, part), kProfiles[part]});
      }
    }
    gpus.push_back(std::move(card));
  }
  holders.resize(places.size());
  add_jobs(number, cards);
  add_charges(number);
}

void World::add_charges(std::uint64_t number) {
  const std::uint64_t lines = options.hourly ? 24 : 1;
  const Decimal hour = Decimal::from_ticks(Int128{Decimal::kTicksPerUnit} / 100 * 5504);
  for (std::uint64_t line = 0; line < options.days * lines; ++line) {
    const Instant begin = after(kBegin, line * 24 / lines * kHourMs);
    const Money cost = Money::from_ticks(hour.ticks() * static_cast<Int128>(24 / lines), kUsd);
    // Above the price paid, as in most bills.
    const Decimal list = Decimal::from_ticks(Int128{Decimal::kTicksPerUnit} / 100 * 9832);
    const Money at_list = Money::from_ticks(list.ticks() * static_cast<Int128>(24 / lines), kUsd);
    Charge charge(Interval(kBegin, kBegin + std::chrono::days(31)),
                  Interval(begin, after(begin, 24 / lines * kHourMs)), {cost, cost, at_list, cost});
    charge.service_category = "Compute";
    charge.resource_id = nodes[number].provider_id;
    charge.instance_type = nodes[number].instance_type;
    charge.list_unit_price = hour;
    charge.pricing_unit = "Hours";
    charge.cluster = "prod";
    charge.id = FactId{hash_of(fmt::format("line {} {}", number, line))};
    charges.push_back(std::move(charge));
  }
}

// Jobs follow one another on groups of GPUs, or on each instance or place of a GPU.
void World::add_jobs(std::uint64_t number, std::uint64_t cards) {
  const Mode mode = mode_of(number * kCardsPerNode);
  if (mode == Mode::kIdle) return;
  std::uint64_t together = 1;
  if (mode == Mode::kWhole && cards == kCardsPerNode) {
    constexpr std::array<std::uint64_t, 8> kSizes = {8, 8, 8, 4, 4, 2, 1, 1};
    together = kSizes[random_of(options.seed, number) % kSizes.size()];
  }
  const std::uint64_t there = mode == Mode::kWhole ? cards : cards * kPlacesPerCard;
  std::vector<std::uint32_t> on;
  for (std::uint64_t i = 0; i < there; ++i) {
    on.push_back(static_cast<std::uint32_t>(places.size() - there + i));
    if (on.size() < together) continue;
    add_sequence(on, on.front());
    on.clear();
  }
}

void World::add_sequence(std::span<const std::uint32_t> on, std::uint64_t key) {
  const Mode mode = places[on.front()].mode;
  const std::uint64_t hours_max = mode == Mode::kTimeSliced ? 48 : 16;
  std::uint64_t draw = key << 20 | 1 << 19;
  const auto random = [&](std::uint64_t below) { return random_of(options.seed, draw++) % below; };
  // The first job was already running.
  Instant at = after(kBegin - std::chrono::hours(12), random(12 * kHourMs));
  while (at < during().end()) {
    const Instant end = after(at, kHourMs + random((hours_max - 1) * kHourMs));
    const auto number = static_cast<std::uint32_t>(holdings.size());
    Holding& job = holdings.emplace_back(ClusterId("prod"), workload_id(number), Interval(at, end),
                                         OnGpus{devices_of(on)});
    const std::uint64_t quarters = mode == Mode::kWhole ? 4 * on.size() : 1;
    job.cpu_milli = 5'000 * quarters;
    job.memory_bytes = quarters * std::uint64_t{50} << 30;
    if (mode == Mode::kTimeSliced) job.device = Replica{};
    CHECK(job.labels.set("team", fmt::format("team-{}", random(40))).has_value(), "a short label");
    job.id = FactId{hash_of(fmt::format("job {}", number))};
    for (const std::uint32_t place : on) holders[place].push_back(number);
    at = after(end, random(kHourMs / 2));
  }
}

std::vector<GpuId> World::devices_of(std::span<const std::uint32_t> on) const {
  std::vector<GpuId> devices;
  for (const std::uint32_t place : on) {
    const auto& [gpu, part, mode] = places[place];
    devices.push_back(mode == Mode::kMig ? instance_id(gpu, part) : gpu_id(gpu));
  }
  return devices;
}

// A sample is valid until the next one. Returns those within `within`, relative to `during`.
UtilizationSeries World::series_of(std::uint32_t place, const Interval& during,
                                   const Interval& within) const {
  const auto& [gpu, part, mode] = places[place];
  UtilizationSeries series{.device = mode == Mode::kMig ? instance_id(gpu, part) : gpu_id(gpu),
                           .workload = WorkloadId(""),
                           .intervals = {}};
  const std::uint64_t phase = random_of(options.seed, gpu) % kMinuteMs;
  const std::uint64_t epoch = kMinuteMs - phase;  // before kBegin, at the first sample
  const auto ms = [&](Instant at) { return static_cast<std::uint64_t>((at - kBegin).count()); };
  const std::uint64_t from = ms(during.begin());
  const std::uint64_t begin = ms(within.begin()), end = ms(within.end());
  const bool has_gap = mode == Mode::kWhole && gpu % 50 == 0;
  const std::uint32_t limit = mode == Mode::kTimeSliced ? 501 : 1001;
  const auto thousandths = [&](std::uint64_t half) {
    return static_cast<std::uint32_t>((half & 0xffffffff) * limit >> 32) *
           static_cast<std::uint32_t>(CardShare::kUnitsPerCard / 1000);
  };
  const std::uint64_t last = (end - 1 + epoch) / kMinuteMs;
  std::uint64_t minute = (begin + epoch) / kMinuteMs;
  series.intervals.reserve(last - minute + 1);
  for (; minute <= last; ++minute) {
    if (has_gap && minute % 1440 >= 600 && minute % 1440 < 660) continue;
    const std::uint64_t sample = minute * kMinuteMs - std::min(minute * kMinuteMs, epoch);
    const std::uint64_t value = random_of(options.seed, std::uint64_t{place} << 24 | minute);
    series.intervals.push_back(
        {.begin_ms = static_cast<std::uint32_t>(std::max(begin, sample) - from),
         .end_ms =
             static_cast<std::uint32_t>(std::min(end, (minute + 1) * kMinuteMs - epoch) - from),
         .compute = thousandths(value),
         .memory = thousandths(value >> 32)});
  }
  return series;
}

ObservedUtilization World::observe(const Interval& during) const {
  ObservedUtilization seen{.during = during, .series = {}, .placed = {}};
  // By device: names of instances sort after those of GPUs.
  for (const bool instances : {false, true}) {
    for (std::uint32_t p = 0; p < places.size(); ++p) {
      if ((places[p].mode == Mode::kMig) != instances) continue;
      if (places[p].mode != Mode::kTimeSliced) {
        seen.series.push_back(series_of(p, during, during));
        continue;
      }
      if (places[p].part != 0) continue;
      std::vector<std::pair<std::uint32_t, std::uint32_t>> pods;  // by name, with their place
      for (std::uint32_t place = p; place < p + kPlacesPerCard; ++place) {
        for (const std::uint32_t holder : holders[place]) {
          if (holdings[holder].held.overlap(during)) pods.emplace_back(holder, place);
        }
      }
      std::sort(pods.begin(), pods.end());
      for (const auto& [pod, place] : pods) {
        seen.series.push_back(series_of(place, during, *holdings[pod].held.overlap(during)));
        seen.series.back().workload = holdings[pod].workload;
      }
    }
  }
  for (const UtilizationSeries& series : seen.series) seen.samples += series.intervals.size();
  return seen;
}

}  // namespace pennyweight::bench
