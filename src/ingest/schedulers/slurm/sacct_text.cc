#include "ingest/schedulers/slurm/sacct_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/recorded_time.h"
#include "ingest/schedulers/slurm/recorded_usage.h"
#include "ingest/schedulers/slurm/utf8.h"

namespace pennyweight::slurm {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_unknown(std::string_view text) {
  return text.empty() || text == "Unknown" || text == "None" || text == "NULL" ||
         text == "(null)" || text == "N/A" || text == "INVALID";
}

// 12.batch, 12_7.extern, 12+1.0. The id of a job itself has no dot.
bool is_step(std::string_view id) {
  return !id.empty() && ascii::is_digit(id[0]) && id.find('.') != std::string_view::npos;
}

std::unexpected<Rejection> rejection(std::string column, const Error& error) {
  return std::unexpected(Rejection{std::move(column), shown_as_utf8(error.message)});
}

}  // namespace

SacctText::SacctText(SacctOptions options, SacctSink sink)
    : options_(std::move(options)), batches_(options_, std::move(sink)) {}

Result<void> SacctText::feed(std::string_view chunk) {
  if (failed_) return std::unexpected(*failed_);
  while (!chunk.empty()) {
    const std::size_t newline = chunk.find('\n');
    const std::string_view piece = chunk.substr(0, newline);
    const std::size_t room = limits::kRowBytesMax - line_.size();
    line_.append(piece.substr(0, room));
    if (piece.size() > room) line_is_too_long_ = true;
    if (newline == std::string_view::npos) return {};
    chunk.remove_prefix(newline + 1);
    if (auto done = end_line(); !done) {
      failed_ = done.error();
      return done;
    }
  }
  return {};
}

Result<SacctCounts> SacctText::finish() {
  if (failed_) return std::unexpected(*failed_);
  if (!line_.empty()) {
    TRY(end_line());
  }
  if (header_.empty()) {
    return fail(ErrorCode::kBadFile,
                "the file is empty: export with sacct --parsable2, which writes "
                "a line of column names even when there are no jobs");
  }
  TRY(batches_.flush());
  return batches_.counts;
}

