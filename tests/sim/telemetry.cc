// What devices were observed to do: samples of true values, and the rows that report them, with
// everything that goes wrong in such rows: gaps, blanks, values beyond their scale, a skewed clock,
// a device's values repeated for each pod, and unreliable profiling.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "testing/generate/random.h"
#include "world.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;

enum class Style {
  kDevice,  // rows of the device
  kCopies,  // the device's values, once for each pod on it
  kOwn,     // rows of each workload's own
  kBoth,    // rows of the device and of each workload's own
};

class TelemetryMaker {
 public:
  explicit TelemetryMaker(World& world) : world_(world), random_(world.seed, "telemetry") {}

  void make() {
    std::set<GpuId> done;
    for (std::size_t g = 0; g < world_.gpus.size(); ++g) {
      if (is_loose(world_.gpus[g].node)) continue;
      const Card& card = world_.cards[g];
      for (std::size_t s = 0; s < card.seats.size() - (card.is_cut ? 1 : 0); ++s) {
        if (done.insert(card.seats[s].id).second && below(3) > 0) watch(card.seats[s].id);
      }
    }
    for (const NodeId& node : world_.loose_nodes) place_jobs(node);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_.between(0, bound - 1); }

  bool is_loose(const NodeId& node) const {
    return std::find(world_.loose_nodes.begin(), world_.loose_nodes.end(), node) !=
           world_.loose_nodes.end();
  }

  // A device from its first sample to its last.
  void watch(const GpuId& device) {
    const auto style = static_cast<Style>(below(4));
    const std::uint64_t source = below(3);  // which metric it has
    const std::uint64_t interval = world_.policy.usage.interval_ms;
    const Instant end = world_.days.end();
    Instant at =
        world_.days.begin() - std::chrono::hours(1) + std::chrono::milliseconds(below(interval));
    for (; at < end; at += std::chrono::milliseconds(interval)) {
      if (below(12) == 0) at += std::chrono::milliseconds(interval * below(12));  // a gap
      const std::vector<WorkloadId> on_it = holders_of(device, at);
      Row row{.device = device, .workload = WorkloadId(""), .of_workload = false, .at = at};
      row.source = source;
      const auto say = [&](const WorkloadId& workload, bool of_workload) {
        row.workload = workload;
        row.of_workload = of_workload;
        tell(row);
      };
      draw(row);
      switch (style) {
        case Style::kDevice:
          say(WorkloadId(""), false);
          break;
        case Style::kCopies:
          if (on_it.empty()) say(WorkloadId(""), false);
          for (const WorkloadId& workload : on_it) say(workload, false);
          break;
        case Style::kBoth:
          say(WorkloadId(""), false);
          [[fallthrough]];
        case Style::kOwn:
          for (const WorkloadId& workload : on_it) {
            draw(row);
            say(workload, true);
          }
          break;
      }
    }
  }

  // Jobs that name only a node: rows tell which of its GPUs they are on.
  void place_jobs(const NodeId& node) {
    std::vector<GpuId> cards;
    for (const Gpu& gpu : world_.gpus) {
      if (gpu.node == node) cards.push_back(gpu.uuid);
    }
    for (const Holding& job : world_.holdings) {
      const auto* on = std::get_if<OnNodes>(&job.placement);
      if (on == nullptr || on->parts.size() != 1 || on->parts[0].node != node) continue;
      const std::size_t first = below(cards.size());
      for (std::uint32_t d = 0; d < on->parts[0].devices && d < cards.size(); ++d) {
        Instant at = job.held.begin() + std::chrono::milliseconds(below(5'000'000));
        for (; at < job.held.end() && at < world_.days.end();
             at += std::chrono::milliseconds(world_.policy.usage.interval_ms)) {
          Row row{.device = cards[(first + d) % cards.size()],
                  .workload = job.workload,
                  .of_workload = true,
                  .at = at};
          draw(row);
          tell(row);
        }
      }
    }
  }

  struct Row {
    GpuId device;
    WorkloadId workload;
    bool of_workload;
    Instant at;
    std::uint64_t source = 0;
    std::optional<std::uint64_t> permille = {};  // of compute
    std::optional<std::uint64_t> parts = {};     // of memory, in 64ths
  };

