// HeldAs: in which way a holding has its GPUs, as the products that are compared tell them apart.
#pragma once

#include <optional>
#include <string_view>

#include "compare/preset.h"
#include "core/card_share.h"
#include "fleet/gpu_model.h"
#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight {

enum class HeldAs {
  kWhole,           // nvidia.com/gpu, one card each
  kMig,             // nvidia.com/mig-…
  kRenamedReplica,  // nvidia.com/gpu.shared
  kReplica,         // nvidia.com/gpu on a node whose capacity is inflated by replicas
  kVirtualGpu,      // HAMi, Volcano: nvidia.com/gpu and how much of it
  kFraction,        // a stated part of a card, by an annotation
  kSlurmShare,      // gres/shard, gres/mps
  kClaim,           // a DRA ResourceClaim
  kReservation,     // KAI's reservation pod, which holds a card for the fractions of its group
  kNoGpu,           // CPU and memory only
};

inline constexpr HeldAs kHeldAsAll[] = {
    HeldAs::kWhole,       HeldAs::kMig,      HeldAs::kRenamedReplica, HeldAs::kReplica,
    HeldAs::kVirtualGpu,  HeldAs::kFraction, HeldAs::kSlurmShare,     HeldAs::kClaim,
    HeldAs::kReservation, HeldAs::kNoGpu};

std::string_view to_text(HeldAs how);  // "MIG", "renamed replicas", …

// `node` is the one that the holding is on, or one of its pool; nothing where it is not known.
HeldAs held_as(const Holding& holding, const Node* node);

// How much of a card the preset counts for one device of a holding: of OpenCost and AWS the number
// of nvidia.com/gpu that it requests, of Koku the compute slices. Nothing where neither documents
// nor code of that product say. `model` is the card's; nothing where it is not known.
std::optional<CardShare> counted_share(Preset preset, HeldAs how, const Device& device,
                                       const GpuModel* model);

}  // namespace pennyweight
