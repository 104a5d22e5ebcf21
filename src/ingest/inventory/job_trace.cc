#include "ingest/inventory/job_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/try.h"
#include "ingest/inventory/fact_table.h"

namespace pennyweight::inventory {
namespace {

constexpr std::uint64_t kTraceGpusMax = 100'000;
constexpr std::uint64_t kTraceSecondsMax = std::uint64_t{366} * 86'400;
constexpr std::uint64_t kTraceLimitMinutesMax = 10'000'000;

// What a job has, by the names of its column; the first is ours.
constexpr std::array<std::string_view, 2> kJob = {"job", "job_id"};
constexpr std::array<std::string_view, 3> kSubmit = {"submit", "submit_time", "timestamp"};
constexpr std::array<std::string_view, 4> kGpus = {"gpus", "gpu_num", "num_gpus", "num_gpu"};
constexpr std::array<std::string_view, 2> kLength = {"duration_s", "duration"};
constexpr std::array<std::string_view, 2> kStart = {"start", "start_time"};
constexpr std::array<std::string_view, 2> kCpus = {"vcpu", "cpu_num"};
constexpr std::array<std::string_view, 3> kTeam = {"team", "vc", "cluster"};
constexpr std::string_view kTraceOptional[] = {
    "job", "job_id", "submit", "submit_time", "timestamp", "gpus", "gpu_num", "num_gpus", "num_gpu",
    "duration_s", "duration", "start", "start_time", "vcpu", "cpu_num", "team", "vc", "cluster",
    "user", "account", "client", "project", "namespace", "gpu_model", "memory_gib",
    "time_limit_minutes",
    // Of published traces, and not read.
    "state", "end_time", "node_num", "jobname", "queue", "gpu_time"};
constexpr csv::Columns kTraceColumns{.required = {}, .optional = kTraceOptional, .open_prefix = {}};
constexpr std::string_view kTraceLabels[] = {"user", "account", "client", "project", "namespace"};

// The column that the trace has of these; nothing: none. Several are a mistake.
Result<std::optional<std::string_view>> column_among(const csv::Header& header,
                                                     std::span<const std::string_view> names) {
  std::optional<std::string_view> found;
  for (const std::string_view name : names) {
    if (std::ranges::find(header.names(), name) == header.names().end()) continue;
    if (found) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("the columns '{}' and '{}' say the same; keep one", *found, name));
    }
    found = name;
  }
  return found;
}

struct TraceColumns {
  std::string_view submit, gpus, length;
  std::optional<std::string_view> job, start, cpus, team;
};

Result<TraceColumns> trace_columns(const csv::Header& header) {
  TraceColumns columns;
  for (const auto& [names, into] :
       {std::pair{std::span<const std::string_view>(kSubmit), &columns.submit},
        std::pair{std::span<const std::string_view>(kGpus), &columns.gpus},
        std::pair{std::span<const std::string_view>(kLength), &columns.length}}) {
    const auto found = TRY(column_among(header, names));
    if (!found) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("a trace of jobs has a column '{}', and this one has none",
                              fmt::join(names, "' or '")));
    }
    *into = *found;
  }
  columns.job = TRY(column_among(header, kJob));
  columns.start = TRY(column_among(header, kStart));
  columns.cpus = TRY(column_among(header, kCpus));
  columns.team = TRY(column_among(header, kTeam));
  return columns;
}

// Whole seconds; a fraction of zeros may follow: "66.0".
std::optional<std::uint64_t> trace_seconds(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    if (text.substr(dot + 1).find_first_not_of('0') != std::string_view::npos) return std::nullopt;
    text = text.substr(0, dot);
  }
  std::uint64_t seconds = 0;
  if (text.empty()) return std::nullopt;
  for (const char digit : text) {
    if (digit < '0' || digit > '9' || seconds > kTraceSecondsMax) return std::nullopt;
    seconds = seconds * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return seconds <= kTraceSecondsMax ? std::optional(seconds) : std::nullopt;
}

}  // namespace

struct JobTraceReader::Seen {
  std::unordered_set<std::string> jobs;
  std::uint64_t rows = 0;
  std::optional<TraceColumns> columns;
};

