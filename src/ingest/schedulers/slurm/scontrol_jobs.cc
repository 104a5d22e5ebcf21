#include "ingest/schedulers/slurm/scontrol_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/limits.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/gres_details.h"
#include "ingest/schedulers/slurm/hostlist.h"
#include "ingest/schedulers/slurm/job_holdings.h"
#include "ingest/schedulers/slurm/mig_type.h"
#include "ingest/schedulers/slurm/recorded_time.h"
#include "ingest/schedulers/slurm/rejection.h"
#include "ingest/schedulers/slurm/utf8.h"

namespace pennyweight::slurm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kJobId = "JobId=";

// One "Nodes=…" line.
struct GpusByIndex {
  std::string_view nodes;
  std::string_view gres;
};

// One job's lines, from JobId= at the start of a line to the next such line.
struct JobLines {
  std::string_view text;
  std::uint64_t line = 0;
  std::map<std::string_view, std::string_view> words;
  std::vector<GpusByIndex> places;
  std::string_view contradicts = {};  // a word that appears twice and differs

  std::string_view word(std::string_view key) const {
    const auto at = words.find(key);
    return at == words.end() || at->second == "(null)" ? std::string_view() : at->second;
  }
};

void add_word(std::string_view key, std::string_view value, JobLines& job) {
  const auto [at, is_new] = job.words.emplace(key, value);
  if (!is_new && at->second != value) job.contradicts = key;
}

// Lines are recognised by their first word. Lines whose words are all Slurm's own are split at
// spaces; of those that end in a text of a user or of the site, only what precedes it.
void read_line(std::string_view line, JobLines& job) {
  constexpr std::array<std::string_view, 10> kOwnWords = {
      "JobId",     "UserId",      "Priority",  "JobState", "RunTime",
      "StartTime", "SuspendTime", "Partition", "NodeList", "Nodes"};
  const std::size_t equals = line.find('=');
  const std::string_view first = line.substr(0, equals);
  if (equals == std::string_view::npos) return;
  for (const std::string_view whole : {"Comment", "Reservation", "TRES", "AllocTRES"}) {
    if (first == whole)
      add_word(first, ascii::trim(line.substr(equals + 1), ascii::kWhitespace), job);
  }
  if (std::find(kOwnWords.begin(), kOwnWords.end(), first) == kOwnWords.end()) return;
  GpusByIndex place;
  while (!line.empty()) {
    line = ascii::trim(line, ascii::kWhitespace);
    const std::size_t end = line.find(' ');
    const std::size_t mid = line.substr(0, end).find('=');
    if (mid == std::string_view::npos) return;
    const std::string_view key = line.substr(0, mid);
    if (key == "JobName") {
      add_word(key, line.substr(mid + 1), job);
      return;
    }
    const std::string_view value =
        end == std::string_view::npos ? line.substr(mid + 1) : line.substr(mid + 1, end - mid - 1);
    if (first == "Nodes") {
      if (key == "Nodes") place.nodes = value;
      if (key == "GRES") place.gres = value;
    } else if (key != "Reason") {
      add_word(key, value, job);
    }
    line.remove_prefix(end == std::string_view::npos ? line.size() : end);
  }
  if (first == "Nodes") job.places.push_back(place);
}

std::vector<JobLines> split_jobs(std::string_view text) {
  std::vector<JobLines> jobs;
  std::uint64_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t newline = std::min(text.find('\n', at), text.size() - 1);
    const std::string_view line = text.substr(at, newline + 1 - at);
    if (line.starts_with(kJobId)) {
      if (jobs.size() == kRunningJobsMax) return jobs;
      jobs.push_back({.text = text.substr(at, 0), .line = number, .words = {}, .places = {}});
    }
    if (!jobs.empty()) {
      JobLines& job = jobs.back();
      job.text = {job.text.data(),
                  static_cast<std::size_t>(text.data() + newline + 1 - job.text.data())};
      read_line(ascii::trim(line, ascii::kWhitespace), job);
    }
    at = newline + 1;
  }
  return jobs;
}

// As sacct's JobID: "12", "12_7" of an array, "12+1" of a heterogeneous job.
std::string job_workload(const JobLines& job) {
  if (const auto array = job.word("ArrayJobId"); !array.empty()) {
    return fmt::format("{}_{}", array, job.word("ArrayTaskId"));
  }
  if (const auto het = job.word("HetJobId"); !het.empty()) {
    return fmt::format("{}+{}", het, job.word("HetJobOffset"));
  }
  return std::string(job.word("JobId"));
}

bool has_its_resources(std::string_view state) {
  for (const std::string_view one : {"RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING"}) {
    if (state == one) return true;
  }
  return false;
}

