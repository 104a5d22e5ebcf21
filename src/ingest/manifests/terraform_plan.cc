#include "ingest/manifests/terraform_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/manifests/pod_template.h"

namespace pennyweight::manifests {
namespace {

// How a kind of resource says what its machines are. Paths go through the first item of a list, as
// Terraform writes blocks.
struct MachineResource {
  std::string_view type;
  std::string_view machine;    // the path of the instance type
  std::string_view count;      // of the number of machines; empty: one
  std::string_view count_max;  // of the autoscaler's limit; empty: none
  std::string_view spot;       // of what says that it is spot
  std::string_view spot_value;
  std::string_view place;         // of its region or zone
  std::string_view accelerators;  // of Google's attached GPUs
};

constexpr MachineResource kMachineResources[] = {
    {"aws_instance", "instance_type", "", "", "instance_market_options.market_type", "spot",
     "availability_zone", ""},
    {"aws_spot_instance_request", "instance_type", "", "", "instance_type", "*",
     "availability_zone", ""},
    {"aws_eks_node_group", "instance_types", "scaling_config.desired_size",
     "scaling_config.max_size", "capacity_type", "SPOT", "", ""},
    {"aws_autoscaling_group", "mixed_instances_policy.launch_template.override.instance_type",
     "desired_capacity", "max_size", "", "", "", ""},
    {"google_compute_instance", "machine_type", "", "", "scheduling.provisioning_model", "SPOT",
     "zone", "guest_accelerator"},
    {"google_container_node_pool", "node_config.machine_type", "node_count",
     "autoscaling.max_node_count", "node_config.spot", "true", "location",
     "node_config.guest_accelerator"},
    {"azurerm_linux_virtual_machine", "size", "", "", "priority", "Spot", "location", ""},
    {"azurerm_windows_virtual_machine", "size", "", "", "priority", "Spot", "location", ""},
    {"azurerm_linux_virtual_machine_scale_set", "sku", "instances", "", "priority", "Spot",
     "location", ""},
    {"azurerm_kubernetes_cluster_node_pool", "vm_size", "node_count", "max_count", "priority",
     "Spot", "", ""},
    {"azurerm_kubernetes_cluster", "default_node_pool.vm_size", "default_node_pool.node_count",
     "default_node_pool.max_count", "", "", "location", ""},
};

// Resources of providers whose machines are not in the table, though they may be machines.
constexpr std::string_view kMachineWords[] = {
    "instance",  "node_pool", "nodepool", "virtual_machine", "node_group",    "cluster",
    "scale_set", "droplet",   "server",   "launch_template", "job_definition"};

const DocumentNode& follow(const DocumentNode& from, std::string_view path) {
  const DocumentNode* node = &from;
  while (true) {
    if (node->kind == DocumentNode::Kind::kSequence && !node->items.empty()) {
      node = &node->items.front();
      continue;
    }
    if (path.empty()) return *node;
    const std::size_t end = path.find('.');
    node = &(*node)[path.substr(0, end)];
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
}

// "us-east-1a" and "us-central1-b" are zones of a region.
std::string region_of(std::string_view place) {
  if (place.size() > 2 && place[place.size() - 2] == '-' && place.back() >= 'a' &&
      place.back() <= 'z') {
    return std::string(place.substr(0, place.size() - 2));
  }
  const bool is_zone = place.size() > 2 && place.back() >= 'a' && place.back() <= 'z' &&
                       place[place.size() - 2] >= '0' && place[place.size() - 2] <= '9' &&
                       place.find('-') != std::string_view::npos;
  return std::string(is_zone ? place.substr(0, place.size() - 1) : place);
}

Result<std::uint64_t> read_machine_count(const DocumentNode& values, std::string_view path,
                                         std::uint64_t absent) {
  if (path.empty()) return absent;
  const std::size_t cut = path.rfind('.');
  const DocumentNode& parent =
      cut == std::string_view::npos ? values : follow(values, path.substr(0, cut));
  const std::string_view key = path.substr(cut == std::string_view::npos ? 0 : cut + 1);
  return read_whole(parent, key, absent, kReplicasMax);
}

Result<ReplicaGroup> read_machines(const MachineResource& resource, const DocumentNode& values) {
  ReplicaGroup group;
  group.line = values.line;
  group.takes_whole_machines = true;
  group.place.instance_type = follow(values, resource.machine).scalar;
  if (group.place.instance_type.empty()) {
    return fail(ErrorCode::kBadValue,
                fmt::format("the plan does not know its {} yet, or a launch template states it",
                            resource.machine));
  }
  const auto machines = TRY(read_machine_count(values, resource.count, 1));
  group.replicas = machines;
  const auto most = TRY(read_machine_count(values, resource.count_max, machines));
  if (most > machines) group.replicas_max = most;
  if (!resource.spot.empty()) {
    const std::string& spot = follow(values, resource.spot).scalar;
    group.place.is_spot =
        !spot.empty() && (resource.spot_value == "*" || spot == resource.spot_value);
  }
  if (!resource.place.empty()) {
    group.place.region = region_of(follow(values, resource.place).scalar);
  }
  if (!resource.accelerators.empty()) {
    const DocumentNode& accelerator = follow(values, resource.accelerators);
    const auto count = TRY(read_whole(accelerator, "count", 0, 64));
    if (count > 0) {
      group.place.gpu_model = accelerator["type"].scalar;
      group.gpus.push_back(whole_gpus(count));
    }
  }
  return group;
}

class PlanReader {
 public:
  PlanReader(const DocumentNode& plan, const std::string& file) : plan_(plan), file_(file) {
    for (const auto& [name, provider] : plan.at("configuration.provider_config").fields) {
      const DocumentNode& region = provider.at("expressions.region.constant_value");
      const std::string& provider_name = provider["name"].scalar;
      if (region && !provider_name.empty()) regions_.emplace_back(provider_name, region.scalar);
    }
  }

  ManifestReading run() {
    if (plan_.has("resource_changes")) {
      for (const DocumentNode& change : plan_["resource_changes"].items) {
        if (change["mode"].scalar == "data") continue;
        const DocumentNode& after = change.at("change.after");
        if (after.kind == DocumentNode::Kind::kNull) continue;  // destroyed
        read_resource(change, after);
      }
    } else {
      read_module(plan_.at("planned_values.root_module"));
    }
    return std::move(reading_);
  }

 private:
  void read_module(const DocumentNode& module) {
    for (const DocumentNode& resource : module["resources"].items) {
      if (resource["mode"].scalar != "data") read_resource(resource, resource["values"]);
    }
    for (const DocumentNode& child : module["child_modules"].items) read_module(child);
  }

  void set_aside(const DocumentNode& resource, std::string reason) {
    reading_.unpriced.push_back({file_, resource.line, resource["type"].scalar,
                                 resource["address"].scalar, std::move(reason)});
  }

  void read_resource(const DocumentNode& resource, const DocumentNode& values) {
    const std::string& type = resource["type"].scalar;
    const auto* const known = std::ranges::find(kMachineResources, type, &MachineResource::type);
    if (known == std::end(kMachineResources)) {
      const bool may_be_machine = std::ranges::any_of(kMachineWords, [&](std::string_view word) {
        return type.find(word) != std::string::npos;
      });
      if (may_be_machine) {
        set_aside(resource,
                  "a kind of resource that is not known; if it starts machines, these "
                  "are not in the price");
      } else {
        ++reading_.without_cost;
      }
      return;
    }
    auto group = read_machines(*known, values);
    if (!group) {
      set_aside(resource, group.error().message);
      return;
    }
    const std::string provider = type.substr(0, type.find('_'));
    for (const auto& [name, region] : regions_) {
      if (group->place.region.empty() && name == provider) group->place.region = region;
    }
    WorkloadRequest workload;
    workload.file = file_;
    workload.line = resource.line;
    workload.kind = type;
    workload.name = resource["address"].scalar;
    workload.labels = read_texts(values["tags"]);
    for (const auto& [key, value] : read_texts(values["labels"]))
      workload.labels.emplace(key, value);
    workload.groups.push_back(std::move(*group));
    reading_.workloads.push_back(std::move(workload));
  }

  const DocumentNode& plan_;
  const std::string& file_;
  std::vector<std::pair<std::string, std::string>> regions_;  // by provider
  ManifestReading reading_;
};

}  // namespace

bool is_terraform_plan(const DocumentNode& document) {
  return document.has("terraform_version") || document.has("resource_changes") ||
         document.has("planned_values");
}

ManifestReading read_terraform_plan(const DocumentNode& plan, const std::string& file) {
  return PlanReader(plan, file).run();
}

}  // namespace pennyweight::manifests
