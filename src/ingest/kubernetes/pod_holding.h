// From a pod and its node to what it holds.
//
//   nvidia.com/gpu …            in the words of fleet/resource_name.h, on the pod's node
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
#include "fleet/node_sharing.h"
#include "ingest/kubernetes/pod_record.h"
#include "ledger/holding.h"

namespace pennyweight::kubernetes {

// What is around a pod. Pointers live as long as the call.
struct Surroundings {
  const NodeSharing* sharing = nullptr;  // of its node; nullptr: not known, or not understood
  std::string sharing_problem;           // why not
  std::function<bool(const std::string& uuid)> has_card;  // or MIG instance, of an inventory
  std::function<const ResourceClaim*(std::string_view name_space, std::string_view name)> claim;
  std::function<const SliceDevice*(const ClaimedDevice& device)> slice_device;
};

// One kind of device that a pod holds.
struct HeldPart {
  Device device = WholeGpu{};
  Placement placement;
  std::string claim;
  std::string gpu_group;
  bool is_reservation = false;
};

struct HeldParts {
  std::vector<HeldPart> parts;  // at least one; of no device where the pod holds none
  // Why something that it asks for is not among them: in words, to be shown.
  std::vector<std::string> problems;
};

// REQUIRES: the pod has a node.
HeldParts held_parts(const PodRecord& pod, const Surroundings& around);

// The pod's holdings over an interval.
std::vector<Holding> holdings_of(const ClusterId& cluster, const PodRecord& pod, HeldParts parts,
                                 const Interval& held, bool ended, const Labels& labels);

}  // namespace pennyweight::kubernetes