std::expected<RecordedTime, Rejection> read_start(const JobLines& job, const TimeZone& zone) {
  const std::string_view text = job.word("StartTime");
  if (auto at = parse_absolute_time(text)) {
    if (!*at) return reject("StartTime", at->error().message);
    return RecordedTime{.earlier = **at, .later = **at};
  }
  const auto earlier = parse_local_time(text, zone, Ambiguous::kEarlier);
  const auto later = parse_local_time(text, zone, Ambiguous::kLater);
  if (!earlier) return reject("StartTime", earlier.error().message);
  if (!later) return reject("StartTime", later.error().message);
  return RecordedTime{.earlier = *earlier, .later = *later};
}

std::expected<JobRecord, Rejection> read_record(const JobLines& job, const SacctOptions& options,
                                                Instant now) {
  JobRecord record;
  record.id = job_workload(job);
  record.account = job.word("Account");
  record.user = job.word("UserId").substr(0, job.word("UserId").find('('));
  record.partition = job.word("Partition");
  record.qos = job.word("QOS");
  record.job_name = job.word("JobName");
  record.state = job.word("JobState");
  record.wckey = job.word("WCKey");
  record.comment = job.word("Comment");
  record.reservation = job.word("Reservation");
  record.node_list = job.word("NodeList");
  auto start = TRY(read_start(job, options.zone));
  const auto ran = parse_duration_ms(job.word("RunTime"));
  if (!ran) return reject("RunTime", ran.error().message);
  // The wall-clock hour occurs twice: how long the job has run shows which one it was.
  if (start.earlier != start.later && start.later + milliseconds(*ran) <= now &&
      now - (start.later + milliseconds(*ran)) < seconds(1800)) {
    start.earlier = start.later;
  }
  record.start = RecordedTime{.earlier = start.earlier, .later = start.earlier};
  record.elapsed_ms = *ran;
  const std::string_view suspended = job.word("SuspendTime");
  const bool was_suspended = !suspended.empty() && suspended != "None" && suspended != "Unknown";
  if (was_suspended && now > start.earlier + milliseconds(*ran)) {
    const auto idle = std::chrono::duration_cast<seconds>(now - start.earlier - milliseconds(*ran));
    record.suspended_ms = static_cast<std::uint64_t>(idle.count()) * 1000;
  }
  if (const auto limit = parse_duration_ms(job.word("TimeLimit"))) {
    record.time_limit_minutes = *limit / 60'000;
  }
  const std::string_view text =
      job.word("AllocTRES").empty() ? job.word("TRES") : job.word("AllocTRES");
  auto tres = parse_tres(text);
  if (!tres) return reject("TRES", tres.error().message);
  record.tres = std::move(*tres);
  return record;
}

// The devices of one kind that the job has on one node.
struct NodeDevices {
  std::string node;
  GresDetail detail;
};

std::expected<std::vector<NodeDevices>, Rejection> read_node_devices(const JobLines& job) {
  std::vector<NodeDevices> places;
  for (const GpusByIndex& these : job.places) {
    const auto details = parse_gres_details(these.gres);
    if (!details) return reject("GRES", details.error().message);
    if (details->empty()) continue;
    const auto hosts = expand_hostlist(these.nodes);
    if (!hosts) return reject("Nodes", hosts.error().message);
    for (const std::string& host : *hosts) {
      for (const GresDetail& detail : *details) places.push_back({host, detail});
    }
    if (places.size() > limits::kGpusPerHoldingMax) return reject("Nodes", "too many of them");
  }
  return places;
}

// Whether the entry belongs to this holding: it has its type, or the holding has none.
bool belongs_to(const Gres& gres, const Holding& holding) {
  const auto mig = parse_mig_type(gres.type);
  if (const auto* slice = std::get_if<MigSlice>(&holding.device)) {
    return gres.name == "gpu" && mig && mig->profile == slice->profile &&
           mig->model == holding.gpu_model;
  }
  const bool same_type = holding.gpu_model.empty() || gres.type == holding.gpu_model;
  if (std::holds_alternative<WholeGpu>(holding.device)) {
    return gres.name == "gpu" && !mig && same_type;
  }
  return std::holds_alternative<Shard>(holding.device) && gres.name == "shard" && same_type;
}

