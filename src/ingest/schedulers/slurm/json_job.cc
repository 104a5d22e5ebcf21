#include "ingest/schedulers/slurm/json_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/schedulers/slurm/recorded_usage.h"
#include "ingest/schedulers/slurm/tres.h"
#include "ledger/task_count.h"

namespace pennyweight::slurm {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// Slurm's own words for "not set" and "infinite" (slurm.h), which early plugins print as numbers.
constexpr std::uint64_t kNoValues[] = {0xfffffffe, 0xffffffff, 0xfffffffffffffffe,
                                       0xffffffffffffffff};
constexpr std::uint64_t kSecondsMax = 7'258'118'399;  // the year 2199

// Nothing when the field, or anything on its path, is missing or null.
std::optional<element> find(element from, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (!from.is_object() || from[key].get(from) != simdjson::SUCCESS) return std::nullopt;
  }
  if (from.is_null()) return std::nullopt;
  return from;
}

std::optional<bool> flag(element from, std::string_view key) {
  const auto value = find(from, {key});
  bool is_on = false;
  if (!value || value->get(is_on) != simdjson::SUCCESS) return std::nullopt;
  return is_on;
}

std::string path_text(std::initializer_list<std::string_view> path) {
  std::string text;
  for (const std::string_view key : path) {
    if (!text.empty()) text += '/';
    text += key;
  }
  return text;
}

// Keeps the first mistake, so that fields can be read one after another.
class Fields {
 public:
  explicit Fields(element job) : job_(job) {}

  // As find(), but a path through anything but objects is a mistake.
  std::optional<element> at(std::initializer_list<std::string_view> path) {
    element from = job_;
    for (const std::string_view key : path) {
      if (from.is_null()) return std::nullopt;
      if (!from.is_object()) {
        refuse(path_text(path), "what should hold it is not an object");
        return std::nullopt;
      }
      if (from[key].get(from) != simdjson::SUCCESS) return std::nullopt;
    }
    if (from.is_null()) return std::nullopt;
    return from;
  }

  std::string_view text(std::initializer_list<std::string_view> path) {
    const auto value = at(path);
    if (!value) return {};
    std::string_view text;
    if (value->get(text) != simdjson::SUCCESS) refuse(path_text(path), "it is not a string");
    return text;
  }

  // A plain number, or one in the form {set, infinite, number}.
  std::optional<std::uint64_t> number(std::initializer_list<std::string_view> path) {
    const auto value = at(path);
    if (!value) return std::nullopt;
    return number_of(*value, path_text(path));
  }

  std::optional<std::uint64_t> number_of(element value, const std::string& where) {
    if (value.is_object()) {
      if (flag(value, "set") == false || flag(value, "infinite") == true) return std::nullopt;
      const auto inner = find(value, {"number"});
      if (!inner || inner->is_object()) {
        refuse(where, "it is an object without a number");
        return std::nullopt;
      }
      return number_of(*inner, where);
    }
    std::uint64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS) {
      if (value.is_null()) return std::nullopt;
      refuse(where, "it is not a whole number, 0 or more");
      return std::nullopt;
    }
    for (const std::uint64_t none : kNoValues) {
      if (number == none) return std::nullopt;
    }
    return number;
  }

  // Epoch seconds; 0 is Slurm's "not yet".
  std::optional<RecordedTime> time(std::initializer_list<std::string_view> path) {
    const auto seconds = number(path);
    if (!seconds || *seconds == 0) return std::nullopt;
    if (*seconds > kSecondsMax) {
      refuse(path_text(path), "it is after the year 2199");
      return std::nullopt;
    }
    const Instant at = from_unix_seconds(static_cast<std::int64_t>(*seconds));
    return RecordedTime{.earlier = at, .later = at};
  }

  std::optional<std::uint64_t> seconds_as_ms(std::initializer_list<std::string_view> path) {
    const auto seconds = number(path);
    if (!seconds) return std::nullopt;
    if (*seconds > 100 * kSecondsMax) {
      refuse(path_text(path), "it is out of range");
      return std::nullopt;
    }
    return *seconds * 1000;
  }

  void refuse(std::string where, std::string why) {
    if (!rejection_) rejection_ = Rejection{std::move(where), std::move(why)};
  }
  const std::optional<Rejection>& rejection() const { return rejection_; }
  element job() const { return job_; }

 private:
  element job_;
  std::optional<Rejection> rejection_;
};

