// Reads what a Slurm job asks for: batch scripts with #SBATCH lines, and lines of sbatch, srun and
// salloc.
//
// The options are those of sbatch(1). All ways to ask for GPUs count: --gres, --gpus,
// --gpus-per-node, --gpus-per-task, --gpus-per-socket, --ntasks-per-gpu, --tres-per-task, with
// types and MIG types. What a job gets follows Slurm's rules where the text decides it; where the
// cluster's configuration would (how many shards a GPU has, what a node of a partition is), the
// group says what is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "ingest/manifests/slurm_options.h"
#include "ingest/manifests/workload_request.h"

namespace pennyweight::manifests {

// Whether the text is a batch script or begins with a Slurm command.
bool is_slurm_text(std::string_view text);

// The job of a batch script, or the jobs of lines of commands, one each. A part of a heterogeneous
// job (#SBATCH hetjob) is a group of its own.
ManifestReading read_slurm_text(std::string_view text, const std::string& file);

// The job of options that are read already: what Slurm itself made of a submission.
ManifestReading read_slurm_options(const SlurmOptions& options);

// The pair of a job's comment that carries the token of an approval: "team=nlp;approval=TOKEN".
inline constexpr std::string_view kSlurmApprovalKey = "approval";

// A time limit: "30" (minutes), "30:00", "4:00:00", "2-0", "2-12:30", in milliseconds. Nothing for
// "UNLIMITED", "INFINITE" and "0", which state none.
Result<std::optional<std::uint64_t>> parse_time_limit_ms(std::string_view text);

struct ArrayTasks {
  std::uint64_t tasks = 0;
  std::uint64_t at_once = 0;  // %N, else all of them
  bool operator==(const ArrayTasks&) const = default;
};
// --array: "0-15", "1,3,5-7", "0-100:4%8".
Result<ArrayTasks> parse_array_tasks(std::string_view text);

// Whether Slurm states a label of this name about a job itself, whatever its comment says.
bool is_slurm_job_fact(std::string_view key);

}  // namespace pennyweight::manifests
