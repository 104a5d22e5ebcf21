#include "app/reading.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "app/file.h"
#include "core/check.h"
#include "core/limits.h"
#include "ingest/aws/aws_bill.h"
#include "ingest/azure/azure_bill.h"
#include "ingest/bill/csv_import.h"
#include "ingest/bill/parquet_import.h"
#include "ingest/dcgm/dcgm.h"
#include "ingest/gcp/gcp_bill.h"
#include "ingest/gcp/json_import.h"
#include "ingest/inventory/corrections.h"
#include "ingest/inventory/gpus.h"
#include "ingest/inventory/holdings.h"
#include "ingest/inventory/nodes.h"
#include "ingest/inventory/outages.h"
#include "ingest/inventory/outcomes.h"
#include "ingest/inventory/usage.h"
#include "ingest/nvidia_smi/nvidia_smi.h"
#include "ingest/oci/oci_bill.h"
#include "ingest/openb/nodes.h"
#include "ingest/openb/pods.h"
#include "ingest/rated/any_focus.h"
#include "ingest/rated/json_import.h"
#include "ingest/rated/runpod.h"
#include "ingest/slurm/sacct_json.h"
#include "ingest/slurm/sacct_text.h"
#include "ingest/slurm/scontrol_nodes.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

void remark(std::vector<std::string>& remarks, std::uint64_t count, std::string_view what) {
  if (count == 0) return;
  remarks.push_back(fmt::format("{} {}", format_count(count, Thousands::kSeparated), what));
}

void remark_on(const slurm::SacctCounts& counts, std::vector<std::string>& remarks) {
  remark(remarks, counts.running, "jobs were still running");
  remark(remarks, counts.pending, "jobs were pending and held nothing");
  remark(remarks, counts.never_started, "jobs ended before they began");
  remark(remarks, counts.zero_length, "jobs ended in the second in which they began");
  remark(remarks, counts.ambiguous,
         "jobs fit two lengths at the end of summer time; the shorter was taken");
}

void remark_on(const bill::ImportSummary& summary, std::vector<std::string>& remarks) {
  remarks.push_back(summary.kind);
  for (const auto& [reason, count] : summary.passed_over) {
    remark(remarks, count, "rows were passed over: " + reason);
  }
  remark(remarks, summary.rounded_numbers, "numbers had digits beyond the 18th and were rounded");
  remark(remarks, summary.unread_json, "values of JSON columns were kept as text");
  remarks.insert(remarks.end(), summary.warnings.begin(), summary.warnings.end());
}

void remark_on(const openb::PodCounts& counts, std::vector<std::string>& remarks) {
  remark(remarks, counts.never_scheduled, "pods were never scheduled and held nothing");
  remark(remarks, counts.without_time, "pods were deleted in the second of their scheduling");
}

void remark_on(const dcgm::Counts& counts, std::vector<std::string>& remarks) {
  remark(remarks, counts.blank, "samples were blank");
  remark(remarks, counts.shared_devices, "devices were shared by several workloads");
  remark(remarks, counts.exporter_nodes,
         "GPUs name the exporter's pod as node; --node says better");
}

template <class Fact>
FactSink<Fact> into(SessionSink& sink, Result<void> (SessionSink::*take)(std::span<const Fact>)) {
  return [&sink, take](std::span<const Fact> facts) { return (sink.*take)(facts); };
}

FactSink<RejectedRow> rejected_into(SessionSink& sink) {
  return [&sink](std::span<const RejectedRow> rows) { return sink.rejected(rows); };
}

// A reader with feed() and finish() that leaves nothing to say.
template <class Reader>
Reading streamed(const std::shared_ptr<Reader>& reader) {
  return {[reader](std::string_view chunk) { return reader->feed(chunk); },
          [reader] { return reader->finish(); }};
}

// A format that is read as one document: gathered first.
Reading gathered(std::function<Result<void>(const std::string&)> parse) {
  const auto document = std::make_shared<std::string>();
  return {[document](std::string_view chunk) -> Result<void> {
            if (document->size() + chunk.size() > limits::kDocumentBytesMax) {
              return fail(ErrorCode::kLimit,
                          fmt::format("is larger than {} bytes; export it in pieces",
                                      limits::kDocumentBytesMax));
            }
            document->append(chunk);
            return {};
          },
          [document, parse = std::move(parse)] { return parse(*document); }};
}

slurm::SacctOptions sacct_options(const ReadingInput& input) {
  slurm::SacctOptions options{input.cluster.time_zone, input.file, {}, input.now};
  if (!input.cluster.name.empty()) options.cluster = input.cluster.name;
  options.partitions_are_pools = input.cluster.partitions_are_pools;
  return options;
}

