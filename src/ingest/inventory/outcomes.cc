#include "ingest/inventory/outcomes.h"

#include <string>
#include <utility>

#include "ingest/inventory/fact_table.h"
#include "ledger/host_usage.h"
#include "ledger/job_without_time.h"

namespace pennyweight::inventory {
namespace {

constexpr std::string_view kOutcomeRequired[] = {"workload", "measure", "begin", "end", "count"};
constexpr std::string_view kOutcomeOptional[] = {"cluster", "model", "user", "client"};
constexpr std::string_view kOutcomeLabels[] = {"model", "user", "client"};
constexpr std::string_view kOutcomeLabelPrefix = "label:";
constexpr csv::Columns kOutcomeColumns{
    .required = kOutcomeRequired, .optional = kOutcomeOptional, .open_prefix = kOutcomeLabelPrefix};

void set_outcome_label(csv::Cells& cells, Labels& labels, std::string_view column,
                       std::string_view key) {
  if (!cells.has(column) || cells.refusal()) return;
  const std::string_view value = cells.text(column);
  if (value.empty()) return;  // the counter does not say
  if (labels.find(key)) {
    return cells.refuse(column, "gives a label that another column gives; keep one of the two");
  }
  if (const auto set = labels.set(key, value); !set) cells.refuse(column, set.error().message);
}

Labels read_outcome_labels(const csv::Header& header, csv::Cells& cells) {
  Labels labels;
  for (const std::string_view key : kOutcomeLabels) set_outcome_label(cells, labels, key, key);
  for (const std::string& column : header.names()) {
    if (!column.starts_with(kOutcomeLabelPrefix)) continue;
    set_outcome_label(cells, labels, column,
                      std::string_view(column).substr(kOutcomeLabelPrefix.size()));
  }
  return labels;
}

std::optional<Outcome> read_outcome(const csv::Header& header, csv::Cells& cells,
                                    const TableOptions& options) {
  ClusterId cluster = read_cluster(cells, options.cluster);
  WorkloadId workload{std::string(cells.name("workload"))};
  std::string measure(cells.name("measure"));
  if (is_measure_of_jobs_without_time(measure)) {
    cells.refuse("measure", "it is kept for jobs that a scheduler's records count; name another");
  }
  const bool is_of_host = is_measure_of_host_usage(measure);
  const std::uint64_t count = cells.count("count", kOutcomeCountMax);
  Labels labels = read_outcome_labels(header, cells);
  const auto span = read_interval(cells);
  if (is_of_host && span && span->end() - span->begin() > kHostUsageMax) {
    cells.refuse("end",
                 "what a workload used of its hosts is told day by day, or in shorter times");
  }
  if (cells.refusal()) return std::nullopt;
  Outcome outcome(std::move(cluster), std::move(workload), std::move(measure), *span, count);
  outcome.labels = std::move(labels);
  return outcome;
}

}  // namespace

class OutcomeReader::Table final : public FactTable<Outcome> {
  using FactTable::FactTable;
};

OutcomeReader::OutcomeReader(const TableOptions& options, FactSink<Outcome> outcomes,
                             FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(
          options.file, kOutcomeColumns,
          [options](const csv::Header& header, csv::Cells& cells) {
            return read_outcome(header, cells, options);
          },
          std::move(outcomes), std::move(rejected))) {}
OutcomeReader::~OutcomeReader() = default;
Result<void> OutcomeReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> OutcomeReader::finish() { return table_->finish(); }
const TableCounts& OutcomeReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::inventory
