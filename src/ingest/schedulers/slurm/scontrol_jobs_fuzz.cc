// Any text is read or refused; what is read is running, within the limits, and can be kept.
#include "core/check.h"
#include "core/limits.h"
#include "ingest/schedulers/slurm/scontrol_jobs.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight;
  const slurm::SacctOptions options{.zone = *TimeZone::parse("Europe/Berlin"),
                                    .file = "fuzz",
                                    .cluster = ClusterId("c"),
                                    .now = {},
                                    .partitions_are_pools = size % 2 == 1};
  const auto jobs = slurm::parse_scontrol_jobs(
      {reinterpret_cast<const char*>(data), size}, options, *parse_instant("2030-01-01"),
      [](const NodeId& node, std::uint32_t index) -> std::optional<GpuId> {
        if (index == 7) return std::nullopt;
        return GpuId(node.text() + "/" + std::to_string(index));
      });
  if (!jobs) return 0;
  std::uint64_t on_gpus = 0;
  for (const Holding& holding : jobs->holdings) {
    CHECK(!holding.ended, "all of them run");
    CHECK(device_count(holding) <= limits::kGpusPerHoldingMax, "devices are limited");
    CHECK(parse_placement(to_text(holding.placement)) == holding.placement, "it can be kept");
    on_gpus += std::holds_alternative<OnGpus>(holding.placement) ? 1 : 0;
  }
  CHECK(on_gpus == jobs->on_gpus && jobs->running <= jobs->holdings.size(), "counts add up");
  for (const RejectedRow& row : jobs->rejected) {
    CHECK(!row.reason.empty() && row.line > 0, "a rejected row says why and where");
  }
  return 0;
}
