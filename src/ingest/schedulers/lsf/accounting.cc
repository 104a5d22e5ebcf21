#include "ingest/schedulers/lsf/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ledger/holding.h"
#include "ledger/job_without_time.h"

namespace pennyweight::lsf {
namespace {

using accounting::kSecondsMax;
using accounting::mistake;
using accounting::Mistake;
using accounting::Options;
using accounting::Read;
using accounting::Run;
using accounting::whole_number;

constexpr std::uint64_t kPeakKibMax = std::uint64_t{1} << 50;
constexpr std::string_view kFinish = "JOB_FINISH";
constexpr std::size_t kFieldsMax = 1'000'000;  // a job of a hundred thousand slots names each

struct Field {
  std::string text;
  bool is_quoted = false;
};

// Fields separated by blanks; one in quotes holds a quote as two. Nothing where a quote does not
// end.
std::optional<std::vector<Field>> fields_of(std::string_view line) {
  std::vector<Field> fields;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty() || fields.size() >= kFieldsMax) return fields;
    Field field;
    if (line.front() != '"') {
      const std::size_t end = std::min(line.find(' '), line.size());
      field.text = line.substr(0, end);
      line.remove_prefix(end);
    } else {
      field.is_quoted = true;
      std::size_t at = 1;
      while (at < line.size() && (line[at] != '"' || line.substr(at + 1, 1) == "\"")) {
        field.text += line[at];
        at += line[at] == '"' ? 2 : 1;
      }
      if (at >= line.size()) return std::nullopt;
      line.remove_prefix(at + 1);
    }
    fields.push_back(std::move(field));
  }
}

// Takes fields in their order, and keeps the first mistake.
class Cursor {
 public:
  explicit Cursor(const std::vector<Field>& fields) : fields_(fields) {}

  std::string_view text(std::string_view name) {
    const Field* field = next(name);
    if (field == nullptr) return {};
    if (!field->is_quoted) refuse(name, fmt::format("'{}' is not in quotes", shown(field->text)));
    return field->text;
  }
  std::uint64_t number(std::string_view name, std::uint64_t most) {
    const Field* field = next(name);
    if (field == nullptr) return 0;
    const auto value = field->is_quoted ? std::nullopt : whole_number(field->text);
    if (!value || *value > most) {
      refuse(name, fmt::format("'{}' is not a number of 0 to {}", shown(field->text), most));
      return 0;
    }
    return *value;
  }
  void skip(std::string_view name) { next(name); }
  std::string any(std::string_view name) {
    const Field* field = next(name);
    return field == nullptr ? std::string() : field->text;
  }
  // The fields that were not taken yet.
  std::span<const Field> rest() const { return std::span(fields_).subspan(at_); }

  const std::optional<Mistake>& mistake() const { return mistake_; }
  void refuse(std::string_view name, std::string reason) {
    if (!mistake_) mistake_ = Mistake{std::string(name), std::move(reason)};
  }

 private:
  static std::string shown(std::string_view text) { return printable_text(text, 60); }
  const Field* next(std::string_view name) {
    if (at_ < fields_.size()) return &fields_[at_++];
    refuse(name, "the record ends before it: it is cut off");
    return nullptr;
  }

  const std::vector<Field>& fields_;
  std::size_t at_ = 0;
  std::optional<Mistake> mistake_;
};

using Hosts = std::map<std::string, std::uint64_t>;  // slots by host

struct Job {
  std::uint64_t id = 0, index = 0, submitted = 0, started = 0, ended = 0, status = 0;
  std::string user, queue, name, project, exit_status;
  std::string user_time, system_time;  // seconds, "-1" where they are not known
  Hosts hosts;
  std::uint64_t slots = 0;
};

// "16*host", or "host" for one slot.
void add_host(Cursor& cursor, std::string_view text, Job& job) {
  std::uint64_t slots = 1;
  if (const std::size_t star = text.find('*'); star != std::string_view::npos) {
    slots = whole_number(text.substr(0, star)).value_or(0);
    text.remove_prefix(star + 1);
  }
  if (text.empty() || text.size() > limits::kIdBytesMax || slots == 0 || slots > 1'000'000) {
    return cursor.refuse("execHosts", "a host has no name, or no slots");
  }
  job.hosts[std::string(text)] += slots;
  job.slots += slots;
}

