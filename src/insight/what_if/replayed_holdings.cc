#include "insight/what_if/replayed_holdings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <utility>

#include "core/check.h"
#include "ledger/fact_id.h"

namespace pennyweight::what_if {
namespace {

// A MIG slice names a layout that the node it moves to may not have; its share is the same
// anywhere.
Device portable(const Device& device, const replay::Request& request) {
  if (!std::holds_alternative<MigSlice>(device)) return device;
  const auto share = CardShare::of(request.gpu_milli, replay::kMilliPerGpu);
  CHECK(share.has_value(), "thousandths are a share");
  return CardFraction{*share, *share};
}

}  // namespace

std::vector<Holding> replayed_holdings(const ReplayWorld& world, const replay::Replay& replay,
                                       std::span<const std::optional<MigShare>> slices,
                                       std::span<const Holding> originals) {
  std::vector<Holding> holdings;
  for (const std::uint32_t index : world.left_as_they_were) holdings.push_back(originals[index]);
  std::map<std::uint32_t, std::uint32_t> attempts;
  for (const replay::JobRun& run : replay.runs) {
    const Holding& original = originals[world.origins[run.job].holding];
    const auto at = [&](std::int64_t us) {
      return world.period.begin() + std::chrono::milliseconds(us / 1000);
    };
    const auto held = Interval::of(at(run.begin_us), std::min(at(run.end_us), world.period.end()));
    if (!held) continue;
    const replay::Job& job = world.jobs[run.job];
    OnNodes placement;
    for (const replay::Share& share : run.shares) {
      placement.parts.push_back({NodeId(world.machines[share.machine].name),
                                 job.request.gpu_milli > 0
                                     ? static_cast<std::uint32_t>(device_count(original))
                                     : static_cast<std::uint32_t>(std::popcount(share.gpu_mask))});
    }
    // A job that spilled over is another cluster's there; on nothing it stays where it was.
    const ClusterId& cluster = run.shares.empty()
                                   ? original.cluster
                                   : world.cluster_of_machine[run.shares.front().machine];
    Holding holding(cluster, WorkloadId(job.name), *held, std::move(placement));
    const std::uint32_t attempt = attempts[run.job]++;
    holding.attempt =
        attempt == 0 ? original.attempt : fmt::format("{}~{}", original.attempt, attempt);
    holding.device =
        job.request.gpu_milli > 0 ? portable(original.device, job.request) : Device{WholeGpu{}};
    if (slices[run.job]) {
      holding.device = CardFraction{slices[run.job]->compute, slices[run.job]->memory};
    }
    holding.cpu_milli = original.cpu_milli;
    holding.memory_bytes = original.memory_bytes;
    holding.labels = original.labels;
    holding.id = numbered(original.id.hash, holdings.size() + 1);
    holdings.push_back(std::move(holding));
  }
  return holdings;
}

}  // namespace pennyweight::what_if
