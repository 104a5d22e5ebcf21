#include "ingest/manifests/terraform_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plain_text.h"
#include "core/try.h"
#include "ingest/manifests/pod_template.h"

namespace pennyweight::manifests {
namespace {

// How a kind of resource says what its machines are. Paths go through the first item of a list, as
// Terraform writes blocks; of several paths, separated by "|", the first that is stated counts.
struct MachineResource {
  std::string_view type;
  std::string_view machine;    // the path of the instance type
  std::string_view count;      // of the number of machines; empty: one
  std::string_view count_max;  // of the autoscaler's limit; empty: none
  std::string_view spot;       // of what says that it is spot
  std::string_view spot_value;
  std::string_view place;         // of its region or zone
  std::string_view accelerators;  // of Google's attached GPUs
  // The argument by which it names the template that has its machine, or the cluster that has its
  // place.
  std::string_view refers_by = "";
};

constexpr MachineResource kMachineResources[] = {
    {"aws_instance", "instance_type", "", "", "instance_market_options.market_type", "spot",
     "availability_zone", "", "launch_template"},
    {"aws_spot_instance_request", "instance_type", "", "", "instance_type", "*",
     "availability_zone", ""},
    {"aws_eks_node_group", "instance_types", "scaling_config.desired_size|scaling_config.min_size",
     "scaling_config.max_size", "capacity_type", "SPOT", "", "", "launch_template"},
    {"aws_autoscaling_group", "mixed_instances_policy.launch_template.override.instance_type",
     "desired_capacity|min_size", "max_size", "", "", "availability_zones", "",
     "launch_template|launch_configuration|mixed_instances_policy"},
    {"google_compute_instance", "machine_type", "", "", "scheduling.provisioning_model", "SPOT",
     "zone", "guest_accelerator"},
    {"google_compute_instance_group_manager", "", "target_size", "", "", "", "zone", "", "version"},
    {"google_compute_region_instance_group_manager", "", "target_size", "", "", "", "region", "",
     "version"},
    {"google_container_node_pool", "node_config.machine_type",
     "node_count|initial_node_count|autoscaling.min_node_count|autoscaling.total_min_node_count",
     "autoscaling.max_node_count|autoscaling.total_max_node_count", "node_config.spot", "true",
     "location", "node_config.guest_accelerator"},
    {"google_container_cluster", "node_config.machine_type", "initial_node_count", "",
     "node_config.spot", "true", "location", "node_config.guest_accelerator"},
    {"azurerm_linux_virtual_machine", "size", "", "", "priority", "Spot", "location", ""},
    {"azurerm_windows_virtual_machine", "size", "", "", "priority", "Spot", "location", ""},
    {"azurerm_virtual_machine", "vm_size", "", "", "", "", "location", ""},
    {"azurerm_linux_virtual_machine_scale_set", "sku", "instances", "", "priority", "Spot",
     "location", ""},
    {"azurerm_windows_virtual_machine_scale_set", "sku", "instances", "", "priority", "Spot",
     "location", ""},
    {"azurerm_orchestrated_virtual_machine_scale_set", "sku_name", "instances", "", "priority",
     "Spot", "location", ""},
    {"azurerm_kubernetes_cluster_node_pool", "vm_size", "node_count|min_count", "max_count",
     "priority", "Spot", "", "", "kubernetes_cluster_id"},
    {"azurerm_kubernetes_cluster", "default_node_pool.vm_size",
     "default_node_pool.node_count|default_node_pool.min_count", "default_node_pool.max_count", "",
     "", "location", ""},
};

// What a resource that others name says for them: a template the machine, a cluster the place.
constexpr MachineResource kTemplates[] = {
    {"aws_launch_template", "instance_type", "", "", "instance_market_options.market_type", "spot",
     "", ""},
    {"aws_launch_configuration", "instance_type", "", "", "spot_price", "*", "", ""},
    {"google_compute_instance_template", "machine_type", "", "", "scheduling.provisioning_model",
     "SPOT", "", "guest_accelerator"},
    {"google_compute_region_instance_template", "machine_type", "", "",
     "scheduling.provisioning_model", "SPOT", "region", "guest_accelerator"},
    {"azurerm_kubernetes_cluster", "", "", "", "", "", "location", ""},
};

// Google's older word for spot.
constexpr std::string_view kPreemptible[] = {"scheduling.preemptible", "node_config.preemptible"};

// Resources of providers whose machines are not in the table, though they may be machines.
constexpr std::string_view kMachineWords[] = {
    "instance",  "node_pool", "nodepool", "virtual_machine", "node_group",         "cluster",
    "scale_set", "droplet",   "server",   "job_definition",  "compute_environment"};
// Resources that only say who may do what, or that others start.
constexpr std::string_view kNoMachineWords[] = {"iam",
                                                "instance_profile",
                                                "launch_template",
                                                "launch_configuration",
                                                "instance_template",
                                                "role_binding",
                                                "addon",
                                                "auth"};
// Arguments that name a machine, whatever the resource is called.
constexpr std::string_view kMachineKeys[] = {"instance_type", "instance_types",    "machine_type",
                                             "vm_size",       "guest_accelerator", "gpu_type",
                                             "accelerators",  "accelerator"};
// Resources that start what Kubernetes runs.
constexpr std::string_view kKubernetesResources[] = {
    "helm_release",          "kubectl_manifest",        "kubernetes_manifest",
    "kubernetes_deployment", "kubernetes_pod",          "kubernetes_job",
    "kubernetes_cron_job",   "kubernetes_stateful_set", "kubernetes_daemon"};

bool names_machine(const DocumentNode& node) {
  for (const auto& [key, value] : node.fields) {
    const bool is_stated =
        value.kind != DocumentNode::Kind::kNull && (!value.scalar.empty() || !value.items.empty());
    const bool is_key = std::ranges::find(kMachineKeys, key) != std::end(kMachineKeys);
    if (is_stated && is_key) return true;
    if (names_machine(value)) return true;
  }
  return std::ranges::any_of(node.items, names_machine);
}

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

// The first of the paths that is stated; a null node if none is.
const DocumentNode& follow_any(const DocumentNode& from, std::string_view paths) {
  while (!paths.empty()) {
    const std::size_t cut = std::min(paths.find('|'), paths.size());
    const DocumentNode& found = follow(from, paths.substr(0, cut));
    if (found) return found;
    paths.remove_prefix(std::min(cut + 1, paths.size()));
  }
  return from[""];
}

Result<std::uint64_t> read_machine_count(const DocumentNode& values, std::string_view paths,
                                         std::uint64_t absent) {
  while (!paths.empty()) {
    const std::size_t end = std::min(paths.find('|'), paths.size());
    const std::string_view path = paths.substr(0, end);
    const std::size_t cut = path.rfind('.');
    const DocumentNode& parent =
        cut == std::string_view::npos ? values : follow(values, path.substr(0, cut));
    const std::string_view key = path.substr(cut == std::string_view::npos ? 0 : cut + 1);
    if (parent.has(key)) return read_whole(parent, key, absent, kReplicasMax);
    paths.remove_prefix(std::min(end + 1, paths.size()));
  }
  return absent;
}

bool is_spot(const MachineResource& resource, const DocumentNode& values) {
  const bool is_preemptible = std::ranges::any_of(
      kPreemptible, [&](std::string_view path) { return follow(values, path).scalar == "true"; });
  if (is_preemptible) return true;
  if (resource.spot.empty()) return false;
  const std::string& spot = follow(values, resource.spot).scalar;
  return !spot.empty() && (resource.spot_value == "*" || spot == resource.spot_value);
}

// Attached GPUs of each machine.
Result<void> add_accelerators(const MachineResource& resource, const DocumentNode& values,
                              ReplicaGroup& group) {
  if (resource.accelerators.empty()) return {};
  const DocumentNode& accelerator = follow(values, resource.accelerators);
  const auto count = TRY(read_whole(accelerator, "count", 0, 64));
  if (count == 0) return {};
  group.place.gpu_model = accelerator["type"].scalar;
  group.gpus.push_back(whole_gpus(count));
  return {};
}

class PlanReader {
 public:
  PlanReader(const DocumentNode& plan, const std::string& file) : plan_(plan), file_(file) {
    for (const auto& [name, provider] : plan.at("configuration.provider_config").fields) {
      const DocumentNode& region = provider.at("expressions.region.constant_value");
      const std::string& provider_name = provider["name"].scalar;
      if (region && !provider_name.empty()) regions_.emplace_back(provider_name, region.scalar);
    }
    collect_configuration(plan.at("configuration.root_module"), "");
  }

