#include "ingest/inventory/gpus.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "core/gpu/gpu_model.h"
#include "core/limits.h"
#include "ingest/inventory/fact_table.h"
#include "ingest/inventory/lists.h"

namespace pennyweight::inventory {
namespace {

constexpr std::string_view kGpuRequired[] = {"node", "uuid", "from"};
constexpr std::string_view kGpuOptional[] = {"cluster",    "index", "model",
                                             "memory_mib", "mig",   "to"};
constexpr csv::Columns kGpuColumns{
    .required = kGpuRequired, .optional = kGpuOptional, .open_prefix = {}};

constexpr std::size_t kInstancesMax = 64;  // MIG has 7 GPU instances, of 7 compute instances each

std::vector<MigInstance> instances_of(csv::Cells& cells) {
  std::vector<MigInstance> instances;
  std::set<std::string_view> seen;
  for (const std::string_view part : split_list(cells.text("mig"))) {
    const auto [uuid, profile] = split_pair(part);
    if (uuid.empty() || profile.empty()) {
      cells.refuse("mig", fmt::format("'{}' is not UUID=profile; write MIG-1=3g.20gb;MIG-2=1g.5gb",
                                      part.substr(0, 80)));
      return {};
    }
    if (!seen.insert(uuid).second) {
      cells.refuse("mig", fmt::format("instance '{}' appears twice", uuid.substr(0, 80)));
      return {};
    }
    if (instances.size() == kInstancesMax) {
      cells.refuse("mig", fmt::format("more than {} instances on one GPU", kInstancesMax));
      return {};
    }
    if (uuid.size() > limits::kIdBytesMax || profile.size() > limits::kIdBytesMax) {
      cells.refuse("mig", fmt::format("a name of more than {} bytes", limits::kIdBytesMax));
      return {};
    }
    instances.push_back({GpuId(std::string(uuid)), std::string(profile)});
  }
  return instances;
}

// A layout that the GPU does not allow is a mistake that is easiest to correct in the table.
void check_layout(csv::Cells& cells, std::string_view model_name,
                  std::span<const MigInstance> instances) {
  const GpuModel* const model = find_gpu_model(model_name);
  if (model == nullptr) return;
  MigShare taken;
  for (const MigInstance& instance : instances) {
    const auto share = find_mig_share(*model, instance.profile);
    if (!share) return cells.refuse("mig", share.error().message);
    taken.compute += share->compute;
    taken.memory += share->memory;
  }
  if (taken.compute > CardShare::whole() || taken.memory > CardShare::whole()) {
    cells.refuse("mig",
                 fmt::format("the instances take more than a card of model {} has", model->name));
  }
}

std::optional<Gpu> read_gpu(const csv::Header&, csv::Cells& cells, const TableOptions& options) {
  const Instant from = cells.instant("from");
  const auto index = cells.optional_count("index", limits::kGpusPerNodeMax - 1);
  Gpu gpu{.cluster = read_cluster(cells, options.cluster),
          .node = NodeId(std::string(cells.name("node"))),
          .uuid = GpuId(std::string(cells.name("uuid"))),
          .index = static_cast<std::uint32_t>(index.value_or(0)),
          .model = std::string(cells.optional_name("model")),
          .memory_bytes = cells.optional_nearest("memory_mib", 1u << 20),
          .mig_instances = instances_of(cells),
          .from = from,
          .to = read_end(cells, from),
          .id = {},
          .source = {}};
  check_layout(cells, gpu.model, gpu.mig_instances);
  return gpu;
}

}  // namespace

class GpuReader::Table final : public FactTable<Gpu> {
  using FactTable::FactTable;
};

GpuReader::GpuReader(const TableOptions& options, FactSink<Gpu> gpus,
                     FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(
          options.file, kGpuColumns,
          [options](const csv::Header& header, csv::Cells& cells) {
            return read_gpu(header, cells, options);
          },
          std::move(gpus), std::move(rejected))) {}
GpuReader::~GpuReader() = default;
Result<void> GpuReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> GpuReader::finish() { return table_->finish(); }
const TableCounts& GpuReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::inventory
