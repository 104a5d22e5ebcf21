#include "ingest/schedulers/pbs/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ledger/holding.h"
#include "ledger/job_without_time.h"

namespace pennyweight::pbs {
namespace {

using accounting::kSecondsMax;
using accounting::mistake;
using accounting::Options;
using accounting::Read;
using accounting::Run;
using accounting::whole_number;

constexpr std::uint64_t kHoursMax = 1'000'000'000;
constexpr std::uint64_t kCpusMax = 1'000'000'000;
constexpr std::string_view kNoProject = "_pbs_project_default";
constexpr std::string_view kReleaseNote =
    "records of vnodes that jobs gave up early, for which these are charged until they end";
constexpr std::string_view kSuspensionNote =
    "records of suspensions, during which the jobs are charged as well";

// "10485760kb", "10gb", "512": bytes. PBS's words (kw, mw, …) are of a size that no record states.
std::optional<std::uint64_t> bytes_of(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = whole_number(text.substr(0, digits));
  if (!count) return std::nullopt;
  const std::string unit = ascii::lower_case(text.substr(digits));
  constexpr std::string_view kUnits[] = {"b", "kb", "mb", "gb", "tb", "pb"};
  std::size_t power = 0;
  if (!unit.empty()) {
    const auto* const found = std::ranges::find(kUnits, unit);
    if (found == std::end(kUnits)) return std::nullopt;
    power = static_cast<std::size_t>(found - std::begin(kUnits));
  }
  const std::uint64_t scale = std::uint64_t{1} << (10 * power);
  if (*count > (std::uint64_t{1} << 62) / scale) return std::nullopt;
  return *count * scale;
}

// key=value, separated by blanks; a value with blanks is in double quotes, or in single ones if it
// has double ones.
struct Attributes {
  std::map<std::string_view, std::string_view> values;
  // A key that is read and has two values, or stands inside a value too; empty: none.
  std::string_view twice;
};

// A key that is read inside a value with blanks. It may be the record's own: PBS masks no quotes,
// and between one in an account and one in another name everything looks like a value.
std::string_view read_key_in(std::string_view value) {
  while (true) {
    const std::size_t blank = value.find(' ');
    if (blank == std::string_view::npos) return {};
    value.remove_prefix(blank + 1);
    const std::size_t equals = value.find_first_of("= ");
    if (equals == std::string_view::npos) return {};
    const std::string_view key = value.substr(0, equals);
    if (value[equals] == '=' && is_read(key)) return key;
  }
}

Attributes attributes_of(std::string_view text) {
  Attributes attributes;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return attributes;
    const std::size_t equals = text.find_first_of("= ");
    if (equals == std::string_view::npos || text[equals] == ' ') {
      text.remove_prefix(std::min(equals, text.size()));
      continue;
    }
    const std::string_view key = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    const char quote = text.starts_with('"') || text.starts_with('\'') ? text.front() : ' ';
    const bool is_quoted = quote != ' ' && text.find(quote, 1) != std::string_view::npos;
    if (is_quoted) text.remove_prefix(1);
    const std::size_t end = std::min(text.find(is_quoted ? quote : ' '), text.size());
    const std::string_view value = text.substr(0, end);
    const auto [there, is_new] = attributes.values.try_emplace(key, value);
    if (!is_new && there->second != value && is_read(key)) attributes.twice = key;
    if (attributes.twice.empty()) attributes.twice = read_key_in(value);
    text.remove_prefix(std::min(end + (is_quoted ? 1 : 0), text.size()));
  }
}

struct Allocation {
  std::map<std::string, std::uint64_t, std::less<>> gpus;  // by host
  std::uint64_t cpus = 0;
  std::optional<std::uint64_t> memory_bytes;
};

// "n1" of "n1[0]".
std::string_view host_of(std::string_view vnode) { return vnode.substr(0, vnode.find('[')); }

// "ncpus=8" of a vnode.
Read<void> add_resource(std::string_view resource, std::uint64_t& gpus, Allocation& all) {
  const std::size_t equals = resource.find('=');
  const std::string_view name = resource.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : resource.substr(equals + 1);
  if (name == "mem") {
    const auto bytes = bytes_of(value);
    if (!bytes) return mistake("exec_vnode", fmt::format("mem={} is no size in bytes", value));
    const std::uint64_t before = all.memory_bytes.value_or(0);
    if (*bytes > (std::uint64_t{1} << 62) - before) return mistake("exec_vnode", "too much memory");
    all.memory_bytes = before + *bytes;
    return {};
  }
  if (name != "ncpus" && name != "ngpus") return {};
  const auto count = whole_number(value);
  if (!count) return mistake("exec_vnode", fmt::format("{} is not a whole number", resource));
  if (name == "ngpus") {
    if (*count > limits::kGpusPerHoldingMax) return mistake("exec_vnode", "too many GPUs");
    gpus += *count;
  } else {
    if (*count > kCpusMax - all.cpus) return mistake("exec_vnode", "too many processors");
    all.cpus += *count;
  }
  return {};
}

// "(n1:ncpus=8:ngpus=2:mem=10485760kb+n1[1]:ncpus=8)+(n2:ncpus=8)".
Read<Allocation> allocation_of(std::string_view text) {
  if (std::ranges::count(text, '(') != std::ranges::count(text, ')')) {
    return mistake("exec_vnode", "a '(' is not closed: the record is cut off");
  }
  Allocation all;
  std::uint64_t devices = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('+'), text.size());
    std::string_view vnode = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (vnode.starts_with('(')) vnode.remove_prefix(1);
    if (vnode.ends_with(')')) vnode.remove_suffix(1);
    std::size_t colon = std::min(vnode.find(':'), vnode.size());
    const std::string_view host = host_of(vnode.substr(0, colon));
    if (host.empty() || host.size() > limits::kIdBytesMax ||
        host.find_first_of("()") != std::string_view::npos) {
      return mistake("exec_vnode", "a vnode has no name: the record may be cut off");
    }
    vnode.remove_prefix(colon);
    std::uint64_t gpus = 0;
    while (!vnode.empty()) {
      vnode.remove_prefix(1);
      colon = std::min(vnode.find(':'), vnode.size());
      auto added = add_resource(vnode.substr(0, colon), gpus, all);
      if (!added) return std::unexpected(std::move(added.error()));
      vnode.remove_prefix(colon);
    }
    devices += gpus;
    all.gpus[std::string(host)] += gpus;
    if (devices > limits::kGpusPerHoldingMax || all.gpus.size() > limits::kGpusPerHoldingMax) {
      return mistake("exec_vnode",
                     fmt::format("more than {} GPUs or nodes", limits::kGpusPerHoldingMax));
    }
  }
  if (all.gpus.empty()) return mistake("exec_vnode", "it is empty");
  return all;
}

