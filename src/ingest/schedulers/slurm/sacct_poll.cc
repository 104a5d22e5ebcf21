#include "ingest/schedulers/slurm/sacct_poll.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pennyweight::slurm {
namespace {

using std::chrono::seconds;

// Fields that users write come last: a row that they break is recognised by its number of fields.
constexpr std::string_view kColumns =
    "JobID,Partition,Account,User,State,Start,End,ElapsedRaw,Suspended,AllocCPUS,AllocTRES,"
    "NodeList,QOS,Cluster,Reservation,TimelimitRaw,Submit,Eligible,ExitCode,WCKey,JobName,Comment";

// Whole seconds before now, rounded up.
std::string ago(Instant at, Instant now) {
  const auto back = std::chrono::ceil<seconds>(now - at).count();
  return back <= 0 ? "now" : fmt::format("now-{}", back);
}

}  // namespace

std::vector<SacctWindow> plan_sacct(const SacctState& state, const SacctPlan& plan, Instant now) {
  Instant begin = std::min(state.settled, now) - plan.overlap;
  const bool deep = !state.deep_at || now - *state.deep_at >= plan.deep_every;
  if (deep) begin = std::min(begin, now - plan.deep_back);
  std::vector<SacctWindow> windows;
  while (windows.size() < plan.windows_max) {
    // A rest shorter than the overlap does not need a request of its own.
    const bool is_last = now - begin <= plan.window_max + plan.overlap;
    const Instant end = is_last ? now : begin + plan.window_max;
    windows.push_back({.begin = begin, .end = end, .is_deep = deep, .is_last = is_last});
    if (is_last) break;
    begin = end - plan.overlap;
  }
  return windows;
}

SacctState after_window(const SacctState& state, const SacctWindow& window, Instant now) {
  SacctState next = state;
  next.settled = window.is_last ? now : std::max(state.settled, window.end);
  if (window.is_deep && window.is_last) next.deep_at = now;
  return next;
}

std::vector<std::string> sacct_arguments(const SacctWindow& window, Instant now,
                                         const std::string& cluster, char delimiter) {
  std::vector<std::string> words = {"--allusers",
                                    "--allocations",
                                    "--duplicates",
                                    "--parsable2",
                                    std::string("--delimiter=") + delimiter,
                                    "--starttime=" + ago(window.begin, now),
                                    "--endtime=" + (window.is_last ? "now" : ago(window.end, now)),
                                    "--state=BF,CA,CD,DL,F,NF,OOM,PR,R,RQ,RS,RV,S,TO",
                                    std::string("--format=") + std::string(kColumns)};
  if (!cluster.empty()) words.push_back("--clusters=" + cluster);
  return words;
}

}  // namespace pennyweight::slurm