// "COMPLETED", ["COMPLETED"], {"current": "COMPLETED"}, {"current": ["RUNNING", "COMPLETING"]}: the
// first word is the base state.
std::string_view read_state(Fields& fields) {
  const auto state = find(fields.job(), {"state"});
  if (!state) return {};
  std::optional<element> word = state->is_object() ? find(*state, {"current"}) : state;
  if (word && word->is_array()) {
    element first;
    if (word->at(0).get(first) != simdjson::SUCCESS) return {};
    word = first;
  }
  if (!word) return {};
  std::string_view text;
  if (word->get(text) != simdjson::SUCCESS) fields.refuse("state", "it is not a word");
  return text;
}

// A job of an array has array/job_id and array/task_id, a part of a heterogeneous job has
// het/job_id and het/job_offset; where there is no array or no such job, the ids are 0 or not set.
std::string read_id(Fields& fields) {
  const auto id = fields.number({"job_id"});
  if (!id) {
    fields.refuse("job_id", "it is not set");
    return {};
  }
  const auto array_id = fields.number({"array", "job_id"});
  const auto task = fields.number({"array", "task_id"});
  if (array_id.value_or(0) != 0 && task) return fmt::format("{}_{}", *array_id, *task);
  const auto het_id = fields.number({"het", "job_id"});
  const auto offset = fields.number({"het", "job_offset"});
  if (het_id.value_or(0) != 0 && offset) return fmt::format("{}+{}", *het_id, *offset);
  return fmt::format("{}", *id);
}

// A number that costs nothing: what can't be read is not known.
std::optional<std::uint64_t> told_number(element job,
                                         std::initializer_list<std::string_view> path) {
  const auto value = find(job, path);
  if (!value) return std::nullopt;
  Fields fields(job);
  return fields.number_of(*value, "");
}

// "submission", "eligible": what can't be read of it is not known, and costs nothing.
std::optional<RecordedTime> read_waiting_since(element job, std::string_view key) {
  const auto seconds = told_number(job, {"time", key});
  if (!seconds || *seconds == 0 || *seconds > kSecondsMax) return std::nullopt;
  const Instant at = from_unix_seconds(static_cast<std::int64_t>(*seconds));
  return RecordedTime{.earlier = at, .later = at};
}

// "1:0": the return code, and the signal; empty: not known.
std::string read_exit_code(element job) {
  const auto code = told_number(job, {"exit_code", "return_code"});
  auto signal = told_number(job, {"exit_code", "signal", "id"});
  if (!signal) signal = told_number(job, {"exit_code", "signal", "signal_id"});
  if (!code && !signal) return {};
  return fmt::format("{}:{}", code.value_or(0), signal.value_or(0));
}

// Microseconds of {"seconds": 8800, "microseconds": 3241}; 0: not known.
std::uint64_t read_cpu_us(element of) {
  constexpr std::uint64_t kMillion = 1'000'000;
  const auto seconds = told_number(of, {"time", "total", "seconds"}).value_or(0);
  const auto rest = told_number(of, {"time", "total", "microseconds"}).value_or(0);
  return seconds > 100 * kSecondsMax || rest >= kMillion ? 0 : seconds * kMillion + rest;
}

// Slurm writes TRESUsageIn under the name "requested".
std::uint64_t read_step_peak_kib(element step) {
  const auto total = find(step, {"tres", "requested", "total"});
  simdjson::dom::array entries;
  if (!total || total->get(entries) != simdjson::SUCCESS) return 0;
  for (const element entry : entries) {
    std::string_view type;
    if (!entry.is_object() || entry["type"].get(type) != simdjson::SUCCESS || type != "mem") {
      continue;
    }
    return checked_peak_kib(told_number(entry, {"count"}).value_or(0), 1);
  }
  return 0;
}

// A job's own total may be left at 0 where its steps have theirs, which add up to it.
HostUsage read_usage(element job, std::span<const element> steps) {
  std::uint64_t cpu_us = read_cpu_us(job), of_steps_us = 0, peak_kib = 0;
  for (const element step : steps) {
    const std::uint64_t step_us = read_cpu_us(step);
    of_steps_us += std::min(step_us, std::numeric_limits<std::uint64_t>::max() - of_steps_us);
    peak_kib = std::max(peak_kib, read_step_peak_kib(step));
  }
  HostUsage used;
  used.cpu_core_ms = used_cpu_ms((cpu_us > 0 ? cpu_us : of_steps_us) / 1000);
  if (peak_kib > 0) used.memory_peak_kib = peak_kib;
  return used;
}

