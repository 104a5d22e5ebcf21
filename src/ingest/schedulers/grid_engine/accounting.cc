#include "ingest/schedulers/grid_engine/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/schedulers/grid_engine/record_fields.h"
#include "ledger/holding.h"
#include "ledger/job_without_time.h"

namespace pennyweight::grid_engine {
namespace {

using accounting::kSecondsMax;
using accounting::mistake;
using accounting::Options;
using accounting::Read;
using accounting::Run;
using accounting::whole_number;

constexpr std::uint64_t kSlotsMax = 1'000'000;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Read<std::uint64_t> number(const std::vector<std::string_view>& fields, Field field,
                           std::string_view name, std::uint64_t most) {
  const auto value = whole_number(fields[field]);
  if (value && *value <= most) return *value;
  return mistake(name, fmt::format("'{}' is not a number of 0 to {}",
                                   printable_text(fields[field], 60), most));
}

// Seconds, or milliseconds where it would be a date after 2199.
Read<std::optional<Instant>> time_of(const std::vector<std::string_view>& fields, Field field,
                                     std::string_view name) {
  const auto value = number(fields, field, name, kSecondsMax * 1000);
  if (!value) return std::unexpected(value.error());
  if (*value == 0) return std::optional<Instant>();
  const std::uint64_t ms = *value > kSecondsMax ? *value : *value * 1000;
  return std::optional(from_unix_ms(static_cast<std::int64_t>(ms)));
}

bool is_name_of_gpus(std::string_view name) {
  return name == "gpu" || name == "gpus" || name == "ngpus" || name == "num_gpus";
}

// The GPUs of the hard requests `-l a=1,b=2` of a category; nothing where none are requested.
Read<std::optional<std::uint64_t>> requested_gpus(std::string_view category) {
  std::optional<std::uint64_t> gpus;
  std::string_view unknown;
  bool is_list = false, is_soft = false;
  for (const std::string_view word : split(category, ' ')) {
    const bool is_requests = is_list && !is_soft;
    is_list = word == "-l";
    if (word == "-soft") is_soft = true;
    if (word == "-hard") is_soft = false;
    if (!is_requests) continue;
    for (const std::string_view request : split(word, ',')) {
      const std::size_t equals = std::min(request.find('='), request.size());
      const std::string_view name = request.substr(0, equals);
      const std::string_view value = request.substr(std::min(equals + 1, request.size()));
      if (!is_name_of_gpus(name)) {
        if (name.find("gpu") != std::string_view::npos) unknown = name;
        continue;
      }
      const auto count = whole_number(value);
      if (!count || *count > limits::kGpusPerNodeMax || (gpus && *gpus != *count)) {
        return mistake("category",
                       fmt::format("'{}' is not a number of GPUs", printable_text(request, 60)));
      }
      gpus = count;
    }
  }
  // With a number of GPUs, the others say which kind of GPU.
  if (!gpus && !unknown.empty()) {
    return mistake("category",
                   fmt::format("whether '{}' is a number of GPUs is not known; give the job as a "
                               "table of holdings",
                               printable_text(unknown, 60)));
  }
  return gpus;
}

Read<Labels> labels_of(const std::vector<std::string_view>& fields,
                       const std::optional<Instant>& submitted, bool is_failed) {
  const struct {
    std::string_view label, value, field;
  } all[] = {{"user", fields[kOwner], "owner"},
             {"group", fields[kGroup], "group"},
             {"queue", fields[kQueue], "qname"},
             {"partition", fields[kQueue], "qname"},
             {"account", fields[kAccount], "account"},
             {"project", fields[kProject] == "NONE" ? "" : fields[kProject], "project"},
             {"job_name", fields[kJobName], "job_name"},
             {"state", is_failed ? "FAILED" : "COMPLETED", "failed"},
             {kExitCodeLabel, fields[kExitStatus], "exit_status"}};
  Labels labels;
  for (const auto& each : all) {
    if (each.value.empty()) continue;
    if (const auto set = labels.set(each.label, each.value); !set) {
      return mistake(each.field, set.error().message);
    }
  }
  if (submitted) {
    if (const auto set = labels.set(kSubmitTimeLabel, to_text(*submitted)); !set) {
      return mistake("submission_time", set.error().message);
    }
  }
  return labels;
}

// Nothing of a job of several slots: unless its parallel environment has accounting_summary, the
// record is of its master task alone, and no record says whether it has. Grid Engine writes 0 where
// it measured nothing. maxvmem is bytes, with a fraction in some
// versions.
HostUsage usage_of(const std::vector<std::string_view>& fields) {
  HostUsage used;
  const auto cpu_ms = accounting::seconds_as_ms(fields[kCpu]);
  if (cpu_ms && *cpu_ms > 0) used.cpu_core_ms = cpu_ms;
  const std::string_view bytes_text = fields[kMaxVmem].substr(0, fields[kMaxVmem].find('.'));
  const std::uint64_t peak_kib = whole_number(bytes_text).value_or(0) / 1024;
  if (peak_kib > 0) used.memory_peak_kib = peak_kib;
  return used;
}

Read<Run> run_of(const std::vector<std::string_view>& fields, const Options& options) {
  const auto job = TRY(number(fields, kJobNumber, "job_number", UINT64_MAX));
  const auto task = TRY(number(fields, kTask, "task_number", UINT32_MAX));
  const auto slots = TRY(number(fields, kSlots, "slots", kSlotsMax));
  const auto failed = TRY(number(fields, kFailed, "failed", UINT32_MAX));
  const auto exit_status = TRY(number(fields, kExitStatus, "exit_status", UINT32_MAX));
  const auto submitted = TRY(time_of(fields, kSubmission, "submission_time"));
  const auto start = TRY(time_of(fields, kStart, "start_time"));
  const auto end = TRY(time_of(fields, kEnd, "end_time"));
  auto labels = TRY(labels_of(fields, submitted, failed != 0 || exit_status != 0));
  const WorkloadId workload(task == 0 ? std::to_string(job) : fmt::format("{}[{}]", job, task));

  // A job that never ran may have no end either: then it is told when it was submitted.
  const std::optional<Instant> last = end || start ? end : submitted;
  if (!last && !start) return mistake("end_time", "it has neither an end nor a submission");
  const auto held = TRY(accounting::run_interval({start, last}, options, "end_time"));
  if (!held) {
    return Run{.without_time = job_without_time(options.cluster, workload,
                                                start ? kJobsOfZeroLength : kJobsNeverStarted,
                                                *last, std::move(labels))};
  }
  const std::string_view host = fields[kHost];
  if (host.empty() || host == "UNKNOWN" || host.size() > limits::kIdBytesMax) {
    return mistake("hostname", "the job ran, but on no host that has a name");
  }
  if (slots == 0) return mistake("slots", "the job ran, but had no slots");
  const auto gpus = TRY(requested_gpus(fields[kCategory]));
  if (gpus.value_or(0) > 0 && slots > 1) {
    return mistake("category",
                   fmt::format("{} slots requested GPUs, and nothing says whether the number is of "
                               "the job or of each slot, nor on which hosts they were; give the "
                               "job as a table of holdings",
                               slots));
  }
  const auto devices = static_cast<std::uint32_t>(gpus.value_or(0));
  Holding holding(options.cluster, workload, *held,
                  OnNodes{{{NodeId(std::string(host)), devices}}});
  holding.attempt = to_text(held->begin());
  holding.cpu_milli = slots * 1000;
  holding.labels = std::move(labels);
  return Run{.holding = std::move(holding), .used = slots == 1 ? usage_of(fields) : HostUsage{}};
}

}  // namespace

Read<std::optional<Run>> run_of_fields(const std::vector<std::string_view>& fields,
                                       const Options& options) {
  CHECK(fields.size() >= kFieldsMin, "it has all fields");
  if (fields[kPeTask] != "NONE" && !fields[kPeTask].empty()) return std::nullopt;
  return TRY(run_of(fields, options));
}

bool is_accounting_file(std::string_view beginning) {
  beginning = accounting::without_comments(beginning);
  const auto fields = split(beginning.substr(0, beginning.find_first_of("\r\n")), ':');
  if (fields.size() < kFieldsMin) return false;
  constexpr std::array kNumbers = {kJobNumber, kSubmission, kStart, kEnd, kFailed, kSlots, kTask};
  return std::ranges::all_of(kNumbers,
                             [&](Field field) { return whole_number(fields[field]).has_value(); });
}

Read<std::optional<Run>> read_record(std::string_view record, const Options& options) {
  const auto fields = split(record, ':');
  if (fields.size() < kFieldsMin) {
    return mistake("", fmt::format("it has {} fields of at least {}: it is cut off, or no record "
                                   "of the accounting file",
                                   fields.size(), std::size_t{kFieldsMin}));
  }
  return run_of_fields(fields, options);
}

}  // namespace pennyweight::grid_engine
