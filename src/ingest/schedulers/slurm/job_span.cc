#include "ingest/schedulers/slurm/job_span.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/check.h"

namespace pennyweight::slurm {
namespace {

using std::chrono::milliseconds;

// Longer than any record, and far from overflow in sums of three.
constexpr std::uint64_t kSpanMsMax = 400ull * 366 * 86'400'000;

struct Candidate {
  Instant begin;
  Instant end;
  std::uint64_t length_ms() const { return static_cast<std::uint64_t>((end - begin).count()); }
};

// The interpretations of Start and End that are in order, the shortest first; of two equally long
// ones, as when a job begins and ends in the repeated hour, the earlier.
std::vector<Candidate> candidates(const RecordedTime& start, const RecordedTime& end) {
  std::vector<Candidate> all;
  for (const Instant begin : {start.earlier, start.later}) {
    for (const Instant stop : {end.earlier, end.later}) {
      if (stop >= begin) all.push_back({begin, stop});
    }
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.length_ms(), a.begin) < std::pair(b.length_ms(), b.begin);
  });
  return all;
}

JobSpan held(const Candidate& found, std::uint64_t suspended_ms, bool ambiguous) {
  return {.begin = found.begin,
          .end = found.end - milliseconds(suspended_ms),
          .suspended_ms = suspended_ms,
          .ambiguous = ambiguous};
}

std::optional<Rejection> out_of_range(const JobRecord& job) {
  if (job.elapsed_ms.value_or(0) > kSpanMsMax) {
    return Rejection{"Elapsed", "it is longer than 400 years"};
  }
  if (job.suspended_ms.value_or(0) > kSpanMsMax) {
    return Rejection{"Suspended", "it is longer than 400 years"};
  }
  return std::nullopt;
}

// Elapsed is known: find the interpretation that it fits.
std::expected<JobSpan, Rejection> fit(const JobRecord& job, const std::vector<Candidate>& all) {
  const std::uint64_t elapsed = *job.elapsed_ms;
  for (const Candidate& candidate : all) {
    const std::uint64_t length = candidate.length_ms();
    if (!job.suspended_ms) {
      // Without a Suspended column, the time missing from Elapsed is suspended time.
      if (length >= elapsed) return held(candidate, length - elapsed, false);
    } else if (length == elapsed + *job.suspended_ms) {
      return held(candidate, *job.suspended_ms, false);
    } else if (elapsed == 0 && length <= *job.suspended_ms) {
      return held(candidate, length, false);  // Slurm cuts a negative Elapsed to zero
    }
  }
  return reject(
      "Elapsed",
      fmt::format("End − Start is {} s, but Elapsed + Suspended is {} s: check the time "
                  "zone of the cluster, and that the row is whole",
                  all.front().length_ms() / 1000, (elapsed + job.suspended_ms.value_or(0)) / 1000));
}

}  // namespace

std::expected<JobSpan, Rejection> ended_job_span(const JobRecord& job) {
  CHECK(job.start && job.end, "the caller has looked");
  if (auto bad = out_of_range(job)) return std::unexpected(*bad);
  const std::vector<Candidate> all = candidates(*job.start, *job.end);
  if (all.empty()) {
    return reject("End", fmt::format("End is before Start: {} < {}", to_text(job.end->later),
                                     to_text(job.start->earlier)));
  }
  if (job.elapsed_ms) return fit(job, all);
  const std::uint64_t suspended = job.suspended_ms.value_or(0);
  for (const Candidate& candidate : all) {
    if (suspended > candidate.length_ms()) continue;
    return held(candidate, suspended, all.back().length_ms() != candidate.length_ms());
  }
  return reject("Suspended", fmt::format("it was suspended for {} s, longer than its {} s in all",
                                         suspended / 1000, all.back().length_ms() / 1000));
}

std::expected<JobSpan, Rejection> running_job_span(const JobRecord& job,
                                                   std::optional<Instant> now) {
  CHECK(job.start && !job.end, "the caller has looked");
  if (auto bad = out_of_range(job)) return std::unexpected(*bad);
  const Instant begin = job.start->earlier;
  const bool two_starts = job.start->earlier != job.start->later;
  const std::uint64_t suspended = job.suspended_ms.value_or(0);
  if (job.elapsed_ms) {
    return JobSpan{.begin = begin,
                   .end = begin + milliseconds(*job.elapsed_ms),
                   .suspended_ms = suspended,
                   .ambiguous = two_starts};
  }
  if (!now) {
    return reject("End",
                  "the job is still running, and nothing says until when it was seen: export "
                  "ElapsedRaw, or give the time of the export");
  }
  const RecordedTime until{.earlier = *now, .later = *now};
  const std::vector<Candidate> all = candidates(*job.start, until);
  if (all.empty()) return reject("Start", "it is in the future: " + to_text(begin));
  if (suspended > all.back().length_ms()) {
    return reject("Suspended", "it was suspended for longer than it has run");
  }
  const Candidate& found = suspended > all.front().length_ms() ? all.back() : all.front();
  return held(found, suspended, two_starts);
}

}  // namespace pennyweight::slurm