Job read_job(Cursor& cursor) {
  Job job;
  cursor.skip("JOB_FINISH");
  cursor.skip("version");
  job.ended = cursor.number("eventTime", kSecondsMax);
  job.id = cursor.number("jobId", UINT64_MAX);
  cursor.skip("userId");
  cursor.skip("options");
  cursor.skip("numProcessors");
  job.submitted = cursor.number("submitTime", kSecondsMax);
  cursor.skip("beginTime");
  cursor.skip("termTime");
  job.started = cursor.number("startTime", kSecondsMax);
  job.user = cursor.text("userName");
  job.queue = cursor.text("queue");
  for (const char* name : {"resReq", "dependCond", "preExecCmd", "fromHost", "cwd", "inFile",
                           "outFile", "errFile", "jobFile"}) {
    cursor.text(name);
  }
  for (std::uint64_t left = cursor.number("numAskedHosts", kFieldsMax); left > 0; --left) {
    if (cursor.mistake()) return job;
    cursor.text("askedHosts");
  }
  for (std::uint64_t left = cursor.number("numExHosts", kFieldsMax); left > 0; --left) {
    if (cursor.mistake()) return job;
    add_host(cursor, cursor.text("execHosts"), job);
  }
  job.status = cursor.number("jStatus", UINT32_MAX);
  cursor.skip("hostFactor");
  job.name = cursor.text("jobName");
  cursor.text("command");
  job.user_time = cursor.any("ru_utime");
  job.system_time = cursor.any("ru_stime");
  for (int i = 2; i < 19; ++i) cursor.skip("lsfRusage");
  cursor.text("mailUser");
  job.project = cursor.text("projectName");
  job.exit_status = std::to_string(cursor.number("exitStatus", UINT32_MAX));
  cursor.skip("maxNumProcessors");
  cursor.text("loginShell");
  cursor.text("timeEvent");
  job.index = cursor.number("idx", UINT32_MAX);
  return job;
}

// "num=2:mode=shared", "num=1/task:j_exclusive=yes".
bool is_gpu_requirement(std::string_view text) {
  constexpr std::string_view kNum = "num=";
  if (!text.starts_with(kNum) || text.size() == kNum.size()) return false;
  const std::string_view rest = text.substr(kNum.size());
  return ascii::is_digit(rest.front()) && rest.find(' ') == std::string_view::npos;
}

// The requirement of GPUs stands in `rest_fields`: before it are texts of people's own, such as the
// name.
Read<std::map<std::string, std::uint64_t>> gpus_of(const std::vector<Field>& fields,
                                                   std::span<const Field> rest_fields,
                                                   const Job& job) {
  std::map<std::string, std::uint64_t> gpus;
  for (const auto& [host, slots] : job.hosts) gpus[host] = 0;
  const Field* requirement = nullptr;
  for (const Field& field : rest_fields) {
    if (field.is_quoted && is_gpu_requirement(field.text)) requirement = &field;  // the last wins
  }
  if (requirement == nullptr) {
    for (const Field& field : fields) {
      const std::size_t at = field.text.find("ngpus");
      if (!field.is_quoted || at == std::string::npos ||
          field.text.find("rusage[") == std::string::npos) {
        continue;
      }
      return mistake("resReq",
                     "GPUs were requested by rusage[ngpus…], and nothing says whether that is of "
                     "the job, of each host or of each slot; give the job as a table of holdings");
    }
    return gpus;
  }
  const std::string_view number = std::string_view(requirement->text).substr(4);
  const std::size_t end = std::min(number.find_first_not_of("0123456789"), number.size());
  const auto each = whole_number(number.substr(0, end));
  const std::string_view rest = number.substr(end);
  const bool is_of_tasks = rest.starts_with("/task");
  if (!each || *each > limits::kGpusPerNodeMax ||
      (!rest.empty() && rest.front() != ':' && !is_of_tasks && !rest.starts_with("/host"))) {
    return mistake("gpuReq", fmt::format("'{}' is not a number of GPUs",
                                         printable_text(requirement->text, 60)));
  }
  std::uint64_t all = 0;
  for (const auto& [host, slots] : job.hosts) {
    gpus[host] = *each * (is_of_tasks ? slots : 1);
    all += gpus[host];
    if (all > limits::kGpusPerHoldingMax) return mistake("gpuReq", "too many GPUs");
  }
  return gpus;
}

