#include "compare/held_as.h"

#include <variant>

namespace pennyweight {
namespace {

// OpenCost reads requests and limits of nvidia.com/gpu and k8s.amazonaws.com/vgpu and no other key
// (pkg/costmodel/costmodel.go, ComputeCostData).
CardShare opencost_share(HeldAs how) {
  switch (how) {
    case HeldAs::kWhole:
    case HeldAs::kReplica:
    case HeldAs::kVirtualGpu:
    case HeldAs::kReservation:
      return CardShare::whole();
    case HeldAs::kMig:
    case HeldAs::kRenamedReplica:
    case HeldAs::kFraction:
    case HeldAs::kSlurmShare:
    case HeldAs::kClaim:
    case HeldAs::kNoGpu:
      return {};
  }
  return {};
}

// AWS documents GPUs that a pod reserves, and says nothing about parts of them.
std::optional<CardShare> scad_share(HeldAs how) {
  switch (how) {
    case HeldAs::kWhole:
    case HeldAs::kReplica:
    case HeldAs::kVirtualGpu:
    case HeldAs::kReservation:
      return CardShare::whole();
    case HeldAs::kNoGpu:
      return CardShare{};
    case HeldAs::kMig:
    case HeldAs::kRenamedReplica:
    case HeldAs::kFraction:
    case HeldAs::kSlurmShare:
    case HeldAs::kClaim:
      return std::nullopt;
  }
  return std::nullopt;
}

// Koku prices uptime times compute slices; each pod that shares a card by time has an uptime row of
// its own, without slices, and an unknown model is billed as a card of its own
// (monthly_cost_gpu.sql, ocp_post_processor.py).
std::optional<CardShare> koku_share(HeldAs how, const Device& device, const GpuModel* model) {
  switch (how) {
    case HeldAs::kWhole:
    case HeldAs::kRenamedReplica:
    case HeldAs::kReplica:
      return CardShare::whole();
    case HeldAs::kMig: {
      if (model == nullptr || model->mig_compute_slices == 0) return CardShare::whole();
      const auto share = find_mig_share(*model, std::get<MigSlice>(device).profile);
      if (!share) return std::nullopt;
      return share->compute;
    }
    case HeldAs::kNoGpu:
      return CardShare{};
    case HeldAs::kVirtualGpu:
    case HeldAs::kFraction:
    case HeldAs::kSlurmShare:
    case HeldAs::kClaim:
    case HeldAs::kReservation:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_text(HeldAs how) {
  switch (how) {
    case HeldAs::kWhole:
      return "whole GPUs";
    case HeldAs::kMig:
      return "MIG";
    case HeldAs::kRenamedReplica:
      return "renamed replicas";
    case HeldAs::kReplica:
      return "replicas";
    case HeldAs::kVirtualGpu:
      return "vGPUs";
    case HeldAs::kFraction:
      return "fractions";
    case HeldAs::kSlurmShare:
      return "Slurm shares";
    case HeldAs::kClaim:
      return "DRA claims";
    case HeldAs::kReservation:
      return "reservation pods";
    case HeldAs::kNoGpu:
      return "no GPU";
  }
  return "";
}

HeldAs held_as(const Holding& holding, const Node* node) {
  if (device_count(holding) == 0) return HeldAs::kNoGpu;
  if (!holding.claim.empty()) return HeldAs::kClaim;
  if (holding.is_reservation) return HeldAs::kReservation;
  if (std::holds_alternative<MigSlice>(holding.device)) return HeldAs::kMig;
  if (std::holds_alternative<Replica>(holding.device)) {
    return node != nullptr && node->replicas_renamed ? HeldAs::kRenamedReplica : HeldAs::kReplica;
  }
  if (std::holds_alternative<VirtualGpu>(holding.device)) return HeldAs::kVirtualGpu;
  if (std::holds_alternative<CardFraction>(holding.device)) return HeldAs::kFraction;
  if (std::holds_alternative<Shard>(holding.device)) return HeldAs::kSlurmShare;
  if (std::holds_alternative<MpsUnit>(holding.device)) return HeldAs::kSlurmShare;
  return HeldAs::kWhole;
}

std::optional<CardShare> counted_share(Preset preset, HeldAs how, const Device& device,
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
