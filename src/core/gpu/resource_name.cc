#include "core/gpu/resource_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/decimal.h"
#include "core/gpu/device_plugin_resources.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/kubernetes_quantity.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/units.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

using Kind = RequestedDevice::Kind;

// Resources that hold no GPU: Intel's grant a view of all GPUs of a node.
constexpr std::string_view kNoDevices[] = {"gpu.intel.com/i915_monitoring",
                                           "gpu.intel.com/xe_monitoring"};

// The resources of one vGPU scheduler.
struct VirtualNames {
  std::string_view number;
  std::string_view memory_mib;
  std::string_view memory_percent;
  std::string_view cores_percent;
};
constexpr VirtualNames kHami = {kNvidiaGpu, "nvidia.com/gpumem", "nvidia.com/gpumem-percentage",
                                "nvidia.com/gpucores"};
constexpr VirtualNames kVolcano = {"volcano.sh/vgpu-number", "volcano.sh/vgpu-memory",
                                   "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores"};

bool is_of(const VirtualNames& names, std::string_view name) {
  return name == names.number || name == names.memory_mib || name == names.memory_percent ||
         name == names.cores_percent;
}

bool is_known(std::string_view name) {
  return name == kNvidiaSharedGpu || name.starts_with(kNvidiaMigPrefix) || is_of(kHami, name) ||
         is_of(kVolcano, name) ||
         std::ranges::find(kOtherVendorGpus, name) != std::end(kOtherVendorGpus);
}

bool is_ignored(std::string_view name) {
  return name.find("gpu") == std::string_view::npos ||
         std::ranges::find(kNoDevices, name) != std::end(kNoDevices);
}

std::unexpected<Error> refuse_resource(std::string_view what, std::string_view reason) {
  return fail(ErrorCode::kBadValue, fmt::format("{}: {}", printable_text(what, 120), reason));
}

RequestedDevice some(Kind kind, std::uint64_t count) {
  RequestedDevice device;
  device.kind = kind;
  device.count = count;
  return device;
}

// 0 where the resource is not requested.
Result<std::uint64_t> read_count(const KubernetesResources& requests, std::string_view name,
                                 std::uint64_t max) {
  const auto at = requests.find(name);
  if (at == requests.end()) return 0;
  const auto count = parse_quantity(at->second, 1);
  if (!count) return refuse_resource(name, count.error().message);
  if (*count > max) return refuse_resource(name, fmt::format("{} is more than {}", *count, max));
  return *count;
}

// The requested vGPU, with `count` 0 where the request states no number of them; nothing where it
// does not mention vGPUs. Zero cores or memory means no limit (HAMi, Volcano).
Result<std::optional<RequestedDevice>> read_virtual(const KubernetesResources& requests,
                                                    const VirtualNames& names) {
  const auto mib = TRY(read_count(requests, names.memory_mib, kGpuMemoryMibMax));
  const auto memory = TRY(read_count(requests, names.memory_percent, 100));
  const auto cores = TRY(read_count(requests, names.cores_percent, 100));
  if (mib > 0 && memory > 0) {
    return refuse_resource(names.memory_percent,
                           fmt::format("{} is asked for as well; state one", names.memory_mib));
  }
  const auto count = TRY(read_count(requests, names.number, limits::kGpusPerHoldingMax));
  // Volcano's number alone requests a vGPU; HAMi's is a plain GPU unless a limit is given too.
  const bool is_volcano = names.number == kVolcano.number;
  if (mib == 0 && memory == 0 && cores == 0 && !(is_volcano && count > 0)) return std::nullopt;
  RequestedDevice device = some(Kind::kVirtualGpu, std::max<std::uint64_t>(count, 1));
  if (mib > 0) device.memory_bytes = mib * kBytesPerMib;
  if (memory > 0) device.memory_percent = static_cast<std::uint32_t>(memory);
  if (cores > 0) device.cores_percent = static_cast<std::uint32_t>(cores);
  return device;
}

