#include "ingest/schedulers/kubernetes/pod_holding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "core/gpu/device_id.h"
#include "core/gpu/resource_name.h"
#include "core/limits.h"
#include "core/plain_text.h"

namespace pennyweight::kubernetes {
namespace {

constexpr std::string_view kGroupLabel = "runai-gpu-group";
constexpr std::string_view kGroupPrefix = "runai-gpu-group/";
constexpr std::string_view kReservations[] = {"kai-resource-reservation", "runai-reservation"};
// The annotations in which schedulers of vGPUs name the GPUs that they gave, and the resources that
// they give them for.
constexpr std::pair<std::string_view, std::string_view> kGiven[] = {
    {"hami.io/vgpu-devices-allocated", "nvidia.com/"}, {"volcano.sh/vgpu-ids-new", "volcano.sh/"}};

class HeldDeviceBuilder {
 public:
  explicit HeldDeviceBuilder(const PodRecord& pod) : pod_(pod) {}

  void problem(std::string what) {
    result_.problems.push_back(fmt::format("pod {}/{}: {}", pod_.name_space, pod_.name, what));
  }

  void on_node(const Device& device, std::uint64_t count, std::string_view node) {
    if (count == 0) return;
    const auto devices =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(count, limits::kGpusPerHoldingMax));
    for (HeldDevice& part : result_.parts) {
      auto* on = std::get_if<OnNodes>(&part.placement);
      if (on == nullptr || !is_plain(part) || part.device != device) continue;
      on->parts.front().devices += devices;
      return;
    }
    result_.parts.push_back(
        {.device = device,
         .placement = OnNodes{{{.node = NodeId(std::string(node)), .devices = devices}}},
         .claim = claim_,
         .gpu_group = {}});
  }

  void on_card(const Device& device, const std::string& id) {
    for (HeldDevice& part : result_.parts) {
      auto* on = std::get_if<OnGpus>(&part.placement);
      if (on == nullptr || !is_plain(part) || part.device != device) continue;
      on->gpus.emplace_back(id);
      return;
    }
    result_.parts.push_back(
        {.device = device, .placement = OnGpus{{GpuId(id)}}, .claim = claim_, .gpu_group = {}});
  }

  void in_group(HeldDevice part) { result_.parts.push_back(std::move(part)); }

  // What follows belongs to this claim; equal devices of other claims stay separate.
  void begin_claim(std::string claim) {
    claim_ = std::move(claim);
    first_of_claim_ = result_.parts.size();
  }
  // Holdings with the name of a claim share its devices, so only one kind of device may have it.
  void end_claim() {
    for (std::size_t i = first_of_claim_ + 1; i < result_.parts.size(); ++i) {
      HeldDevice& part = result_.parts[i];
      part.claim = fmt::format("{}/{} {}", claim_, to_text(part.device), to_text(part.placement));
    }
    claim_.clear();
  }

  HeldDevices take() {
    if (result_.parts.empty()) {
      result_.parts.push_back({.placement = OnNodes{{{.node = NodeId(pod_.node), .devices = 0}}},
                               .claim = {},
                               .gpu_group = {}});
    }
    return std::move(result_);
  }

 private:
  bool is_plain(const HeldDevice& part) const {
    return part.claim == claim_ && part.gpu_group.empty();
  }

