#include "ingest/schedulers/kubernetes/pod_record.h"

#include <algorithm>
#include <string_view>

namespace pennyweight::kubernetes {
namespace {

constexpr std::size_t kImagesBytesMax = 1024;

bool is_device_note(std::string_view key) {
  return key == "hami.io/vgpu-devices-allocated" || key == "volcano.sh/vgpu-ids-new" ||
         key == "run.ai/reserve_for_gpu_index" || key == "gpu-fraction" || key == "gpu-memory" ||
         key == "gpu-fraction-num-devices" || key == "gpu-sm-percentage";
}

std::string image_list(const Pod& pod) {
  std::vector<std::string_view> images;
  for (const Container& container : pod.containers) {
    if (!container.image.empty()) images.push_back(container.image);
  }
  std::ranges::sort(images);
  const auto repeated = std::ranges::unique(images);
  images.erase(repeated.begin(), repeated.end());
  std::string text;
  for (const std::string_view image : images) {
    if (text.size() + image.size() + 1 > kImagesBytesMax) break;
    if (!text.empty()) text += ',';
    text += image;
  }
  return text;
}

// A pod holds what it requests from the moment the scheduler gave it a node.
std::optional<Instant> pod_begin(const Pod& pod) {
  if (pod.node.empty()) return std::nullopt;
  if (pod.scheduled) return pod.scheduled;
  if (pod.started) return pod.started;
  return pod.meta.created;
}

}  // namespace

PodRecord make_record(const Pod& pod, const LabelOptions& options) {
  PodRecord record;
  record.name_space = pod.meta.name_space;
  record.name = pod.meta.name;
  record.uid = pod.meta.uid;
  record.node = pod.node;
  record.service_account = pod.service_account;
  record.priority_class = pod.priority_class;
  record.images = image_list(pod);
  record.labels = PackedTexts(pod.meta.labels);
  Texts kept, notes;
  for (const auto& [key, value] : pod.meta.annotations) {
    if (is_device_note(key)) notes.emplace(key, value);
    if (keeps_annotation(options, key, value.size())) kept.emplace(key, value);
  }
  record.annotations = PackedTexts(kept);
  record.device_notes = PackedTexts(notes);
  record.owners = pod.meta.owners;
  for (const PodClaim& claim : pod.claims) {
    if (!claim.claim.empty()) record.claims.push_back(claim.claim);
  }
  if (auto request = pod_request(pod)) {
    record.request = *std::move(request);
  } else {
    record.problem = request.error().message;
  }
  record.containers = pod.containers.size();
  record.init_containers = pod.init_containers.size();
  record.begin = pod_begin(pod);
  record.deletion = pod.meta.deletion;
  const bool is_over = pod.phase == "Succeeded" || pod.phase == "Failed";
  // Its containers are gone; only a finalizer keeps the object.
  const bool is_emptied = pod.meta.deletion && pod.terminated;
  record.has_ended = is_over || is_emptied;
  if (is_over) record.final_phase = pod.phase;
  if (record.has_ended) record.end = pod.terminated ? pod.terminated : pod.changed;
  return record;
}

}  // namespace pennyweight::kubernetes