RequestedDevice slice(std::string_view profile, std::uint64_t count) {
  RequestedDevice device = some(Kind::kMigSlice, count);
  device.mig_profile = profile;
  return device;
}

// One of `replicas` even shares of a MIG instance.
Result<RequestedDevice> part_of_slice(std::string_view resource, const NodeSharing& node,
                                      std::string_view profile, std::uint32_t replicas,
                                      std::uint64_t count) {
  const GpuModel* model = find_gpu_model(node.gpu_model);
  if (model == nullptr) {
    return refuse_resource(
        resource, fmt::format("a part of a MIG slice {} of an unknown GPU model '{}'", profile,
                              node.gpu_model));
  }
  const auto share = find_mig_share(*model, profile);
  if (!share) return refuse_resource(resource, share.error().message);
  RequestedDevice device = some(Kind::kFraction, count);
  const std::uint64_t units = CardShare::kUnitsPerCard * replicas;
  device.compute = CardShare::nearest_below(share->compute.units(), units);
  device.memory = CardShare::nearest_below(share->memory.units(), units);
  return device;
}

// `count` devices of the node's plain or renamed resource.
Result<RequestedDevice> of_node(std::string_view resource, const NodeSharing& node,
                                std::uint64_t count) {
  const bool is_replica =
      resource == kNvidiaSharedGpu || (node.replicas > 1 && !node.replicas_renamed);
  if (!node.mig_profile.empty()) {
    if (!is_replica) return slice(node.mig_profile, count);
    if (node.replicas <= 1)
      return refuse_resource(resource, "the node's number of replicas is unknown");
    return part_of_slice(resource, node, node.mig_profile, node.replicas, count);
  }
  if (is_replica) return some(Kind::kReplica, count);
  return some(node.is_virtual ? Kind::kVirtualGpu : Kind::kGpu, count);
}

Result<RequestedDevice> of_profile(std::string_view resource, const NodeSharing& node,
                                   std::uint64_t count) {
  std::string_view profile = resource.substr(kNvidiaMigPrefix.size());
  const bool is_renamed = profile.ends_with(kSharedSuffix);
  if (is_renamed) profile.remove_suffix(kSharedSuffix.size());
  if (profile.empty()) return refuse_resource(resource, "no MIG profile is named");
  const auto replicas = node.mig_replicas.find(profile);
  if (replicas == node.mig_replicas.end()) {
    if (is_renamed) return refuse_resource(resource, "the node's number of replicas is unknown");
    return slice(profile, count);
  }
  return part_of_slice(resource, node, profile, replicas->second, count);
}

using Devices = std::vector<RequestedDevice>;

Result<Devices> container_devices(const KubernetesResources& requests, const NodeSharing& node) {
  Devices devices;
  bool is_hami = false;
  for (const VirtualNames& names : {kHami, kVolcano}) {
    const auto device = read_virtual(requests, names);
    if (!device) return std::unexpected(device.error());
    if (!*device) continue;
    devices.push_back(**device);
    is_hami = is_hami || names.number == kNvidiaGpu;
  }
  for (const auto& [name, quantity] : requests) {
    if (is_of(kVolcano, name) || (is_of(kHami, name) && (is_hami || name != kNvidiaGpu))) continue;
    if (!is_known(name) && is_ignored(name)) continue;
    const auto count = TRY(read_count(requests, name, limits::kGpusPerHoldingMax));
    if (count == 0) continue;
    if (!is_known(name)) {
      return refuse_resource(name, "not a known GPU resource; see core/gpu/resource_name.h");
    }
    if (std::ranges::find(kOtherVendorGpus, name) != std::end(kOtherVendorGpus)) {
      devices.push_back(some(Kind::kGpu, count));
      continue;
    }
    const auto device = TRY(name.starts_with(kNvidiaMigPrefix) ? of_profile(name, node, count)
                                                               : of_node(name, node, count));
    devices.push_back(device);
  }
  return devices;
}

