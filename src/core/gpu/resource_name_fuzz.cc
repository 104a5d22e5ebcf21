// Any bytes as a cluster's description of its GPUs: an error message, or valid devices.
//
// A line "C name quantity" adds to the node's capacity, "L key value" is a label of the node, "R
// name quantity" a request, and "A key value" an annotation of the pod. Any text is also tried as a
// device id, as a DRA device, as HAMi's annotation and as a quantity.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/gpu/device_id.h"
#include "core/gpu/kubernetes_quantity.h"
#include "core/gpu/resource_name.h"
#include "core/plain_text.h"

namespace {

using namespace pennyweight;

void check_error(const Error& error) {
  CHECK(!error.message.empty() && is_plain_text(error.message), "an error is words");
}

void check_texts(std::string_view text) {
  if (const auto id = parse_device_id(text); !id) {
    check_error(id.error());
  } else {
    CHECK(is_plain_text(id->device) && text.starts_with(id->device), "a device is named");
  }
  if (const auto device = parse_dra_device(text); !device) {
    check_error(device.error());
  } else {
    CHECK(device->mig_profile.empty() == !device->placement, "a MIG instance stands somewhere");
  }
  if (const auto count = parse_quantity(text, 1000); !count) check_error(count.error());
  const auto containers = parse_hami_devices(text);
  if (!containers) return check_error(containers.error());
  for (const auto& devices : *containers) {
    for (const HamiDevice& device : devices) {
      CHECK(is_plain_text(device.uuid) && !device.uuid.empty(), "a card is named");
      CHECK(is_plain_text(device.type), "what is kept is UTF-8");
      CHECK(device.cores_percent.value_or(1) >= 1 && device.cores_percent.value_or(1) <= 100,
            "cores are percent");
    }
  }
}

std::string_view take_until(std::string_view& rest, char mark) {
  const std::size_t end = rest.find(mark);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

struct Cluster {
  KubernetesResources capacity;
  KubernetesResources requests;
  Labels labels;
  Labels annotations;
};

// The content of the lines; a label that Labels refuses is left out, as a reader would refuse its
// pod.
Cluster read_lines(std::string_view text) {
  Cluster cluster;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view kind = take_until(line, ' ');
    const std::string_view key = take_until(line, ' ');
    if (!is_plain_text(key) || !is_plain_text(line)) continue;
    if (kind == "C") cluster.capacity.emplace(key, line);
    if (kind == "R") cluster.requests.emplace(key, line);
    if (kind == "L" && !cluster.labels.set(key, line)) continue;
    if (kind == "A" && !cluster.annotations.set(key, line)) continue;
  }
  return cluster;
}

void check_device(const RequestedDevice& device) {
  CHECK(device.count > 0, "an answer counts devices");
  CHECK(device.compute <= CardShare::whole() && device.memory <= CardShare::whole(),
        "a fraction is of one card");
  CHECK((device.kind == RequestedDevice::Kind::kMigSlice) == !device.mig_profile.empty(),
        "a slice has a profile, and nothing else has");
  CHECK(device.cores_percent.value_or(1) >= 1 && device.cores_percent.value_or(1) <= 100,
        "cores are percent");
  CHECK(device.memory_percent.value_or(1) >= 1 && device.memory_percent.value_or(1) <= 100,
        "memory is percent");
  CHECK(!(device.memory_bytes && device.memory_percent), "memory is stated once");
}

void check_lines(std::string_view text) {
  const Cluster cluster = read_lines(text);
  const auto node = node_sharing(cluster.capacity, cluster.labels);
  if (!node) check_error(node.error());
  const NodeSharing sharing = node.value_or(NodeSharing{});
  CHECK(sharing.replicas != 1, "one replica is none");
  const std::vector<KubernetesResources> containers(2, cluster.requests);
  const auto one = requested_devices(std::span(containers).first(1), cluster.annotations, sharing);
  if (!one) return check_error(one.error());
  for (const RequestedDevice& device : *one) check_device(device);
  // Two identical containers request twice as much, except for what annotations request.
  const auto two = requested_devices(containers, cluster.annotations, sharing);
  CHECK(two.has_value() && two->size() == one->size(), "equal devices are counted together");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_texts(text);
  check_lines(text);
  return 0;
}
