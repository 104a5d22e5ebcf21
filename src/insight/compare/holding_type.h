// HoldingType: how a holding has its GPUs, as far as the compared products distinguish it.
#pragma once

#include <optional>
#include <string_view>

#include "core/card_share.h"
#include "core/gpu/gpu_model.h"
#include "insight/compare/preset.h"
#include "ledger/holding.h"
#include "ledger/node.h"

namespace pennyweight {

enum class HoldingType {
  kWhole,           // nvidia.com/gpu, one whole GPU each
  kMig,             // nvidia.com/mig-…
  kRenamedReplica,  // nvidia.com/gpu.shared
  kReplica,         // nvidia.com/gpu on a node whose capacity is inflated by replicas
  kVirtualGpu,      // HAMi, Volcano: nvidia.com/gpu and how much of it
  kFraction,        // a stated part of a GPU, by an annotation
  kSlurmShare,      // gres/shard, gres/mps
  kClaim,           // a DRA ResourceClaim
  kReservation,     // KAI's reservation pod, which holds a GPU for the fractions of its group
  kNoGpu,           // CPU and memory only
};

inline constexpr HoldingType kHoldingTypes[] = {
    HoldingType::kWhole,      HoldingType::kMig,        HoldingType::kRenamedReplica,
    HoldingType::kReplica,    HoldingType::kVirtualGpu, HoldingType::kFraction,
    HoldingType::kSlurmShare, HoldingType::kClaim,      HoldingType::kReservation,
    HoldingType::kNoGpu};

std::string_view to_text(HoldingType how);  // "MIG", "renamed replicas", …

// `node` is the holding's, or one of its pool; null where unknown.
HoldingType holding_type(const Holding& holding, const Node* node);

// How much of a GPU the preset counts for one device of a holding: OpenCost and AWS count the
// requested nvidia.com/gpu, Koku the compute slices. Absent where neither the documents nor the
// code of the product say. `model` is the GPU's; null where unknown.
std::optional<CardShare> counted_share(Preset preset, HoldingType how, const Device& device,
                                       const GpuModel* model);

}  // namespace pennyweight
