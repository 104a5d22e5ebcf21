#include "reporting/unit_cost_jobs.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace pennyweight {
namespace {

// Slurm's base states (slurm.schedmd.com/job_state_codes.html), and kubectl's pod phases.
constexpr std::string_view kUsefulWords[] = {"COMPLETED", "Succeeded"};
constexpr std::string_view kLostWords[] = {
    "FAILED",       "CANCELLED",     "TIMEOUT",       "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
    "BOOT_FAIL",    "DEADLINE",      "LAUNCH_FAILED", "REQUEUED",  "REQUEUE_HOLD",  "REQUEUE_FED",
    "SPECIAL_EXIT", "RECONFIG_FAIL", "REVOKED",       "Failed"};
constexpr std::string_view kRunningWords[] = {"RUNNING",     "PENDING",  "SUSPENDED", "COMPLETING",
                                              "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT",
                                              "STOPPED",     "Running",  "Pending"};

std::string label_text(const Labels& labels, std::string_view key) {
  return std::string(labels.find(key).value_or(""));
}

// "CANCELLED by 1000" is CANCELLED.
std::optional<AttemptEnd> parse_end(std::string_view state) {
  const std::string_view word = state.substr(0, state.find(' '));
  const auto is_one_of = [&](std::span<const std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (is_one_of(kUsefulWords)) return AttemptEnd::kUseful;
  if (is_one_of(kLostWords)) return AttemptEnd::kLost;
  if (is_one_of(kRunningWords)) return AttemptEnd::kRunning;
  return std::nullopt;
}

void add_to(AttemptSums& sums, const AttemptSums& more) {
  sums.effective += more.effective;
  sums.gpu_time += more.gpu_time;
  sums.attempts += more.attempts;
}

JobCostRow empty_row(Currency currency) {
  const AttemptSums none{Money::zero(currency), {}, 0};
  return {.cluster = {},
          .job = {},
          .name = {},
          .group = {},
          .user = {},
          .by_end = {none, none, none, none}};
}

bool is_device_time(const Posting& posting) {
  const bool is_device =
      posting.component == Component::kGpu || posting.component == Component::kWhole;
  return is_device &&
         (posting.kind == PostingKind::kUsed || posting.kind == PostingKind::kHeldIdle);
}

}  // namespace

AttemptEnd attempt_end(const Holding& holding) {
  // The job was running when it was read; its state at that time does not matter.
  if (!holding.ended) return AttemptEnd::kRunning;
  for (const char* key : {"state", "phase"}) {
    const auto state = holding.labels.find(key);
    if (!state) continue;
    const auto end = parse_end(*state);
    // It ended, so "running" is outdated.
    if (end && *end != AttemptEnd::kRunning) return *end;
  }
  return AttemptEnd::kUnknown;
}

AttemptSums JobCostRow::total() const {
  AttemptSums all = by_end[0];
  for (std::size_t i = 1; i < by_end.size(); ++i) add_to(all, by_end[i]);
  return all;
}

JobCosts::Attempt JobCosts::to_attempt(const Holding& holding) {
  const Labels& labels = holding.labels;
  const std::string& workload = holding.workload.text();
  const std::string name_space = label_text(labels, "namespace");
  const std::string job = label_text(labels, "job");
  Attempt attempt{.job = {holding.cluster.text(), workload},
                  .name = workload + "\n",
                  .end = attempt_end(holding),
                  .job_name = label_text(labels, "job_name"),
                  .group = name_space.empty() ? label_text(labels, "account") : name_space,
                  .user = label_text(labels, "user")};
  if (!job.empty() && !name_space.empty()) attempt.job.second = name_space + "/" + job;
  // An attempt with several kinds of devices has a holding for each, whose attempt ends in "/" and
  // the kind (ingest/schedulers/slurm).
  attempt.name += holding.attempt.substr(0, holding.attempt.find('/'));
  return attempt;
}

void JobCosts::add(const Holding& holding) {
  attempts_.insert_or_assign(holding.id, to_attempt(holding));
}

const JobCosts::Attempt& JobCosts::find_attempt(const ClusterId& cluster, const Posting& posting) {
  if (posting.holding) {
    const auto known = attempts_.find(*posting.holding);
    if (known != attempts_.end()) return known->second;
    if (const auto found = find_(*posting.holding)) {
      return attempts_.insert_or_assign(*posting.holding, to_attempt(*found)).first->second;
    }
  }
  unknown_ = {.job = {cluster.text(), kOtherWorkloads},
              .name = posting.workload.text(),
              .end = AttemptEnd::kUnknown,
              .job_name = {},
              .group = {},
              .user = {}};
  return unknown_;
}

void JobCosts::add(const ClusterId& cluster, const Posting& posting) {
  // Unowned cost, or cost that a rule or a correction moved to an owner: "(team=nlp)" holds
  // nothing.
  if (posting.workload.empty()) return;
  if (!posting.holding && posting.workload.text().starts_with('(')) return;
  const Attempt& attempt = find_attempt(cluster, posting);
  auto& jobs = sums_[posting.costs.currency()];
  auto job = jobs.find(attempt.job);
  if (job == jobs.end()) {
    JobCostRow row = empty_row(posting.costs.currency());
    row.cluster = attempt.job.first;
    row.job = attempt.job.second;
    row.name = attempt.job_name;
    row.group = attempt.group;
    row.user = attempt.user;
    job = jobs.emplace(attempt.job, Sums{.row = std::move(row), .attempts = {}}).first;
  }
  const auto end = static_cast<std::size_t>(attempt.end);
  AttemptSums& sums = job->second.row.by_end[end];
  sums.effective += posting.costs.effective;
  if (is_device_time(posting)) sums.gpu_time += posting.gpu_time;
  job->second.attempts[end].insert(attempt.name);
}

std::vector<JobCostReport> JobCosts::report() const {
  std::vector<JobCostReport> reports;
  for (const auto& [currency, jobs] : sums_) {
    JobCostReport report{.currency = currency, .rows = {}, .total = empty_row(currency)};
    for (const auto& [key, sums] : jobs) {
      JobCostRow row = sums.row;
      for (std::size_t i = 0; i < kAttemptEnds; ++i) {
        row.by_end[i].attempts = sums.attempts[i].size();
        add_to(report.total.by_end[i], row.by_end[i]);
      }
      report.rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(report.rows, [](const JobCostRow& a, const JobCostRow& b) {
      return a.total().effective.ticks() > b.total().effective.ticks();
    });
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace pennyweight