// "tasks": {"count": 8} of the step that had most. Slurm's own step has a task on each node.
std::uint64_t read_tasks(std::span<const element> steps) {
  std::uint64_t most = 0;
  for (const element step : steps) {
    std::string_view id;  // "extern", or "8.extern"
    const auto told = find(step, {"step", "id"});
    const bool has_id = told && told->get(id) == simdjson::SUCCESS;
    if (has_id && id.substr(id.rfind('.') + 1) == "extern") continue;
    const auto tasks = told_number(step, {"tasks", "count"}).value_or(0);
    if (tasks <= kTasksMax) most = std::max(most, tasks);
  }
  return most;
}

std::string_view text_or_member(Fields& fields, std::string_view key, std::string_view member) {
  const auto value = find(fields.job(), {key});
  return value && value->is_object() ? fields.text({key, member}) : fields.text({key});
}

void add_tres(Fields& fields, element entry, Tres& tres) {
  const std::string where = "tres/allocated";
  std::string_view type;
  std::string_view name;
  if (!entry.is_object() || entry["type"].get(type) != simdjson::SUCCESS) {
    return fields.refuse(where, "an entry has no type");
  }
  if (const auto there = find(entry, {"name"}); there && there->get(name) != simdjson::SUCCESS) {
    return fields.refuse(where, "an entry's name is not a string");
  }
  const bool is_gres = type == "gres" && (name.starts_with("gpu") || name.starts_with("shard") ||
                                          name.starts_with("mps"));
  if (!is_gres && type != "cpu" && type != "mem") return;
  const auto value = find(entry, {"count"});
  if (!value) return;
  const auto count = fields.number_of(*value, where);
  if (!count) return;
  if (is_gres) {
    if (auto added = add_gres(tres, name, *count); !added) {
      fields.refuse(where, added.error().message);
    }
  } else if (type == "cpu") {
    if (tres.cpus) fields.refuse(where, "cpu appears twice");
    tres.cpus = *count;
  } else {
    if (tres.memory_bytes) fields.refuse(where, "mem appears twice");
    if (*count > (std::uint64_t{1} << 42)) return fields.refuse(where, "mem is out of range");
    tres.memory_bytes = *count << 20;  // the database keeps MiB
  }
}

Tres read_tres(Fields& fields) {
  Tres tres;
  const auto allocated = fields.at({"tres", "allocated"});
  if (!allocated) return tres;
  simdjson::dom::array entries;
  if (allocated->get(entries) != simdjson::SUCCESS) {
    fields.refuse("tres/allocated", "it is not a list");
    return tres;
  }
  for (const element entry : entries) add_tres(fields, entry, tres);
  return tres;
}

}  // namespace

std::expected<JsonJob, Rejection> read_json_job(element job) {
  if (!job.is_object()) return std::unexpected(Rejection{"", "the job is not an object"});
  Fields fields(job);
  JsonJob read;
  JobRecord& record = read.record;
  for (const std::string_view key : {"job_id", "time", "tres"}) {
    if (!find(job, {key})) return std::unexpected(Rejection{std::string(key), "there is none"});
  }
  record.id = read_id(fields);
  record.cluster = fields.text({"cluster"});
  record.account = fields.text({"account"});
  record.user = fields.text({"user"});
  record.partition = fields.text({"partition"});
  record.qos = fields.text({"qos"});
  record.job_name = fields.text({"name"});
  record.state = read_state(fields);
  record.wckey = text_or_member(fields, "wckey", "wckey");
  record.comment = text_or_member(fields, "comment", "job");
  if (const auto name = find(job, {"reservation", "name"}); name && name->is_string()) {
    record.reservation =
        fields.text({"reservation", "name"});  // 22.05 writes the number 0 for none
  }
  record.node_list = fields.text({"nodes"});
  record.time_limit_minutes = fields.number({"time", "limit"});
  record.start = fields.time({"time", "start"});
  record.end = fields.time({"time", "end"});
  record.submit = read_waiting_since(job, "submission");
  record.eligible = read_waiting_since(job, "eligible");
  record.exit_code = read_exit_code(job);
  record.elapsed_ms = fields.seconds_as_ms({"time", "elapsed"});
  record.suspended_ms = fields.seconds_as_ms({"time", "suspended"});
  record.tres = read_tres(fields);
  std::vector<element> steps;
  if (const auto list = find(job, {"steps"}); list && list->is_array()) {
    for (const element step : simdjson::dom::array(*list)) steps.push_back(step);
  }
  read.steps = steps.size();
  record.used = read_usage(job, steps);
  record.tasks = read_tasks(steps);
  if (fields.rejection()) return std::unexpected(*fields.rejection());
  return read;
}

}  // namespace pennyweight::slurm
