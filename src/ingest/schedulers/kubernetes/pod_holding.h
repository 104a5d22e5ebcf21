// Finds what a pod holds, from the pod and its node.
//
//   nvidia.com/gpu …            as in core/gpu/resource_name.h, on the pod's node
//   hami.io/vgpu-devices-allocated, volcano.sh/vgpu-ids-new      on the cards that they name, if an
//                               inventory has these, else as many on the node
//   gpu-fraction, gpu-memory    Run:ai and KAI: in the group that the label runai-gpu-group names
//                               (runai-gpu-group/<group>: one of each), on the card of the
//                               group's reservation pod
//   a pod of kai-resource-reservation or runai-reservation       that reservation; the annotation
//                               run.ai/reserve_for_gpu_index holds the card's UUID in spite of its
//                               name (KAI, cmd/resourcereservation)
//   spec.resourceClaims         what the claim was given; pods that share a claim share that
//
// A pod with several kinds of device has one holding each. The first has the pod's uid as its
// attempt, and its CPU and memory; the others "<uid>/<device>", and 0 of both.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/gpu/node_sharing.h"
#include "ingest/schedulers/kubernetes/pod_record.h"
#include "ledger/holding.h"

namespace pennyweight::kubernetes {

// The objects around a pod. Pointers live as long as the call.
struct AllocationContext {
  const NodeSharing* sharing = nullptr;  // of its node; nullptr: unknown, or not understood
  std::string sharing_problem;           // why not
  std::function<bool(const std::string& uuid)>
      is_known_gpu;  // whether an inventory has that GPU or MIG instance
  std::function<const ResourceClaim*(std::string_view name_space, std::string_view name)> claim;
  std::function<const SliceDevice*(const ClaimedDevice& device)> slice_device;
};

// One kind of device that a pod holds.
struct HeldDevice {
  Device device = WholeGpu{};
  Placement placement;
  std::string claim;
  std::string gpu_group;
  bool is_reservation = false;
};

struct HeldDevices {
  std::vector<HeldDevice> parts;  // at least one; of no device where the pod holds none
  // Why something that the pod asks for is not among them; to be shown.
  std::vector<std::string> problems;
};

// REQUIRES: the pod has a node.
HeldDevices held_devices(const PodRecord& pod, const AllocationContext& around);

// The pod's holdings over an interval.
std::vector<Holding> make_holdings(const ClusterId& cluster, const PodRecord& pod,
                                   HeldDevices parts, const Interval& held, bool ended,
                                   const Labels& labels);

}  // namespace pennyweight::kubernetes
