// SlurmPoller: asks a Slurm cluster which jobs run, which have ended and which nodes there are, and
// makes facts of the answers.
//
// A poll runs these programs, in this order, so that a job that ends meanwhile is reported as
// ended:
//
//     scontrol show job --details     running jobs, with their GPUs
//     scontrol show node              nodes, and which of them are out of use
//     sacct --starttime=now-…         jobs that have ended, each run of them (sacct_poll.h)
//
// In the first poll, after a pause, and when a node is back, also
//
//     sacctmgr show event start=now-… when nodes were out of use, to the second
//
// Each has a time-out, and TZ and SLURM_TIME_FORMAT are set so that times are epoch seconds. A
// program that fails is listed in `failures`; the other answers count all the same.
//
// * A running job is reported as a reading (Holding::ended is false) when it is first seen, and
// again every `running_every`.
// * sacct does not say on which GPUs a job ran, and scontrol forgets it with the job. So the
// placement that was seen while a job ran goes into its record when it has ended. Without one (a
// job shorter than the interval) the record has what sacct says.
// * An ended job is reported once; it is remembered for as long as sacct is asked for it.
//
// The caller stores the facts, and then calls confirm_stored(). Only then does the next poll go on
// from there; otherwise it asks the same again. Facts may be reported twice: the ledger knows a
// fact by its content. save() and restore() carry the state over a restart of the program. A lost
// state costs a long first poll; and ended jobs that were reported with their placement are then
// reported without it, which the ledger sets aside as a conflict.
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
#include "ingest/schedulers/slurm/command.h"
#include "ingest/schedulers/slurm/node_watch.h"
#include "ingest/schedulers/slurm/sacct.h"
#include "ingest/schedulers/slurm/sacct_poll.h"
#include "ingest/schedulers/slurm/scontrol_jobs.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/rejected_row.h"

namespace pennyweight::slurm {

inline constexpr std::size_t kRejectedPerPollMax = 1000;  // reported; more are counted
inline constexpr std::size_t kPollerStateBytesMax = 256u << 20;
// A job that scontrol no longer has, and for which slurmdbd has no end for this long, is forgotten.
inline constexpr std::chrono::hours kVanishedJobKept{24 * 7};
// How far the clocks of Slurm's machines may be ahead of ours.
inline constexpr std::chrono::minutes kClockSkewMax{5};
// Nodes that were not read for this long, and three polls, may have been out of use meanwhile.
inline constexpr std::chrono::minutes kUnwatchedMin{5};

struct PollerOptions {
  ClusterId cluster;                       // as configured, whatever Slurm calls it
  std::string slurm_cluster;               // for sacct --clusters; empty: that of the machine
  std::vector<std::string> sacct;          // the program, and arguments that precede ours
  std::vector<std::string> scontrol;       // the same
  std::vector<std::string> sacctmgr = {};  // the same; empty: events are not asked for
  std::vector<std::string> environment;    // of the programs: this process's own, KEY=value
  TimeZone zone;  // for programs that print wall-clock times in spite of the environment
  Instant since;  // where the first poll begins, and the first facts of nodes
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
  std::uint64_t ended_jobs = 0;       // reported for the first time
  bool is_caught_up = false;          // sacct was read up to now
};

class SlurmPoller {
 public:
  // `clock` must outlive this.
  SlurmPoller(PollerOptions options, Clock& clock, GpuAt gpu_at);

  PollResult poll();
  // The facts of the last poll are stored durably.
  void confirm_stored();

  // The state as of the last confirm_stored(), as text. restore() takes it before the first poll;
  // an Error leaves everything as it was.
  std::string save() const;
  Result<void> restore(std::string_view text);

 private:
  // One run of one job, one kind of device.
  using JobKey = std::pair<std::string, std::string>;  // workload, attempt
  struct RunningJob {
    Placement placement;
    std::string gpu_model;
    Instant seen;
    std::optional<Instant> reported;  // when it was last reported by this process
    std::string job_name = {};        // as scontrol says, to this process
  };
  struct EndedJob {
    Instant end;
    bool had_placement;  // reported with a placement that was seen: must not be reported without
  };
  struct State {
    SacctState sacct;
    WatchedNodes nodes;
    std::map<JobKey, RunningJob> running;
    std::map<JobKey, EndedJob> ended;
    std::map<std::string, Instant> noted;  // notes, and when each was last reported
    std::map<std::string, Instant>
        rejected;  // rows, by column, reason and text, and when each was last reported
  };

  Result<std::string> run(std::vector<std::string> words, const std::vector<std::string>& more);
  SacctOptions reading(std::string source) const;
  bool poll_jobs(PollResult& result);
  void poll_nodes(PollResult& result);
  // What slurmdbd knows of outages, where this reading of nodes may not tell it all.
  std::vector<NodeEvent> node_events(const ScontrolNodes& nodes, Instant now, PollResult& result);
  void poll_sacct(PollResult& result, bool report_running);
  Result<SacctCounts> read_window(const SacctWindow& window, Instant now, bool report_running,
                                  PollResult& result);
  void report_running(Holding holding, Instant now, PollResult& result);
  bool is_complete(const Holding& holding, Instant now) const;
  void report_ended(Holding holding, PollResult& result);
  void reject(RejectedRow row, PollResult& result);
  void note(std::string text, PollResult& result);
  void forget(Instant now);

  const PollerOptions options_;
  Clock& clock_;
  const GpuAt gpu_at_;
  State confirmed_;  // as of the last confirm_stored()
  State state_;      // as of the last poll
};

}  // namespace pennyweight::slurm