  ManifestReading run() {
    if (plan_.has("resource_changes")) {
      for (const DocumentNode& change : plan_["resource_changes"].items) {
        if (change["mode"].scalar == "data") continue;
        const DocumentNode& after = change.at("change.after");
        if (after.kind == DocumentNode::Kind::kNull) continue;  // destroyed
        resources_.push_back({&change, &after});
      }
    } else {
      collect_module(plan_.at("planned_values.root_module"));
    }
    for (const PlannedResource& planned : resources_) {
      values_.emplace(without_keys((*planned.resource)["address"].scalar), planned);
    }
    for (const PlannedResource& planned : resources_) {
      read_resource(*planned.resource, *planned.values);
    }
    return std::move(reading_);
  }

 private:
  struct PlannedResource {
    const DocumentNode* resource;
    const DocumentNode* values;
  };

  // "module.a[0].aws_instance.b[\"x\"]" is of module.a.aws_instance.b.
  static std::string without_keys(std::string_view address) {
    std::string plain;
    int depth = 0;
    for (const char c : address) {
      if (c == '[') ++depth;
      if (depth == 0) plain += c;
      if (c == ']' && depth > 0) --depth;
    }
    return plain;
  }

  // The keys of an address: [0] and ["x"] of the one above.
  static std::vector<std::string> keys_of(std::string_view address) {
    std::vector<std::string> keys;
    int depth = 0;
    for (const char c : address) {
      if (c == '[' && depth++ == 0) keys.emplace_back();
      if (depth > 0) keys.back() += c;
      if (c == ']' && depth > 0) --depth;
    }
    return keys;
  }