namespace {

void set_trace_label(csv::Cells& cells, Labels& labels, std::string_view column,
                     std::string_view key) {
  if (!cells.has(column)) return;
  if (const auto set = labels.set(key, cells.text(column)); !set) {
    cells.refuse(column, set.error().message);
  }
}

// When it held its GPUs. Published traces write "None" where a job never started.
std::optional<Interval> read_run(csv::Cells& cells, const TraceColumns& columns, Labels& labels) {
  const Instant submit = cells.instant(columns.submit);
  const auto seconds = trace_seconds(cells.text(columns.length));
  if (!seconds) {
    cells.refuse(
        columns.length,
        fmt::format("is not a whole number of seconds, at most {} (a year)", kTraceSecondsMax));
  } else if (*seconds == 0) {
    cells.refuse(columns.length, "is 0: a job that runs no time can't be replayed");
  }
  std::optional<Instant> start;
  if (columns.start && cells.text(*columns.start) != "None") {
    start = cells.optional_instant(*columns.start);
  }
  if (cells.refusal()) return std::nullopt;
  if (start && *start < submit) {
    cells.refuse(*columns.start, fmt::format("{} is before it was submitted, {}", to_text(*start),
                                             to_text(submit)));
    return std::nullopt;
  }
  if (start) {
    if (const auto set = labels.set("submit_time", to_text(submit)); !set) {
      cells.refuse(columns.submit, set.error().message);
    }
  }
  const Instant begin = start.value_or(submit);
  const auto length = std::chrono::seconds(*seconds);
  if (begin > kInstantMax - length) {
    cells.refuse(columns.length, "it would end after the year 2199");
    return std::nullopt;
  }
  return Interval(begin, begin + length);
}

}  // namespace

class JobTraceReader::Table final : public FactTable<Holding> {
 public:
  Table(const TableOptions& options, Seen& seen, FactSink<Holding> jobs,
        FactSink<RejectedRow> rejected)
      : FactTable(
            options.file, kTraceColumns,
            [&seen, cluster = options.cluster](const csv::Header&, csv::Cells& cells) {
              return read_job(cells, cluster, seen);
            },
            std::move(jobs), std::move(rejected)),
        file_(options.file),
        seen_(seen) {}

  Result<void> header(const csv::Header& header) override {
    TRY(FactTable::header(header));
    auto columns = trace_columns(header);
    if (!columns) return std::unexpected(columns.error().during(file_));
    seen_.columns = *columns;
    return {};
  }

 private:
  static std::optional<Holding> read_job(csv::Cells& cells, const ClusterId& cluster, Seen& seen) {
    const TraceColumns& columns = *seen.columns;
    ++seen.rows;
    const std::string name =
        columns.job ? std::string(cells.name(*columns.job)) : fmt::format("job-{}", seen.rows);
    Labels labels;
    const auto held = read_run(cells, columns, labels);
    const std::uint64_t gpus = cells.count(columns.gpus, kTraceGpusMax);
    if (columns.team) set_trace_label(cells, labels, *columns.team, "team");
    for (const std::string_view label : kTraceLabels) {
      set_trace_label(cells, labels, label, label);
    }
    const auto limit = cells.optional_count("time_limit_minutes", kTraceLimitMinutesMax);
    if (limit) set_trace_label(cells, labels, "time_limit_minutes", "time_limit_minutes");
    const auto cpu_milli = columns.cpus ? cells.optional_scaled(*columns.cpus, 1000) : std::nullopt;
    const auto memory_bytes = cells.optional_nearest("memory_gib", 1u << 30);
    const std::string_view gpu_model = cells.optional_name("gpu_model");
    if (!cells.refusal() && !seen.jobs.insert(name).second) {
      cells.refuse(columns.job.value_or(""), fmt::format("job '{}' is there already", name));
    }
    if (cells.refusal() || !held) return std::nullopt;
    Holding job(cluster, WorkloadId(name), *held,
                InPool{.pools = {}, .devices = static_cast<std::uint32_t>(gpus)});
    job.ended = true;
    job.gpu_model = gpu_model;
    job.cpu_milli = cpu_milli;
    job.memory_bytes = memory_bytes;
    job.labels = std::move(labels);
    return job;
  }

  const std::string file_;
  Seen& seen_;
};

bool is_job_trace(std::string_view header_line) {
  const auto has_any = [&](std::span<const std::string_view> names) {
    std::string_view rest = header_line;
    while (true) {
      const std::size_t comma = rest.find(',');
      std::string_view column = ascii::trim(rest.substr(0, comma));
      if (column.size() >= 2 && column.front() == '"' && column.back() == '"') {
        column = column.substr(1, column.size() - 2);
      }
      if (std::ranges::find(names, column) != names.end()) return true;
      if (comma == std::string_view::npos) return false;
      rest.remove_prefix(comma + 1);
    }
  };
  return has_any(kGpus) && has_any(kLength);
}

JobTraceReader::JobTraceReader(const TableOptions& options, FactSink<Holding> jobs,
                               FactSink<RejectedRow> rejected)
    : seen_(std::make_unique<Seen>()),
      table_(std::make_unique<Table>(options, *seen_, std::move(jobs), std::move(rejected))) {}
JobTraceReader::~JobTraceReader() = default;
Result<void> JobTraceReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> JobTraceReader::finish() { return table_->finish(); }
const TableCounts& JobTraceReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::inventory