Read<Labels> labels_of(const Job& job) {
  constexpr std::uint64_t kDone = 64;
  const std::string_view state = job.status == kDone ? "DONE" : "EXIT";
  const struct {
    std::string_view label, value, field;
  } all[] = {{"user", job.user, "userName"},
             {"queue", job.queue, "queue"},
             {"partition", job.queue, "queue"},
             {"project", job.project, "projectName"},
             {"job_name", job.name, "jobName"},
             {"state", state, "jStatus"},
             {kExitCodeLabel, job.exit_status, "exitStatus"}};
  Labels labels;
  for (const auto& each : all) {
    if (each.value.empty() || (each.label == "project" && each.value == "default")) continue;
    if (const auto set = labels.set(each.label, each.value); !set) {
      return mistake(each.field, set.error().message);
    }
  }
  if (job.submitted > 0) {
    const auto at = from_unix_seconds(static_cast<std::int64_t>(job.submitted));
    if (const auto set = labels.set(kSubmitTimeLabel, to_text(at)); !set) {
      return mistake("submitTime", set.error().message);
    }
  }
  return labels;
}

// LSF writes 0 and -1 where it measured nothing. maxRMem is KiB, the first field after the index.
HostUsage usage_of(const Job& job, std::span<const Field> after_index) {
  HostUsage used;
  const auto user_ms = accounting::seconds_as_ms(job.user_time);
  const auto system_ms = accounting::seconds_as_ms(job.system_time);
  const std::uint64_t cpu_ms = user_ms.value_or(0) + system_ms.value_or(0);
  if (cpu_ms > 0) used.cpu_core_ms = cpu_ms;
  if (after_index.empty() || after_index.front().is_quoted) return used;
  const auto peak_kib = whole_number(after_index.front().text);
  if (peak_kib && *peak_kib > 0 && *peak_kib < kPeakKibMax) used.memory_peak_kib = peak_kib;
  return used;
}

Read<Run> run_of(const std::vector<Field>& fields, const Options& options) {
  Cursor cursor(fields);
  const Job job = read_job(cursor);
  if (cursor.mistake()) return std::unexpected(*cursor.mistake());
  const auto end = from_unix_seconds(static_cast<std::int64_t>(job.ended));
  std::optional<Instant> begin;
  if (job.started > 0) begin = from_unix_seconds(static_cast<std::int64_t>(job.started));
  const auto held = TRY(accounting::run_interval({begin, end}, options, "eventTime"));
  auto labels = TRY(labels_of(job));
  const WorkloadId workload(job.index == 0 ? std::to_string(job.id)
                                           : fmt::format("{}[{}]", job.id, job.index));
  if (!held) {
    return Run{.without_time = job_without_time(options.cluster, workload,
                                                begin ? kJobsOfZeroLength : kJobsNeverStarted, end,
                                                std::move(labels))};
  }
  if (job.hosts.empty()) return mistake("numExHosts", "the job ran, but on no host");
  if (job.hosts.size() > limits::kGpusPerHoldingMax) return mistake("execHosts", "too many hosts");
  const auto gpus = TRY(gpus_of(fields, cursor.rest(), job));
  OnNodes on;
  for (const auto& [host, count] : gpus) {
    on.parts.push_back({NodeId(host), static_cast<std::uint32_t>(count)});
  }
  Holding holding(options.cluster, workload, *held, std::move(on));
  holding.attempt = to_text(held->begin());
  holding.cpu_milli = job.slots * 1000;
  holding.labels = std::move(labels);
  return Run{.holding = std::move(holding), .used = usage_of(job, cursor.rest())};
}

}  // namespace

bool is_accounting_file(std::string_view beginning) {
  beginning = accounting::without_comments(beginning);
  return beginning.starts_with("\"JOB_FINISH\" \"") || beginning.starts_with("\"JOB_NEW\" \"") ||
         beginning.starts_with("\"EVENT_ADRSV_FINISH\" \"") ||
         beginning.starts_with("\"JOB_RESIZE\" \"") ||
         beginning.starts_with("\"JOB_STARTLIMIT\" \"");
}

Read<std::optional<Run>> read_record(std::string_view record, const Options& options) {
  const auto fields = fields_of(record);
  if (!fields) return mistake("", "a quote does not end: the record is cut off");
  if (fields->empty() || !fields->front().is_quoted) {
    return mistake("", "it does not begin with a type in quotes: it is no record of lsb.acct");
  }
  if (fields->front().text != kFinish) return std::nullopt;
  return TRY(run_of(*fields, options));
}

}  // namespace pennyweight::lsf