  const PodRecord& pod_;
  std::string claim_;
  std::size_t first_of_claim_ = 0;
  HeldDevices result_;
};

Device to_device(const RequestedDevice& asked) {
  using Kind = RequestedDevice::Kind;
  switch (asked.kind) {
    case Kind::kGpu:
      return WholeGpu{};
    case Kind::kReplica:
      return Replica{};
    case Kind::kMigSlice:
      return MigSlice{asked.mig_profile};
    case Kind::kVirtualGpu:
      return VirtualGpu{.cores_percent = asked.cores_percent,
                        .memory_bytes = asked.memory_bytes,
                        .memory_percent = asked.memory_percent};
    case Kind::kFraction:
      return CardFraction{.compute = asked.compute, .memory = asked.memory};
  }
  CHECK(false, "every requested device is one of these");
}

bool asks_for(const PodRecord& pod, std::string_view prefix) {
  return std::ranges::any_of(pod.request.extended, [&](const KubernetesResources& container) {
    const auto at = container.lower_bound(prefix);
    return at != container.end() && at->first.starts_with(prefix);
  });
}

// The GPUs that HAMi or Volcano gave. False where neither names any.
bool add_given(const PodRecord& pod, const AllocationContext& around, HeldDeviceBuilder& parts) {
  for (const auto& [annotation, prefix] : kGiven) {
    const auto text = pod.device_notes.find(annotation);
    if (!text || text->empty() || !asks_for(pod, prefix)) continue;
    auto given = parse_hami_devices(*text);
    if (!given) {
      parts.problem(fmt::format("annotation {}: {}", annotation, given.error().message));
      continue;
    }
    // Init containers come first, where they are listed; what they had is used again.
    std::span<const std::vector<HamiDevice>> containers = *given;
    if (pod.init_containers > 0 && containers.size() == pod.containers + pod.init_containers) {
      const auto later = containers.subspan(pod.init_containers);
      if (std::ranges::any_of(later, [](const auto& devices) { return !devices.empty(); })) {
        containers = later;
      }
    }
    bool any = false;
    for (const std::vector<HamiDevice>& devices : containers) {
      for (const HamiDevice& one : devices) {
        any = true;
        VirtualGpu device{.cores_percent = one.cores_percent,
                          .memory_bytes = one.memory_bytes,
                          .memory_percent = std::nullopt};
        if (one.memory_bytes == 0) device.memory_bytes.reset();  // no limit
        if (around.is_known_gpu && around.is_known_gpu(one.uuid)) {
          parts.on_card(device, one.uuid);
        } else {
          parts.on_node(device, 1, pod.node);
        }
      }
    }
    if (any) return true;
  }
  return false;
}

std::vector<std::string> gpu_groups(const PodRecord& pod) {
  std::vector<std::string> groups;
  pod.labels.each([&](std::string_view key, std::string_view value) {
    if (key == kGroupLabel && !value.empty()) groups.emplace_back(value);
    if (key.starts_with(kGroupPrefix) && groups.size() < limits::kGpusPerNodeMax) {
      groups.emplace_back(key.substr(kGroupPrefix.size()));
    }
  });
  std::ranges::sort(groups);
  const auto repeated = std::ranges::unique(groups);
  groups.erase(repeated.begin(), repeated.end());
  return groups;
}

bool is_reservation(const PodRecord& pod) {
  return std::ranges::find(kReservations, pod.name_space) != std::end(kReservations);
}

HeldDevice one_on_node(const PodRecord& pod, const Device& device, std::string group) {
  return {.device = device,
          .placement = OnNodes{{{.node = NodeId(pod.node), .devices = 1}}},
          .claim = {},
          .gpu_group = std::move(group)};
}

void add_reservation(const PodRecord& pod, const AllocationContext& around, std::string group,
                     HeldDeviceBuilder& parts) {
  HeldDevice part = one_on_node(pod, WholeGpu{}, std::move(group));
  part.is_reservation = true;
  const auto uuid = pod.device_notes.find("run.ai/reserve_for_gpu_index");
  if (uuid && uuid->starts_with("GPU-") && around.is_known_gpu &&
      around.is_known_gpu(std::string(*uuid))) {
    part.placement = OnGpus{{GpuId(std::string(*uuid))}};
  }
  parts.in_group(std::move(part));
}

// A fraction for each group, on the GPU of that group.
void add_in_groups(const PodRecord& pod, const RequestedDevice& asked,
                   const std::vector<std::string>& groups, HeldDeviceBuilder& parts) {
  if (groups.size() != asked.count) {
    parts.problem(fmt::format("asks for parts of {} GPUs and is labelled with {} GPU groups",
                              asked.count, groups.size()));
  }
  for (const std::string& group : groups) {
    parts.in_group(one_on_node(pod, to_device(asked), group));
  }
}

void add_requested(const PodRecord& pod, const AllocationContext& around,
                   HeldDeviceBuilder& parts) {
  Labels annotations;
  for (const std::string_view key :
       {"gpu-fraction", "gpu-memory", "gpu-fraction-num-devices", "gpu-sm-percentage"}) {
    const auto value = pod.device_notes.find(key);
    if (!value) continue;
    if (const auto set = annotations.set(key, *value); !set) parts.problem(set.error().message);
  }
  if (pod.request.extended.empty() && annotations.empty()) return;
  const NodeSharing plain;
  const auto devices = requested_devices(pod.request.extended, annotations,
                                         around.sharing == nullptr ? plain : *around.sharing);
  if (!devices) return parts.problem(devices.error().message);
  if (devices->empty()) return;
  if (around.sharing == nullptr) {
    return parts.problem(
        fmt::format("asks for GPUs of node {}, {}", pod.node,
                    around.sharing_problem.empty() ? "which is unknown" : around.sharing_problem));
  }
  const std::vector<std::string> groups = gpu_groups(pod);
  if (is_reservation(pod) && groups.size() == 1) {
    return add_reservation(pod, around, groups.front(), parts);
  }
  for (const RequestedDevice& asked : *devices) {
    const bool is_part = asked.kind == RequestedDevice::Kind::kFraction ||
                         pod.device_notes.find("gpu-memory").has_value();
    if (is_part && !groups.empty()) {
      add_in_groups(pod, asked, groups, parts);
    } else {
      parts.on_node(to_device(asked), asked.count, pod.node);
    }
  }
}

void add_claimed(const PodRecord& pod, const ClaimedDevice& claimed,
                 const AllocationContext& around, HeldDeviceBuilder& parts) {
  const SliceDevice* known = around.slice_device ? around.slice_device(claimed) : nullptr;
  const auto name = parse_dra_device(claimed.device);
  std::string profile = known != nullptr ? known->profile : std::string();
  if (profile.empty() && name) profile = name->mig_profile;
  Device device = WholeGpu{};
  if (!profile.empty()) {
    device = MigSlice{profile};
  } else if (claimed.memory_bytes) {
    device = VirtualGpu{.cores_percent = std::nullopt,
                        .memory_bytes = claimed.memory_bytes,
                        .memory_percent = std::nullopt};
  } else if (known == nullptr && !name && claimed.driver == "gpu.nvidia.com") {
    return parts.problem(name.error().message);
  }
  if (known != nullptr && around.is_known_gpu) {
    for (const std::string& id : {known->uuid, known->parent_uuid}) {
      if (!id.empty() && around.is_known_gpu(id)) return parts.on_card(device, id);
    }
  }
  parts.on_node(device, 1, pod.node);
}

void add_claims(const PodRecord& pod, const AllocationContext& around, HeldDeviceBuilder& parts) {
  for (const std::string& name : pod.claims) {
    const ResourceClaim* claim = around.claim ? around.claim(pod.name_space, name) : nullptr;
    if (claim == nullptr) {
      parts.problem(
          fmt::format("its ResourceClaim {} is not known; allow pennyweight to list "
                      "resourceclaims, so that it can see what the pod holds",
                      name));
      continue;
    }
    parts.begin_claim(fmt::format("{}/{}", pod.name_space, name));
    for (const ClaimedDevice& device : claim->devices) {
      const bool is_gpu = device.driver.find("gpu") != std::string::npos;
      if (is_gpu && !device.is_admin_access) add_claimed(pod, device, around, parts);
    }
    parts.end_claim();
  }
}

}  // namespace

