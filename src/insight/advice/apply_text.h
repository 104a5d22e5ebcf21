// Text to apply: what a person hands to kubectl, Slurm or a provider to follow an advice.
//
// A text is for the system that runs the work, and valid there as it stands: a patch or an object
// that Kubernetes' and Karpenter's schemas take, options that slurmctld and sbatch take, or shell
// commands. What a person has to know or fill in stands in comments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/id.h"
#include "insight/compare/collect_windows.h"
#include "ledger/holding.h"

namespace pennyweight::advising {

// What starts the work.
enum class WorkManager { kKubernetes, kSlurm, kUnknown };
// As the cluster is configured; where nothing is (kUnknown), by the holding's labels.
WorkManager work_manager_of(const Holding& holding, WorkManager configured);
// The same of a cluster: of most holdings that say; of equally many, Kubernetes.
WorkManager work_manager_of(std::span<const Holding> holdings, WorkManager configured);

// To drain nodes and give them back.
std::string drain_text(WorkManager manager, std::span<const std::string> nodes);

// To let nodes go after an hour without work. `pool` may be empty.
std::string scale_down_text(WorkManager manager, std::string_view pool, std::string_view nodes);

// To run "namespace/app" or "user/job" on nodes of another GPU. `product` is the model as NVML
// reports it.
std::string other_gpu_text(WorkManager manager, std::string_view work, std::string_view product,
                           std::string_view model, std::uint64_t gpus);

struct SpotText {
  WorkManager manager;
  std::string work;
  std::string provider;  // of the instance type; empty: not known
  std::string instance_type;
  std::uint64_t save_minutes;
};
std::string spot_text(const SpotText& spot);

// To end sessions that hold GPUs without using them. `running`: those that still ran, idle, when
// the ledger last heard of them.
std::string end_idle_text(WorkManager manager, std::span<const WorkloadId> running);

// To stop "namespace/app" or "user/job" that serves nothing.
std::string stop_work_text(WorkManager manager, std::string_view work,
                           std::span<const WorkloadId> running);

// A HorizontalPodAutoscaler of the deployment "namespace/app". `percent`: the activity of its GPUs
// that it aims at.
std::string autoscaler_text(std::string_view work, std::uint64_t replicas_min,
                            std::uint64_t replicas_max, std::uint64_t percent);

// To let so many workloads share each GPU of nodes. `more`: how many nodes more than are named.
std::string sharing_text(WorkManager manager, std::uint64_t sharers, std::uint64_t gpus_each,
                         std::span<const std::string> nodes, std::uint64_t more);

// What to buy, as CSV.
std::string purchase_list(std::string_view instance_type, std::string_view region,
                          std::uint64_t units, int years);

// As a name in Kubernetes: lower case letters, digits and '-' between them, 1 to 63.
std::string dns_label(std::string_view text);

// In single quotes for a shell where it holds anything but letters, digits and ._-/:=
std::string shell_word(std::string_view text);

}  // namespace pennyweight::advising
