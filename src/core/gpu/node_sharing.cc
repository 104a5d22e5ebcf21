#include "core/gpu/node_sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/gpu/device_plugin_resources.h"
#include "core/gpu/kubernetes_quantity.h"
#include "core/gpu/mig_profile.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

// A replica is at least a thousandth of a GPU.
constexpr std::uint64_t kReplicasMax = 1000;
constexpr std::uint64_t kDevicesMax = limits::kGpusPerNodeMax * kReplicasMax;

std::string_view label_text(const Labels& labels, std::string_view key) {
  return labels.find(key).value_or(std::string_view());
}

// Reads a label that holds a number; nothing where there is no such label.
Result<std::optional<std::uint64_t>> read_label(const Labels& labels, std::string_view key,
                                                std::uint64_t max) {
  const auto text = labels.find(key);
  if (!text) return std::nullopt;
  const auto count = parse_count(*text, max);
  if (!count) return std::unexpected(count.error().during(fmt::format("label {}", key)));
  return *count;
}

Result<std::uint64_t> read_capacity(const KubernetesResources& capacity, std::string_view name) {
  const auto at = capacity.find(name);
  if (at == capacity.end()) return 0;
  auto count = parse_quantity(at->second, 1);
  if (!count) return std::unexpected(count.error().during(fmt::format("capacity {}", name)));
  if (*count > kDevicesMax) {
    return fail(ErrorCode::kLimit, fmt::format("capacity {}: {} devices; a node has at most {}",
                                               name, *count, kDevicesMax));
  }
  return *count;
}

// What the labels of GPU feature discovery or GKE say about sharing, not yet interpreted.
struct SharingLabels {
  std::string product;
  std::string mig_profile;  // where a GPU is a MIG instance
  bool is_shared = false;   // says so, in one way or another
  bool is_mps = false;
  std::optional<std::uint64_t> replicas;
  std::optional<std::uint64_t> devices;  // cards, or slices where a GPU is a slice
  std::optional<std::uint64_t> cards;    // GKE states them even then
};

Result<void> read_strategy(std::string_view key, std::string_view text, SharingLabels& stated) {
  if (text.empty() || text == "none") return {};
  if (text != "time-slicing" && text != "time-sharing" && text != "mps") {
    return fail(ErrorCode::kUnsupported,
                fmt::format("label {}: '{}' is not a known sharing strategy; known are none, "
                            "time-slicing, time-sharing and mps",
                            key, printable_text(text, 60)));
  }
  stated.is_shared = true;
  stated.is_mps = text == "mps";
  return {};
}

Result<SharingLabels> read_discovery_labels(const Labels& labels) {
  SharingLabels stated;
  std::string_view product = label_text(labels, "nvidia.com/gpu.product");
  if (product.ends_with("-SHARED")) {
    stated.is_shared = true;
    product.remove_suffix(std::string_view("-SHARED").size());
  }
  if (const std::size_t mig = product.find("-MIG-"); mig != std::string_view::npos) {
    stated.mig_profile = product.substr(mig + std::string_view("-MIG-").size());
    product = product.substr(0, mig);
    if (stated.mig_profile == "INVALID") {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("label nvidia.com/gpu.product: the MIG layout of this {} is INVALID "
                              "under the strategy single; cut its cards alike, or use mixed",
                              product));
    }
  }
  stated.product = product;
  constexpr std::string_view kStrategy = "nvidia.com/gpu.sharing-strategy";
  TRY(read_strategy(kStrategy, label_text(labels, kStrategy), stated));
  const auto replicas = TRY(read_label(labels, "nvidia.com/gpu.replicas", kReplicasMax));
  const auto devices = TRY(read_label(labels, "nvidia.com/gpu.count", kDevicesMax));
  // GPU feature discovery writes 0 where sharing is off.
  if (replicas.value_or(0) > 0) stated.replicas = replicas;
  stated.devices = devices;
  return stated;
}

Result<SharingLabels> read_gke_labels(const Labels& labels) {
  SharingLabels stated;
  stated.product = label_text(labels, "cloud.google.com/gke-accelerator");
  stated.mig_profile = label_text(labels, "cloud.google.com/gke-gpu-partition-size");
  constexpr std::string_view kStrategy = "cloud.google.com/gke-gpu-sharing-strategy";
  TRY(read_strategy(kStrategy, label_text(labels, kStrategy), stated));
  const auto replicas =
      TRY(read_label(labels, "cloud.google.com/gke-max-shared-clients-per-gpu", kReplicasMax));
  stated.replicas = replicas;
  const auto cards =
      TRY(read_label(labels, "cloud.google.com/gke-accelerator-count", limits::kGpusPerNodeMax));
  stated.cards = cards;
  if (stated.mig_profile.empty()) stated.devices = cards;
  return stated;
}

Result<SharingLabels> read_labels(const Labels& labels) {
  const bool is_gke = labels.find("cloud.google.com/gke-accelerator").has_value() &&
                      !labels.find("nvidia.com/gpu.product").has_value();
  return is_gke ? read_gke_labels(labels) : read_discovery_labels(labels);
}

// How many replicas each device has; 1 where it is not shared.
Result<std::uint64_t> replicas_of(const SharingLabels& stated, bool is_renamed,
                                  std::uint64_t shown) {
  if (stated.replicas.value_or(1) > 1) return *stated.replicas;
  if (!stated.is_shared && !is_renamed) return 1;
  if (stated.devices && *stated.devices > 0 && shown % *stated.devices == 0) {
    return std::max<std::uint64_t>(shown / *stated.devices, 1);
  }
  return fail(ErrorCode::kNotFound,
              "the GPUs are shared by replicas, and no label says by how many; run GPU feature "
              "discovery, or state gpu_replicas in an inventory");
}

