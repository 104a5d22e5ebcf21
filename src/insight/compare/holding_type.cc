#include "insight/compare/holding_type.h"

#include <variant>

namespace pennyweight {
namespace {

// OpenCost reads requests and limits of nvidia.com/gpu and k8s.amazonaws.com/vgpu and no other key
// (pkg/costmodel/costmodel.go, ComputeCostData).
CardShare opencost_share(HoldingType how) {
  switch (how) {
    case HoldingType::kWhole:
    case HoldingType::kReplica:
    case HoldingType::kVirtualGpu:
    case HoldingType::kReservation:
      return CardShare::whole();
    case HoldingType::kMig:
    case HoldingType::kRenamedReplica:
    case HoldingType::kFraction:
    case HoldingType::kSlurmShare:
    case HoldingType::kClaim:
    case HoldingType::kNoGpu:
      return {};
  }
  return {};
}

// AWS documents GPUs that a pod reserves, and says nothing about parts of them.
std::optional<CardShare> scad_share(HoldingType how) {
  switch (how) {
    case HoldingType::kWhole:
    case HoldingType::kReplica:
    case HoldingType::kVirtualGpu:
    case HoldingType::kReservation:
      return CardShare::whole();
    case HoldingType::kNoGpu:
      return CardShare{};
    case HoldingType::kMig:
    case HoldingType::kRenamedReplica:
    case HoldingType::kFraction:
    case HoldingType::kSlurmShare:
    case HoldingType::kClaim:
      return std::nullopt;
  }
  return std::nullopt;
}

// Koku prices uptime times compute slices. Each pod that time-slices a GPU has an uptime row of its
// own without slices, and an unknown model is billed as a GPU of its own (monthly_cost_gpu.sql,
// ocp_post_processor.py).
std::optional<CardShare> koku_share(HoldingType how, const Device& device, const GpuModel* model) {
  switch (how) {
    case HoldingType::kWhole:
    case HoldingType::kRenamedReplica:
    case HoldingType::kReplica:
      return CardShare::whole();
    case HoldingType::kMig: {
      if (model == nullptr || model->mig_compute_slices == 0) return CardShare::whole();
      const auto share = find_mig_share(*model, std::get<MigSlice>(device).profile);
      if (!share) return std::nullopt;
      return share->compute;
    }
    case HoldingType::kNoGpu:
      return CardShare{};
    case HoldingType::kVirtualGpu:
    case HoldingType::kFraction:
    case HoldingType::kSlurmShare:
    case HoldingType::kClaim:
    case HoldingType::kReservation:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_text(HoldingType how) {
  switch (how) {
    case HoldingType::kWhole:
      return "whole GPUs";
    case HoldingType::kMig:
      return "MIG";
    case HoldingType::kRenamedReplica:
      return "renamed replicas";
    case HoldingType::kReplica:
      return "replicas";
    case HoldingType::kVirtualGpu:
      return "vGPUs";
    case HoldingType::kFraction:
      return "fractions";
    case HoldingType::kSlurmShare:
      return "Slurm shares";
    case HoldingType::kClaim:
      return "DRA claims";
    case HoldingType::kReservation:
      return "reservation pods";
    case HoldingType::kNoGpu:
      return "no GPU";
  }
  return "";
}

HoldingType holding_type(const Holding& holding, const Node* node) {
  if (device_count(holding) == 0) return HoldingType::kNoGpu;
  if (!holding.claim.empty()) return HoldingType::kClaim;
  if (holding.is_reservation) return HoldingType::kReservation;
  if (std::holds_alternative<MigSlice>(holding.device)) return HoldingType::kMig;
  if (std::holds_alternative<Replica>(holding.device)) {
    return node != nullptr && node->replicas_renamed ? HoldingType::kRenamedReplica
                                                     : HoldingType::kReplica;
  }
  if (std::holds_alternative<VirtualGpu>(holding.device)) return HoldingType::kVirtualGpu;
  if (std::holds_alternative<CardFraction>(holding.device)) return HoldingType::kFraction;
  if (std::holds_alternative<Shard>(holding.device)) return HoldingType::kSlurmShare;
  if (std::holds_alternative<MpsUnit>(holding.device)) return HoldingType::kSlurmShare;
  return HoldingType::kWhole;
}

std::optional<CardShare> counted_share(Preset preset, HoldingType how, const Device& device,
                                       const GpuModel* model) {
  switch (preset) {
    case Preset::kOpenCost:
      return opencost_share(how);
    case Preset::kAwsScad:
      return scad_share(how);
    case Preset::kKoku:
      return koku_share(how, device, model);
  }
  return std::nullopt;
}

}  // namespace pennyweight