// Annotations of Run:ai and KAI (NVIDIA/KAI-Scheduler, pkg/common/constants).
Result<std::optional<RequestedDevice>> annotated_device(const Labels& annotations) {
  const auto fraction = annotations.find("gpu-fraction");
  const auto memory = annotations.find("gpu-memory");
  const auto devices = annotations.find("gpu-fraction-num-devices");
  const auto cores = annotations.find("gpu-sm-percentage");
  if (!fraction && !memory) {
    if (devices)
      return refuse_resource("gpu-fraction-num-devices", "without gpu-fraction or gpu-memory");
    return std::nullopt;
  }
  if (fraction && memory) {
    return refuse_resource("gpu-fraction", "gpu-memory is asked for as well; state one");
  }
  RequestedDevice device = some(fraction ? Kind::kFraction : Kind::kVirtualGpu, 1);
  if (devices) {
    const auto count = parse_count(*devices, limits::kGpusPerHoldingMax);
    if (!count) return refuse_resource("gpu-fraction-num-devices", count.error().message);
    if (*count == 0) return refuse_resource("gpu-fraction-num-devices", "a fraction of no device");
    device.count = *count;
  }
  if (cores) {
    const auto percent = parse_count(*cores, 100);
    if (!percent) return refuse_resource("gpu-sm-percentage", percent.error().message);
    if (*percent == 0) return refuse_resource("gpu-sm-percentage", "from 1 to 100");
    device.cores_percent = static_cast<std::uint32_t>(*percent);
  }
  if (memory) {
    const auto mib = parse_count(*memory, kGpuMemoryMibMax);
    if (!mib) return refuse_resource("gpu-memory", mib.error().message);
    if (*mib == 0) return refuse_resource("gpu-memory", "no memory");
    device.memory_bytes = *mib * kBytesPerMib;
    return device;
  }
  const auto part = parse_decimal(*fraction);
  if (!part) return refuse_resource("gpu-fraction", part.error().message);
  if (part->value <= Decimal() || part->value > Decimal::from_units(1)) {
    return refuse_resource("gpu-fraction",
                           fmt::format("{} is not above 0 and up to 1", to_text(part->value)));
  }
  // Schedulers store the fraction as a double; digits beyond 1/72,072,000 do not matter.
  device.memory = CardShare::nearest_below(static_cast<std::uint64_t>(part->value.ticks()),
                                           std::uint64_t{Decimal::kTicksPerUnit});
  device.compute = device.memory;
  if (device.cores_percent) {
    device.compute = CardShare::nearest_below(*device.cores_percent, 100);
    device.cores_percent.reset();
  }
  return device;
}

// Counts equal devices together.
Devices counted(Devices devices) {
  Devices result;
  for (RequestedDevice& device : devices) {
    const std::uint64_t count = std::exchange(device.count, 0);
    const auto at = std::ranges::find_if(result, [&](RequestedDevice other) {
      other.count = 0;
      return other == device;
    });
    if (at != result.end()) {
      at->count += count;
    } else {
      device.count = count;
      result.push_back(std::move(device));
    }
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace

Result<std::vector<RequestedDevice>> requested_devices(
    std::span<const KubernetesResources> containers, const Labels& annotations,
    const NodeSharing& node) {
  Devices devices;
  for (const KubernetesResources& requests : containers) {
    auto of_container = container_devices(requests, node);
    if (!of_container) return of_container;
    devices.insert(devices.end(), of_container->begin(), of_container->end());
  }
  const auto annotated = TRY(annotated_device(annotations));
  if (annotated) {
    if (!devices.empty()) {
      return refuse_resource("gpu-fraction or gpu-memory",
                             "a GPU resource is requested as well; KAI and "
                             "Run:ai admit no such pod");
    }
    devices.push_back(*annotated);
  }
  return counted(std::move(devices));
}

}  // namespace pennyweight