Result<void> SacctText::end_line() {
  std::string_view line = line_;
  if (line_number_ == 1 && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  Result<void> done;
  if (line_is_too_long_) {
    if (header_.empty()) {
      return fail(ErrorCode::kBadFile,
                  fmt::format("line {} is longer than {} bytes: this is not the output of sacct "
                              "--parsable2",
                              line_number_, limits::kRowBytesMax));
    }
    done = batches_.reject(
        line_number_, "",
        fmt::format("the row is longer than {} bytes; export fewer columns", limits::kRowBytesMax),
        line);
  } else if (!line.empty() && header_.empty() && !options_.columns.empty()) {
    done = read_given_columns();
    if (done) {
      // A row that ends with a bar ends with an empty column, unless it has a bar more than that.
      const auto bars = static_cast<std::size_t>(std::ranges::count(line, options_.delimiter));
      has_trailing_bar_ = line.ends_with(options_.delimiter) && bars == field_count_;
      done = read_row(line);
    }
  } else if (!line.empty()) {
    done = header_.empty() ? read_header(line) : read_row(line);
  }
  line_.clear();
  line_is_too_long_ = false;
  ++line_number_;
  return done;
}

// The columns as sacct's --format takes them: "JobID%20,User,Start".
Result<void> SacctText::read_given_columns() {
  std::string header;
  std::string_view rest = options_.columns;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view name = ascii::trim(rest.substr(0, comma));
    name = name.substr(0, name.find('%'));
    header += (header.empty() ? "" : std::string(1, options_.delimiter)) + std::string(name);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  given_header_ = std::move(header);
  auto done = read_header(given_header_);
  if (done) return done;
  return fail(done.error().code, fmt::format("the columns '{}' do not do: {}", options_.columns,
                                             done.error().message));
}

Result<void> SacctText::read_header(std::string_view line) {
  const auto refuse = [&](std::string_view why) {
    return fail(
        ErrorCode::kBadFile,
        fmt::format("line {} is not the column names of sacct --parsable2: {}", line_number_, why));
  };
  if (line.find('\0') != std::string_view::npos) return refuse("it is binary");
  if (line.find(options_.delimiter) == std::string_view::npos) {
    return refuse(
        fmt::format("there is no '|' in '{}'; export with --parsable2 and without "
                    "--noheader and --delimiter",
                    shown_as_utf8(line.substr(0, 60))));
  }
  constexpr std::array<std::string_view, kColumnCount> kNames = {
      "jobid",    "jobidraw",  "jobname",     "partition", "account",      "user",
      "state",    "start",     "end",         "elapsed",   "elapsedraw",   "suspended",
      "ncpus",    "alloccpus", "alloctres",   "nodelist",  "qos",          "cluster",
      "comment",  "wckey",     "reservation", "timelimit", "timelimitraw", "submit",
      "eligible", "exitcode",  "totalcpu",    "maxrss",    "ntasks",       "tresusageintot"};
  has_trailing_bar_ = line.ends_with(options_.delimiter);
  if (!split(line) || fields_.size() > limits::kColumnsMax) {
    return refuse(fmt::format("there are more than {} columns", limits::kColumnsMax));
  }
  field_count_ = fields_.size();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto at = std::find(kNames.begin(), kNames.end(), ascii::lower_case(fields_[i]));
    if (at == kNames.end()) continue;
    // sacct repeats a column as often as it is asked for, with the same values: the first will do.
    auto& position = positions_[static_cast<std::size_t>(at - kNames.begin())];
    if (!position) position = i;
  }
  const auto lacks = [&](std::string_view names) {
    return refuse(fmt::format("there is no {}; add it to sacct's --format", names));
  };
  if (!positions_[kJobId] && !positions_[kJobIdRaw]) return lacks("JobID or JobIDRaw");
  if (!positions_[kStart]) return lacks("Start");
  if (!positions_[kEnd] && !positions_[kElapsedRaw] && !positions_[kElapsed]) {
    return lacks("End or ElapsedRaw");
  }
  if (!positions_[kAllocTres]) return lacks("AllocTRES, without which no GPU is known");
  if (!positions_[kCluster] && !options_.cluster) {
    return fail(ErrorCode::kConfig,
                "the file has no column Cluster: give the cluster's name with "
                "the import, or add Cluster to sacct's --format");
  }
  header_ = line;
  return {};
}

// False when there are more fields than any table may have.
bool SacctText::split(std::string_view line) {
  fields_.clear();
  if (has_trailing_bar_ && line.ends_with(options_.delimiter)) line.remove_suffix(1);
  while (fields_.size() <= limits::kColumnsMax) {
    const std::size_t bar = line.find(options_.delimiter);
    fields_.push_back(line.substr(0, bar));
    if (bar == std::string_view::npos) return true;
    line.remove_prefix(bar + 1);
  }
  return false;
}

std::string_view SacctText::field(Column column) const {
  return positions_[column] ? fields_[*positions_[column]] : std::string_view();
}

Result<void> SacctText::read_row(std::string_view line) {
  if (line == header_) {
    ++batches_.counts.repeated_headers;
    return {};
  }
  const bool lacks_bar = has_trailing_bar_ && !line.ends_with(options_.delimiter);
  if (!split(line) || fields_.size() != field_count_ || lacks_bar) {
    return batches_.reject(
        line_number_, "",
        fmt::format(
            "the row has {} fields{} where the columns are {}: it is cut off, or there is a "
            "'|' or a line break in JobName, Comment or SubmitLine; export without that "
            "column",
            fields_.size(), lacks_bar ? " and no '|' at its end" : "", field_count_),
        line);
  }
  const std::string_view id = positions_[kJobId] ? field(kJobId) : field(kJobIdRaw);
  if (is_step(id)) {
    ++batches_.counts.steps;
    batches_.add_step(id,
                      step_peak_kib({.tres_usage_in_tot = field(kTresUsageInTot),
                                     .max_rss = field(kMaxRss),
                                     .tasks = field(kNTasks)}),
                      checked_tasks(field(kNTasks)));
    return {};
  }
  JobRecord job;
  job.used.cpu_core_ms = used_cpu_ms(parse_duration_ms(field(kTotalCpu)).value_or(0));
  job.id = id;
  job.cluster = field(kCluster);
  job.account = field(kAccount);
  job.user = field(kUser);
  job.partition = field(kPartition);
  job.qos = field(kQos);
  job.job_name = field(kJobName);
  job.state = field(kState);
  job.wckey = field(kWcKey);
  job.comment = field(kComment);
  job.reservation = field(kReservation);
  job.node_list = field(kNodeList);
  auto read = read_times(job);
  if (read) read = read_durations(job);
  if (read) read = read_resources(job);
  if (read) return batches_.add_job(job, line_number_, line);
  ++batches_.counts.jobs;
  return batches_.reject(line_number_, read.error().column, read.error().reason, line);
}

