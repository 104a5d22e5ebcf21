#include "ingest/inventory/nodes.h"

#include <fmt/format.h>

#include <utility>

#include "core/limits.h"
#include "ingest/inventory/fact_table.h"

namespace pennyweight::inventory {
namespace {

constexpr std::string_view kNodeRequired[] = {"node", "from"};
constexpr std::string_view kNodeOptional[] = {
    "cluster",      "provider_id",      "instance_type", "region",     "pool",
    "gpu_model",    "gpu_count",        "shard_count",   "mps_count",  "sharing",
    "gpu_replicas", "replicas_renamed", "vcpu",          "memory_gib", "to"};
constexpr csv::Columns kNodeColumns{
    .required = kNodeRequired, .optional = kNodeOptional, .open_prefix = {}};

constexpr std::uint64_t kShardsMax = 1'000'000;
constexpr std::uint64_t kReplicasMax = 1000;

// How the node's GPUs are shared by replicas: either all of it is stated, or nothing.
void read_sharing(csv::Cells& cells, Node& node) {
  if (const std::string_view text = cells.text("sharing"); !text.empty()) {
    const auto sharing = parse_gpu_sharing(text);
    if (!sharing) {
      return cells.refuse(
          "sharing", fmt::format("'{}' is not a way of sharing; write none, time-slicing or mps",
                                 text.substr(0, 60)));
    }
    node.sharing = *sharing;
  }
  const auto replicas = cells.optional_count("gpu_replicas", kReplicasMax);
  node.gpu_replicas = static_cast<std::uint32_t>(replicas.value_or(0));
  node.replicas_renamed = read_flag(cells, "replicas_renamed");
  const bool is_shared = node.sharing != GpuSharing::kNone;
  if (is_shared && node.gpu_replicas == 0) {
    cells.refuse("gpu_replicas", "the GPUs are shared, and how many replicas of each is not said");
  }
  if (!is_shared && node.gpu_replicas > 0) {
    cells.refuse("sharing",
                 "replicas of GPUs, and how they are shared is not said; write "
                 "time-slicing or mps");
  }
  if (!is_shared && node.replicas_renamed) {
    cells.refuse("replicas_renamed", "no replicas are there that could be renamed");
  }
  if (is_shared && node.gpu_count == 0) {
    cells.refuse("gpu_count", "a node without GPUs shares none; fill it in, or empty `sharing`");
  }
}

std::optional<Node> read_node(const csv::Header&, csv::Cells& cells, const TableOptions& options) {
  const Instant from = cells.instant("from");
  const std::string model(cells.optional_name("gpu_model"));
  const auto gpus = cells.optional_count("gpu_count", limits::kGpusPerNodeMax);
  const auto shards = cells.optional_count("shard_count", kShardsMax);
  const auto mps = cells.optional_count("mps_count", kShardsMax);
  Node node{.cluster = read_cluster(cells, options.cluster),
            .name = NodeId(std::string(cells.name("node"))),
            .provider_id = std::string(cells.optional_name("provider_id")),
            .instance_type = std::string(cells.optional_name("instance_type")),
            .region = std::string(cells.optional_name("region")),
            .pool = PoolId(std::string(cells.optional_name("pool"))),
            .gpu_model = model,
            .gpu_count = static_cast<std::uint32_t>(gpus.value_or(0)),
            .shard_count = static_cast<std::uint32_t>(shards.value_or(0)),
            .mps_count = static_cast<std::uint32_t>(mps.value_or(0)),
            .cpu_milli = cells.optional_scaled("vcpu", 1000),
            .memory_bytes = cells.optional_nearest("memory_gib", 1u << 30),
            .from = from,
            .to = read_end(cells, from),
            .id = {},
            .source = {}};
  if (node.gpu_count > 0 && model.empty()) {
    cells.refuse("gpu_model", fmt::format("{} GPUs of no model; name it", node.gpu_count));
  }
  if (node.gpu_count == 0 && !model.empty()) {
    cells.refuse("gpu_count",
                 fmt::format("how many GPUs of model '{}' the node has is not said", model));
  }
  if (node.shard_count > 0 && node.gpu_count == 0) {
    cells.refuse("shard_count",
                 "shards of a node that has no GPU; fill in gpu_count, or leave it "
                 "empty");
  }
  if (node.mps_count > 0 && node.gpu_count == 0) {
    cells.refuse("mps_count",
                 "units of MPS of a node that has no GPU; fill in gpu_count, or leave it empty");
  }
  read_sharing(cells, node);
  return node;
}

}  // namespace

class NodeReader::Table final : public FactTable<Node> {
  using FactTable::FactTable;
};

NodeReader::NodeReader(const TableOptions& options, FactSink<Node> nodes,
                       FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(
          options.file, kNodeColumns,
          [options](const csv::Header& header, csv::Cells& cells) {
            return read_node(header, cells, options);
          },
          std::move(nodes), std::move(rejected))) {}
NodeReader::~NodeReader() = default;
Result<void> NodeReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> NodeReader::finish() { return table_->finish(); }
const TableCounts& NodeReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::inventory
