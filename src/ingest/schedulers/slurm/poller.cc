#include "ingest/schedulers/slurm/poller.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/try.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/node_events.h"
#include "ingest/schedulers/slurm/sacct_text.h"
#include "ingest/schedulers/slurm/scontrol_nodes.h"

namespace pennyweight::slurm {
namespace {

// No job name contains it by accident, unlike '|', which would cost the job's whole row.
constexpr char kUnitSeparator = '\x1f';
constexpr std::string_view kFormatLine = "pennyweight slurm poller 1";
constexpr std::size_t kRememberedWordsMax = 10'000;  // of notes and rejected rows

// Notes and bad rows are the same in every poll: each is reported once a day.
bool is_new(std::map<std::string, Instant>& reported, const std::string& text, Instant now) {
  if (reported.size() >= kRememberedWordsMax) reported.clear();
  const auto [at, added] = reported.emplace(text, now);
  if (added) return true;
  if (now - at->second < std::chrono::hours(24)) return false;
  at->second = now;
  return true;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t' || c == '\n' || c == '%') {
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view code = text.substr(i, 3);
    if (code == "%09" || code == "%0a" || code == "%25") {
      out += code == "%09" ? '\t' : code == "%0a" ? '\n' : '%';
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::string> split_fields(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t tab = line.find('\t');
    fields.push_back(unescaped(line.substr(0, tab)));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

// A record of slurmdbd that is older is complete.
constexpr std::chrono::seconds kSlurmdbdDelay{60};
// What sacct calls a job whose name has not come yet.
constexpr std::string_view kNameOfNoRecord = "allocation";

}  // namespace

SlurmPoller::SlurmPoller(PollerOptions options, Clock& clock, GpuAt gpu_at)
    : options_(std::move(options)), clock_(clock), gpu_at_(std::move(gpu_at)) {
  confirmed_.sacct.settled = options_.since;
  state_ = confirmed_;
}

PollResult SlurmPoller::poll() {
  PollResult result;
  result.at = clock_.now();
  // What was reported and not confirmed is asked and reported again.
  state_ = confirmed_;
  const bool has_jobs = poll_jobs(result);
  poll_nodes(result);
  poll_sacct(result, !has_jobs);
  forget(result.at);
  return result;
}

void SlurmPoller::confirm_stored() { confirmed_ = state_; }

Result<std::string> SlurmPoller::run(std::vector<std::string> words,
                                     const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  Command command{
      .words = std::move(words), .environment = options_.environment, .timeout = options_.timeout};
  command.environment.push_back("TZ=" + options_.zone.name());
  command.environment.emplace_back("SLURM_TIME_FORMAT=%s");
  command.environment.emplace_back("LC_ALL=C");
  return run_command(command);
}

SacctOptions SlurmPoller::reading(std::string source) const {
  return {.zone = options_.zone,
          .file = std::move(source),
          .cluster = options_.cluster,
          .now = {},
          .partitions_are_pools = options_.partitions_are_pools,
          .delimiter = kUnitSeparator};
}

// Polls the running jobs; whether scontrol answered.
bool SlurmPoller::poll_jobs(PollResult& result) {
  const auto text = run(options_.scontrol, {"show", "job", "--details"});
  const Instant now = clock_.now();
  if (!text) {
    result.failures.push_back(text.error().during("running jobs are not known by GPU"));
    return false;
  }
  SacctOptions options = reading(options_.cluster.text() + ": scontrol show job");
  options.now = now + kClockSkewMax;
  auto jobs = parse_scontrol_jobs(*text, options, now, gpu_at_);
  if (!jobs) {
    result.failures.push_back(jobs.error().during("running jobs are not known by GPU"));
    return false;
  }
  result.running_jobs = jobs->running;
  result.running_on_gpus = jobs->on_gpus;
  for (Holding& holding : jobs->holdings) report_running(std::move(holding), now, result);
  for (RejectedRow& row : jobs->rejected) reject(std::move(row), result);
  return true;
}

void SlurmPoller::poll_nodes(PollResult& result) {
  const auto text = run(options_.scontrol, {"show", "node"});
  const Instant now = clock_.now();
  const auto nodes =
      !text ? Result<ScontrolNodes>(std::unexpected(text.error()))
            : parse_scontrol_nodes(*text, {.cluster = options_.cluster,
                                           .from = now,
                                           .file = options_.cluster.text() + ": scontrol show node",
                                           .partitions_are_pools = options_.partitions_are_pools,
                                           .zone = options_.zone});
  if (!nodes) {
    result.failures.push_back(nodes.error().during("the nodes are not known"));
    return;
  }
  NodeChanges news = update_watched_nodes(*nodes, now, options_.since, state_.nodes,
                                          node_events(*nodes, now, result));
  result.nodes = std::move(news.nodes);
  result.outages = std::move(news.outages);
  for (const RejectedRow& row : nodes->rejected) reject(row, result);
  for (const std::string& text_of : nodes->notes) note(text_of, result);
  for (std::string& text_of : news.notes) note(std::move(text_of), result);
}

std::vector<NodeEvent> SlurmPoller::node_events(const ScontrolNodes& nodes, Instant now,
                                                PollResult& result) {
  if (options_.sacctmgr.empty()) return {};
  Instant from = options_.since;
  for (const auto& [name, node] : state_.nodes) from = std::max(from, node.seen);
  const bool one_is_back = std::ranges::any_of(nodes.states, [&](const NodeState& state) {
    const auto known = state_.nodes.find(state.node);
    return !state.is_out && known != state_.nodes.end() && known->second.out_since;
  });
  const auto pause = std::max<std::chrono::milliseconds>(kUnwatchedMin, 3 * options_.running_every);
  if (!state_.nodes.empty() && !one_is_back && now - from < pause) return {};
  // What lasted at its beginning is among the events of a time.
  const auto back =
      std::chrono::ceil<std::chrono::seconds>(std::max(now - from, std::chrono::milliseconds(0)));
  std::vector<std::string> words = {"--parsable2", "show", "event",
                                    fmt::format("start=now-{}", back.count()),
                                    "format=Cluster,NodeName,TimeStart,TimeEnd,State,Reason"};
  if (!options_.slurm_cluster.empty()) words.push_back("clusters=" + options_.slurm_cluster);
  const auto text = run(options_.sacctmgr, words);
  auto events =
      !text ? Result<NodeEvents>(std::unexpected(text.error()))
            : parse_node_events(*text, {.cluster = options_.cluster,
                                        .file = options_.cluster.text() + ": sacctmgr show event",
                                        .now = clock_.now(),
                                        .zone = options_.zone});
  if (!events) {
    // Jobs and nodes are known all the same.
    note(fmt::format("it is not known which nodes were out of use from {} to {}: {}; the output of "
                     "sacctmgr --parsable2 show event can be imported later",
                     to_text(from), to_text(now), events.error().message),
         result);
    return {};
  }
  for (RejectedRow& row : events->rejected) reject(std::move(row), result);
  return std::move(events->events);
}

void SlurmPoller::poll_sacct(PollResult& result, bool report_running) {
  const Instant planned = clock_.now();
  for (const SacctWindow& window : plan_sacct(state_.sacct, options_.plan, planned)) {
    const auto counts = read_window(window, planned, report_running && window.is_last, result);
    if (!counts) {
      result.failures.push_back(counts.error().during("cannot read the jobs that have ended"));
      return;
    }
    state_.sacct = after_window(state_.sacct, window, planned);
    result.is_caught_up = window.is_last;
    if (report_running && window.is_last) result.running_jobs = counts->running;
  }
}

Result<SacctCounts> SlurmPoller::read_window(const SacctWindow& window, Instant planned,
                                             bool tell_running_too, PollResult& result) {
  // sacct is asked in seconds before now, and some time has passed since the plan was made.
  const Instant now = std::max(clock_.now(), planned);
  const auto text = TRY(
      run(options_.sacct, sacct_arguments(window, now, options_.slurm_cluster, kUnitSeparator)));
  // The rows are collected first: nothing of an answer that is cut off counts.
  std::vector<Holding> holdings;
  std::vector<RejectedRow> rejected;
  SacctOptions options = reading(options_.cluster.text() + ": sacct");
  options.now = clock_.now() + kClockSkewMax;
  SacctText reader(options, {.holdings = [&](std::span<const Holding> rows) -> Result<void> {
                               holdings.insert(holdings.end(), rows.begin(), rows.end());
                               return {};
                             },
                             .rejected = [&](std::span<const RejectedRow> rows) -> Result<void> {
                               rejected.insert(rejected.end(), rows.begin(), rows.end());
                               return {};
                             }});
  TRY(reader.feed(text));
  auto counts = reader.finish();
  if (!counts) return counts;
  for (RejectedRow& row : rejected) reject(std::move(row), result);
  for (Holding& holding : holdings) {
    if (holding.ended) {
      report_ended(std::move(holding), result);
    } else if (tell_running_too) {
      report_running(std::move(holding), now, result);
    }
  }
  return counts;
}

void SlurmPoller::report_running(Holding holding, Instant now, PollResult& result) {
  const JobKey key(holding.workload.text(), holding.attempt);
  const auto [at, is_new] =
      state_.running.emplace(key, RunningJob{holding.placement, holding.gpu_model, now, {}, {}});
  RunningJob& job = at->second;
  job.job_name = holding.labels.find("job_name").value_or("");
  const bool moved = !is_new && job.placement != holding.placement;
  // sacct knows no placement: that of scontrol stays.
  const bool is_better = !std::holds_alternative<OnGpus>(job.placement) ||
                         std::holds_alternative<OnGpus>(holding.placement);
  if (moved && !is_better) {
    holding.placement = job.placement;
    holding.gpu_model = job.gpu_model;
  } else if (!is_new && !moved && holding.gpu_model.empty()) {
    // Often sacct does not know the model either: a reading without it would contradict the first.
    holding.gpu_model = job.gpu_model;
  }
  job.placement = holding.placement;
  job.gpu_model = holding.gpu_model;
  job.seen = now;
  if (!is_new && job.reported && !(moved && is_better) &&
      now - *job.reported < options_.running_every) {
    return;
  }
  job.reported = now;
  result.holdings.push_back(std::move(holding));
}

// The records of a job reach slurmdbd one after the other. Until the last of them has come, a task
// of an array has the number of a job of its own, and a job the name "allocation". A record that
// scontrol has not confirmed is therefore read again later: the overlap of requests includes it.
bool SlurmPoller::is_complete(const Holding& holding, Instant now) const {
  if (now - holding.held.end() >= kSlurmdbdDelay) return true;
  const auto running = state_.running.find({holding.workload.text(), holding.attempt});
  if (running == state_.running.end()) return false;
  const std::string name(holding.labels.find("job_name").value_or(""));
  return name != kNameOfNoRecord || running->second.job_name == name;
}

void SlurmPoller::report_ended(Holding holding, PollResult& result) {
  const JobKey key(holding.workload.text(), holding.attempt);
  if (state_.ended.contains(key) || !is_complete(holding, result.at)) return;
  bool had_placement = false;
  if (const auto job = state_.running.find(key); job != state_.running.end()) {
    Holding placed = holding;
    placed.placement = job->second.placement;
    if (device_count(placed) == device_count(holding)) {
      placed.gpu_model = job->second.gpu_model;
      had_placement = placed != holding;
      holding = std::move(placed);
    }
    state_.running.erase(job);
  }
  state_.ended.emplace(key, EndedJob{.end = holding.held.end(), .had_placement = had_placement});
  ++result.ended_jobs;
  result.holdings.push_back(std::move(holding));
}

void SlurmPoller::reject(RejectedRow row, PollResult& result) {
  const std::string text = row.file + "\n" + row.reason + "\n" + row.text;
  if (!is_new(state_.rejected, text, result.at)) return;
  ++result.rejected_count;
  if (result.rejected.size() < kRejectedPerPollMax) result.rejected.push_back(std::move(row));
}

void SlurmPoller::note(std::string text, PollResult& result) {
  if (is_new(state_.noted, text, result.at)) result.notes.push_back(std::move(text));
}

void SlurmPoller::forget(Instant now) {
  std::erase_if(state_.running,
                [&](const auto& job) { return now - job.second.seen > kVanishedJobKept; });
  // Jobs that ended before that are no longer asked for.
  const auto back = std::max(options_.plan.deep_back, options_.plan.overlap);
  const Instant asked = std::min(now - back, state_.sacct.settled) - 2 * options_.plan.overlap;
  std::erase_if(state_.ended, [&](const auto& job) { return job.second.end < asked; });
}

std::string SlurmPoller::save() const {
  std::string text =
      fmt::format("{}\nsettled\t{}\n", kFormatLine, unix_ms(confirmed_.sacct.settled));
  if (confirmed_.sacct.deep_at)
    text += fmt::format("deep\t{}\n", unix_ms(*confirmed_.sacct.deep_at));
  for (const auto& [name, node] : confirmed_.nodes) {
    text += fmt::format("node\t{}\t{}\t{}\t{}\t{}\t{}\n", escaped(name.text()), node.content.high,
                        node.content.low, unix_ms(node.seen),
                        node.out_since ? std::to_string(unix_ms(*node.out_since)) : "",
                        escaped(node.out_reason));
  }
  for (const auto& [key, job] : confirmed_.running) {
    text += fmt::format("running\t{}\t{}\t{}\t{}\t{}\n", escaped(key.first), escaped(key.second),
                        escaped(to_text(job.placement)), escaped(job.gpu_model), unix_ms(job.seen));
  }
  for (const auto& [key, job] : confirmed_.ended) {
    if (!job.had_placement) continue;  // reporting it again gives the same fact
    text += fmt::format("ended\t{}\t{}\t{}\n", escaped(key.first), escaped(key.second),
                        unix_ms(job.end));
  }
  return text + "end\n";
}

Result<void> SlurmPoller::restore(std::string_view text) {
  const auto refuse = [](std::string_view line) {
    return fail(ErrorCode::kBadFile, fmt::format("'{}' is not a line of a Slurm poller's state, "
                                                 "which is ignored: everything is read again",
                                                 line.substr(0, 60)));
  };
  if (text.size() > kPollerStateBytesMax) return refuse("too long");
  if (!text.starts_with(kFormatLine)) return refuse(text.substr(0, text.find('\n')));
  // A state that was cut off would silently forget jobs.
  if (!text.ends_with("\nend\n")) return refuse("no end");
  State state;
  state.sacct.settled = options_.since;
  text.remove_prefix(text.find('\n') + 1);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    const std::vector<std::string> fields = split_fields(line);
    const auto when = [&](std::size_t i) -> std::optional<Instant> {
      const auto ms = parse_count(fields[i]);
      if (!ms || *ms > static_cast<std::uint64_t>(unix_ms(kInstantMax))) return std::nullopt;
      return from_unix_ms(static_cast<std::int64_t>(*ms));
    };
    const std::string& kind = fields.front();
    if (kind == "end" && fields.size() == 1) continue;
    if (kind == "settled" && fields.size() == 2 && when(1)) {
      state.sacct.settled = *when(1);
    } else if (kind == "deep" && fields.size() == 2 && when(1)) {
      state.sacct.deep_at = *when(1);
    } else if (kind == "node" && fields.size() == 7 && when(4) && (fields[5].empty() || when(5))) {
      const auto high = parse_count(fields[2]);
      const auto low = parse_count(fields[3]);
      if (!high || !low) return refuse(line);
      state.nodes.emplace(NodeId(fields[1]),
                          WatchedNode{.content = {.high = *high, .low = *low},
                                      .seen = *when(4),
                                      .out_since = fields[5].empty() ? std::nullopt : when(5),
                                      .out_reason = fields[6]});
    } else if (kind == "running" && fields.size() == 6 && when(5)) {
      auto placement = parse_placement(fields[3]);
      if (!placement) return refuse(line);
      state.running.emplace(JobKey(fields[1], fields[2]),
                            RunningJob{std::move(*placement), fields[4], *when(5), {}, {}});
    } else if (kind == "ended" && fields.size() == 4 && when(3)) {
      state.ended.emplace(JobKey(fields[1], fields[2]),
                          EndedJob{.end = *when(3), .had_placement = true});
    } else {
      return refuse(line);
    }
  }
  confirmed_ = state;
  state_ = std::move(state);
  return {};
}

}  // namespace pennyweight::slurm