  void collect_module(const DocumentNode& module) {
    for (const DocumentNode& resource : module["resources"].items) {
      if (resource["mode"].scalar != "data") resources_.push_back({&resource, &resource["values"]});
    }
    for (const DocumentNode& child : module["child_modules"].items) collect_module(child);
  }

  // The expressions of each resource, by its address without keys.
  void collect_configuration(const DocumentNode& module, const std::string& prefix) {
    for (const DocumentNode& resource : module["resources"].items) {
      expressions_.emplace(prefix + resource["address"].scalar, &resource["expressions"]);
    }
    for (const auto& [name, call] : module["module_calls"].fields) {
      collect_configuration(call["module"], fmt::format("{}module.{}.", prefix, name));
    }
  }

  static void collect_references(const DocumentNode& node, std::vector<std::string>& references) {
    for (const DocumentNode& reference : node["references"].items) {
      if (!reference.scalar.empty()) references.push_back(reference.scalar);
    }
    for (const auto& [key, value] : node.fields) collect_references(value, references);
    for (const DocumentNode& item : node.items) collect_references(item, references);
  }

  using PlannedByAddress = std::multimap<std::string, PlannedResource>;

  // Of the instances of a template, the one that the resource at an address takes: that with the
  // keys that it names, with its own keys, or without keys in its module. `last`: not known.
  static PlannedByAddress::const_iterator choose_instance(PlannedByAddress::const_iterator first,
                                                          PlannedByAddress::const_iterator last,
                                                          std::string_view address,
                                                          const std::vector<std::string>& named) {
    if (std::next(first) == last) return first;
    const std::vector<std::string> own = keys_of(address);
    std::vector<std::string> module = own;
    if (address.ends_with(']')) module.pop_back();
    const auto with_keys = [&](const std::vector<std::string>& keys) {
      return std::find_if(first, last, [&](const auto& planned) {
        return keys_of((*planned.second.resource)["address"].scalar) == keys;
      });
    };
    if (!named.empty()) {
      std::vector<std::string> keys = module;
      keys.insert(keys.end(), named.begin(), named.end());
      return with_keys(keys);
    }
    const auto same = with_keys(own);
    return same != last ? same : with_keys(module);
  }

