#include "ingest/inventory/usage.h"

#include <fmt/format.h>

#include <utility>

#include "core/limits.h"
#include "ingest/inventory/fact_table.h"

namespace pennyweight::inventory {
namespace {

constexpr std::string_view kUsageRequired[] = {"node", "gpu", "at"};
constexpr std::string_view kUsageOptional[] = {
    "cluster",     "mig_instance",      "mig_profile",        "model",
    "gpu_util",    "engine_active",     "sm_active",          "tensor_active",
    "dram_active", "memory_used_bytes", "memory_total_bytes", "workload",
    "of_workload"};
constexpr csv::Columns kUsageColumns{
    .required = kUsageRequired, .optional = kUsageOptional, .open_prefix = {}};

constexpr std::uint64_t kPpm = 1'000'000;
constexpr std::uint64_t kMemoryBytesMax = std::uint64_t{1} << 50;

// A share of time in ppm. Some devices report a little more than all of it (DCGM issue #152: an
// SM_ACTIVE of 1.294), which an allocation clamps and counts; twice as much is another unit.
std::optional<std::uint64_t> share_of(csv::Cells& cells, std::string_view column,
                                      std::uint64_t ppm_per_unit, std::string_view scale) {
  const auto ppm = cells.optional_nearest(column, ppm_per_unit);
  if (ppm && *ppm > 2 * kPpm) {
    cells.refuse(column, fmt::format("is far above its scale, {}; convert it", scale));
  }
  return ppm;
}

std::optional<Usage> read_usage(const csv::Header&, csv::Cells& cells,
                                const TableOptions& options) {
  const Instant at = cells.instant("at");
  Usage usage{.cluster = read_cluster(cells, options.cluster),
              .node = NodeId(std::string(cells.name("node"))),
              .gpu = GpuId(std::string(cells.name("gpu"))),
              .mig_instance = std::string(cells.optional_name("mig_instance")),
              .mig_profile = std::string(cells.optional_name("mig_profile")),
              .model = std::string(cells.optional_name("model")),
              .at = at,
              .gpu_util_ppm = share_of(cells, "gpu_util", kPpm / 100, "0 to 100 percent"),
              .engine_active_ppm = share_of(cells, "engine_active", kPpm, "0 to 1"),
              .sm_active_ppm = share_of(cells, "sm_active", kPpm, "0 to 1"),
              .memory_used_bytes = cells.optional_count("memory_used_bytes", kMemoryBytesMax),
              .memory_total_bytes = cells.optional_count("memory_total_bytes", kMemoryBytesMax),
              .power_milliwatts = {},
              .energy_millijoules = {},
              .workload = WorkloadId(std::string(cells.optional_name("workload"))),
              .of_workload = read_flag(cells, "of_workload"),
              .id = {},
              .source = {}};
  usage.tensor_active_ppm = share_of(cells, "tensor_active", kPpm, "0 to 1");
  usage.dram_active_ppm = share_of(cells, "dram_active", kPpm, "0 to 1");
  if (usage.of_workload && usage.workload.empty()) {
    cells.refuse("workload", "values of a workload that is not named; fill it in");
  }
  if (!usage.gpu_util_ppm && !usage.engine_active_ppm && !usage.sm_active_ppm &&
      !usage.memory_used_bytes) {
    cells.refuse("",
                 "no value is there: of gpu_util, engine_active, sm_active and "
                 "memory_used_bytes at least one must be");
  }
  return usage;
}

}  // namespace

class UsageReader::Table final : public FactTable<Usage> {
  using FactTable::FactTable;
};

UsageReader::UsageReader(const TableOptions& options, FactSink<Usage> usages,
                         FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(
          options.file, kUsageColumns,
          [options](const csv::Header& header, csv::Cells& cells) {
            return read_usage(header, cells, options);
          },
          std::move(usages), std::move(rejected))) {}
UsageReader::~UsageReader() = default;
Result<void> UsageReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> UsageReader::finish() { return table_->finish(); }
const TableCounts& UsageReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::inventory
