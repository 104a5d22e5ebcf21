#include "ingest/schedulers/kubernetes/api_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

namespace pennyweight::kubernetes {
namespace {

using simdjson::dom::element;

std::optional<std::string_view> find_text(element json, std::string_view pointer) {
  std::string_view text;
  if (json.at_pointer(pointer).get(text) != simdjson::SUCCESS) return {};
  return text;
}

// An entry of metadata.labels or metadata.annotations. Keys hold '/', so a pointer won't do.
std::optional<std::string_view> find_entry(element pod, const char* map, std::string_view key) {
  std::string_view text;
  if (pod["metadata"][map][key].get(text) != simdjson::SUCCESS) return {};
  return text;
}

std::optional<unsigned> port_number(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (number < 1 || number > 65'535) return {};
  return number;
}

struct Port {
  unsigned number = 0;
  std::string container = {};
  std::string name = {};
};

std::vector<Port> declared_ports(element pod) {
  std::vector<Port> ports;
  simdjson::dom::array containers;
  if (pod["spec"]["containers"].get(containers) != simdjson::SUCCESS) return ports;
  for (const element container : containers) {
    simdjson::dom::array of_container;
    if (container["ports"].get(of_container) != simdjson::SUCCESS) continue;
    for (const element one : of_container) {
      std::uint64_t number = 0;
      if (one["containerPort"].get(number) != simdjson::SUCCESS) continue;
      if (number < 1 || number > 65'535) continue;
      const auto protocol = find_text(one, "/protocol");
      if (protocol && *protocol != "TCP") continue;
      ports.push_back({.number = static_cast<unsigned>(number),
                       .container = std::string(find_text(container, "/name").value_or("")),
                       .name = std::string(find_text(one, "/name").value_or(""))});
      if (ports.size() == kTargetsPerPodMax) return ports;
    }
  }
  return ports;
}

// The ports with that name or number; a number need not be declared.
std::vector<Port> select_ports(const std::vector<Port>& declared, std::string_view wanted) {
  if (wanted.empty()) return declared;
  const auto number = port_number(wanted);
  std::vector<Port> found;
  std::ranges::copy_if(declared, std::back_inserter(found), [&](const Port& port) {
    return number ? port.number == *number : port.name == wanted;
  });
  if (found.empty() && number) found.push_back({.number = *number});
  return found;
}

bool selects(const TargetRule& rule, element pod) {
  if (!rule.name_space.empty() && find_text(pod, "/metadata/namespace") != rule.name_space) {
    return false;
  }
  if (rule.match_labels.empty())
    return find_entry(pod, "annotations", "prometheus.io/scrape") == "true";
  return std::ranges::all_of(rule.match_labels, [&](const auto& label) {
    return find_entry(pod, "labels", label.first) == label.second;
  });
}

}  // namespace

std::vector<ScrapeTarget> pod_targets(element pod, const std::vector<TargetRule>& rules) {
  const auto ip = find_text(pod, "/status/podIP");
  if (!ip || ip->empty() || ip->find_first_not_of("0123456789abcdefABCDEF.:") != ip->npos)
    return {};
  if (find_text(pod, "/status/phase") != "Running") return {};
  if (find_text(pod, "/metadata/deletionTimestamp")) return {};
  const std::string host =
      ip->find(':') == std::string_view::npos ? std::string(*ip) : fmt::format("[{}]", *ip);
  const std::vector<Port> declared = declared_ports(pod);
  std::set<ScrapeTarget> targets;
  for (const TargetRule& rule : rules) {
    if (!selects(rule, pod)) continue;
    std::string port = rule.port;
    std::string path = rule.path;
    std::string scheme = rule.scheme;
    if (rule.match_labels.empty()) {
      const auto say = [&](const char* key, std::string& value) {
        if (const auto said = find_entry(pod, "annotations", key)) value = *said;
      };
      say("prometheus.io/port", port);
      say("prometheus.io/path", path);
      say("prometheus.io/scheme", scheme);
    }
    // Annotations choose where on the pod to scrape, but not another host.
    if (scheme != "http" && scheme != "https") continue;
    if (path.find_first_of("# \t\r\n") != std::string::npos) continue;
    if (!path.starts_with('/')) path.insert(0, 1, '/');
    for (const Port& one : select_ports(declared, port)) {
      ScrapeTarget target{.address = fmt::format("{}://{}:{}{}", scheme, host, one.number, path)};
      const auto label = [&](const char* name, std::string_view value) {
        if (!value.empty()) target.labels.emplace(name, value);
      };
      label("kubernetes_namespace", find_text(pod, "/metadata/namespace").value_or(""));
      label("kubernetes_pod_name", find_text(pod, "/metadata/name").value_or(""));
      label("kubernetes_node", find_text(pod, "/spec/nodeName").value_or(""));
      label("kubernetes_container", one.container);
      label("kubernetes_port_name", one.name);
      if (targets.size() < kTargetsPerPodMax) targets.insert(std::move(target));
    }
  }
  return {targets.begin(), targets.end()};
}

}  // namespace pennyweight::kubernetes
