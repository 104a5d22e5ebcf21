#include "ingest/schedulers/slurm/job_holdings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/check.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/hostlist.h"
#include "ingest/schedulers/slurm/job_labels.h"
#include "ingest/schedulers/slurm/job_span.h"
#include "ingest/schedulers/slurm/utf8.h"
#include "ledger/job_without_time.h"

namespace pennyweight::slurm {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "CANCELLED by 1001" is CANCELLED; "RUNNING+" of a narrow column is RUNNING.
std::string_view state_word(std::string_view state) {
  return state.substr(0, state.find_first_of(" +,"));
}

// "12345", "12345_7", "12345+1".
bool is_job_id(std::string_view id) {
  const std::size_t base = std::min(id.find_first_not_of("0123456789"), id.size());
  if (base == 0 || id.size() > 40) return false;
  if (base == id.size()) return true;
  const std::string_view rest = id.substr(base + 1);
  return (id[base] == '_' || id[base] == '+') && !rest.empty() &&
         rest.find_first_not_of("0123456789") == std::string_view::npos;
}

// "12345_[7-9]" is the part of an array that still waits.
bool is_waiting_array(std::string_view id) { return id.find('[') != std::string_view::npos; }

// States of jobs that have not ended; all others have.
bool is_running_state(std::string_view state) {
  return is_one_of(state, {"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED",
                           "SIGNALING", "STAGE_OUT", "RESIZING"});
}

// sacct's manual, "JOB STATE CODES", and the flags that the JSON adds to them.
constexpr std::array<std::string_view, 30> kStates = {
    "BOOT_FAIL",     "CANCELLED",   "COMPLETED",     "COMPLETING",    "CONFIGURING",
    "DEADLINE",      "EXPEDITING",  "FAILED",        "LAUNCH_FAILED", "NODE_FAIL",
    "OUT_OF_MEMORY", "PENDING",     "POWER_UP_NODE", "PREEMPTED",     "RECONFIG_FAIL",
    "REQUEUED",      "REQUEUE_FED", "REQUEUE_HOLD",  "RESIZING",      "RESV_DEL_HOLD",
    "REVOKED",       "RUNNING",     "SIGNALING",     "SPECIAL_EXIT",  "STAGE_OUT",
    "STOPPED",       "SUSPENDED",   "TIMEOUT",       "UPDATE_DB",     ""};

// `state` is the first word of `whole`; a narrow column cuts it, as in "OUT_OF_ME+".
bool is_known_state(std::string_view state, std::string_view whole) {
  const bool is_cut = whole.substr(state.size()).starts_with('+');
  return std::ranges::any_of(kStates, [&](std::string_view known) {
    return is_cut ? known.starts_with(state) : known == state;
  });
}

// What a row says that can't be: nobody knows then what the job held, so it is set aside with the
// hours that it states, and not counted as one that waited.
std::expected<void, Rejection> check_contradictions(const JobRecord& job, std::string_view state) {
  const bool has_run = job.elapsed_ms.value_or(0) > 0;
  if (is_waiting_array(job.id)) {
    if (!has_run && !(job.start && job.end && job.start->later < job.end->earlier)) return {};
    return reject("JobID",
                  fmt::format("'{}' is tasks of an array that still wait, but the row is {} and "
                              "has run: export each task with sacct --array",
                              shown_as_utf8(std::string_view(job.id).substr(0, 40)),
                              shown_as_utf8(state.substr(0, 40))));
  }
  if (state == "PENDING" && has_run && job.end) {
    return reject("State", fmt::format("the job is PENDING, but ran for {} s and has an End",
                                       *job.elapsed_ms / 1000));
  }
  if (!job.start && has_run && state != "PENDING") {
    return reject("Start", fmt::format("it is unknown, but Elapsed is {} s: export the row again, "
                                       "or take Start from the job's log",
                                       *job.elapsed_ms / 1000));
  }
  const bool is_epoch = job.start && job.start->earlier == Instant{};
  if (is_epoch && job.end && job.elapsed_ms &&
      job.end->earlier - job.start->earlier !=
          std::chrono::milliseconds(*job.elapsed_ms + job.suspended_ms.value_or(0))) {
    return reject("Start", fmt::format("it is 0, which is no time, and Elapsed is {} s: nothing "
                                       "says when the job ran",
                                       *job.elapsed_ms / 1000));
  }
  return {};
}

bool has_no_nodes(std::string_view list) {
  return is_one_of(list, {"", "None assigned", "(null)", "None", "Unknown", "NULL", "N/A"});
}

std::vector<PoolId> partition_pools(std::string_view partitions) {
  std::vector<PoolId> pools;
  while (!partitions.empty()) {
    const std::size_t comma = partitions.find(',');
    const std::string_view name = partitions.substr(0, comma);
    if (!name.empty()) pools.emplace_back(std::string(name));
    partitions.remove_prefix(comma == std::string_view::npos ? partitions.size() : comma + 1);
  }
  return pools;
}

// Spreads devices evenly; each of the first nodes gets one of the remainder.
OnNodes spread(std::uint64_t devices, const std::vector<std::string>& hosts) {
  const std::uint64_t each = devices / hosts.size();
  const std::uint64_t larger = devices % hosts.size();
  OnNodes placement;
  placement.parts.reserve(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    placement.parts.push_back({.node = NodeId(hosts[i]),
                               .devices = static_cast<std::uint32_t>(each + (i < larger ? 1 : 0))});
  }
  return placement;
}

std::optional<std::uint64_t> milli(std::optional<std::uint64_t> cpus) {
  if (!cpus) return std::nullopt;
  return *cpus * 1000;
}

struct HeldTime {
  JobSpan span;
  bool ended;
};

std::expected<HeldTime, Rejection> when_held(const JobRecord& job, std::string_view state,
                                             std::optional<Instant> now) {
  // `sacct -T` cuts running jobs at the end of its window: there is an End that is not the end.
  const bool ended = job.end && !is_one_of(state, {"RUNNING", "SUSPENDED"});
  if (!job.end && !state.empty() && !is_running_state(state)) {
    return reject("End", fmt::format("the state is {}, but there is no End: look for the job in "
                                     "`sacctmgr show runawayjobs`",
                                     shown_as_utf8(state.substr(0, 40))));
  }
  const auto span = TRY(job.end ? ended_job_span(job) : running_job_span(job, now));
  const Instant last = span.end + std::chrono::milliseconds(span.suspended_ms);
  if (now && last > *now) {
    return reject(job.end ? "End" : "Start",
                  fmt::format("the job is in the future: it lasts until {}, and now is {}",
                              to_text(last), to_text(*now)));
  }
  if (last >= from_unix_seconds(7'258'118'400)) {
    return reject("End", "it is after the year 2199: " + to_text(last));
  }
  return HeldTime{span, ended};
}

std::expected<ClusterId, Rejection> job_cluster(const JobRecord& job, const SacctOptions& options) {
  if (options.cluster) return *options.cluster;
  if (job.cluster.empty() || job.cluster.size() > limits::kIdBytesMax ||
      !is_plain_text(job.cluster)) {
    return reject("Cluster", "it does not name a cluster: give the cluster's name with the import");
  }
  return ClusterId(std::string(job.cluster));
}

struct Hosts {
  std::vector<std::string> names;  // empty: not known
};

std::expected<Hosts, Rejection> job_hosts(const JobRecord& job) {
  if (has_no_nodes(job.node_list)) return Hosts{};
  auto names = expand_hostlist(job.node_list);
  if (!names) return reject("NodeList", shown_as_utf8(names.error().message));
  return Hosts{std::move(*names)};
}

// A job that held nothing, at the instant of its end if that is known and over.
std::expected<JobResult, Rejection> without_time(const JobRecord& job, const SacctOptions& options,
                                                 std::string_view state, ClusterId cluster,
                                                 JobOutcome outcome, std::optional<Instant> at) {
  JobResult result{outcome, {}};
  if (!at || (options.now && *at > *options.now)) return result;
  auto labels = TRY(job_labels(job, state));
  result.without_time =
      job_without_time(std::move(cluster), WorkloadId(job.id),
                       outcome == JobOutcome::kNeverStarted ? kJobsNeverStarted : kJobsOfZeroLength,
                       *at, std::move(labels));
  return result;
}

Placement place_devices(std::uint64_t devices, const Hosts& hosts, const JobRecord& job,
                        const SacctOptions& options) {
  if (!hosts.names.empty()) return spread(devices, hosts.names);
  InPool pool{.pools = {}, .devices = static_cast<std::uint32_t>(devices)};
  if (options.partitions_are_pools) pool.pools = partition_pools(job.partition);
  return pool;
}

}  // namespace

std::expected<JobResult, Rejection> make_holdings(const JobRecord& job, const SacctOptions& options,
                                                  std::uint64_t line) {
  const std::string_view state = state_word(job.state);
  TRY(check_contradictions(job, state));
  if (is_waiting_array(job.id) || state == "PENDING") return JobResult{JobOutcome::kPending, {}};
  if (!is_job_id(job.id)) {
    return reject("JobID", fmt::format("'{}' is not the id of a job, such as 12345, 12345_7 or "
                                       "12345+1",
                                       shown_as_utf8(std::string_view(job.id).substr(0, 40))));
  }
  const auto cluster = TRY(job_cluster(job, options));
  if (!job.start) {
    if (is_one_of(state, {"RUNNING", "SUSPENDED"})) {
      return reject("Start", "the job is running, but nothing says since when");
    }
    return without_time(job, options, state, cluster, JobOutcome::kNeverStarted,
                        job.end ? std::optional(job.end->earlier) : std::nullopt);
  }
  const auto when = TRY(when_held(job, state, options.now));
  const auto held = Interval::of(when.span.begin, when.span.end);
  if (!held) {
    if (!when.ended) return JobResult{JobOutcome::kZeroLength, {}};
    return without_time(job, options, state, cluster, JobOutcome::kZeroLength, when.span.begin);
  }

  const auto hosts = TRY(job_hosts(job));
  if (job.tres.cpus.value_or(0) > 1'000'000'000) {
    return reject("AllocTRES", "more than 1,000,000,000 processors");
  }
  auto groups = device_groups(job.tres, hosts.names.size());
  if (!groups) return reject("AllocTRES", groups.error().message);
  const auto labels = TRY(job_labels(job, state));
  if (options.partitions_are_pools && hosts.names.empty() && !is_plain_text(job.partition)) {
    return reject("Partition", "it is not UTF-8");
  }
  if (groups->empty()) {
    groups->push_back({.name = "", .device = WholeGpu{}, .gpu_model = "", .count = 0});
  }

  JobResult result{.outcome = when.ended ? JobOutcome::kHeld : JobOutcome::kHeldAndRunning,
                   .holdings = {},
                   .ambiguous = when.span.ambiguous,
                   .shortened = when.ended && !job.suspended_ms && when.span.suspended_ms > 0,
                   .unknown_state = !is_known_state(state, job.state)};
  for (const DeviceGroup& group : *groups) {
    Holding holding(cluster, WorkloadId(job.id), *held,
                    place_devices(group.count, hosts, job, options));
    holding.attempt = to_text(when.span.begin);
    if (groups->size() > 1) holding.attempt += "/" + group.name;
    holding.ended = when.ended;
    holding.suspended_ms = when.span.suspended_ms;
    holding.device = group.device;
    holding.gpu_model = group.gpu_model;
    const bool first = result.holdings.empty();
    holding.cpu_milli = first || !job.tres.cpus ? milli(job.tres.cpus) : 0;
    holding.memory_bytes = first || !job.tres.memory_bytes ? job.tres.memory_bytes : 0;
    holding.labels = labels;
    holding.source = {.line = line};
    result.holdings.push_back(std::move(holding));
  }
  return result;
}

}  // namespace pennyweight::slurm
