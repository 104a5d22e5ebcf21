#include "ingest/manifests/pod_isolation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace pennyweight::manifests {
namespace {

constexpr std::string_view kWithoutStorage[] = {"configMap", "downwardAPI", "emptyDir",
                                                "image",     "projected",   "secret"};

std::optional<PodVolume> read_volume(const DocumentNode& volume) {
  PodVolume read{.name = volume["name"].scalar};
  const DocumentNode& claim = volume["persistentVolumeClaim"];
  const DocumentNode& own = volume["ephemeral"];
  if (claim) {
    read.claim = claim["claimName"].scalar;
    return read;
  }
  if (own) {
    read.storage_class = own.at("volumeClaimTemplate.spec.storageClassName").scalar;
    return read;
  }
  for (const DocumentNode::Field& field : volume.fields) {
    if (field.key == "name") continue;
    if (std::ranges::find(kWithoutStorage, field.key) == std::end(kWithoutStorage)) {
      read.source = field.key;
      return read;
    }
  }
  return std::nullopt;  // also one of no source at all, which is an emptyDir
}

}  // namespace

PodIsolation read_pod_isolation(const DocumentNode& pod_spec) {
  PodIsolation isolation;
  isolation.runtime_class = pod_spec["runtimeClassName"].scalar;
  const DocumentNode& host = pod_spec["hostNetwork"];
  isolation.is_on_host_network = host && host.scalar != "false";
  for (const DocumentNode& volume : pod_spec["volumes"].items) {
    if (auto read = read_volume(volume)) isolation.volumes.push_back(*std::move(read));
  }
  return isolation;
}

std::vector<PodVolume> read_claim_templates(const DocumentNode& list) {
  std::vector<PodVolume> volumes;
  for (const DocumentNode& claim : list.items) {
    volumes.push_back({.name = claim.at("metadata.name").scalar,
                       .storage_class = claim.at("spec.storageClassName").scalar});
  }
  return volumes;
}

}  // namespace pennyweight::manifests