slurm::SacctSink sacct_sink(SessionSink& sink) {
  return {into<Holding>(sink, &SessionSink::holdings), rejected_into(sink)};
}

Reading read_gcp_json(const ReadingInput& input) {
  const auto reader = std::make_shared<gcp::JsonImport>(input.file, input.sink);
  return {[reader](std::string_view chunk) { return reader->feed(chunk); },
          [reader, &remarks = input.remarks]() -> Result<void> {
            const auto summary = reader->finish();
            if (!summary) return std::unexpected(summary.error());
            remark_on(*summary, remarks);
            return {};
          }};
}

std::unique_ptr<bill::BillReader> azure_format(const ReadingInput& input) {
  const std::string& metric = input.options.azure_metric;
  if (metric == "actual") return azure::azure_bill({azure::CostMetric::kActual});
  if (metric == "amortized") return azure::azure_bill({azure::CostMetric::kAmortised});
  if (metric == "purchases") return azure::azure_bill({azure::CostMetric::kActualPurchases});
  return azure::azure_bill({std::nullopt});
}

// A bill as CSV.
Reading read_bill(const ReadingInput& input, std::unique_ptr<bill::BillReader> format) {
  const auto reader = std::make_shared<bill::CsvImport>(input.file, std::move(format), input.sink);
  return {[reader](std::string_view chunk) { return reader->feed(chunk); },
          [reader, &remarks = input.remarks]() -> Result<void> {
            const auto summary = reader->finish();
            if (!summary) return std::unexpected(summary.error());
            remark_on(*summary, remarks);
            return {};
          }};
}

// A bill as records of JSON.
Reading read_json_bill(const ReadingInput& input, std::shared_ptr<bill::BillReader> format) {
  return gathered([file = input.file, format = std::move(format), &sink = input.sink,
                   &remarks = input.remarks](const std::string& document) -> Result<void> {
    const auto summary = rated::import_json(document, file, *format, sink);
    if (!summary) return std::unexpected(summary.error());
    remark_on(*summary, remarks);
    return {};
  });
}

Result<std::unique_ptr<bill::BillReader>> runpod_format(const ReadingInput& input) {
  static const RateCard kNoPrices;
  const auto bucket = rated::parse_bucket_size(input.options.bucket);
  if (!bucket) {
    return fail(ErrorCode::kConfig,
                "RunPod's records do not say how long their time buckets are; give --bucket hour, "
                "day or month, as bucketSize of the query was (RunPod's own default is day)");
  }
  return rated::runpod_bill(input.card == nullptr ? kNoPrices : *input.card,
                            {.bucket = *bucket, .account = {}});
}

Reading read_slurm(const ReadingInput& input) {
  const auto reader =
      std::make_shared<slurm::SacctText>(sacct_options(input), sacct_sink(input.sink));
  return {[reader](std::string_view chunk) { return reader->feed(chunk); },
          [reader, &remarks = input.remarks]() -> Result<void> {
            const auto counts = reader->finish();
            if (!counts) return std::unexpected(counts.error());
            remark_on(*counts, remarks);
            return {};
          }};
}

Reading read_slurm_json(const ReadingInput& input) {
  return gathered([options = sacct_options(input), sink = sacct_sink(input.sink),
                   &remarks = input.remarks](const std::string& document) -> Result<void> {
    const auto counts = slurm::read_sacct_json(document, options, sink);
    if (!counts) return std::unexpected(counts.error());
    remark_on(*counts, remarks);
    return {};
  });
}

Reading read_openb_pods(const ReadingInput& input, Instant origin) {
  const auto reader = std::make_shared<openb::PodReader>(
      openb::PodOptions{input.file, input.cluster.name, origin, input.now},
      into<Holding>(input.sink, &SessionSink::holdings), rejected_into(input.sink));
  return {[reader](std::string_view chunk) { return reader->feed(chunk); },
          [reader, &remarks = input.remarks]() -> Result<void> {
            if (auto done = reader->finish(); !done) return done;
            remark_on(reader->counts(), remarks);
            return {};
          }};
}

Reading read_openb_nodes(const ReadingInput& input, Instant from) {
  return streamed(std::make_shared<openb::NodeReader>(
      openb::NodeOptions{input.file, input.cluster.name, from, input.options.to, {}},
      into<Node>(input.sink, &SessionSink::nodes), rejected_into(input.sink)));
}

// The MIG profiles that the ledger's inventory knows.
Result<inventory::HoldingOptions> holding_options(const ReadingInput& input) {
  const auto gpus = input.store.gpus();
  if (!gpus) return std::unexpected(gpus.error());
  std::map<std::pair<ClusterId, GpuId>, std::string> profiles;
  for (const Gpu& gpu : *gpus) {
    for (const MigInstance& instance : gpu.mig_instances) {
      profiles[{gpu.cluster, instance.id}] = instance.profile;
    }
  }
  return inventory::HoldingOptions{
      input.file, input.cluster.name, input.now,
      [profiles = std::move(profiles)](const ClusterId& cluster,
                                       const GpuId& id) -> std::optional<std::string> {
        const auto profile = profiles.find({cluster, id});
        return profile == profiles.end() ? std::nullopt : std::optional(profile->second);
      }};
}

