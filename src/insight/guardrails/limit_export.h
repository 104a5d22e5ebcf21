// Limits in the words of those who place work: Kubernetes' ResourceQuota, Kueue, Volcano, Run:ai
// and its open scheduler KAI, Slurm;
// and what differs between that and what they really have.
//
// What a system has no word for is said in a note, and never left out silently: a ResourceQuota
// knows no GPU models, and none of them knows money. A hard limit that is used up holds its queues
// in Kueue: what runs goes on, and nothing new is admitted.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "insight/guardrails/usage_limit.h"

namespace pennyweight::guardrails {

enum class LimitSystem { kResourceQuota, kKueue, kVolcano, kSlurm, kRunAi };
inline constexpr std::string_view kLimitSystemWords[] = {"resourcequota", "kueue", "volcano",
                                                         "slurm", "runai"};

struct LimitExport {
  std::string text;  // YAML documents; for Slurm a shell script of sacctmgr commands
  std::vector<std::string> notes;
};

// `gpu_names`: what names of GPUs mean (EstimateOptions::gpu_models); read backwards, they are the
// gres types of Slurm and the values of the label nvidia.com/gpu.product.
LimitExport export_limits(std::span<const LimitUse> uses, LimitSystem system,
                          const std::map<std::string, std::string, std::less<>>& gpu_names);

// One setting: "ClusterQueue nlp", "resourceGroups[0].flavors[h100].resources[nvidia.com/gpu]…",
// "16".
struct QuotaSetting {
  std::string object;
  std::string field;
  std::string value;
  bool is_ours = false;  // the object says that it is managed by us
  bool operator==(const QuotaSetting&) const = default;
};

// The settings of objects in YAML or JSON (also a List of `kubectl get`), of associations as
// `sacctmgr --parsable2 show assoc format=cluster,account,user,grptres,grptresmins` prints them, or
// of QOS (show qos format=name,grptres,grptresmins).
Result<std::vector<QuotaSetting>> read_quota_settings(std::string_view text, std::string_view name);

struct QuotaDrift {
  std::string object;
  std::string field;
  std::string wanted;  // empty: not wanted
  std::string real;    // empty: missing
};

// Nothing: what is wanted is there. Of what is there and not wanted, only our own objects count.
std::vector<QuotaDrift> find_drift(std::span<const QuotaSetting> wanted_anywhere,
                                   std::span<const QuotaSetting> real);

// Of an export, for find_drift().
Result<std::vector<QuotaSetting>> wanted_settings(const LimitExport& exported, LimitSystem system);

}  // namespace pennyweight::guardrails
