// `scontrol show job --details`: the jobs that run now, and on which GPUs.
//
// It is the one place where Slurm says which GPUs of a node a job has, in lines below the job:
//
//     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:a100:2(IDX:0-1)
//
// sacct knows only how many there are on all of the job's nodes together, and only scontrol knows
// it before the job's record has reached slurmdbd. `scontrol --json` came with Slurm 23.02 and says
// no more than this text, which every Slurm since 19.05 prints.
//
// The workload and the attempt are those that sacct will give the ended job, so that its record
// takes the readings' place. What else becomes of a job: job_holdings.h.
//
// * Devices of each node are counted as the lines say, not spread evenly. Where all of a holding's
//   whole GPUs are named by index and `gpu_at` knows each of them, the holding is OnGpus.
// * MIG instances stay OnNodes: Slurm's index counts entries of gres.conf, not GPUs. So do shards,
//   of which a GPU of a job has several.
// * Only jobs that have their resources for good are read: RUNNING, SUSPENDED, STOPPED, SIGNALING
//   and RESIZING. CONFIGURING ones have no lasting start yet, COMPLETING ones are over.
// * A job's name and comment are what its user wrote. They stand at the ends of lines of their own,
//   where nothing else is looked for. A line break in one of them could feign others: where a word
//   of a job, or a job, is there twice and differs, it is rejected.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ingest/slurm/sacct.h"
#include "ledger/holding.h"
#include "ledger/rejected_row.h"

namespace pennyweight::slurm {

inline constexpr std::size_t kRunningJobsMax = 1'000'000;  // of one answer

// The GPU that a node has at an index now; nothing where that is not known.
using GpuAt = std::function<std::optional<GpuId>(const NodeId& node, std::uint32_t index)>;

struct ScontrolJobs {
  std::vector<Holding> holdings;  // all with ended = false
  std::vector<RejectedRow> rejected;
  std::uint64_t running = 0;  // jobs that gave holdings
  std::uint64_t others = 0;   // waiting, configuring, completing, over
  std::uint64_t on_gpus = 0;  // holdings that name GPUs
};

// Read at `now`, on the clock of the machine that ran scontrol. REQUIRES: options.cluster.
// An error when the text is not scontrol's, or is beyond a limit.
Result<ScontrolJobs> parse_scontrol_jobs(std::string_view text, const SacctOptions& options,
                                         Instant now, const GpuAt& gpu_at);

}  // namespace pennyweight::slurm