class Record {
 public:
  explicit Record(std::string_view text) : attributes_(attributes_of(text)) {}

  std::string_view value(std::string_view key) const {
    const auto found = attributes_.values.find(key);
    return found == attributes_.values.end() ? std::string_view() : found->second;
  }
  // A key of whose values, or what looks like one, nothing tells the true one.
  std::string_view twice() const { return attributes_.twice; }
  // Nothing where the key is absent, or 0, PBS's "not yet".
  Read<std::optional<Instant>> time(std::string_view key) const {
    const std::string_view text = value(key);
    if (text.empty()) return std::nullopt;
    const auto seconds = whole_number(text);
    if (!seconds || *seconds > kSecondsMax) {
      return mistake(key, fmt::format("'{}' is not a time in seconds since 1970", text));
    }
    if (*seconds == 0) return std::nullopt;
    return from_unix_seconds(static_cast<std::int64_t>(*seconds));
  }

 private:
  Attributes attributes_;
};

Read<Labels> labels_of(const Record& record) {
  const struct {
    std::string_view label, key;
  } fields[] = {{"user", "user"},        {"group", "group"},
                {"account", "account"},  {"project", "project"},
                {"job_name", "jobname"}, {"queue", "queue"},
                {"partition", "queue"},  {kExitCodeLabel, "Exit_status"}};
  Labels labels;
  for (const auto& field : fields) {
    const std::string_view text = record.value(field.key);
    if (text.empty() || (field.key == "project" && text == kNoProject)) continue;
    if (const auto set = labels.set(field.label, text); !set) {
      return mistake(field.key, set.error().message);
    }
  }
  // It costs nothing: a time that can't be read is not known.
  if (const auto created = record.time("ctime"); created && *created) {
    if (const auto set = labels.set(kSubmitTimeLabel, to_text(**created)); !set) {
      return mistake("ctime", set.error().message);
    }
  }
  return labels;
}

// "01:02:03" of resources_used, and hours beyond a day; as milliseconds.
std::optional<std::uint64_t> clock_ms(std::string_view text) {
  std::uint64_t seconds = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto value = whole_number(text.substr(0, colon));
    const std::uint64_t most = part == 0 ? kHoursMax : 59;
    if (!value || *value > most || (colon == text.size()) != (part == 2)) return std::nullopt;
    seconds = seconds * 60 + *value;
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return seconds * 1000;
}