Reading read_dcgm(const ReadingInput& input) {
  dcgm::Options options{input.file, input.cluster.name, input.now, {}};
  if (!input.options.node.empty()) options.node = NodeId(input.options.node);
  return gathered([options, &sink = input.sink,
                   &remarks = input.remarks](const std::string& text) -> Result<void> {
    const auto document = dcgm::parse(text, options);
    if (!document) return std::unexpected(document.error());
    if (auto done = sink.gpus(document->gpus); !done) return done;
    if (auto done = sink.usages(document->usages); !done) return done;
    if (auto done = sink.rejected(document->rejected); !done) return done;
    remark_on(document->counts, remarks);
    return {};
  });
}

// nvidia-smi tells neither the cluster nor the node.
Reading read_nvidia_smi(const ReadingInput& input) {
  const nvidia_smi::Options options{input.file, input.cluster.name, NodeId(input.options.node),
                                    input.cluster.time_zone, input.now};
  return gathered([options, &sink = input.sink](const std::string& text) -> Result<void> {
    const auto document = nvidia_smi::parse(text, options);
    if (!document) return std::unexpected(document.error());
    if (auto done = sink.gpus(document->gpus); !done) return done;
    if (auto done = sink.usages(document->usages); !done) return done;
    return sink.rejected(document->rejected);
  });
}

Reading read_scontrol(const ReadingInput& input, Instant from) {
  const slurm::ScontrolOptions options{input.cluster.name, from, input.file,
                                       input.cluster.partitions_are_pools};
  return gathered([options, &sink = input.sink,
                   &remarks = input.remarks](const std::string& text) -> Result<void> {
    const auto nodes = slurm::parse_scontrol_nodes(text, options);
    if (!nodes) return std::unexpected(nodes.error());
    remark(remarks, nodes->future, "nodes are in state FUTURE and were passed over");
    if (auto done = sink.nodes(nodes->nodes); !done) return done;
    return sink.rejected(nodes->rejected);
  });
}

// DuckDB reads the file by its name, so its bytes are not fed but passed over.
Reading read_parquet(const ReadingInput& input, std::shared_ptr<bill::BillReader> format) {
  return {[](std::string_view) -> Result<void> { return {}; },
          [file = input.file, format = std::move(format), &sink = input.sink,
           &remarks = input.remarks]() -> Result<void> {
            const auto summary = bill::import_parquet(file, *format, sink);
            if (!summary) return std::unexpected(summary.error());
            remark_on(*summary, remarks);
            return {};
          }};
}

Result<void> need_cluster(InputFormat format, const ReadingInput& input) {
  if (!input.cluster.name.empty()) return {};
  return fail(ErrorCode::kConfig,
              fmt::format("{} do not say of which cluster they are; give --cluster NAME",
                          description_of(format)));
}

Result<Instant> need_origin(const std::optional<Instant>& given, const ReadingInput& input,
                            std::string_view option) {
  if (given) return *given;
  if (input.cluster.origin) return *input.cluster.origin;
  return fail(ErrorCode::kConfig,
              fmt::format("the trace counts seconds from a start that it does not tell; give {} "
                          "2023-01-01, or the cluster's origin in the configuration",
                          option));
}

// A Slurm record in a Kubernetes cluster is a slip of --cluster.
Result<void> check_kind(InputFormat format, const ClusterConfig& cluster) {
  const bool is_slurm = format == InputFormat::kSlurm || format == InputFormat::kSlurmJson ||
                        format == InputFormat::kScontrol;
  const bool is_kubernetes =
      format == InputFormat::kOpenbPods || format == InputFormat::kOpenbNodes;
  const bool fits = cluster.kind == ClusterKind::kUnknown ||
                    (cluster.kind == ClusterKind::kSlurm && !is_kubernetes) ||
                    (cluster.kind == ClusterKind::kKubernetes && !is_slurm);
  if (fits) return {};
  return fail(
      ErrorCode::kConfig,
      fmt::format("these are {}, and the cluster '{}' is configured as {}", description_of(format),
                  cluster.name.text(), is_slurm ? "kubernetes" : "slurm"));
}

}  // namespace