// Places the holding as the lines say. Leaves it as it is where they don't add up to it.
void locate(Holding& holding, const std::vector<NodeDevices>& places, const GpuAt& gpu_at) {
  auto* spread = std::get_if<OnNodes>(&holding.placement);
  if (spread == nullptr) return;
  std::unordered_map<std::string_view, std::uint64_t> devices;
  std::vector<const NodeDevices*> mine;
  std::uint64_t all = 0;
  for (const NodeDevices& place : places) {
    if (!belongs_to(place.detail.gres, holding)) continue;
    devices[place.node] += place.detail.gres.count;
    all += place.detail.gres.count;
    mine.push_back(&place);
  }
  if (mine.empty() || all != device_count(holding)) return;
  bool everywhere = true;
  std::uint64_t found = 0;
  for (const OnNodes::NodeDevices& part : spread->parts) {
    const auto at = devices.find(part.node.text());
    found += at == devices.end() ? 0 : at->second;
    everywhere &= at != devices.end();
  }
  if (found != all) return;
  for (OnNodes::NodeDevices& part : spread->parts) {
    const auto at = devices.find(part.node.text());
    part.devices = at == devices.end() ? 0 : static_cast<std::uint32_t>(at->second);
  }
  const std::string& type = mine.front()->detail.gres.type;
  const bool one_type = std::all_of(mine.begin(), mine.end(), [&](const NodeDevices* place) {
    return place->detail.gres.type == type;
  });
  if (holding.gpu_model.empty() && one_type && !std::holds_alternative<MigSlice>(holding.device)) {
    holding.gpu_model = type;
  }
  if (!everywhere || !std::holds_alternative<WholeGpu>(holding.device) || !gpu_at) return;
  OnGpus on;
  for (const NodeDevices* place : mine) {
    if (place->detail.indexes.size() != place->detail.gres.count) return;
    for (const std::uint32_t index : place->detail.indexes) {
      auto gpu = gpu_at(NodeId(place->node), index);
      if (!gpu) return;
      on.gpus.push_back(std::move(*gpu));
    }
  }
  holding.placement = std::move(on);
}

std::expected<std::vector<Holding>, Rejection> read_job(const JobLines& job,
                                                        const SacctOptions& options, Instant now,
                                                        const GpuAt& gpu_at) {
  if (!job.contradicts.empty()) {
    return reject(std::string(job.contradicts),
                  "it appears twice and differs: is there a line break in the job's name or "
                  "comment?");
  }
  const auto record = TRY(read_record(job, options, now));
  auto result = TRY(make_holdings(record, options, job.line));
  const auto places = TRY(read_node_devices(job));
  for (Holding& holding : result.holdings) {
    holding.ended = false;
    locate(holding, places, gpu_at);
  }
  return std::move(result.holdings);
}

}  // namespace

Result<ScontrolJobs> parse_scontrol_jobs(std::string_view text, const SacctOptions& options,
                                         Instant now, const GpuAt& gpu_at) {
  CHECK(options.cluster, "scontrol does not name the cluster");
  if (text.size() > limits::kDocumentBytesMax) {
    return fail(ErrorCode::kLimit, "the text has more bytes than a document may have");
  }
  ScontrolJobs found;
  if (ascii::trim(text, ascii::kWhitespace).empty() || text.starts_with("No jobs in the system"))
    return found;
  const std::vector<JobLines> jobs = split_jobs(text);
  if (jobs.empty()) {
    return fail(ErrorCode::kBadFile,
                "there is no line that begins with JobId=: this is not the "
                "output of scontrol show job");
  }
  if (jobs.size() == kRunningJobsMax) {
    return fail(ErrorCode::kLimit, fmt::format("there are {} jobs or more", kRunningJobsMax));
  }
  std::unordered_map<std::string, std::uint64_t> seen;
  for (const JobLines& job : jobs) ++seen[job_workload(job)];
  for (const JobLines& job : jobs) {
    if (!has_its_resources(job.word("JobState"))) {
      ++found.others;
      continue;
    }
    auto holdings = seen[job_workload(job)] > 1
                        ? reject("JobId",
                                 "the job appears twice: is there a line break in a "
                                 "job's name or comment?")
                        : read_job(job, options, now, gpu_at);
    if (!holdings) {
      found.rejected.push_back(
          {.file = options.file,
           .line = job.line,
           .column = holdings.error().column,
           .reason = holdings.error().reason,
           .text = shown_as_utf8(job.text.substr(0, limits::kRejectedTextBytesMax))});
      continue;
    }
    if (holdings->empty()) {  // it began in this second
      ++found.others;
      continue;
    }
    ++found.running;
    for (Holding& holding : *holdings) {
      found.on_gpus += std::holds_alternative<OnGpus>(holding.placement) ? 1 : 0;
      found.holdings.push_back(std::move(holding));
    }
  }
  return found;
}

}  // namespace pennyweight::slurm