// PBS writes 0 where a run was too short to be measured.
HostUsage usage_of(const Record& record) {
  HostUsage used;
  const auto cpu_ms = clock_ms(record.value("resources_used.cput"));
  if (cpu_ms && *cpu_ms > 0) used.cpu_core_ms = cpu_ms;
  const std::uint64_t peak_kib = bytes_of(record.value("resources_used.mem")).value_or(0) / 1024;
  if (peak_kib > 0) used.memory_peak_kib = peak_kib;
  return used;
}

Read<Run> run_of(std::string_view id, const Record& record, const Options& options) {
  if (!record.twice().empty()) {
    return mistake(record.twice(),
                   "it has two values, perhaps since a name that a user chose has quotes in it: "
                   "give the job as a table of holdings");
  }
  const auto start = TRY(record.time("start"));
  const auto end = TRY(record.time("end"));
  const WorkloadId workload{std::string(id)};
  if (!start && !end) return Run{};
  if (!end) return mistake("end", "there is none, though the job began");
  const auto held = TRY(accounting::run_interval({start, end}, options, "end"));
  if (!held) {
    auto labels = TRY(labels_of(record));
    return Run{.without_time = job_without_time(options.cluster, workload,
                                                start ? kJobsOfZeroLength : kJobsNeverStarted, *end,
                                                std::move(labels))};
  }
  const std::string_view vnodes = record.value("exec_vnode");
  if (vnodes.empty()) {
    return mistake("exec_vnode",
                   "there is none, so on which nodes the job had what is not known; Torque writes "
                   "such records: give its jobs as a table of holdings");
  }
  const auto all = TRY(allocation_of(vnodes));
  std::uint64_t devices = 0;
  OnNodes on;
  for (const auto& [host, gpus] : all.gpus) {
    devices += gpus;
    on.parts.push_back({NodeId(host), static_cast<std::uint32_t>(gpus)});
  }
  const std::string_view requested = record.value("Resource_List.ngpus");
  if (devices == 0 && !requested.empty() && requested != "0") {
    return mistake("Resource_List.ngpus",
                   fmt::format("{} GPUs were requested, and exec_vnode states none: on which nodes "
                               "they were is not known; give the job as a table of holdings",
                               requested));
  }
  auto labels = TRY(labels_of(record));
  Holding holding(options.cluster, workload, *held, std::move(on));
  holding.attempt = to_text(held->begin());
  holding.cpu_milli = all.cpus * 1000;
  holding.memory_bytes = all.memory_bytes;
  holding.labels = std::move(labels);
  return Run{.holding = std::move(holding), .used = usage_of(record)};
}

}  // namespace

bool is_read(std::string_view key) {
  constexpr std::string_view kRead[] = {"user",
                                        "group",
                                        "account",
                                        "project",
                                        "jobname",
                                        "queue",
                                        "ctime",
                                        "start",
                                        "end",
                                        "exec_vnode",
                                        "Exit_status",
                                        "Resource_List.ngpus",
                                        "resources_used.cput",
                                        "resources_used.mem"};
  return std::ranges::find(kRead, key) != std::end(kRead);
}

bool begins_with_stamp(std::string_view line) {
  constexpr std::string_view kPattern = "00/00/0000 00:00:00";
  return std::ranges::equal(line.substr(0, kStampBytes), kPattern, [](char c, char like) {
    return like == '0' ? ascii::is_digit(c) : c == like;
  });
}

bool is_accounting_record(std::string_view line) {
  return line.size() > kStampBytes + 2 && begins_with_stamp(line) && line[kStampBytes] == ';' &&
         ascii::is_letter(line[kStampBytes + 1]) && line[kStampBytes + 2] == ';';
}

Read<std::optional<Run>> read_record(std::string_view line, const Options& options) {
  if (!is_accounting_record(line)) {
    return mistake("",
                   "it does not begin as 'MM/DD/YYYY HH:MM:SS;TYPE;ID;': it is cut off, or no "
                   "record of PBS's accounting log");
  }
  const char type = line[kStampBytes + 1];
  if (type == 'u') return Run{.disregarded = kReleaseNote};
  if (type == 'z') return Run{.disregarded = kSuspensionNote};
  if (type != 'E' && type != 'R') return std::nullopt;
  const std::string_view rest = line.substr(kStampBytes + 3);
  const std::size_t cut = rest.find(';');
  const std::string_view id = rest.substr(0, cut);
  if (cut == std::string_view::npos || id.empty() || id.size() > limits::kIdBytesMax) {
    return mistake("", "there is no job, or nothing after it: the record is cut off");
  }
  const Record record(rest.substr(cut + 1));
  if (id.contains("[]") && record.value("exec_vnode").empty() && TRY(record.time("start"))) {
    return std::nullopt;
  }
  return TRY(run_of(id, record, options));
}

}  // namespace pennyweight::pbs
