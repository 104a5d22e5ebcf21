// SlurmPoller: asks a Slurm cluster what runs, what has ended and which nodes there are, and makes
// facts of the answers.
//
// One poll runs, in this order, so that a job that ends meanwhile is told as ended,
//
//     scontrol show job --details     running jobs, with the GPUs they are on
//     scontrol show node              machines, and which of them are out of use
//     sacct --starttime=now-…         jobs that have ended, each run of them (sacct_poll.h)
//
// each with a time-out, and with TZ and SLURM_TIME_FORMAT set so that times are epoch seconds. What
// fails is told in `failures`; the other answers count all the same.
//
// * A running job is told as a reading (Holding::ended is false) when it is first seen, and again
//   every `running_every`.
// * sacct does not say on which GPUs a job was, scontrol forgets it with the job. So the place that
//   a running job was seen at is put into its record when it has ended. Without that knowledge
//   (a job shorter than the interval) the record says what sacct says.
// * An ended job is told once; it is remembered for as long as sacct is asked for it.
//
// Facts are kept by the caller. Only when they are, it calls kept(): the next poll then goes on
// from there, and otherwise asks the same again. Everything may be told twice: the ledger knows a
// fact by its content. save() and restore() carry the state over a restart of the program. A state
// that is lost costs a long first poll; and ended jobs that were told with their place are then
// told without, and are kept aside by the ledger as a conflict with what it has.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/billing_period.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/id.h"
#include "ingest/slurm/command.h"
#include "ingest/slurm/node_watch.h"
#include "ingest/slurm/sacct.h"
#include "ingest/slurm/sacct_poll.h"
#include "ingest/slurm/scontrol_jobs.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/rejected_row.h"

namespace pennyweight::slurm {

inline constexpr std::size_t kRejectedPerPollMax = 1000;  // told; more are counted
inline constexpr std::size_t kPollerStateBytesMax = 256u << 20;
// A job that scontrol no longer has, and of which slurmdbd says no end for so long, is forgotten.
inline constexpr std::chrono::hours kVanishedJobKept{24 * 7};
// By so much the clocks of Slurm's machines may be ahead of ours.
inline constexpr std::chrono::minutes kClockSkewMax{5};

struct PollerOptions {
  ClusterId cluster;                     // as configured, whatever Slurm calls it
  std::string slurm_cluster;             // for sacct --clusters; empty: that of the machine
  std::vector<std::string> sacct;        // the program, and arguments before ours
  std::vector<std::string> scontrol;     // the same
  std::vector<std::string> environment;  // of the programs: this process's own, KEY=value
  TimeZone zone;  // read where the programs print wall-clock times in spite of the environment
  Instant since;  // how far back the first poll reads, and since when the first nodes are there
  bool partitions_are_pools = false;
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // of each program
  std::chrono::milliseconds running_every = std::chrono::seconds(60);
  SacctPlan plan = {};
};

struct PollResult {
  Instant at;                     // when the poll began
  std::vector<Holding> holdings;  // of running and ended jobs
  std::vector<Node> nodes;
  std::vector<Outage> outages;
  std::vector<RejectedRow> rejected;  // at most kRejectedPerPollMax
  std::uint64_t rejected_count = 0;   // all of them
  std::vector<std::string> notes;     // new since the last poll
  std::vector<Error> failures;        // of programs that gave no answer
  std::uint64_t running_jobs = 0;     // now
  std::uint64_t running_on_gpus = 0;  // holdings of them that name GPUs
  std::uint64_t ended_jobs = 0;       // told for the first time
  bool is_caught_up = false;          // sacct was read up to now
};

class SlurmPoller {
 public:
  // `clock` must outlive this.
  SlurmPoller(PollerOptions options, Clock& clock, GpuAt gpu_at);

  PollResult poll();
  // The facts of the last poll are kept durably.
  void kept();

  // What kept() has made firm, as text; restore() takes it before the first poll, and an error
  // leaves everything as it was.
  std::string save() const;
  Result<void> restore(std::string_view text);

 private:
  // One run of one job, one kind of device.
  using JobKey = std::pair<std::string, std::string>;  // workload, attempt
  struct RunningJob {
    Placement placement;
    std::string gpu_model;
    Instant seen;
    std::optional<Instant> told;  // since the program began
  };
  struct EndedJob {
    Instant end;
    bool had_place;  // told with the place it was seen at: must not be told otherwise
  };
  struct State {
    SacctState sacct;
    WatchedNodes nodes;
    std::map<JobKey, RunningJob> running;
    std::map<JobKey, EndedJob> ended;
    std::map<std::string, Instant> noted;     // notes told, and when last
    std::map<std::string, Instant> rejected;  // rows told, by place, reason and text
  };

  Result<std::string> run(std::vector<std::string> words, const std::vector<std::string>& more);
  SacctOptions reading(std::string source) const;
  bool poll_jobs(PollResult& result);
  void poll_nodes(PollResult& result);
  void poll_sacct(PollResult& result, bool tell_running);
  Result<SacctCounts> read_window(const SacctWindow& window, Instant now, bool tell_running,
                                  PollResult& result);
  void tell_running(Holding holding, Instant now, PollResult& result);
  void tell_ended(Holding holding, PollResult& result);
  void reject(RejectedRow row, PollResult& result);
  void note(std::string text, PollResult& result);
  void forget(Instant now);

  const PollerOptions options_;
  Clock& clock_;
  const GpuAt gpu_at_;
  State firm_;   // as of the last kept()
  State state_;  // as of the last poll
};

}  // namespace pennyweight::slurm
