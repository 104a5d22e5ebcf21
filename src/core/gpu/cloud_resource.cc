#include "core/gpu/cloud_resource.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/ascii.h"
#include "core/check.h"

namespace pennyweight {
namespace {

using Cloud = CloudResource::Cloud;

constexpr std::string_view kNodePlace = "{node}";

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) out.push_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return out;
}

// i- and 8 or 17 hexadecimal digits (EC2 resource ids).
bool is_instance_id(std::string_view text) {
  if (!text.starts_with("i-") || (text.size() != 10 && text.size() != 19)) return false;
  return std::ranges::all_of(text.substr(2),
                             [](char c) { return ascii::is_digit(c) || (c >= 'a' && c <= 'f'); });
}

std::string_view after_last_slash(std::string_view text) {
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? text : text.substr(slash + 1);
}

// ----- AWS -----

std::optional<CloudResource> aws(std::string_view id) {
  const std::string_view last = after_last_slash(id);
  const bool is_ours = id.starts_with("aws://") || id.starts_with("arn:aws");
  if (!is_ours && !is_instance_id(id)) return std::nullopt;
  CloudResource out{.cloud = Cloud::kAws, .identities = {}, .names = {}};
  const bool is_machine =
      id.starts_with("arn:aws")
          ? id.find(":instance/") != std::string_view::npos && last.starts_with("i-")
          : last.starts_with("i-");
  if (!is_machine) return out;
  out.identities.push_back(fmt::format("aws {}", last));
  out.names.emplace_back(last);
  return out;
}

// ----- GCP -----

void add_gcp(CloudResource& out, std::string_view project, std::string_view zone,
             std::string_view instance) {
  if (ascii::is_all_digits(instance)) {
    out.identities.push_back(fmt::format("gcp-number {}", instance));
    return;
  }
  out.identities.push_back(fmt::format("gcp-name {}/{}/{}", project, zone, instance));
  out.names.emplace_back(instance);
}

std::optional<CloudResource> gcp(std::string_view id, std::string_view name) {
  CloudResource out{.cloud = Cloud::kGcp, .identities = {}, .names = {}};
  constexpr std::string_view kGce = "gce://";
  if (id.starts_with(kGce)) {
    const auto parts = segments(id.substr(kGce.size()));
    if (parts.size() == 3) add_gcp(out, parts[0], parts[1], parts[2]);
    return out;
  }
  const bool is_full =
      id.starts_with("//") && id.find(".googleapis.com/") != std::string_view::npos;
  const std::size_t projects = is_full ? id.find("/projects/") : 0;
  if (!is_full && !id.starts_with("projects/")) return std::nullopt;
  if (projects == std::string_view::npos) return out;
  if (is_full && !id.starts_with("//compute.googleapis.com/")) return out;
  const auto parts = segments(id.substr(projects));
  if (parts.size() != 6 || parts[2] != "zones" || parts[4] != "instances") return out;
  add_gcp(out, parts[1], parts[3], parts[5]);
  // A number can't be matched with a node that is known by its name; the bill's ResourceName can.
  const std::string_view called = after_last_slash(name);
  if (ascii::is_all_digits(parts[5]) && !called.empty() && !ascii::is_all_digits(called)) {
    add_gcp(out, parts[1], parts[3], called);
  }
  return out;
}

// ----- Azure -----

// "set" and 2 of "set_2".
std::optional<std::string_view> number_in_set(std::string_view name, std::string_view set) {
  if (!name.starts_with(set) || name.size() < set.size() + 2 || name[set.size()] != '_') {
    return std::nullopt;
  }
  const std::string_view number = name.substr(set.size() + 1);
  return ascii::is_all_digits(number) ? std::optional(number) : std::nullopt;
}