  // The template or cluster that a resource names in one of these arguments.
  struct NamedTemplate {
    const MachineResource* kind = nullptr;
    const DocumentNode* values = nullptr;
    bool is_one_of_several = false;  // the plan doesn't say which of them
  };
  NamedTemplate find_template(const std::string& full_address, std::string_view arguments) const {
    const std::string address = without_keys(full_address);
    const auto configured = expressions_.find(address);
    if (configured == expressions_.end()) return {};
    const std::string type_and_name = [&] {
      const std::size_t name = address.rfind('.');
      const std::size_t type = name == std::string::npos ? name : address.rfind('.', name - 1);
      return type == std::string::npos ? std::string() : address.substr(0, type + 1);
    }();
    std::vector<std::string> references;
    while (!arguments.empty()) {
      const std::size_t cut = std::min(arguments.find('|'), arguments.size());
      collect_references((*configured->second)[arguments.substr(0, cut)], references);
      arguments.remove_prefix(std::min(cut + 1, arguments.size()));
    }
    for (const std::string& reference : references) {
      const auto [first, last] = values_.equal_range(type_and_name + without_keys(reference));
      if (first == last) continue;
      const std::string& type = (*first->second.resource)["type"].scalar;
      const auto* const kind = std::ranges::find(kTemplates, type, &MachineResource::type);
      if (kind == std::end(kTemplates)) continue;
      const auto found = choose_instance(first, last, full_address, keys_of(reference));
      if (found == last) return {kind, nullptr, true};
      return {kind, found->second.values, false};
    }
    return {};
  }

  void set_aside(const DocumentNode& resource, std::string reason) {
    reading_.unpriced.push_back({file_, resource.line, resource["type"].scalar,
                                 resource["address"].scalar, std::move(reason)});
  }

  Result<ReplicaGroup> read_machines(const MachineResource& resource, const DocumentNode& values,
                                     const NamedTemplate& named,
                                     std::vector<std::string>& notes) const {
    ReplicaGroup group;
    group.line = values.line;
    group.takes_whole_machines = true;
    const DocumentNode& machine = follow_any(values, resource.machine);
    group.place.instance_type = machine.scalar;
    group.place.is_spot = is_spot(resource, values);
    TRY(add_accelerators(resource, values, group));
    if (!resource.place.empty()) {
      group.place.region = region_of(follow(values, resource.place).scalar);
    }
    if (named.values != nullptr) {
      if (group.place.instance_type.empty()) {
        group.place.instance_type = follow_any(*named.values, named.kind->machine).scalar;
        TRY(add_accelerators(*named.kind, *named.values, group));
        group.place.is_spot = group.place.is_spot || is_spot(*named.kind, *named.values);
      }
      if (group.place.region.empty() && !named.kind->place.empty()) {
        group.place.region = region_of(follow(*named.values, named.kind->place).scalar);
      }
    }
    if (named.is_one_of_several &&
        (group.place.instance_type.empty() || group.place.region.empty())) {
      return fail(ErrorCode::kBadValue,
                  "the plan has several of what it refers to, and does not say which of them it "
                  "takes");
    }
    if (group.place.instance_type.empty()) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("the plan does not know its {} yet, or a template that is not in the "
                              "plan states it",
                              resource.machine.empty() ? "machine" : resource.machine));
    }
    add_type_notes(resource, values, group, notes);
    const auto machines = TRY(read_machine_count(values, resource.count, 1));
    group.replicas = machines;
    const auto most = TRY(read_machine_count(values, resource.count_max, machines));
    if (most > machines) group.replicas_max = most;
    TRY(multiply_by_zones(resource, values, group, notes));
    return group;
  }

  // Of several types the provider chooses; the first is the one that is preferred.
  static void add_type_notes(const MachineResource& resource, const DocumentNode& values,
                             const ReplicaGroup& group, std::vector<std::string>& notes) {
    std::size_t types = values["instance_types"].items.size();
    if (resource.type == "aws_autoscaling_group") {
      const DocumentNode& policy = follow(values, "mixed_instances_policy");
      const DocumentNode& pair = follow(policy, "launch_template");
      types = pair["override"].items.size();
      const DocumentNode& shares = follow(policy, "instances_distribution");
      const bool has_spot = shares.has("on_demand_percentage_above_base_capacity") &&
                            shares["on_demand_percentage_above_base_capacity"].scalar != "100";
      if (has_spot) {
        notes.emplace_back(
            "part of it may be spot (instances_distribution); it is priced on demand");
      }
    }
    if (types > 1) {
      notes.push_back(fmt::format("it may be any of {} instance types; the price is that of {}",
                                  types, printable_text(group.place.instance_type, 60)));
    }
  }

