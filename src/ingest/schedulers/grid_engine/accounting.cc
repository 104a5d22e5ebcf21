#include "ingest/schedulers/grid_engine/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <expected>
#include <optional>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ledger/job_without_time.h"

namespace pennyweight::grid_engine {
namespace {

// The fields of sge_accounting(5) that are read.
enum Field : std::size_t {
  kQueue = 0,
  kHost = 1,
  kGroup = 2,
  kOwner = 3,
  kJobName = 4,
  kJobNumber = 5,
  kAccount = 6,
  kSubmission = 8,
  kStart = 9,
  kEnd = 10,
  kFailed = 11,
  kExitStatus = 12,
  kProject = 31,
  kSlots = 34,
  kTask = 35,
  kCategory = 39,
  kPeTask = 41,
  kFieldsMin = 43,  // up to maxvmem; later versions have more
};

constexpr std::uint64_t kSecondsMax = 7'258'118'399;  // the year 2199
constexpr std::uint64_t kSlotsMax = 1'000'000;

struct Mistake {
  std::string field;
  std::string reason;
};

template <class Value>
using Read = std::expected<Value, Mistake>;

std::unexpected<Mistake> mistake(std::string_view field, std::string reason) {
  return std::unexpected(Mistake{std::string(field), std::move(reason)});
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

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

// One of the two.
struct Found {
  std::optional<Holding> holding;
  std::optional<Outcome> without_time;
};

Read<Found> facts_of(const std::vector<std::string_view>& fields, const AccountingOptions& options,
                     AccountingCounts& counts) {
  const auto job = number(fields, kJobNumber, "job_number", UINT64_MAX);
  if (!job) return std::unexpected(job.error());
  const auto task = number(fields, kTask, "task_number", UINT32_MAX);
  if (!task) return std::unexpected(task.error());
  const auto slots = number(fields, kSlots, "slots", kSlotsMax);
  if (!slots) return std::unexpected(slots.error());
  const auto failed = number(fields, kFailed, "failed", UINT32_MAX);
  if (!failed) return std::unexpected(failed.error());
  const auto exit_status = number(fields, kExitStatus, "exit_status", UINT32_MAX);
  if (!exit_status) return std::unexpected(exit_status.error());
  const auto submitted = time_of(fields, kSubmission, "submission_time");
  if (!submitted) return std::unexpected(submitted.error());
  const auto start = time_of(fields, kStart, "start_time");
  if (!start) return std::unexpected(start.error());
  const auto end = time_of(fields, kEnd, "end_time");
  if (!end) return std::unexpected(end.error());
  auto labels = labels_of(fields, *submitted, *failed != 0 || *exit_status != 0);
  if (!labels) return std::unexpected(std::move(labels.error()));
  const WorkloadId workload(*task == 0 ? std::to_string(*job) : fmt::format("{}[{}]", *job, *task));

  const std::optional<Instant> last = *end ? *end : *submitted;
  if (!last) return mistake("end_time", "it has neither an end nor a submission");
  if (*last > options.read_at) {
    return mistake("end_time",
                   fmt::format("it ended at {}, after the file was read", to_text(*last)));
  }
  if (!*start || *start == *end) {
    const bool started = start->has_value();
    ++(started ? counts.zero_length : counts.never_started);
    return Found{std::nullopt, job_without_time(options.cluster, workload,
                                                started ? kJobsOfZeroLength : kJobsNeverStarted,
                                                *last, *std::move(labels))};
  }
  if (!*end) {
    return mistake("end_time", fmt::format("it has no end, but began at {}", to_text(**start)));
  }
  if (**end < **start) {
    return mistake("end_time", fmt::format("it ended at {}, before it began at {}", to_text(*last),
                                           to_text(**start)));
  }
  const std::string_view host = fields[kHost];
  if (host.empty() || host == "UNKNOWN" || host.size() > limits::kIdBytesMax) {
    return mistake("hostname", "the job ran, but on no host that has a name");
  }
  if (*slots == 0) return mistake("slots", "the job ran, but had no slots");
  const auto gpus = requested_gpus(fields[kCategory]);
  if (!gpus) return std::unexpected(gpus.error());
  if (gpus->value_or(0) > 0 && *slots > 1) {
    return mistake("category",
                   fmt::format("{} slots requested GPUs, and nothing says whether the number is of "
                               "the job or of each slot, nor on which hosts they were; give the "
                               "job as a table of holdings",
                               *slots));
  }
  const auto devices = static_cast<std::uint32_t>(gpus->value_or(0));
  Holding holding(options.cluster, workload, Interval(**start, **end),
                  OnNodes{{{NodeId(std::string(host)), devices}}});
  holding.attempt = to_text(**start);
  holding.cpu_milli = *slots * 1000;
  holding.labels = *std::move(labels);
  return Found{std::move(holding), std::nullopt};
}

}  // namespace

bool is_accounting_file(std::string_view beginning) {
  while (beginning.starts_with('#')) {
    const std::size_t end = beginning.find('\n');
    if (end == std::string_view::npos) return false;
    beginning.remove_prefix(end + 1);
  }
  const auto fields = split(beginning.substr(0, beginning.find_first_of("\r\n")), ':');
  if (fields.size() < kFieldsMin) return false;
  constexpr std::array kNumbers = {kJobNumber, kSubmission, kStart, kEnd, kFailed, kSlots, kTask};
  for (const Field field : kNumbers) {
    if (!whole_number(fields[field])) return false;
  }
  return true;
}

AccountingReader::AccountingReader(AccountingOptions options, FactSink<Holding> holdings,
                                   FactSink<Outcome> without_time, FactSink<RejectedRow> rejected)
    : options_(std::move(options)),
      holdings_(std::move(holdings)),
      without_time_(std::move(without_time)),
      rejected_(std::move(rejected)),
      lines_([this](const FedLine& line) { return read_record(line); }) {}

Result<void> AccountingReader::finish() {
  TRY(lines_.finish());
  TRY(holdings_.flush());
  TRY(without_time_.flush());
  return rejected_.flush();
}

Result<void> AccountingReader::read_record(const FedLine& line) {
  if (line.text.starts_with('#')) return {};
  const auto reject = [&](std::string_view field, std::string_view reason) -> Result<void> {
    ++counts_.rejected;
    return rejected_.add({.file = options_.file,
                          .line = line.number,
                          .column = std::string(field),
                          .reason = printable_text(reason, limits::kRejectedTextBytesMax),
                          .text = printable_text(line.text, limits::kRejectedTextBytesMax)});
  };
  if (line.is_too_long) {
    return reject("", fmt::format("it has more than {} bytes", limits::kRowBytesMax));
  }
  if (!is_plain_text(line.text)) return reject("", "it is not UTF-8 text");
  const auto fields = split(line.text, ':');
  if (fields.size() < kFieldsMin) {
    return reject("", fmt::format("it has {} fields of at least {}: it is cut off, or no record of "
                                  "the accounting file",
                                  fields.size(), std::size_t{kFieldsMin}));
  }
  if (fields[kPeTask] != "NONE" && !fields[kPeTask].empty()) {
    ++counts_.others;
    return {};
  }
  AccountingCounts seen = counts_;
  auto found = facts_of(fields, options_, seen);
  if (!found) return reject(found.error().field, found.error().reason);
  counts_ = seen;
  ++counts_.runs;
  if (found->without_time) {
    found->without_time->source = {line.number};
    return without_time_.add(*std::move(found->without_time));
  }
  found->holding->source = {line.number};
  ++counts_.holdings;
  return holdings_.add(*std::move(found->holding));
}

}  // namespace pennyweight::grid_engine
