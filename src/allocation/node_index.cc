#include "allocation/node_index.h"

#include <algorithm>
#include <utility>

#include "allocation/resource_name.h"
#include "core/ascii.h"

namespace pennyweight {

NodeIndex::NodeIndex(std::vector<const Node*> nodes, std::span<const JoinRule> rules)
    : nodes_(std::move(nodes)), rules_(rules) {
  resources_.reserve(nodes_.size());
  for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
    const Node& node = *nodes_[at];
    const CloudResource& resource =
        resources_.emplace_back(parse_cloud_resource(node.provider_id, node.name.text()));
    add(by_text_, node.provider_id, at);
    add(by_text_, node.name.text(), at);
    // The last part of another thing's id, or a machine's number in its scale set, is not a name.
    const bool is_azure = resource.cloud == CloudResource::Cloud::kAzure;
    const std::string_view last = last_segment(node.provider_id);
    const bool is_number = last.find_first_not_of("0123456789") == std::string_view::npos;
    if (!resource.is_other_thing() && !(is_azure && is_number))
      add(by_text_, std::string(last), at);
    for (const std::string& name : resource.names) add(by_text_, name, at);
    for (const std::string& identity : resource.identities) add(by_identity_, identity, at);
    if (is_azure) {
      for (const std::string& name : resource.names) add(by_azure_name_, name, at);
    }
    add(by_azure_name_, ascii::lower_case(node.name.text()), at);
    add_host(node.name.text(), at);
    add_host(node.provider_id, at);
  }
}

void NodeIndex::add(Keys& keys, std::string key, std::uint32_t at) {
  if (key.empty()) return;
  Positions& positions = keys[std::move(key)];
  if (positions.empty() || positions.back() != at) positions.push_back(at);
}

void NodeIndex::add_host(std::string_view text, std::uint32_t at) {
  if (const auto label = short_host_name(text)) add(by_short_name_, std::string(*label), at);
}

const NodeIndex::Positions* NodeIndex::under(const Keys& keys, const std::string& key) const {
  const auto found = keys.find(key);
  return found == keys.end() ? nullptr : &found->second;
}

std::vector<std::vector<std::uint32_t>> NodeIndex::candidates(const Charge& charge) const {
  std::vector<Positions> found;
  if (const Positions* exact =
          charge.resource_id.empty() ? nullptr : under(by_text_, charge.resource_id)) {
    found.push_back(*exact);
  }
  const CloudResource resource = parse_cloud_resource(charge.resource_id, charge.resource_name);
  for (const std::string& identity : resource.identities) {
    if (const Positions* positions = under(by_identity_, identity)) found.push_back(*positions);
  }
  const auto look = [&](const Keys& keys, const std::string& key) {
    const Positions* positions = key.empty() ? nullptr : under(keys, key);
    if (positions == nullptr) return;
    Positions fitting;
    for (const std::uint32_t at : *positions) {
      if (!are_different(resource, resources_[at])) fitting.push_back(at);
    }
    if (!fitting.empty()) found.push_back(std::move(fitting));
  };
  const auto look_for_name = [&](const std::string& name) {
    look(by_text_, name);
    // One side may have the domain. Two different domains are two machines.
    if (const auto label = short_host_name(name)) {
      look(by_text_, std::string(*label));
    } else {
      look(by_short_name_, name);
    }
  };
  if (!resource.is_other_thing()) {
    for (const std::string& name : resource.names) {
      if (resource.cloud == CloudResource::Cloud::kAzure) look(by_azure_name_, name);
      look_for_name(name);
    }
    look_for_name(charge.resource_id);
    // A volume may have its machine's name, but a charge for a machine states the instance type.
    if (charge.resource_id.empty() || !charge.instance_type.empty() ||
        !resource.identities.empty()) {
      look_for_name(charge.resource_name);
    }
  }
  for (const JoinRule& rule : rules_) {
    const auto take = [&](std::string_view text) {
      const auto node = node_of_pattern(rule.pattern, text);
      if (node) look_for_name(std::string(*node));
    };
    if (!rule.label.empty()) {
      if (const auto value = charge.tags.find(rule.label)) take(*value);
      continue;
    }
    take(charge.resource_id);
    take(last_segment(charge.resource_id));
    take(charge.resource_name);
  }
  return found;
}

NodeMatch find_node(const NodeIndex& index, const Charge& charge,
                    const std::function<bool(std::uint32_t)>& is_there) {
  NodeMatch out;
  for (const std::vector<std::uint32_t>& positions : index.candidates(charge)) {
    for (const std::uint32_t at : positions) {
      if (is_there(at)) out.positions.push_back(at);
    }
    if (out.positions.empty()) continue;
    const Node& first = index.node(out.positions.front());
    out.is_ambiguous = std::ranges::any_of(out.positions, [&](std::uint32_t at) {
      return index.node(at).name != first.name || index.node(at).cluster != first.cluster;
    });
    if (out.is_ambiguous) out.positions.clear();
    return out;
  }
  return out;
}

}  // namespace pennyweight