HeldDevices held_devices(const PodRecord& pod, const AllocationContext& around) {
  CHECK(!pod.node.empty(), "a pod that waits holds nothing");
  HeldDeviceBuilder parts(pod);
  if (!pod.problem.empty()) {
    parts.problem(pod.problem);
    return parts.take();
  }
  if (!add_given(pod, around, parts)) add_requested(pod, around, parts);
  add_claims(pod, around, parts);
  return parts.take();
}

std::vector<Holding> make_holdings(const ClusterId& cluster, const PodRecord& pod,
                                   HeldDevices parts, const Interval& held, bool ended,
                                   const Labels& labels) {
  std::vector<Holding> holdings;
  std::set<std::string> attempts;
  for (HeldDevice& part : parts.parts) {
    const bool is_first = holdings.empty();
    Holding& holding =
        holdings.emplace_back(cluster, WorkloadId(fmt::format("{}/{}", pod.name_space, pod.name)),
                              held, std::move(part.placement));
    holding.attempt = pod.uid;
    if (!is_first) {
      const std::string attempt = fmt::format("{}/{}", pod.uid, to_text(part.device));
      holding.attempt = attempt;
      for (int number = 2; !attempts.insert(holding.attempt).second; ++number) {
        holding.attempt = fmt::format("{} {}", attempt, number);
      }
    }
    holding.ended = ended;
    holding.device = std::move(part.device);
    holding.cpu_milli = is_first ? pod.request.cpu_milli : 0;
    holding.memory_bytes = is_first ? pod.request.memory_bytes : 0;
    holding.claim = std::move(part.claim);
    holding.gpu_group = std::move(part.gpu_group);
    holding.is_reservation = part.is_reservation;
    holding.labels = labels;
  }
  return holdings;
}

}  // namespace pennyweight::kubernetes