// A number in base 36, six digits wide: the end of a host name in a scale set.
std::optional<std::string> base36(std::string_view number) {
  constexpr std::uint64_t kEnd = 36ull * 36 * 36 * 36 * 36 * 36;
  std::uint64_t value = 0;
  for (const char c : number) {
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    if (value >= kEnd) return std::nullopt;
  }
  std::string digits(6, '0');
  for (std::size_t i = digits.size(); i-- > 0; value /= 36) {
    digits[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[value % 36];
  }
  return digits;
}

void add_of_set(CloudResource& out, std::string_view scope, std::string_view set,
                std::string_view number) {
  out.identities.push_back(fmt::format("azure-set {}/{}/{}", scope, set, number));
  out.names.push_back(fmt::format("{}_{}", set, number));
  if (const auto digits = base36(number)) out.names.push_back(fmt::format("{}{}", set, *digits));
}

std::optional<CloudResource> azure(std::string_view written, std::string_view name) {
  constexpr std::string_view kScheme = "azure://";
  if (!written.starts_with('/') && !written.starts_with(kScheme)) return std::nullopt;
  std::string id = ascii::lower_case(written);
  if (id.starts_with(kScheme)) id.erase(0, kScheme.size());
  const auto parts = segments(id);
  if (!id.starts_with('/') || parts.empty() || parts[0] != "subscriptions") return std::nullopt;
  CloudResource out{.cloud = Cloud::kAzure, .identities = {}, .names = {}};
  const bool is_compute = parts.size() >= 8 && parts[2] == "resourcegroups" &&
                          parts[4] == "providers" && parts[5] == "microsoft.compute";
  if (!is_compute) return out;
  const std::string scope = fmt::format("{}/{}", parts[1], parts[3]);
  if (parts[6] == "virtualmachines" && parts.size() == 8) {
    out.identities.push_back(fmt::format("azure {}/{}", scope, parts[7]));
    out.names.emplace_back(parts[7]);
  }
  if (parts[6] != "virtualmachinescalesets") return out;
  if (parts.size() == 10 && parts[8] == "virtualmachines") {
    if (ascii::is_all_digits(parts[9])) {
      add_of_set(out, scope, parts[7], parts[9]);
    } else {  // A set of the flexible mode: its machines have names.
      out.identities.push_back(fmt::format("azure {}/{}", scope, parts[9]));
      out.names.emplace_back(parts[9]);
    }
  }
  if (parts.size() == 8) {
    const std::string called = ascii::lower_case(after_last_slash(name));
    if (const auto number = number_in_set(called, parts[7])) {
      add_of_set(out, scope, parts[7], *number);
    } else if (called.size() > parts[7].size() + 1 && called.starts_with(parts[7]) &&
               called[parts[7].size()] == '_') {
      out.identities.push_back(fmt::format("azure {}/{}", scope, called));
      out.names.push_back(called);
    }
  }
  return out;
}

// ----- OCI -----

std::optional<CloudResource> oci(std::string_view id) {
  constexpr std::string_view kScheme = "oci://";
  if (id.starts_with(kScheme)) id.remove_prefix(kScheme.size());
  if (!id.starts_with("ocid1.")) return std::nullopt;
  CloudResource out{.cloud = Cloud::kOci, .identities = {}, .names = {}};
  if (id.starts_with("ocid1.instance.")) {
    out.identities.push_back(fmt::format("oci {}", id));
    out.names.emplace_back(id);
  }
  return out;
}

std::string_view form_of(std::string_view identity) {
  return identity.substr(0, identity.find(' '));
}

// Google writes the project's number in bills and its id in Kubernetes. Where one side has the
// number and the other the id, and zone and name agree, they may be the same machine.
bool may_be_one_project(std::string_view mine, std::string_view other) {
  if (form_of(mine) != "gcp-name") return false;
  const auto cut = [](std::string_view identity) {
    const std::string_view text = identity.substr(form_of(identity).size() + 1);
    const std::size_t slash = text.find('/');
    return std::pair(text.substr(0, slash), text.substr(slash));
  };
  const auto [my_project, my_machine] = cut(mine);
  const auto [other_project, other_machine] = cut(other);
  return ascii::is_all_digits(my_project) != ascii::is_all_digits(other_project) &&
         my_machine == other_machine;
}

}  // namespace

CloudResource parse_cloud_resource(std::string_view id, std::string_view name) {
  if (auto found = aws(id)) return *std::move(found);
  if (auto found = gcp(id, name)) return *std::move(found);
  if (auto found = azure(id, name)) return *std::move(found);
  if (auto found = oci(id)) return *std::move(found);
  CloudResource out{.cloud = Cloud::kNoCloud, .identities = {}, .names = {}};
  const std::string_view last = after_last_slash(id);
  if (!last.empty() && last != id) out.names.emplace_back(last);
  return out;
}

bool are_different(const CloudResource& a, const CloudResource& b) {
  if (a.cloud == Cloud::kNoCloud || a.cloud != b.cloud) return false;
  bool is_comparable = false;
  for (const std::string& mine : a.identities) {
    for (const std::string& other : b.identities) {
      if (mine == other) return false;
      if (form_of(mine) != form_of(other)) continue;
      is_comparable |= !may_be_one_project(mine, other);
    }
  }
  return is_comparable;
}

std::optional<std::string_view> short_host_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) return std::nullopt;
  const auto fits = [&](char c) {
    return ascii::is_letter(c) || ascii::is_digit(c) || c == '-' || c == '.';
  };
  const std::string_view label = name.substr(0, dot);
  if (!std::ranges::all_of(name, fits) || !std::ranges::any_of(label, ascii::is_letter)) {
    return std::nullopt;
  }
  if (label == "ocid1") return std::nullopt;
  return label;
}

Result<void> check_join_rule(const JoinRule& rule) {
  const std::size_t at = rule.pattern.find(kNodePlace);
  if (at == std::string::npos) {
    return fail(
        ErrorCode::kConfig,
        fmt::format("pattern '{}' has no {{node}}: write it in the place of the node's name",
                    rule.pattern));
  }
  if (rule.pattern.find(kNodePlace, at + kNodePlace.size()) != std::string::npos) {
    return fail(
        ErrorCode::kConfig,
        fmt::format("pattern '{}' has {{node}} twice; a charge has one node", rule.pattern));
  }
  if (rule.pattern == kNodePlace && rule.label.empty()) {
    return fail(ErrorCode::kConfig,
                "a rule needs a pattern with more than {node}, or the label whose value it is");
  }
  return {};
}

std::optional<std::string_view> node_of_pattern(std::string_view pattern, std::string_view text) {
  const std::size_t at = pattern.find(kNodePlace);
  CHECK(at != std::string_view::npos, "check_join_rule comes before its use");
  const std::string_view before = pattern.substr(0, at);
  const std::string_view after = pattern.substr(at + kNodePlace.size());
  if (text.size() <= before.size() + after.size()) return std::nullopt;
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  return text.substr(before.size(), text.size() - before.size() - after.size());
}

}  // namespace pennyweight