std::expected<std::optional<RecordedTime>, Rejection> SacctText::read_time(Column column) const {
  const std::string_view text = field(column);
  if (is_unknown(text)) return std::nullopt;
  const std::string name = column == kStart ? "Start" : "End";
  if (auto at = parse_absolute_time(text)) {
    if (!*at) return rejection(name, at->error());
    return RecordedTime{.earlier = **at, .later = **at};
  }
  const auto earlier = parse_local_time(text, options_.zone, Ambiguous::kEarlier);
  if (!earlier) return rejection(name, earlier.error());
  const auto later = parse_local_time(text, options_.zone, Ambiguous::kLater);
  if (!later) return rejection(name, later.error());
  return RecordedTime{.earlier = *earlier, .later = *later};
}

std::expected<void, Rejection> SacctText::read_times(JobRecord& job) const {
  const auto start = TRY(read_time(kStart));
  const auto end = TRY(read_time(kEnd));
  job.start = start;
  job.end = end;
  // They cost nothing, so what can't be read of them is not known.
  job.submit = read_time(kSubmit).value_or(std::nullopt);
  job.eligible = read_time(kEligible).value_or(std::nullopt);
  job.exit_code = field(kExitCode);
  return {};
}

std::expected<void, Rejection> SacctText::read_durations(JobRecord& job) const {
  if (const std::string_view text = field(kElapsedRaw); !is_unknown(text)) {
    const auto seconds = parse_count(text);
    if (!seconds) return rejection("ElapsedRaw", seconds.error());
    if (*seconds > UINT32_MAX * 100ull) {
      return std::unexpected(Rejection{"ElapsedRaw", "it is out of range"});
    }
    job.elapsed_ms = *seconds * 1000;
  } else if (const std::string_view clock = field(kElapsed); !is_unknown(clock)) {
    const auto ms = parse_duration_ms(clock);
    if (!ms) return rejection("Elapsed", ms.error());
    job.elapsed_ms = *ms;
  }
  if (const std::string_view text = field(kSuspended); !is_unknown(text)) {
    const auto ms = parse_duration_ms(text);
    if (!ms) return rejection("Suspended", ms.error());
    job.suspended_ms = *ms;
  }
  // A time limit is a label and costs nothing: words such as UNLIMITED and Partition_Limit are not
  // numbers.
  if (const auto minutes = parse_count(field(kTimelimitRaw))) {
    job.time_limit_minutes = *minutes;
  } else if (const auto ms = parse_duration_ms(field(kTimelimit))) {
    job.time_limit_minutes = *ms / 60'000;
  }
  return {};
}

std::expected<void, Rejection> SacctText::read_resources(JobRecord& job) const {
  const std::string_view text = field(kAllocTres);
  auto tres = parse_tres(is_unknown(text) ? std::string_view() : text);
  if (!tres) return rejection("AllocTRES", tres.error());
  job.tres = std::move(*tres);
  for (const Column column : {kAllocCpus, kNCpus}) {
    if (job.tres.cpus || field(column).empty()) continue;
    const auto cpus = parse_count(field(column));
    if (!cpus) return rejection(column == kAllocCpus ? "AllocCPUS" : "NCPUS", cpus.error());
    job.tres.cpus = *cpus;
  }
  return {};
}

}  // namespace pennyweight::slurm
