// Reads `scontrol show job --details`: the jobs that run now, and their GPUs.
//
// It is the only place where Slurm says which GPUs of a node a job has, in lines below the job:
//
//     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:a100:2(IDX:0-1)
//
// sacct knows only their number on all of the job's nodes together, and before the record has
// reached slurmdbd only scontrol knows the job at all. `scontrol --json` came with Slurm 23.02 and
// says no more than this text, which every Slurm since 19.05 prints.
//
// Workload and attempt are those that sacct will give to the ended job, so that its record replaces
// the readings. For the rest see job_holdings.h.
//
// * The devices of each node are counted as the lines say, not spread evenly. Where all whole GPUs
// of a holding are named by index and `gpu_at` knows each of them, the holding is OnGpus.
// * MIG instances stay OnNodes: Slurm's index counts entries of gres.conf, not GPUs. So do shards,
// of which a job has several on one GPU.
// * Only jobs that have their resources for good are read: RUNNING, SUSPENDED, STOPPED, SIGNALING
// and RESIZING. CONFIGURING ones have no lasting start yet, and COMPLETING ones have ended.
// * Users write the name and the comment of a job. They are at the ends of lines of their own,
// where nothing else is read. A line break in one of them could fake other lines: where a word of a
// job, or a job, appears twice and differs, it is rejected.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/id.h"
#include "core/instant.h"
#include "ingest/schedulers/slurm/sacct.h"
#include "ledger/holding.h"
#include "ledger/rejected_row.h"

namespace pennyweight::slurm {

inline constexpr std::size_t kRunningJobsMax = 1'000'000;  // of one answer

// The GPU that a node has at an index now; nothing where it is unknown.
using GpuAt = std::function<std::optional<GpuId>(const NodeId& node, std::uint32_t index)>;

struct ScontrolJobs {
  std::vector<Holding> holdings;  // all with ended = false
  std::vector<RejectedRow> rejected;
  std::uint64_t running = 0;  // jobs that gave holdings
  std::uint64_t others = 0;   // waiting, configuring, completing or ended
  std::uint64_t on_gpus = 0;  // holdings that name GPUs
};

// Reads a text that was printed at `now`, on the clock of the machine that ran scontrol. REQUIRES:
// options.cluster. An Error when the text is not scontrol's, or is beyond a limit.
Result<ScontrolJobs> parse_scontrol_jobs(std::string_view text, const SacctOptions& options,
                                         Instant now, const GpuAt& gpu_at);

}  // namespace pennyweight::slurm
