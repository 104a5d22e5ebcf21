#include "ingest/manifests/cluster_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/try.h"

namespace pennyweight::manifests {
namespace {

constexpr DocumentLimits kClusterLimits{.bytes = kClusterObjectsBytesMax, .values = 4'000'000};
constexpr std::string_view kPolicyVersions[] = {"networking.k8s.io/", "extensions/"};

std::string claim_name(std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}", name_space, name);
}

std::vector<SelectorTerm> read_selector(const DocumentNode& selector) {
  using enum SelectorTerm::Operator;
  constexpr std::pair<std::string_view, SelectorTerm::Operator> kOperators[] = {
      {"In", kIn}, {"NotIn", kNotIn}, {"Exists", kExists}, {"DoesNotExist", kDoesNotExist}};
  std::vector<SelectorTerm> terms;
  for (const auto& [key, value] : selector["matchLabels"].fields) {
    terms.push_back({.key = key, .is = kIn, .values = {value.scalar}});
  }
  for (const DocumentNode& item : selector["matchExpressions"].items) {
    SelectorTerm term{.key = item["key"].scalar};
    for (const auto& [word, meaning] : kOperators) {
      if (item["operator"].scalar == word) term.is = meaning;
    }
    for (const DocumentNode& value : item["values"].items) term.values.push_back(value.scalar);
    terms.push_back(std::move(term));
  }
  return terms;
}

bool is_met(const SelectorTerm& term, const PodLabels& labels) {
  const auto label = labels.find(term.key);
  const bool is_there = label != labels.end();
  const bool is_listed =
      is_there && std::ranges::find(term.values, label->second) != term.values.end();
  switch (term.is) {
    case SelectorTerm::Operator::kIn:
      return is_listed;
    case SelectorTerm::Operator::kNotIn:
      return !is_listed;
    case SelectorTerm::Operator::kExists:
      return is_there;
    case SelectorTerm::Operator::kDoesNotExist:
      return !is_there;
    case SelectorTerm::Operator::kUnknown:
      return false;
  }
  return false;
}

// A block of all addresses. One with exceptions is none.
bool is_any_address(const DocumentNode& block) {
  return block["cidr"].scalar.ends_with("/0") && block["except"].items.empty();
}

bool is_empty_selector(const DocumentNode& selector) {
  return selector["matchLabels"].fields.empty() && selector["matchExpressions"].items.empty();
}

// All addresses, or all pods of all namespaces.
bool is_everybody(const DocumentNode& peer) {
  if (peer.has("ipBlock")) return is_any_address(peer["ipBlock"]);
  // `{}` is a mapping without entries, and there.
  return peer.has("namespaceSelector") && is_empty_selector(peer["namespaceSelector"]) &&
         is_empty_selector(peer["podSelector"]);
}

// Whether one of the rules of a direction has no peers, or all of them.
bool opens_to_all(const DocumentNode& rules, std::string_view peers_key) {
  return std::ranges::any_of(rules.items, [&](const DocumentNode& rule) {
    const DocumentNode& peers = rule[peers_key];
    return peers.items.empty() || std::ranges::any_of(peers.items, is_everybody);
  });
}

NetworkPolicy read_network_policy(const DocumentNode& object) {
  const DocumentNode& spec = object["spec"];
  NetworkPolicy policy{.name_space = object.at("metadata.namespace").scalar,
                       .name = object.at("metadata.name").scalar,
                       .pods = read_selector(spec["podSelector"])};
  const DocumentNode& types = spec["policyTypes"];
  const auto states = [&](std::string_view type) {
    return std::ranges::any_of(types.items,
                               [&](const DocumentNode& one) { return one.scalar == type; });
  };
  // Without types it is about ingress, and about egress where it has rules for it.
  const bool has_types = !types.items.empty();
  policy.covers[0] = has_types ? states("Ingress") : true;
  policy.covers[1] = has_types ? states("Egress") : !spec["egress"].items.empty();
  policy.opens[0] = opens_to_all(spec["ingress"], "from");
  policy.opens[1] = opens_to_all(spec["egress"], "to");
  return policy;
}

void collect_all(const DocumentNode& node, ClusterObjects& objects) {
  const DocumentNode& items = node["items"];
  if (!node["kind"].scalar.ends_with("List") || items.kind != DocumentNode::Kind::kSequence) {
    return collect_cluster_object(node, objects);
  }
  for (const DocumentNode& item : items.items) collect_all(item, objects);
}

}  // namespace

ClusterObjects with_files(ClusterObjects cluster, const ClusterObjects& files) {
  std::set<std::pair<std::string_view, std::string_view>> replaced;
  for (const NetworkPolicy& policy : files.network_policies) {
    replaced.emplace(policy.name_space, policy.name);
  }
  std::erase_if(cluster.network_policies, [&](const NetworkPolicy& policy) {
    return replaced.contains({policy.name_space, policy.name});
  });
  cluster.network_policies.insert(cluster.network_policies.end(), files.network_policies.begin(),
                                  files.network_policies.end());
  cluster.storage_classes.insert(files.storage_classes.begin(), files.storage_classes.end());
  return cluster;
}

bool ClusterObjects::limits(TrafficDirection direction, std::string_view name_space,
                            const PodLabels& labels) const {
  const auto index = static_cast<std::size_t>(direction);
  bool is_limited = false;
  for (const NetworkPolicy& policy : network_policies) {
    if (!policy.covers[index] || policy.name_space != name_space) continue;
    const bool selects = std::ranges::all_of(
        policy.pods, [&](const SelectorTerm& term) { return is_met(term, labels); });
    if (!selects) continue;
    if (policy.opens[index]) return false;
    is_limited = true;
  }
  return is_limited;
}

const std::string* ClusterObjects::storage_class_of(std::string_view name_space,
                                                    std::string_view claim) const {
  const auto at = storage_classes.find(claim_name(name_space, claim));
  return at == storage_classes.end() ? nullptr : &at->second;
}

void collect_cluster_object(const DocumentNode& object, ClusterObjects& objects) {
  const std::string& kind = object["kind"].scalar;
  const std::string& version = object["apiVersion"].scalar;
  if (kind == "PersistentVolumeClaim" && version == "v1") {
    objects.storage_classes.emplace(
        claim_name(object.at("metadata.namespace").scalar, object.at("metadata.name").scalar),
        object.at("spec.storageClassName").scalar);
    return;
  }
  const bool is_policy =
      kind == "NetworkPolicy" && std::ranges::any_of(kPolicyVersions, [&](std::string_view group) {
        return version.starts_with(group);
      });
  if (is_policy) objects.network_policies.push_back(read_network_policy(object));
}

Result<ClusterObjects> parse_cluster_objects(std::string_view text, std::string_view name) {
  const auto documents = TRY(parse_documents(text, name, kClusterLimits));
  ClusterObjects objects;
  for (const DocumentNode& document : documents) collect_all(document, objects);
  return objects;
}

}  // namespace pennyweight::manifests