  // The numbers of a node pool of Google are of each zone; totals are not.
  static Result<void> multiply_by_zones(const MachineResource& resource, const DocumentNode& values,
                                        ReplicaGroup& group, std::vector<std::string>& notes) {
    const bool is_pool = resource.type == "google_container_node_pool" ||
                         resource.type == "google_container_cluster";
    if (!is_pool) return {};
    const std::string& location = follow(values, resource.place).scalar;
    const bool is_regional = !location.empty() && region_of(location) == location;
    std::uint64_t zones = values["node_locations"].items.size();
    if (resource.type == "google_container_cluster" && zones > 0 && !is_regional) ++zones;
    if (zones == 0 && is_regional) {
      zones = 3;
      notes.emplace_back(
          "its zones are not stated: in each of three, as many as the region gives by default, are "
          "so many nodes");
    }
    if (zones <= 1) return {};
    const DocumentNode& autoscaling = follow(values, "autoscaling");
    const bool counts_all = autoscaling.has("total_min_node_count") && !values.has("node_count") &&
                            !values.has("initial_node_count");
    const bool limits_all =
        autoscaling.has("total_max_node_count") && !autoscaling.has("max_node_count");
    const std::uint64_t most = group.replicas_max.value_or(0);
    if (std::max(group.replicas, most) > kReplicasMax / zones) {
      return fail(ErrorCode::kLimit, fmt::format("more than {} machines", kReplicasMax));
    }
    if (!counts_all) group.replicas *= zones;
    if (!group.replicas_max) return {};
    if (!limits_all) group.replicas_max = most * zones;
    if (*group.replicas_max <= group.replicas) group.replicas_max.reset();
    return {};
  }

  // What is said of a resource whose machines are not known; empty: it has none.
  static std::string unknown_resource(const std::string& type, const DocumentNode& values) {
    const bool is_kubernetes = std::ranges::any_of(
        kKubernetesResources, [&](std::string_view prefix) { return type.starts_with(prefix); });
    if (is_kubernetes) {
      return "what it runs in a cluster is not in the price; estimate its rendered manifests";
    }
    const auto has_word = [&](std::string_view word) {
      return type.find(word) != std::string::npos;
    };
    if (std::ranges::any_of(kNoMachineWords, has_word)) return "";
    if (std::ranges::any_of(kMachineWords, has_word) || names_machine(values)) {
      return "a kind of resource that is not known; if it starts machines, these are not in the "
             "price";
    }
    return "";
  }

  void read_resource(const DocumentNode& resource, const DocumentNode& values) {
    const std::string& type = resource["type"].scalar;
    const auto* const known = std::ranges::find(kMachineResources, type, &MachineResource::type);
    if (known == std::end(kMachineResources)) {
      std::string reason = unknown_resource(type, values);
      if (reason.empty()) {
        ++reading_.without_cost;
      } else {
        set_aside(resource, std::move(reason));
      }
      return;
    }
    // Its nodes are those of its pools.
    if (type == "google_container_cluster" && !values.has("node_config") &&
        (values["remove_default_node_pool"].scalar == "true" ||
         values["enable_autopilot"].scalar == "true")) {
      ++reading_.without_cost;
      return;
    }
    WorkloadRequest workload;
    workload.file = file_;
    workload.line = resource.line;
    workload.kind = type;
    workload.name = resource["address"].scalar;
    const NamedTemplate named = find_template(resource["address"].scalar, known->refers_by);
    auto group = read_machines(*known, values, named, workload.notes);
    if (!group) {
      set_aside(resource, group.error().message);
      return;
    }
    const std::string provider = type.substr(0, type.find('_'));
    for (const auto& [name, region] : regions_) {
      if (group->place.region.empty() && name == provider) group->place.region = region;
    }
    workload.labels = read_texts(values["tags"]);
    for (const auto& [key, value] : read_texts(values["labels"]))
      workload.labels.emplace(key, value);
    workload.groups.push_back(std::move(*group));
    reading_.workloads.push_back(std::move(workload));
  }

  const DocumentNode& plan_;
  const std::string& file_;
  std::vector<std::pair<std::string, std::string>> regions_;  // by provider
  std::map<std::string, const DocumentNode*> expressions_;    // by address without keys
  std::vector<PlannedResource> resources_;
  PlannedByAddress values_;  // by address without keys: the instances in the plan's order
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
