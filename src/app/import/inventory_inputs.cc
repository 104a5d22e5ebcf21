// Our own CSV tables as input formats: inventories, holdings, usage, outages, corrections,
// outcomes.
#include <map>
#include <memory>
#include <utility>

#include "app/import/detect_format.h"
#include "app/import/format_lists.h"
#include "app/import/parser_tools.h"
#include "core/try.h"
#include "ingest/inventory/corrections.h"
#include "ingest/inventory/gpus.h"
#include "ingest/inventory/holdings.h"
#include "ingest/inventory/nodes.h"
#include "ingest/inventory/outages.h"
#include "ingest/inventory/outcomes.h"
#include "ingest/inventory/usage.h"

namespace pennyweight {
namespace {

// A parser of a table whose reader needs nothing but the file's name and cluster.
template <class Reader, class Fact, Result<void> (SessionSink::*append)(std::span<const Fact>)>
Result<FileParser> open_table(const InputFormat&, const ParserInput& input) {
  return stream_parser(
      std::make_shared<Reader>(inventory::TableOptions{input.file, input.cluster.name},
                               facts_into<Fact>(input.sink, append), rejected_into(input.sink)));
}

// Holdings may name a MIG instance without its profile; the ledger's inventory has it.
Result<FileParser> open_holdings(const InputFormat&, const ParserInput& input) {
  const auto gpus = TRY(input.store.gpus());
  std::map<std::pair<ClusterId, GpuId>, std::string> profiles;
  for (const Gpu& gpu : gpus) {
    for (const MigInstance& instance : gpu.mig_instances) {
      profiles[{gpu.cluster, instance.id}] = instance.profile;
    }
  }
  const inventory::HoldingOptions options{
      input.file, input.cluster.name, input.now,
      [profiles = std::move(profiles)](const ClusterId& cluster,
                                       const GpuId& id) -> std::optional<std::string> {
        const auto profile = profiles.find({cluster, id});
        return profile == profiles.end() ? std::nullopt : std::optional(profile->second);
      }};
  return stream_parser(std::make_shared<inventory::HoldingReader>(
      options, facts_into<Holding>(input.sink, &SessionSink::holdings), rejected_into(input.sink)));
}

// Two columns that no table before it in the list has both of.
template <const char* first, const char* second>
bool has_both(const InputFormat&, const FileStart& start) {
  return start.has_column(first) && start.has_column(second);
}

constexpr char kAmount[] = "amount", kAt[] = "at", kBegin[] = "begin", kCount[] = "count",
               kFrom[] = "from", kGpuColumn[] = "gpu", kMeasure[] = "measure",
               kNodeColumn[] = "node", kUuid[] = "uuid", kWorkload[] = "workload";

}  // namespace

std::vector<InputFormat> inventory_inputs() {
  return {
      {.name = "outcomes",
       .description = "outcomes (CSV)",
       .matches = has_both<kMeasure, kCount>,
       .open = open_table<inventory::OutcomeReader, Outcome, &SessionSink::outcomes>},
      {.name = "holdings",
       .description = "holdings (CSV)",
       .matches = has_both<kWorkload, kBegin>,
       .open = open_holdings},
      {.name = "corrections",
       .description = "corrections (CSV)",
       .matches = has_both<kAmount, kBegin>,
       .open = open_table<inventory::CorrectionReader, Correction, &SessionSink::corrections>},
      {.name = "usage",
       .description = "usage of GPUs (CSV)",
       .matches = has_both<kGpuColumn, kAt>,
       .open = open_table<inventory::UsageReader, Usage, &SessionSink::usages>},
      {.name = "outages",
       .description = "outages (CSV)",
       .matches = has_both<kNodeColumn, kBegin>,
       .open = open_table<inventory::OutageReader, Outage, &SessionSink::outages>},
      {.name = "gpus",
       .description = "an inventory of GPUs (CSV)",
       .matches = has_both<kNodeColumn, kUuid>,
       .open = open_table<inventory::GpuReader, Gpu, &SessionSink::gpus>},
      {.name = "nodes",
       .description = "an inventory of nodes (CSV)",
       .matches = has_both<kNodeColumn, kFrom>,
       .open = open_table<inventory::NodeReader, Node, &SessionSink::nodes>},
  };
}

}  // namespace pennyweight
