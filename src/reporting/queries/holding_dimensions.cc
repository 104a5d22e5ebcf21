#include "reporting/queries/holding_dimensions.h"

#include <algorithm>
#include <array>

#include "core/gpu/gpu_model.h"
#include "core/overloaded.h"

namespace pennyweight {
namespace {

constexpr std::array kNodeDimensions = {"cluster",       "pool",      "node",      "region",
                                        "instance_type", "gpu_model", "price_tier"};
constexpr std::array kJobDimensions = {"workload", "array",   "attempt",
                                       "sharing",  "profile", "running"};
// Slurm's and Kubernetes' own names, where the policy has no dimension of the name.
constexpr std::array kLabelDimensions = {"account",   "user",      "partition", "qos",
                                         "state",     "job_name",  "wckey",     "reservation",
                                         "namespace", "exit_code", "image"};
// Who submitted it: what says so of a pod, and else the user, whose jobs are their own.
constexpr std::array kSubmitterLabels = {"submitter", "user"};
constexpr std::string_view kLabelPrefix = "label:";
bool is_node_dimension(const std::string& name) {
  return std::ranges::find(kNodeDimensions, name) != kNodeDimensions.end();
}

std::string sharing_text(const Holding& holding) {
  if (device_count(holding) == 0) return "no GPU";
  return std::visit(
      Overloaded{[](const WholeGpu&) { return "whole"; },
                 [](const CardFraction&) { return "fraction"; },
                 [](const MigSlice&) { return "mig"; }, [](const Shard&) { return "shard"; },
                 [](const MpsUnit&) { return "mps"; }, [](const Replica&) { return "replica"; },
                 [](const VirtualGpu&) { return "vgpu"; }},
      holding.device);
}

// "123" of "123_7": the array that a Slurm job belongs to.
std::string array_text(const std::string& workload) {
  const std::size_t cut = workload.find('_');
  const bool is_task = cut != std::string::npos && cut > 0 &&
                       workload.substr(0, cut).find_first_not_of("0123456789") == std::string::npos;
  return is_task ? workload.substr(0, cut) : kNoValue;
}

}  // namespace

std::vector<std::string> holding_dimensions() {
  std::vector<std::string> names(kNodeDimensions.begin(), kNodeDimensions.end());
  names.insert(names.end(), kJobDimensions.begin(), kJobDimensions.end());
  names.insert(names.end(), kLabelDimensions.begin(), kLabelDimensions.end());
  names.emplace_back("slurm_account");
  names.emplace_back("submitter");
  return names;
}

std::vector<std::string> labels_of_dimension(std::string_view name) {
  if (name == "slurm_account") return {"account"};
  if (name == "submitter") return {kSubmitterLabels.begin(), kSubmitterLabels.end()};
  const bool is_label = std::ranges::find(kLabelDimensions, name) != kLabelDimensions.end();
  return is_label ? std::vector{std::string(name)} : std::vector<std::string>();
}

HoldingDimensions::HoldingDimensions(const Policy& policy, const std::vector<Node>& nodes)
    : policy_(policy) {
  for (const Node& node : nodes) {
    nodes_[{node.cluster.text(), node.name.text()}].push_back(&node);
  }
  for (auto& [name, facts] : nodes_) std::ranges::sort(facts, {}, &Node::from);
}

bool HoldingDimensions::is_of_node(const std::string& name) const {
  return is_node_dimension(name) &&
         std::ranges::none_of(policy_.dimensions,
                              [&](const DimensionRule& rule) { return rule.dimension == name; });
}

const Node* HoldingDimensions::node_at(const ClusterId& cluster, const NodeId& name,
                                       Instant at) const {
  const auto found = nodes_.find({cluster.text(), name.text()});
  if (found == nodes_.end()) return nullptr;
  const Node* last = found->second.front();
  for (const Node* node : found->second) {
    if (node->from <= at) last = node;
  }
  return last;
}

std::optional<std::string> HoldingDimensions::price_tier(const ClusterId& cluster,
                                                         const NodeId& node) const {
  const auto found = price_tiers_.find({cluster.text(), node.text()});
  return found == price_tiers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> HoldingDimensions::of_node(const std::string& dimension,
                                                      const Node* node) const {
  if (node == nullptr) return std::nullopt;
  if (dimension == "cluster") return node->cluster.text();
  if (dimension == "node") return node->name.text();
  if (dimension == "pool") return node->pool.text();
  if (dimension == "region") return node->region;
  if (dimension == "instance_type") return node->instance_type;
  if (dimension == "price_tier") return price_tier(node->cluster, node->name);
  const GpuModel* model = find_gpu_model(node->gpu_model);
  return model != nullptr ? model->name : node->gpu_model;
}

std::optional<std::string> HoldingDimensions::of(const std::string& dimension,
                                                 const Holding& holding, const Node* node,
                                                 const Labels& resolved) const {
  const auto label = [&](std::string_view key) -> std::optional<std::string> {
    const auto value = holding.labels.find(key);
    return value ? std::optional(std::string(*value)) : std::nullopt;
  };
  if (dimension.starts_with(kLabelPrefix)) return label(dimension.substr(kLabelPrefix.size()));
  for (const DimensionRule& rule : policy_.dimensions) {
    if (rule.dimension != dimension) continue;
    const auto value = resolved.find(dimension);
    return value ? std::optional(std::string(*value)) : std::nullopt;
  }
  if (dimension == "cluster") return holding.cluster.text();
  if (dimension == "workload") return holding.workload.text();
  if (dimension == "attempt") return holding.attempt;
  if (dimension == "array") return array_text(holding.workload.text());
  if (dimension == "sharing") return sharing_text(holding);
  if (dimension == "running") return holding.ended ? "ended" : "running";
  if (dimension == "slurm_account") return label("account");
  if (dimension == "submitter") {
    for (const char* key : kSubmitterLabels) {
      if (auto value = label(key); value && !value->empty()) return value;
    }
    return std::nullopt;
  }
  if (dimension == "profile") {
    const auto* slice = std::get_if<MigSlice>(&holding.device);
    return slice != nullptr ? std::optional(slice->profile) : std::nullopt;
  }
  if (is_node_dimension(dimension)) {
    if (node != nullptr) return of_node(dimension, node);
    const auto* in = std::get_if<InPool>(&holding.placement);
    if (dimension == "pool" && in != nullptr) {
      std::string pools;
      for (const PoolId& pool : in->pools) pools += (pools.empty() ? "" : "|") + pool.text();
      return pools;
    }
    const auto* on = std::get_if<OnNodes>(&holding.placement);
    if (on != nullptr && on->parts.size() == 1) {
      if (dimension == "node") return on->parts.front().node.text();
      if (dimension == "price_tier") return price_tier(holding.cluster, on->parts.front().node);
    }
    if (dimension == "gpu_model" && !holding.gpu_model.empty()) return holding.gpu_model;
    return std::nullopt;
  }
  return label(dimension);
}

}  // namespace pennyweight
