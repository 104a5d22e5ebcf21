#include "app/cli/trace_ledger.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "app/cli/verb.h"
#include "app/context/price_files.h"
#include "app/import/detect_format.h"
#include "app/import/importer.h"
#include "app/import/parser_tools.h"
#include "app/run/price_month.h"
#include "core/files/disk.h"
#include "core/try.h"
#include "ingest/bills/rated/node_days.h"
#include "ingest/inventory/job_trace.h"
#include "ledger/eligible_time.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::size_t kHeaderBytesMax = 1u << 16;

Result<FileParser> open_job_trace(const InputFormat&, const ParserInput& input) {
  return stream_parser(std::make_shared<inventory::JobTraceReader>(
      inventory::TableOptions{input.file, input.cluster.name},
      facts_into<Holding>(input.sink, &SessionSink::holdings), rejected_into(input.sink)));
}

// Not among input_formats(): what is imported into a ledger says who held which GPUs, and a trace
// doesn't.
const InputFormat& job_trace_format() {
  static const InputFormat format{.name = "job-trace",
                                  .description = "jobs of a trace (CSV)",
                                  .matches = nullptr,
                                  .open = open_job_trace,
                                  .needs_cluster = true};
  return format;
}

bool begins_as_job_trace(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string start(kHeaderBytesMax, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  if (start.starts_with("\xEF\xBB\xBF")) start.erase(0, 3);
  return inventory::is_job_trace(start.substr(0, start.find_first_of("\r\n")));
}

void warn_of_rows_aside(const FileImport& file, const Context& context) {
  for (const RejectedRow& row : file.rejected) {
    const std::string line = row.line == 0 ? "" : fmt::format(":{}", row.line);
    const bool is_named = row.column.empty() || row.reason.starts_with(row.column);
    context.console.warn(fmt::format("{}{}:{} {}", row.file, line,
                                     is_named ? "" : fmt::format(" {}:", row.column), row.reason));
  }
  if (file.outcome.rejected > 0) {
    context.console.warn(fmt::format("{} set aside in all, and not replayed",
                                     counted(file.outcome.rejected, "row")));
  }
  for (const std::string& remark : file.remarks) context.console.say("pennyweight: " + remark);
}

Result<FileImport> import_one(Store& store, const std::string& path, const ImportOptions& options,
                              const Config& config, Context& context) {
  auto imported = TRY(import_file(store, path, options, config, context.console, context.clock));
  warn_of_rows_aside(imported, context);
  return imported;
}

// The month of the first job, and whether jobs say when they were submitted.
struct TraceJobs {
  std::optional<Instant> first;
  bool says_waits = false;
};
Result<TraceJobs> trace_jobs(Store& store, const ClusterId& cluster) {
  TraceJobs jobs;
  TRY(store.scan_holdings(
      cluster, Interval(kInstantMin, kInstantMax), [&](std::span<const Holding> batch) {
        for (const Holding& job : batch) {
          if (!jobs.first || job.held.begin() < *jobs.first) {
            jobs.first = job.held.begin();
          }
          jobs.says_waits = jobs.says_waits || job.labels.find(kSubmitTimeLabel).has_value() ||
                            job.labels.find(kEligibleTimeLabel).has_value();
        }
        return true;
      }));
  return jobs;
}

Result<void> price_by_card(Store& store, const std::string& path, const std::string& month,
                           Context& context) {
  PriceInputs inputs;
  inputs.card = TRY(load_rate_card(path));
  const Instant now = context.clock.now();
  const auto priced = TRY(rated::priced_month(month, now));
  const PricingRequest order{.name = path,
                             .reason = {},
                             .organisation = context.config.organisation,
                             .owned = false,
                             .estimates = true};
  const auto lines = TRY(price_charges(store, inputs, order, priced, context.config.join_rules));
  for (const std::string& note : lines.notes) context.console.warn(note);
  if (lines.charges.empty()) {
    return usage_error(fmt::format("--rate-card {}: it prices no node of {}", path, month));
  }
  std::ignore = TRY(store_priced_charges(store, lines.charges, order, now));
  return {};
}

}  // namespace

TraceLedger::TraceLedger(TraceLedger&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      store_(std::move(other.store_)),
      says_waits_(other.says_waits_) {}

TraceLedger::~TraceLedger() {
  store_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<void> TraceLedger::warn_of_others(const ClusterId& cluster, const Interval& period,
                                         const std::string& month, const Context& context) {
  std::uint64_t all = 0;
  std::uint64_t outside = 0;
  std::uint64_t in_part = 0;
  TRY(store_->scan_holdings(cluster, Interval(kInstantMin, kInstantMax),
                            [&](std::span<const Holding> batch) {
                              for (const Holding& job : batch) {
                                ++all;
                                const auto within = job.held.overlap(period);
                                if (!within) ++outside;
                                if (within && *within != job.held) ++in_part;
                              }
                              return true;
                            }));
  if (outside + in_part == 0) return {};
  std::string left_out =
      fmt::format("{} of the {} ran outside of {}, from {} to {}, and {} not replayed", outside,
                  counted(all, "job"), month, to_text(period.begin()), to_text(period.end()),
                  outside == 1 ? "is" : "are");
  if (in_part > 0) {
    left_out += fmt::format("; of {} only the part within is", counted(in_part, "more job"));
  }
  context.console.warn(left_out + ". Choose the month with --month");
  return {};
}

Result<TraceLedger> TraceLedger::make(const TraceFiles& files, const std::string& cluster,
                                      const std::string& month, Context& context) {
  if (files.jobs.empty() || files.fleet.empty() || files.bills.empty() == files.rate_card.empty()) {
    return usage_error(
        "a trace takes its jobs (--jobs), the nodes that they run on (--fleet), and what these "
        "cost: a bill (--bill) or prices (--rate-card)");
  }
  if (cluster.empty()) {
    return usage_error(
        "--jobs: name the cluster that the trace's jobs and nodes are of, with "
        "--cluster");
  }
  TraceLedger ledger;
  std::error_code problem;
  std::string folder =
      (std::filesystem::temp_directory_path(problem) / "pennyweight-replay-XXXXXX").string();
  if (problem || ::mkdtemp(folder.data()) == nullptr) {
    return std::unexpected(io_error("write", folder));
  }
  ledger.folder_ = folder;
  Config config = context.config;
  config.store_path = folder + "/ledger.duckdb";
  config.store_address.clear();
  ledger.store_ = TRY(create_ledger(config));
  ImportOptions options;
  options.cluster = cluster;
  for (const std::string& path : files.fleet) {
    std::ignore = TRY(import_one(*ledger.store_, path, options, config, context));
  }
  std::uint64_t jobs = 0;
  for (const std::string& path : files.jobs) {
    options.format = begins_as_job_trace(path) ? &job_trace_format() : nullptr;
    const FileImport imported = TRY(import_one(*ledger.store_, path, options, config, context));
    jobs += imported.outcome.holdings.created;
  }
  if (jobs == 0) return usage_error("--jobs: none of the jobs can be replayed");
  const TraceJobs known = TRY(trace_jobs(*ledger.store_, ClusterId(cluster)));
  ledger.says_waits_ = known.says_waits;
  options.format = nullptr;
  for (const std::string& path : files.bills) {
    std::ignore = TRY(import_one(*ledger.store_, path, options, config, context));
  }
  if (!files.rate_card.empty()) {
    const std::string first = known.first ? to_text(*known.first).substr(0, 7) : "";
    TRY(price_by_card(*ledger.store_, files.rate_card, month.empty() ? first : month, context));
  }
  return ledger;
}

}  // namespace pennyweight
