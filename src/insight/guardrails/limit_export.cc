#include "insight/guardrails/limit_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/ascii.h"
#include "core/gpu/gpu_model.h"
#include "core/json_text.h"

namespace pennyweight::guardrails {
namespace {

using GpuNames = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kGpuResource = "nvidia.com/gpu";
// What pods request beside GPUs. Kueue admits nothing that requests what its queue does not cover;
// the quota is beyond any cluster, and a thousand of them can still be added up in 64 bits.
constexpr std::string_view kRestFlavor = "pennyweight-rest";
constexpr std::pair<std::string_view, std::string_view> kRestQuotas[] = {
    {"cpu", "1M"}, {"memory", "4Pi"}, {"ephemeral-storage", "4Pi"}, {"pods", "1M"}};
// Slurm's own way of counting GPU-minutes, which a script can't set.
constexpr std::string_view kMinutesKill =
    "GrpTRESMins kills jobs that run once the minutes are used up, unless slurm.conf has "
    "AccountingStorageEnforce=safe";
constexpr std::string_view kMinutesMonth =
    "GrpTRESMins counts a month only with PriorityDecayHalfLife=0 and "
    "PriorityUsageResetPeriod=MONTHLY in slurm.conf";
constexpr std::string_view kQosEnforced =
    "limits of a QOS hold only with AccountingStorageEnforce=limits,qos in slurm.conf, and take "
    "the place of those of the account while a job runs in it";
constexpr std::string_view kManaged = "{app.kubernetes.io/managed-by: pennyweight}";

// The department of projects that are in no cohort.
constexpr std::string_view kDepartment = "pennyweight";

// Names of objects: "H100-SXM5-80GB" is "h100-sxm5-80gb".
std::string object_name(std::string_view text) {
  std::string name;
  for (const char c : ascii::lower_case(text)) name += ascii::is_letter_or_digit(c) ? c : '-';
  return name;
}

// Only what a shell takes as it is: the type becomes a word of a script.
bool is_gres_type(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
  return !name.empty() && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

// The names that mean a model.
std::vector<std::string> names_of(const std::string& model, const GpuNames& names) {
  const GpuModel* const wanted = find_gpu_model(model);
  std::vector<std::string> found;
  for (const auto& [name, means] : names) {
    if (!name.empty() && wanted != nullptr && find_gpu_model(means) == wanted) {
      found.push_back(name);
    }
  }
  return found;
}

std::optional<std::string> gres_type(const std::string& model, const GpuNames& names) {
  for (std::string& name : names_of(model, names)) {
    if (is_gres_type(name)) return std::move(name);
  }
  return std::nullopt;
}

// The value of the label nvidia.com/gpu.product, which GPU feature discovery makes of NVML's name.
std::string product_label(const std::string& model, const GpuNames& names) {
  for (std::string& name : names_of(model, names)) {
    if (name.starts_with("NVIDIA-") || name.starts_with("Tesla-")) return std::move(name);
  }
  const GpuModel* const known = find_gpu_model(model);
  std::string label = known == nullptr ? model : known->device_name;
  std::ranges::replace(label, ' ', '-');
  return label;
}

std::uint64_t all_gpus(const UsageLimit& limit) {
  std::uint64_t count = 0;
  for (const GpuQuota& quota : limit.gpus) count += quota.count;
  return count;
}

class LimitWriter {
 public:
  LimitWriter(std::span<const LimitUse> uses, const GpuNames& names) : uses_(uses), names_(names) {}

  LimitExport write(LimitSystem system) {
    if (system == LimitSystem::kKueue) write_shared();
    if (system == LimitSystem::kRunAi) write_departments();
    if (system == LimitSystem::kSlurm) {
      out_.text =
          "#!/bin/sh\n# Limits of Slurm accounts and QOS, made by pennyweight; may be run "
          "again.\nset "
          "-eu\n";
    }
    for (const LimitUse& use : uses_) {
      const UsageLimit& limit = use.limit;
      if (limit.gpus.empty() && system != LimitSystem::kSlurm) {
        if (limit.per_month || limit.gpu_hours) {
          note(limit, "money and GPU-hours are watched by serve, and have no word here");
        }
        continue;
      }
      switch (system) {
        case LimitSystem::kResourceQuota:
          write_resource_quota(limit);
          break;
        case LimitSystem::kKueue:
          write_queues(use);
          break;
        case LimitSystem::kVolcano:
          write_volcano(limit);
          break;
        case LimitSystem::kSlurm:
          write_slurm(limit);
          break;
        case LimitSystem::kRunAi:
          write_project(use);
          break;
      }
    }
    return std::move(out_);
  }

 private:
  void note(const UsageLimit& limit, std::string_view what) {
    out_.notes.push_back(fmt::format("limit {}: {}", limit.name, what));
  }

  void object(std::string_view version, std::string_view kind, std::string_view name,
              std::string_view name_space = "") {
    out_.text += out_.text.empty() ? "" : "---\n";
    out_.text += fmt::format("apiVersion: {}\nkind: {}\nmetadata:\n  name: {}\n", version, kind,
                             json_string(name));
    if (!name_space.empty()) {
      out_.text += fmt::format("  namespace: {}\n", json_string(name_space));
    }
    out_.text += fmt::format("  labels: {}\n", kManaged);
  }

  void write_resource_quota(const UsageLimit& limit) {
    if (!limit.is_hard)
      return note(limit, "a ResourceQuota is always hard, so a soft limit is none");
    if (limit.namespaces.size() != 1) {
      return note(limit, limit.namespaces.empty()
                             ? "it names no namespace, and a ResourceQuota is of one"
                             : "it has several namespaces, and a ResourceQuota is of one alone");
    }
    object("v1", "ResourceQuota", "pennyweight-" + limit.name, limit.namespaces[0]);
    out_.text +=
        fmt::format("spec:\n  hard:\n    requests.{}: \"{}\"\n", kGpuResource, all_gpus(limit));
    if (limit.gpus.size() > 1) {
      note(limit, "a ResourceQuota knows no GPU models: it has the sum of them");
    }
  }

  // The flavors and cohorts that queues refer to.
  void write_shared() {
    std::set<std::string> models;
    std::set<std::string> cohorts;
    for (const LimitUse& use : uses_) {
      if (use.limit.gpus.empty()) continue;
      for (const GpuQuota& quota : use.limit.gpus) models.insert(quota.model);
      if (!use.limit.cohort.empty()) cohorts.insert(use.limit.cohort);
    }
    for (const std::string& model : models) {
      object("kueue.x-k8s.io/v1beta1", "ResourceFlavor", object_name(model));
      out_.text += fmt::format("spec:\n  nodeLabels: {{nvidia.com/gpu.product: {}}}\n",
                               json_string(product_label(model, names_)));
    }
    if (!models.empty()) object("kueue.x-k8s.io/v1beta1", "ResourceFlavor", kRestFlavor);
    for (const std::string& cohort : cohorts) {
      object("kueue.x-k8s.io/v1beta1", "Cohort", cohort);
    }
  }

  void write_queues(const LimitUse& use) {
    const UsageLimit& limit = use.limit;
    if (limit.namespaces.empty()) {
      return note(limit, "it names no namespaces, so nobody could use its queue");
    }
    if (!limit.is_hard && limit.cohort.empty()) {
      return note(limit, "it is soft and in no cohort: a queue without a cohort is always hard");
    }
    object("kueue.x-k8s.io/v1beta1", "ClusterQueue", limit.name);
    out_.text += "spec:\n";
    if (!limit.cohort.empty())
      out_.text += fmt::format("  cohort: {}\n", json_string(limit.cohort));
    const bool is_unknown = limit.is_hard && use.state() == "unknown";
    if (is_unknown) {
      note(limit, "what is used of it could not be measured, so its queue is held: " + use.problem);
    }
    std::vector<std::string> namespaces;
    for (const std::string& name_space : limit.namespaces) {
      namespaces.push_back(json_string(name_space));
    }
    out_.text += fmt::format(
        "  stopPolicy: {}\n  namespaceSelector:\n    matchExpressions:\n"
        "    - {{key: kubernetes.io/metadata.name, operator: In, values: [{}]}}\n"
        "  resourceGroups:\n  - coveredResources: [{}]\n    flavors:\n",
        is_unknown || (limit.is_hard && use.is_exhausted()) ? "Hold" : "None",
        fmt::join(namespaces, ", "), kGpuResource);
    for (const GpuQuota& quota : limit.gpus) {
      out_.text += fmt::format(
          "    - name: {}\n      resources:\n      - name: {}\n"
          "        nominalQuota: \"{}\"\n",
          json_string(object_name(quota.model)), kGpuResource, quota.count);
      // A soft limit may borrow whatever is idle.
      if (!limit.cohort.empty() && limit.is_hard) {
        out_.text += fmt::format("        borrowingLimit: \"{}\"\n", quota.borrowed_max);
      }
    }
    write_rest();
    const bool lends_nowhere = std::ranges::any_of(limit.gpus, &GpuQuota::borrowed_max);
    if (limit.cohort.empty() && lends_nowhere) {
      note(limit, "it may borrow, and is in no cohort to borrow from");
    }
    for (const std::string& name_space : limit.namespaces) {
      object("kueue.x-k8s.io/v1beta1", "LocalQueue", limit.name, name_space);
      out_.text += fmt::format("spec:\n  clusterQueue: {}\n", json_string(limit.name));
    }
  }

  // The resource group of what is not limited.
  void write_rest() {
    std::vector<std::string_view> resources;
    for (const auto& [resource, quota] : kRestQuotas) resources.push_back(resource);
    out_.text +=
        fmt::format("  - coveredResources: [{}]\n    flavors:\n    - name: {}\n      resources:\n",
                    fmt::join(resources, ", "), kRestFlavor);
    for (const auto& [resource, quota] : kRestQuotas) {
      out_.text += fmt::format("      - name: {}\n        nominalQuota: \"{}\"\n", resource, quota);
    }
  }

  void write_volcano(const UsageLimit& limit) {
    if (!limit.is_hard)
      return note(limit, "the capability of a queue is hard, so a soft limit is none");
    object("scheduling.volcano.sh/v1beta1", "Queue", limit.name);
    out_.text +=
        fmt::format("spec:\n  weight: 1\n  reclaimable: true\n  capability:\n    {}: \"{}\"\n",
                    kGpuResource, all_gpus(limit));
    if (limit.gpus.size() > 1)
      note(limit, "a queue of Volcano knows no GPU models: it has the sum");
  }

  // A queue of KAI, Run:ai's scheduler: a project, or a department with its projects. CPUs and
  // memory are not limited.
  void write_run_ai_queue(std::string_view name, std::string_view parent, std::string_view quota,
                          std::string_view most, bool borrows) {
    object("scheduling.run.ai/v2", "Queue", name);
    out_.text += fmt::format("spec:\n  displayName: {}\n", json_string(name));
    if (!parent.empty()) out_.text += fmt::format("  parentQueue: {}\n", json_string(parent));
    out_.text += fmt::format(
        "  resources:\n    gpu: {{quota: {}, limit: {}, overQuotaWeight: {}}}\n"
        "    cpu: {{quota: -1, limit: -1, overQuotaWeight: 1}}\n"
        "    memory: {{quota: -1, limit: -1, overQuotaWeight: 1}}\n",
        quota, most, borrows ? 1 : 0);
  }

  // Departments and projects are queues in one space of names, so one that a limit is called like
  // has another name.
  std::string department_of(const UsageLimit& limit) const {
    std::string name = limit.cohort.empty() ? std::string(kDepartment) : "cohort-" + limit.cohort;
    const auto is_project = [&](const LimitUse& use) { return use.limit.name == name; };
    while (std::ranges::any_of(uses_, is_project)) name += "-department";
    return name;
  }

  // Projects share within their department, so each cohort is one; what is in none shares nothing.
  void write_departments() {
    std::map<std::string, std::uint64_t> quotas;
    for (const LimitUse& use : uses_) {
      if (!use.limit.gpus.empty()) quotas[department_of(use.limit)] += all_gpus(use.limit);
    }
    for (const auto& [name, quota] : quotas) {
      write_run_ai_queue(name, "", fmt::format("{}", quota), "-1", true);
    }
  }

  void write_project(const LimitUse& use) {
    const UsageLimit& limit = use.limit;
    std::uint64_t most = all_gpus(limit);
    for (const GpuQuota& quota : limit.gpus) {
      if (!limit.cohort.empty()) most += quota.borrowed_max;
    }
    const bool is_held = limit.is_hard && (use.is_exhausted() || use.state() == "unknown");
    if (is_held) {
      note(limit, "it is used up, or can't be measured: its project may start nothing more");
    }
    const std::string shown = is_held          ? std::string("0")
                              : !limit.is_hard ? std::string("-1")
                                               : fmt::format("{}", most);
    write_run_ai_queue(limit.name, department_of(limit), fmt::format("{}", all_gpus(limit)), shown,
                       !limit.is_hard || most > all_gpus(limit));
    if (limit.gpus.size() > 1) note(limit, "a project knows no GPU models: it has the sum of them");
  }

  // GPUs at once as Slurm has them: by type where that has a name, and all together.
  std::string slurm_gpus(const UsageLimit& limit) {
    std::vector<std::string> tres;
    for (const GpuQuota& quota : limit.gpus) {
      const auto type = gres_type(quota.model, names_);
      if (type) {
        tres.push_back(fmt::format("gres/gpu:{}={}", *type, quota.count));
      } else {
        note(limit, fmt::format("guardrails.pricing.gpu_models names no gres type for {}: only the "
                                "sum of all GPUs is limited",
                                quota.model));
      }
    }
    // -1 takes a limit away, so that running it again leaves nothing of a former one.
    tres.push_back(limit.gpus.empty() ? std::string("gres/gpu=-1")
                                      : fmt::format("gres/gpu={}", all_gpus(limit)));
    return fmt::format("{}", fmt::join(tres, ","));
  }

  // Makes an account or a QOS where there is none, and sets its limits.
  void write_slurm_object(const UsageLimit& limit, std::string_view kind, const std::string& name,
                          const std::string& gpus, const std::string& minutes) {
    out_.text += fmt::format(
        "sacctmgr --noheader --parsable2 show {0} where name={1} format={2} | grep -Fqx {1} "
        "|| sacctmgr --immediate add {0} {1}\n"
        "sacctmgr --immediate modify {0} where name={1} set GrpTRES={3} GrpTRESMins=gres/gpu={4}\n",
        kind, name, kind == "account" ? "account" : "name", gpus, minutes);
    // Of models that the limit had once. A cluster without the type refuses, and has no such limit.
    for (const auto& [type, means] : names_) {
      const GpuModel* const model = find_gpu_model(means);
      const bool is_limited = std::ranges::any_of(limit.gpus, [&](const GpuQuota& quota) {
        return gres_type(quota.model, names_) == type || find_gpu_model(quota.model) == model;
      });
      if (!is_gres_type(type) || is_limited) continue;
      out_.text += fmt::format(
          "sacctmgr --immediate modify {} where name={} set GrpTRES=gres/gpu:{}=-1 || true\n", kind,
          name, type);
    }
  }

  void write_slurm(const UsageLimit& limit) {
    if (limit.slurm_account.empty() && limit.slurm_qos.empty()) return;
    if (!limit.is_hard) {
      return note(limit, "limits of associations and QOS are hard, so a soft limit is none");
    }
    const std::string gpus = slurm_gpus(limit);
    const std::string minutes =
        limit.gpu_hours ? fmt::format("{}", static_cast<std::int64_t>(limit.gpu_hours->ticks() *
                                                                      60 / Money::kTicksPerUnit))
                        : "-1";
    if (limit.gpu_hours) {
      for (const std::string_view caution : {kMinutesKill, kMinutesMonth}) {
        note(limit, caution);
        out_.text += fmt::format("# {}: {}\n", limit.name, caution);
      }
    }
    if (!limit.slurm_account.empty()) {
      write_slurm_object(limit, "account", limit.slurm_account, gpus, minutes);
    }
    if (!limit.slurm_qos.empty()) {
      write_slurm_object(limit, "qos", limit.slurm_qos, gpus, minutes);
      note(limit, kQosEnforced);
      // Its users may ask for it; what they may ask for besides stays as it is.
      if (!limit.slurm_account.empty()) {
        out_.text += fmt::format("sacctmgr --immediate modify account where name={} set qos+={}\n",
                                 limit.slurm_account, limit.slurm_qos);
      }
    }
    if (limit.per_month) {
      note(limit, "money is watched by job_submit.lua and serve; Slurm has no word for it");
    }
  }

  std::span<const LimitUse> uses_;
  const GpuNames& names_;
  LimitExport out_;
};

}  // namespace

LimitExport export_limits(std::span<const LimitUse> uses, LimitSystem system,
                          const GpuNames& gpu_names) {
  return LimitWriter(uses, gpu_names).write(system);
}

}  // namespace pennyweight::guardrails