  void draw(Row& row) {
    row.permille = below(4) == 0 ? 0 : below(1001);
    row.parts = below(65);
    if (below(15) == 0) row.permille.reset();
    if (below(15) == 0) row.parts.reset();
    if (below(20) == 0) row.permille = 1200;  // beyond its scale
  }

  std::vector<WorkloadId> holders_of(const GpuId& device, Instant at) const {
    std::set<WorkloadId> holders;
    for (const TrueRequest& ask : world_.requests) {
      if (ask.card == kAnywhere || !ask.during.contains(at)) continue;
      if (world_.cards[ask.card].seats[ask.seat].id != device) continue;
      holders.insert(world_.holdings[ask.holding].workload);
    }
    return {holders.begin(), holders.end()};
  }

  void tell(const Row& row) {
    for (std::size_t g = 0; g < world_.gpus.size(); ++g) {
      const auto present = world_.presence_of_gpu(g);
      if (!present || !present->contains(row.at)) continue;
      const Card& card = world_.cards[g];
      for (std::size_t s = 0; s < card.seats.size() - (card.is_cut ? 1 : 0); ++s) {
        if (card.seats[s].id == row.device) tell_of(row, g, s);
      }
    }
  }

  void tell_of(const Row& row, std::size_t g, std::size_t s) {
    const Gpu& gpu = world_.gpus[g];
    const Card& card = world_.cards[g];
    Usage usage{.cluster = gpu.cluster,
                .node = gpu.node,
                .gpu = gpu.uuid,
                .mig_instance = {},
                .mig_profile = {},
                .model = gpu.model,
                .at = row.at - std::chrono::milliseconds(world_.policy.usage.shift_ms),
                .gpu_util_ppm = {},
                .engine_active_ppm = {},
                .sm_active_ppm = {},
                .memory_used_bytes = {},
                .memory_total_bytes = {},
                .power_milliwatts = {},
                .energy_millijoules = {},
                .workload = row.workload,
                .of_workload = row.of_workload,
                .id = {},
                .source = {}};
    if (card.is_cut) {
      const MigInstance& instance = gpu.mig_instances[s];
      const std::string& name = instance.id.text();
      const auto slash = name.find("/gi");
      const auto alike = std::count_if(
          gpu.mig_instances.begin(), gpu.mig_instances.end(),
          [&](const MigInstance& other) { return other.profile == instance.profile; });
      // An instance known by its UUID only is identified by its profile, if that is unique.
      if (slash == std::string::npos && alike > 1) return;
      usage.mig_instance = slash == std::string::npos ? std::to_string(s) : name.substr(slash + 3);
      usage.mig_profile = instance.profile;
    }
    std::optional<std::uint64_t> compute;
    if (row.permille) {
      const std::uint64_t ppm = *row.permille * 1000;
      (row.source == 0   ? usage.engine_active_ppm
       : row.source == 1 ? usage.sm_active_ppm
                         : usage.gpu_util_ppm) = ppm;
      compute = std::min<std::uint64_t>(*row.permille, 1000) * (kCard / 1000);
      // GPU_UTIL is meaningless under MIG, unless it was counted for a workload.
      const bool means_nothing = row.source == 2 && card.is_cut && !row.of_workload;
      if (means_nothing || !card.is_watched) compute.reset();
    }
    std::optional<std::uint64_t> memory;
    if (row.parts) {
      usage.memory_total_bytes = std::uint64_t{40} << 30;
      usage.memory_used_bytes = *usage.memory_total_bytes / 64 * *row.parts;
      memory = kCard / 64 * *row.parts;
    }
    usage.id = FactId{natural_key(usage)};
    world_.usages.push_back(usage);
    const bool is_copy = !row.workload.empty() && !row.of_workload;
    if (compute || memory) {
      world_.samples.push_back({.device = row.device,
                                .workload = is_copy ? WorkloadId("") : row.workload,
                                .at = row.at,
                                .compute = compute,
                                .memory = memory});
    }
  }

  World& world_;
  Random random_;
};

}  // namespace

void add_telemetry(World& world) { TelemetryMaker(world).make(); }

}  // namespace pennyweight::sim
