#include "ingest/manifests/compose_services.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/ascii.h"
#include "core/decimal.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/units.h"
#include "core/whole_count.h"
#include "ingest/manifests/pod_template.h"

namespace pennyweight::manifests {
namespace {

constexpr std::uint64_t kComposeCpusMax = 1'000'000;
constexpr std::uint64_t kComposeBytesMax = std::uint64_t{1} << 50U;

bool names_gpus(const DocumentNode& device) {
  return std::ranges::any_of(device["capabilities"].items, [](const DocumentNode& capability) {
    if (capability.scalar == "gpu") return true;
    return std::ranges::any_of(capability.items,
                               [](const DocumentNode& one) { return one.scalar == "gpu"; });
  });
}

// Adds the devices of one entry of `devices` or `gpus`.
Result<void> add_compose_device(const DocumentNode& device, ReplicaGroup& group) {
  RequestedDevice gpu;
  gpu.count = 1;
  if (device["device_ids"].kind == DocumentNode::Kind::kSequence) {
    gpu.count = device["device_ids"].items.size();
  } else if (device["count"].scalar == "all" || device["count"].scalar == "-1" ||
             !device.has("count")) {
    // Without a count a device is all that the host has (compose-spec, deploy.md).
    group.takes_whole_machines = true;
  } else {
    const auto count = TRY(read_whole(device, "count", 1, limits::kGpusPerNodeMax));
    gpu.count = count;
  }
  if (gpu.count > 0) group.gpus.push_back(std::move(gpu));
  return {};
}

Result<std::uint64_t> compose_cpu_milli(const DocumentNode& node) {
  if (!node) return 0;
  const auto cpus = parse_decimal(node.scalar);
  if (!cpus) return std::unexpected(cpus.error().during(fmt::format("line {}: cpus", node.line)));
  const auto milli = TRY(nearest_count(cpus->value, 1000));
  if (milli > kComposeCpusMax * 1000) {
    return fail(ErrorCode::kLimit, fmt::format("line {}: more CPUs than a host has", node.line));
  }
  return milli;
}

// "512m", "16gb", "1g", "1024": b, k, m, g or t, of 1024 each.
Result<std::uint64_t> compose_bytes(const DocumentNode& node) {
  if (!node) return 0;
  std::string text = ascii::lower_case(node.scalar);
  std::uint64_t unit = 1;
  if (text.size() > 1 && text.ends_with('b')) text.pop_back();
  if (text.ends_with("i")) text.pop_back();
  const std::string_view letters = "kmgt";
  if (!text.empty()) {
    const std::size_t at = letters.find(text.back());
    if (at != std::string_view::npos) {
      unit = std::uint64_t{1} << (10U * (at + 1));
      text.pop_back();
    }
  }
  const auto number = parse_decimal(text);
  const auto bytes = number ? nearest_count(number->value, unit)
                            : Result<std::uint64_t>(std::unexpected(number.error()));
  if (bytes && *bytes <= kComposeBytesMax) return *bytes;
  return fail(ErrorCode::kBadValue, fmt::format("line {}: '{}' is no memory of a host, such as 16g",
                                                node.line, printable_text(node.scalar, 60)));
}

Result<ReplicaGroup> read_service(const DocumentNode& service) {
  ReplicaGroup group;
  group.line = service.line;
  const DocumentNode& deploy = service["deploy"];
  const auto scale = TRY(read_whole(service, "scale", 1, kReplicasMax));
  const auto replicas = TRY(read_whole(deploy, "replicas", scale, kReplicasMax));
  group.replicas = replicas;
  for (const DocumentNode& device : deploy.at("resources.reservations.devices").items) {
    if (!names_gpus(device)) continue;
    TRY(add_compose_device(device, group));
  }
  const DocumentNode& gpus = service["gpus"];
  if (gpus.scalar == "all") {
    group.takes_whole_machines = true;
    group.gpus.push_back(whole_gpus(1));
  }
  for (const DocumentNode& device : gpus.items) TRY(add_compose_device(device, group));
  if (group.gpus.empty() && service["runtime"].scalar == "nvidia") {
    group.takes_whole_machines = true;
    group.gpus.push_back(whole_gpus(1));
  }
  const DocumentNode& reserved = deploy.at("resources.reservations");
  const DocumentNode& capped = deploy.at("resources.limits");
  const DocumentNode& cpus = reserved.has("cpus") ? reserved["cpus"] : capped["cpus"];
  const DocumentNode& memory = reserved.has("memory") ? reserved["memory"] : capped["memory"];
  const auto cpu_milli = TRY(compose_cpu_milli(cpus ? cpus : service["cpus"]));
  const auto bytes = TRY(compose_bytes(memory ? memory : service["mem_limit"]));
  group.cpu_milli = cpu_milli;
  group.memory_bytes = bytes;
  return group;
}

}  // namespace

bool is_compose_file(const DocumentNode& document) {
  return document["services"].is_mapping() && !document.has("apiVersion");
}

ManifestReading read_compose_services(const DocumentNode& document, const std::string& file) {
  ManifestReading reading;
  for (const auto& [name, service] : document["services"].fields) {
    auto group = read_service(service);
    if (!group) {
      reading.unpriced.push_back(
          {file, service.line, "Compose service", name, group.error().message});
      continue;
    }
    if (group->gpus.empty() && group->cpu_milli == 0 && group->memory_bytes == 0) {
      ++reading.without_cost;  // it asks for nothing, as most services of a Compose file do
      continue;
    }
    WorkloadRequest workload;
    workload.file = file;
    workload.line = service.line;
    workload.kind = "Compose service";
    workload.name = name;
    workload.labels = read_texts(service["labels"]);
    workload.groups.push_back(std::move(*group));
    reading.workloads.push_back(std::move(workload));
  }
  return reading;
}

}  // namespace pennyweight::manifests
