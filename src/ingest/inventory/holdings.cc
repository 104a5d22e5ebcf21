#include "ingest/inventory/holdings.h"

#include <fmt/format.h>

#include <utility>

#include "ingest/inventory/fact_table.h"
#include "ingest/inventory/holding_request.h"

namespace pennyweight::inventory {
namespace {

constexpr std::string_view kHoldingRequired[] = {"workload", "begin"};
constexpr std::string_view kHoldingLabels[] = {
    "team", "project", "user", "account", "namespace", "client", "model", "environment", "job"};
constexpr std::string_view kHoldingOptional[] = {"cluster",
                                                 "attempt",
                                                 "end",
                                                 "node",
                                                 "gpu",
                                                 "mig",
                                                 "pool",
                                                 "devices",
                                                 "profile",
                                                 "fraction",
                                                 "compute_fraction",
                                                 "memory_fraction",
                                                 "device",
                                                 "gpu_model",
                                                 "vcpu",
                                                 "memory_gib",
                                                 "claim",
                                                 "gpu_group",
                                                 "reservation",
                                                 "team",
                                                 "project",
                                                 "user",
                                                 "account",
                                                 "namespace",
                                                 "client",
                                                 "model",
                                                 "environment",
                                                 "job"};
constexpr std::string_view kHoldingLabelPrefix = "label:";
constexpr csv::Columns kHoldingColumns{
    .required = kHoldingRequired, .optional = kHoldingOptional, .open_prefix = kHoldingLabelPrefix};

void set_holding_label(csv::Cells& cells, Labels& labels, std::string_view column,
                       std::string_view key) {
  if (!cells.has(column)) return;
  if (const auto set = labels.set(key, cells.text(column)); !set) {
    cells.refuse(column, set.error().message);
  }
}

Labels read_holding_labels(const csv::Header& header, csv::Cells& cells) {
  Labels labels;
  for (const std::string_view key : kHoldingLabels) set_holding_label(cells, labels, key, key);
  for (const std::string& column : header.names()) {
    if (!column.starts_with(kHoldingLabelPrefix)) continue;
    const std::string_view key = std::string_view(column).substr(kHoldingLabelPrefix.size());
    if (labels.find(key) && cells.has(column)) {
      cells.refuse(column,
                   fmt::format("column '{}' gives the same label; keep one of the two", key));
    }
    set_holding_label(cells, labels, column, key);
  }
  return labels;
}

// From begin to end, or to now while it still runs.
std::optional<Interval> read_held_interval(csv::Cells& cells, const HoldingOptions& options) {
  const Instant begin = cells.instant("begin");
  const auto end = cells.optional_instant("end");
  if (cells.refusal()) return std::nullopt;
  if (begin >= options.read_at) {
    cells.refuse("begin", fmt::format("{} lies in the future; a holding records what was held",
                                      to_text(begin)));
    return std::nullopt;
  }
  if (end && *end > options.read_at) {
    cells.refuse("end", fmt::format("{} lies in the future; leave it empty while the workload runs",
                                    to_text(*end)));
    return std::nullopt;
  }
  const auto held = Interval::of(begin, end.value_or(options.read_at));
  if (!held) {
    cells.refuse(
        "end", fmt::format("ends at {}, not after it begins at {}", to_text(*end), to_text(begin)));
  }
  return held;
}

std::optional<Holding> read_holding(const csv::Header& header, csv::Cells& cells,
                                    const HoldingOptions& options) {
  ClusterId cluster = read_cluster(cells, options.cluster);
  WorkloadId workload{std::string(cells.name("workload"))};
  const auto held = read_held_interval(cells, options);
  HoldingRequest request = read_request(cells, cluster, options);
  Labels labels = read_holding_labels(header, cells);
  const auto cpu_milli = cells.optional_scaled("vcpu", 1000);
  const auto memory_bytes = cells.optional_nearest("memory_gib", 1u << 30);
  const std::string_view attempt = cells.optional_name("attempt");
  const std::string_view gpu_model = cells.optional_name("gpu_model");
  const std::string_view claim = cells.optional_name("claim");
  const std::string_view gpu_group = cells.optional_name("gpu_group");
  const bool is_reservation = read_flag(cells, "reservation");
  if (is_reservation && gpu_group.empty()) {
    cells.refuse("gpu_group", "a reservation holds a card for a group; name the group");
  }
  if (cells.refusal()) return std::nullopt;

  Holding holding(std::move(cluster), std::move(workload), *held, std::move(request.placement));
  holding.attempt = attempt;
  holding.ended = cells.has("end");
  holding.device = std::move(request.device);
  holding.gpu_model = gpu_model;
  holding.cpu_milli = cpu_milli;
  holding.memory_bytes = memory_bytes;
  holding.claim = claim;
  holding.gpu_group = gpu_group;
  holding.is_reservation = is_reservation;
  holding.labels = std::move(labels);
  return holding;
}

}  // namespace

class HoldingReader::Table final : public FactTable<Holding> {
  using FactTable::FactTable;
};

HoldingReader::HoldingReader(const HoldingOptions& options, FactSink<Holding> holdings,
                             FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(
          options.file, kHoldingColumns,
          [options](const csv::Header& header, csv::Cells& cells) {
            return read_holding(header, cells, options);
          },
          std::move(holdings), std::move(rejected))) {}
HoldingReader::~HoldingReader() = default;
Result<void> HoldingReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> HoldingReader::finish() { return table_->finish(); }
const TableCounts& HoldingReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::inventory
