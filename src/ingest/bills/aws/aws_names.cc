#include "ingest/bills/aws/aws_names.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/ascii.h"

namespace pennyweight::aws {
namespace {

// Usage types that are hours of an instance: the part before the colon, without the region.
constexpr std::string_view kInstanceUsage[] = {
    "BoxUsage",  "SpotUsage", "DedicatedUsage", "HeavyUsage",   "HostBoxUsage",    "HostUsage",
    "UnusedBox", "UnusedDed", "Reservation",    "DedicatedRes", "ReservedBoxUsage"};

// The part of an id before its first '-', and the resource type it stands for.
constexpr std::pair<std::string_view, std::string_view> kIdPrefixes[] = {
    {"cr", "capacity-reservation"},
    {"eni", "network-interface"},
    {"fs", "file-system"},
    {"i", "instance"},
    {"nat", "natgateway"},
    {"snap", "snapshot"},
    {"vol", "volume"},
    {"vpc", "vpc"},
};

constexpr std::pair<std::string_view, std::string_view> kUnits[] = {
    {"Hrs", "Hours"},           {"hrs", "Hours"},           {"Hour", "Hours"},
    {"hours", "Hours"},         {"GB-Mo", "GB-Months"},     {"GB-month", "GB-Months"},
    {"GB-Month", "GB-Months"},  {"IOPS-Mo", "IOPS-Months"}, {"LCU-Hrs", "LCU-Hours"},
    {"vCPU-Hrs", "vCPU-Hours"},
};

// "p4d.24xlarge", "u-6tb1.112xlarge", "ml.p5.48xlarge" is none of EC2 and is named all the same.
bool is_instance_type(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return false;
  if (!ascii::is_lower(text.front())) return false;
  return std::ranges::all_of(text, [](char c) {
    return ascii::is_lower(c) || ascii::is_digit(c) || c == '.' || c == '-';
  });
}

}  // namespace

std::string_view instance_type_from_usage(std::string_view usage_type) {
  const std::size_t colon = usage_type.find(':');
  if (colon == std::string_view::npos) return {};
  std::string_view kind = usage_type.substr(0, colon);
  if (const std::size_t dash = kind.rfind('-'); dash != std::string_view::npos) {
    kind.remove_prefix(dash + 1);
  }
  const std::string_view type = usage_type.substr(colon + 1);
  if (!is_instance_type(type)) return {};
  for (const std::string_view known : kInstanceUsage) {
    if (kind == known) return type;
  }
  return {};
}

std::string_view instance_type_from_description(std::string_view description) {
  const std::string_view word = description.substr(0, description.find(' '));
  return is_instance_type(word) ? word : std::string_view{};
}

std::string_view region_from_zone(std::string_view zone) {
  std::size_t at = 0;
  while (at < zone.size()) {
    const std::size_t dash = std::min(zone.find('-', at), zone.size());
    if (at > 0 && ascii::is_digit(zone[at])) {
      while (at < dash && ascii::is_digit(zone[at])) ++at;
      return zone.substr(0, at);
    }
    at = dash + 1;
  }
  return {};
}

std::string_view resource_type_from_id(std::string_view resource_id) {
  if (!resource_id.starts_with("arn:")) {
    const std::string_view prefix = resource_id.substr(0, resource_id.find('-'));
    for (const auto& [known, type] : kIdPrefixes) {
      if (prefix == known && prefix.size() < resource_id.size()) return type;
    }
    return {};
  }
  // arn:partition:service:region:account:type/id or …:type:id
  std::size_t at = 0;
  for (int colons = 0; colons < 5; ++colons) {
    at = resource_id.find(':', at);
    if (at == std::string_view::npos) return {};
    ++at;
  }
  const std::string_view rest = resource_id.substr(at);
  const std::size_t end = rest.find_first_of("/:");
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

std::string_view focus_unit(std::string_view unit) {
  for (const auto& [aws, focus] : kUnits) {
    if (aws == unit) return focus;
  }
  return unit;
}

}  // namespace pennyweight::aws
