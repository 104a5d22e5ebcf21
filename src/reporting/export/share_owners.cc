#include "reporting/export/share_owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/json_text.h"

namespace pennyweight {
namespace {

// Dimensions are tags that the data generator defines, so their keys have its prefix.
std::string tags_json(const Labels& dimensions, const std::vector<std::string>& only) {
  std::string json;
  for (const auto& [key, value] : dimensions.entries()) {
    if (!only.empty() && std::ranges::find(only, key) == only.end()) continue;
    json += json.empty() ? '{' : ',';
    append_json_string(json, "pennyweight/" + key);
    json += ':';
    if (value.empty()) {
      json += "true";
    } else {
      append_json_string(json, value);
    }
  }
  return json.empty() ? json : json + "}";
}

std::string escape_id(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == ',' || c == '=') {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

ShareOwners::ShareOwners(std::vector<WorkloadDimensions> workloads, std::vector<std::string> by)
    : by_(std::move(by)) {
  for (WorkloadDimensions& one : workloads) {
    dimensions_.emplace(one.workload.text(), std::move(one.dimensions));
  }
}

ShareOwner ShareOwners::operator()(const WorkloadId& workload) const {
  static const Labels kNone;
  const auto at = dimensions_.find(workload.text());
  const Labels& dimensions = at == dimensions_.end() ? kNone : at->second;
  if (by_.empty()) {
    return {.id = workload.text(), .name = workload.text(), .tags = tags_json(dimensions, {})};
  }
  ShareOwner owner{.id = {}, .name = {}, .tags = tags_json(dimensions, by_)};
  for (const std::string& dimension : by_) {
    const auto value = dimensions.find(dimension);
    owner.id += (owner.id.empty() ? "" : ",") + dimension + "=" + escape_id(value.value_or(""));
    owner.name += owner.name.empty() ? "" : " / ";
    owner.name += value ? std::string(*value) : "(no " + dimension + ")";
  }
  return owner;
}

}  // namespace pennyweight