// The number of GPUs behind MIG instances, each GPU holding as many as fit.
Result<std::optional<std::uint64_t>> cards_under(std::uint64_t slices,
                                                 const SharingLabels& stated) {
  if (stated.cards) return stated.cards;
  const GpuModel* model = find_gpu_model(stated.product);
  if (model == nullptr) return std::nullopt;
  const auto use = TRY(find_mig_profile(*model, stated.mig_profile));
  const std::uint64_t per_card = std::uint64_t{use.profile->max_instances} *
                                 (use.profile->compute_slices / use.compute_slices);
  if (slices % per_card != 0) return std::nullopt;
  return slices / per_card;
}

bool has_virtual_gpus(const KubernetesResources& capacity, const Labels& labels) {
  return labels.find("hami.io/node-nvidia-register").has_value() ||
         capacity.contains("volcano.sh/vgpu-number");
}

// Reads the replicas of the instances of each profile, and whether there are any instances.
Result<bool> read_mixed(const KubernetesResources& capacity, const Labels& labels,
                        NodeSharing& sharing) {
  bool any = false;
  for (auto at = capacity.lower_bound(kNvidiaMigPrefix);
       at != capacity.end() && at->first.starts_with(kNvidiaMigPrefix); ++at) {
    const auto count = TRY(read_capacity(capacity, at->first));
    if (count == 0) continue;
    any = true;
    std::string_view name = at->first;
    if (name.ends_with(kSharedSuffix)) name.remove_suffix(kSharedSuffix.size());
    const auto replicas = TRY(read_label(labels, fmt::format("{}.replicas", name), kReplicasMax));
    if (replicas.value_or(1) > 1) {
      sharing.mig_replicas[std::string(name.substr(kNvidiaMigPrefix.size()))] =
          static_cast<std::uint32_t>(*replicas);
    }
  }
  return any;
}

struct OtherVendor {
  std::string_view resource;
  std::uint64_t count = 0;
};

Result<OtherVendor> other_vendor(const KubernetesResources& capacity) {
  OtherVendor found;
  for (const std::string_view name : kOtherVendorGpus) {
    const auto count = TRY(read_capacity(capacity, name));
    if (count == 0) continue;
    if (found.count > 0) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("GPUs of two kinds, {} and {}", found.resource, name));
    }
    found = {.resource = name, .count = count};
  }
  return found;
}

}  // namespace

Result<NodeSharing> node_sharing(const KubernetesResources& capacity, const Labels& labels) {
  const auto stated = read_labels(labels);
  if (!stated) return std::unexpected(stated.error());
  const auto plain = TRY(read_capacity(capacity, kNvidiaGpu));
  const auto shared = TRY(read_capacity(capacity, kNvidiaSharedGpu));
  const auto other = TRY(other_vendor(capacity));

  NodeSharing sharing;
  sharing.gpu_model = stated->product;
  const auto has_instances = TRY(read_mixed(capacity, labels, sharing));
  if (plain > 0 && shared > 0) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("capacity of both {} and {}; a node shares all of its GPUs or none",
                            kNvidiaGpu, kNvidiaSharedGpu));
  }
  const std::uint64_t shown = plain + shared;
  if (other.count > 0) {
    if (shown > 0 || has_instances) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("GPUs of two kinds, {} and {}", kNvidiaGpu, other.resource));
    }
    sharing.physical_gpus = other.count;
    if (other.resource.starts_with("amd")) {
      sharing.gpu_model = label_text(labels, "amd.com/gpu.product-name");
    }
    return sharing;
  }

  const auto replicas = replicas_of(*stated, shared > 0, shown);
  if (!replicas) return std::unexpected(replicas.error());
  const auto contradiction = [&] {
    return fail(ErrorCode::kConflict,
                fmt::format("capacity {} of {} is not {} x {} replicas, as the labels say",
                            shared > 0 ? kNvidiaSharedGpu : kNvidiaGpu, shown,
                            stated->devices.value_or(0), *replicas));
  };
  if (*replicas > 1) {
    sharing.replicas = static_cast<std::uint32_t>(*replicas);
    sharing.replicas_renamed = shared > 0;
    sharing.is_mps = stated->is_mps;
    if (shown % *replicas != 0) return contradiction();
    if (stated->devices && shown > 0 && *stated->devices * *replicas != shown)
      return contradiction();
  } else if (has_virtual_gpus(capacity, labels)) {
    sharing.is_virtual = true;
  } else if (stated->devices && shown > *stated->devices) {
    // More than there are, and no replicas: HAMi counts a GPU as many times as it may be split.
    if (*stated->devices == 0 || shown % *stated->devices != 0) return contradiction();
    sharing.is_virtual = true;
  }

  const std::uint64_t devices = stated->devices.value_or(shown / *replicas);
  if (!stated->mig_profile.empty()) {
    sharing.mig_profile = stated->mig_profile;
    const auto cards = TRY(cards_under(devices, *stated));
    sharing.physical_gpus = cards;
  } else if (stated->devices || !(has_instances || sharing.is_virtual)) {
    sharing.physical_gpus = devices;
  }
  return sharing;
}

}  // namespace pennyweight
