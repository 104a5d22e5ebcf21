#include "insight/advice/apply_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/ascii.h"

namespace pennyweight::advising {
namespace {

constexpr std::size_t kDnsLabelMax = 63;

bool is_label(const Holding& holding, std::string_view key) {
  const auto value = holding.labels.find(key);
  return value && !value->empty();
}

bool is_plain_word(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

// A name may hold anything; in a text of lines it stays on its own.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return line;
}

std::string quoted_with_backslashes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : on_one_line(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string yaml_word(std::string_view text) {
  const bool is_name = is_plain_word(text, "._-/") && is_plain_word(text.substr(0, 1), "") &&
                       (text[0] < '0' || text[0] > '9') && text.find('-') != std::string_view::npos;
  return is_name ? std::string(text) : quoted_with_backslashes(text);
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : on_one_line(text)) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string shell_words(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += shell_word(word);
  }
  return text;
}

// "ml", "api" of "ml/api"; the first is empty where the work has no '/'.
std::pair<std::string_view, std::string_view> split_work(std::string_view work) {
  const std::size_t slash = work.find('/');
  if (slash == std::string_view::npos) return {{}, work};
  return {work.substr(0, slash), work.substr(slash + 1)};
}

// kubectl's command that patches the work's deployment with this text.
std::string patch_command(std::string_view work) {
  const auto [space, app] = split_work(work);
  return fmt::format("# kubectl{} patch deployment {} --patch-file this-file\n",
                     space.empty() ? "" : fmt::format(" -n {}", shell_word(space)),
                     shell_word(app));
}

// "a100" of "A100-SXM4-80GB": how gres.conf usually names it.
std::string gres_type(std::string_view model) {
  return ascii::lower_case(model.substr(0, model.find('-')));
}

std::string karpenter_spot_pool(const SpotText& spot, std::string_view group,
                                std::string_view kind) {
  return fmt::format(
      "apiVersion: karpenter.sh/v1\n"
      "kind: NodePool\n"
      "metadata:\n"
      "  name: {}\n"
      "spec:\n"
      "  template:\n"
      "    spec:\n"
      "      nodeClassRef:\n"
      "        group: {}\n"
      "        kind: {}\n"
      "        name: default\n"
      "      requirements:\n"
      "        - key: karpenter.sh/capacity-type\n"
      "          operator: In\n"
      "          values: [\"spot\"]\n"
      "        - key: node.kubernetes.io/instance-type\n"
      "          operator: In\n"
      "          values: [{}]\n",
      dns_label("spot-" + spot.instance_type), group, kind,
      quoted_with_backslashes(spot.instance_type));
}

}  // namespace

WorkManager work_manager_of(const Holding& holding, WorkManager configured) {
  if (configured != WorkManager::kUnknown) return configured;
  if (is_label(holding, "namespace")) return WorkManager::kKubernetes;
  if (is_label(holding, "queue")) return WorkManager::kUnknown;  // PBS, LSF, Grid Engine
  for (const std::string_view key : {"partition", "job_name", "time_limit_minutes"}) {
    if (is_label(holding, key)) return WorkManager::kSlurm;
  }
  return WorkManager::kUnknown;
}

WorkManager work_manager_of(std::span<const Holding> holdings, WorkManager configured) {
  if (configured != WorkManager::kUnknown) return configured;
  std::size_t kubernetes = 0;
  std::size_t slurm = 0;
  for (const Holding& holding : holdings) {
    const WorkManager manager = work_manager_of(holding, WorkManager::kUnknown);
    kubernetes += manager == WorkManager::kKubernetes ? 1 : 0;
    slurm += manager == WorkManager::kSlurm ? 1 : 0;
  }
  if (kubernetes + slurm == 0) return WorkManager::kUnknown;
  return slurm > kubernetes ? WorkManager::kSlurm : WorkManager::kKubernetes;
}

std::string drain_text(WorkManager manager, std::span<const std::string> nodes) {
  switch (manager) {
    case WorkManager::kKubernetes:
      return fmt::format(
          "kubectl cordon {0}\n"
          "kubectl drain {0} --ignore-daemonsets --delete-emptydir-data\n"
          "# Then end their instances, and lower the size of their node group by {1}.\n",
          shell_words(nodes), nodes.size());
    case WorkManager::kSlurm:
      return fmt::format(
          "scontrol update NodeName={} State=DRAIN Reason='no hour needed it'\n"
          "# Then end their instances, and take them out of slurm.conf.\n",
          shell_word(fmt::format("{}", fmt::join(nodes, ","))));
    case WorkManager::kUnknown:
      return fmt::format("# Drain these nodes and end their instances: {}\n",
                         on_one_line(fmt::format("{}", fmt::join(nodes, " "))));
  }
  return {};
}

std::string scale_down_text(WorkManager manager, std::string_view pool, std::string_view nodes) {
  if (manager == WorkManager::kSlurm) {
    return fmt::format(
        "# slurm.conf; nodes go only where SuspendProgram and ResumeProgram end and start them\n"
        "SuspendTime=3600\n"
        "SuspendTimeout=120\n"
        "ResumeTimeout=1200\n"
        "# Nodes: {}\n",
        on_one_line(nodes));
  }
  return fmt::format(
      "# Karpenter: kubectl patch nodepool {} --type merge --patch-file this-file\n"
      "spec:\n"
      "  disruption:\n"
      "    consolidationPolicy: WhenEmpty\n"
      "    consolidateAfter: 1h\n"
      "# cluster-autoscaler: --scale-down-unneeded-time=60m\n"
      "{}"
      "# Nodes: {}\n",
      pool.empty() ? std::string("default") : shell_word(pool),
      manager == WorkManager::kUnknown ? "# Slurm, slurm.conf: SuspendTime=3600\n" : "",
      on_one_line(nodes));
}

std::string other_gpu_text(WorkManager manager, std::string_view work, std::string_view product,
                           std::string_view model, std::uint64_t gpus) {
  if (manager == WorkManager::kSlurm) {
    return fmt::format(
        "# Per node; the type is named as in gres.conf.\n"
        "#SBATCH --gres=gpu:{}:{}\n",
        gres_type(model), std::max<std::uint64_t>(1, gpus));
  }
  std::string label(product);
  std::ranges::replace(label, ' ', '-');
  return fmt::format(
      "{}"
      "spec:\n"
      "  template:\n"
      "    spec:\n"
      "      nodeSelector:\n"
      "        nvidia.com/gpu.product: {}\n"
      "{}",
      patch_command(work), yaml_word(label),
      manager == WorkManager::kUnknown
          ? fmt::format("# Slurm: the GRES type of {} nodes in --gres\n", on_one_line(model))
          : std::string());
}

std::string spot_text(const SpotText& spot) {
  const std::string saves = fmt::format("# Save every {} minutes of work.\n", spot.save_minutes);
  if (spot.manager == WorkManager::kSlurm) {
    return saves +
           "# In the partition of the spot nodes, which slurm.conf names.\n"
           "#SBATCH --requeue\n"
           "#SBATCH --open-mode=append\n"
           "#SBATCH --signal=B:USR1@120\n";
  }
  const std::string slurm_too =
      spot.manager == WorkManager::kUnknown
          ? "# Slurm: sbatch --requeue on the partition of the spot nodes.\n"
          : "";
  if (spot.provider == "aws") {
    return saves + karpenter_spot_pool(spot, "karpenter.k8s.aws", "EC2NodeClass") + slurm_too;
  }
  if (spot.provider == "azure") {
    return saves + karpenter_spot_pool(spot, "karpenter.azure.com", "AKSNodeClass") + slurm_too;
  }
  if (spot.provider == "gcp") {
    return saves + fmt::format(
                       "{}"
                       "spec:\n"
                       "  template:\n"
                       "    spec:\n"
                       "      nodeSelector:\n"
                       "        cloud.google.com/gke-spot: \"true\"\n"
                       "        node.kubernetes.io/instance-type: {}\n"
                       "      terminationGracePeriodSeconds: 25\n"
                       "      tolerations:\n"
                       "        - key: cloud.google.com/gke-spot\n"
                       "          operator: Equal\n"
                       "          value: \"true\"\n"
                       "          effect: NoSchedule\n",
                       patch_command(spot.work), yaml_word(spot.instance_type));
  }
  return saves + fmt::format(
                     "# Make nodes of {} on spot capacity, with the label below.\n"
                     "{}"
                     "spec:\n"
                     "  template:\n"
                     "    spec:\n"
                     "      nodeSelector:\n"
                     "        node.kubernetes.io/instance-type: {}\n"
                     "        capacity-type: spot\n",
                     on_one_line(spot.instance_type), patch_command(spot.work),
                     yaml_word(spot.instance_type));
}

std::string end_idle_text(WorkManager manager, std::span<const WorkloadId> running) {
  if (manager == WorkManager::kSlurm && !running.empty()) {
    std::vector<std::string> jobs;
    for (const WorkloadId& each : running) jobs.push_back(each.text());
    return fmt::format(
        "# Those that still ran when the ledger last heard of them; it asks before each.\n"
        "scancel --interactive {}\n",
        shell_words(jobs));
  }
  return std::string(
             "# Jupyter, jupyter_server_config.py\n"
             "c.MappingKernelManager.cull_idle_timeout = 3600\n"
             "c.MappingKernelManager.cull_interval = 300\n"
             "c.ServerApp.shutdown_no_activity_timeout = 3600\n") +
         (manager == WorkManager::kKubernetes
              ? ""
              : "# Slurm: scancel sessions whose GPUs were idle for 60 minutes\n");
}

std::string stop_work_text(WorkManager manager, std::string_view work,
                           std::span<const WorkloadId> running) {
  if (manager == WorkManager::kSlurm) return end_idle_text(manager, running);
  const auto [space, app] = split_work(work);
  return fmt::format(
      "kubectl{} scale deployment {} --replicas=0\n"
      "# It comes back with as many replicas as it had.\n",
      space.empty() ? "" : fmt::format(" -n {}", shell_word(space)), shell_word(app));
}

std::string autoscaler_text(std::string_view work, std::uint64_t replicas_min,
                            std::uint64_t replicas_max, std::uint64_t percent) {
  const auto [space, app] = split_work(work);
  return fmt::format(
      "# The metric is DCGM_FI_PROF_SM_ACTIVE of dcgm-exporter, which a metrics adapter serves per "
      "pod.\n"
      "apiVersion: autoscaling/v2\n"
      "kind: HorizontalPodAutoscaler\n"
      "metadata:\n"
      "  name: {0}\n"
      "  namespace: {1}\n"
      "spec:\n"
      "  scaleTargetRef:\n"
      "    apiVersion: apps/v1\n"
      "    kind: Deployment\n"
      "    name: {2}\n"
      "  minReplicas: {3}\n"
      "  maxReplicas: {4}\n"
      "  metrics:\n"
      "    - type: Pods\n"
      "      pods:\n"
      "        metric:\n"
      "          name: DCGM_FI_PROF_SM_ACTIVE\n"
      "        target:\n"
      "          type: AverageValue\n"
      "          averageValue: {5}m\n"
      "  behavior:\n"
      "    scaleDown:\n"
      "      stabilizationWindowSeconds: 3600\n",
      quoted_with_backslashes(dns_label(app)),
      quoted_with_backslashes(space.empty() ? "default" : space), quoted_with_backslashes(app),
      replicas_min, replicas_max, percent * 10);
}

std::string sharing_text(WorkManager manager, std::uint64_t sharers, std::uint64_t gpus_each,
                         std::span<const std::string> nodes, std::uint64_t more) {
  const std::string others = more == 0 ? std::string() : fmt::format("# and {} nodes more\n", more);
  if (manager == WorkManager::kSlurm) {
    return fmt::format(
               "# gres.conf\n"
               "NodeName={0} Name=shard Count={1}\n"
               "# slurm.conf: GresTypes=gpu,shard and, in the lines of these nodes, "
               "Gres=gpu:{2},shard:{1}\n"
               "# Jobs then ask for a part of a GPU: #SBATCH --gres=shard:1\n",
               on_one_line(fmt::format("{}", fmt::join(nodes, ","))), gpus_each * sharers,
               gpus_each) +
           others;
  }
  std::string text = fmt::format(
      "apiVersion: v1\n"
      "kind: ConfigMap\n"
      "metadata:\n"
      "  name: gpu-sharing\n"
      "  namespace: gpu-operator\n"
      "data:\n"
      "  shared-by-{0}: |-\n"
      "    version: v1\n"
      "    sharing:\n"
      "      timeSlicing:\n"
      "        resources:\n"
      "          - name: nvidia.com/gpu\n"
      "            replicas: {0}\n"
      "# The device plugin reads it where its configuration names it, in the GPU operator:\n"
      "# kubectl patch clusterpolicies.nvidia.com/cluster-policy --type merge "
      "-p '{{\"spec\":{{\"devicePlugin\":{{\"config\":{{\"name\":\"gpu-sharing\"}}}}}}}}'\n",
      sharers);
  for (const std::string& node : nodes) {
    text += fmt::format(
        "# kubectl label node {} nvidia.com/device-plugin.config=shared-by-{} --overwrite\n",
        shell_word(node), sharers);
  }
  return text + others;
}

std::string purchase_list(std::string_view instance_type, std::string_view region,
                          std::uint64_t units, int years) {
  return fmt::format(
      "instance_type,region,units,years,payment\n"
      "{},{},{},{},monthly\n",
      csv_cell(instance_type), csv_cell(region), units, years);
}

std::string dns_label(std::string_view text) {
  std::string label;
  for (const char c : ascii::lower_case(text)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain) {
      label += c;
    } else if (!label.empty() && label.back() != '-') {
      label += '-';
    }
  }
  label.resize(std::min(label.size(), kDnsLabelMax));
  while (!label.empty() && label.back() == '-') label.pop_back();
  return label.empty() ? "x" : label;
}

std::string shell_word(std::string_view text) {
  if (is_plain_word(text, "._-/:=,") && text[0] != '-') return std::string(text);
  std::string quoted = "'";
  for (const char c : on_one_line(text)) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace pennyweight::advising
