#include "ingest/inventory/outages.h"

#include <utility>

#include "ingest/inventory/fact_table.h"

namespace pennyweight::inventory {
namespace {

constexpr std::string_view kOutageRequired[] = {"node", "begin", "end"};
constexpr std::string_view kOutageOptional[] = {"cluster", "gpu", "reason"};
constexpr csv::Columns kOutageColumns{
    .required = kOutageRequired, .optional = kOutageOptional, .open_prefix = {}};

std::optional<Outage> read_outage(const csv::Header&, csv::Cells& cells,
                                  const TableOptions& options) {
  ClusterId cluster = read_cluster(cells, options.cluster);
  NodeId node{std::string(cells.name("node"))};
  GpuId gpu{std::string(cells.optional_name("gpu"))};
  const std::string_view reason = cells.optional_name("reason");
  const auto span = read_interval(cells);
  if (cells.refusal()) return std::nullopt;
  Outage outage(std::move(cluster), std::move(node), *span);
  outage.gpu = std::move(gpu);
  outage.reason = reason;
  return outage;
}

}  // namespace

class OutageReader::Table final : public FactTable<Outage> {
  using FactTable::FactTable;
};

OutageReader::OutageReader(const TableOptions& options, FactSink<Outage> outages,
                           FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(
          options.file, kOutageColumns,
          [options](const csv::Header& header, csv::Cells& cells) {
            return read_outage(header, cells, options);
          },
          std::move(outages), std::move(rejected))) {}
OutageReader::~OutageReader() = default;
Result<void> OutageReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> OutageReader::finish() { return table_->finish(); }
const TableCounts& OutageReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::inventory