Result<Reading> begin_reading(InputFormat format, const ReadingInput& input) {
  if (auto fits = check_kind(format, input.cluster); !fits) return std::unexpected(fits.error());
  const inventory::Options table{input.file, input.cluster.name};
  switch (format) {
    case InputFormat::kFocus:
      return read_bill(input, rated::any_focus_bill(input.card));
    case InputFormat::kFocusJson:
      return read_json_bill(input, rated::any_focus_bill(input.card));
    case InputFormat::kRunpod: {
      auto bill = runpod_format(input);
      if (!bill) return std::unexpected(bill.error());
      return read_bill(input, std::move(*bill));
    }
    case InputFormat::kRunpodJson: {
      auto bill = runpod_format(input);
      if (!bill) return std::unexpected(bill.error());
      return read_json_bill(input, std::move(*bill));
    }
    case InputFormat::kAws:
      return read_bill(input, aws::aws_bill({}));
    case InputFormat::kAwsParquet:
      return read_parquet(input, aws::aws_bill({}));
    case InputFormat::kOci:
      return read_bill(input, oci::oci_bill());
    case InputFormat::kAzure:
      return read_bill(input, azure_format(input));
    case InputFormat::kAzureParquet:
      return read_parquet(input, azure_format(input));
    case InputFormat::kGcp:
      return read_bill(input, gcp::gcp_bill());
    case InputFormat::kGcpParquet:
      return read_parquet(input, gcp::gcp_bill());
    case InputFormat::kGcpJson:
      return read_gcp_json(input);
    case InputFormat::kSlurm:
      return read_slurm(input);
    case InputFormat::kSlurmJson:
      return read_slurm_json(input);
    case InputFormat::kNodes:
      return streamed(std::make_shared<inventory::NodeReader>(
          table, into<Node>(input.sink, &SessionSink::nodes), rejected_into(input.sink)));
    case InputFormat::kGpus:
      return streamed(std::make_shared<inventory::GpuReader>(
          table, into<Gpu>(input.sink, &SessionSink::gpus), rejected_into(input.sink)));
    case InputFormat::kHoldings: {
      const auto options = holding_options(input);
      if (!options) return std::unexpected(options.error());
      return streamed(std::make_shared<inventory::HoldingReader>(
          *options, into<Holding>(input.sink, &SessionSink::holdings), rejected_into(input.sink)));
    }
    case InputFormat::kUsage:
      return streamed(std::make_shared<inventory::UsageReader>(
          table, into<Usage>(input.sink, &SessionSink::usages), rejected_into(input.sink)));
    case InputFormat::kOutages:
      return streamed(std::make_shared<inventory::OutageReader>(
          table, into<Outage>(input.sink, &SessionSink::outages), rejected_into(input.sink)));
    case InputFormat::kCorrections:
      return streamed(std::make_shared<inventory::CorrectionReader>(
          table, into<Correction>(input.sink, &SessionSink::corrections),
          rejected_into(input.sink)));
    case InputFormat::kOutcomes:
      return streamed(std::make_shared<inventory::OutcomeReader>(
          table, into<Outcome>(input.sink, &SessionSink::outcomes), rejected_into(input.sink)));
    case InputFormat::kOpenbPods: {
      if (auto named = need_cluster(format, input); !named) return std::unexpected(named.error());
      const auto origin = need_origin(input.options.origin, input, "--origin");
      if (!origin) return std::unexpected(origin.error());
      return read_openb_pods(input, *origin);
    }
    case InputFormat::kOpenbNodes: {
      if (auto named = need_cluster(format, input); !named) return std::unexpected(named.error());
      const auto from = need_origin(input.options.from ? input.options.from : input.options.origin,
                                    input, "--from");
      if (!from) return std::unexpected(from.error());
      return read_openb_nodes(input, *from);
    }
    case InputFormat::kDcgm:
      if (auto named = need_cluster(format, input); !named) return std::unexpected(named.error());
      return read_dcgm(input);
    case InputFormat::kNvidiaSmi:
      if (auto named = need_cluster(format, input); !named) return std::unexpected(named.error());
      if (input.options.node.empty()) {
        return fail(ErrorCode::kConfig,
                    "nvidia-smi does not say on which node it ran; give --node NAME");
      }
      return read_nvidia_smi(input);
    case InputFormat::kScontrol: {
      if (auto named = need_cluster(format, input); !named) return std::unexpected(named.error());
      if (!input.options.from) {
        return fail(ErrorCode::kConfig,
                    "scontrol does not say since when its nodes are there; give --from 2026-03-01");
      }
      return read_scontrol(input, *input.options.from);
    }
    case InputFormat::kFocusParquet:
      if (input.file == kStandardInput) {
        return fail(ErrorCode::kConfig,
                    "Parquet is read by its file's name, not from standard input");
      }
      return read_parquet(input, rated::any_focus_bill(input.card));
  }
  CHECK(false, "every format has a reader");
  return Reading{};
}

}  // namespace pennyweight
