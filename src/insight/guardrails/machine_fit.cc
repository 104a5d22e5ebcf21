#include "insight/guardrails/machine_fit.h"

#include <algorithm>

#include "core/gpu/gpu_model.h"
#include "core/gpu/mig_profile.h"
#include "core/try.h"

namespace pennyweight::guardrails {
namespace {

constexpr std::uint64_t kMachinesMax = 10'000'000;  // more than any provider has
constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

// How many devices of the kind one card holds; 0 where it can't hold one.
std::uint64_t devices_per_card(const RequestedDevice& device, const SoldCard& card) {
  const auto share = requested_share(device, card);
  if (!share || share->units() == 0 || *share > card.part) return 0;
  std::uint64_t most = card.part.units() / share->units();
  if (device.kind == RequestedDevice::Kind::kMigSlice) {
    const auto use = find_mig_profile(*card.model, device.mig_profile);
    if (use) most = std::min<std::uint64_t>(most, use->profile->max_instances);
  }
  return most;
}

// How many replicas the GPUs of one machine hold.
std::uint64_t replicas_by_gpus(const manifests::ReplicaGroup& group, const Offer& offer) {
  if (group.gpus.empty()) return kUnlimited;
  if (!offer.card) return 0;
  if (group.gpus.size() == 1) {
    const RequestedDevice& device = group.gpus[0];
    return offer.type->gpu_count * devices_per_card(device, *offer.card) / device.count;
  }
  // Devices of several kinds: each kind on cards of its own.
  std::uint64_t cards = 0;
  for (const RequestedDevice& device : group.gpus) {
    const std::uint64_t per_card = devices_per_card(device, *offer.card);
    if (per_card == 0) return 0;
    cards += (device.count + per_card - 1) / per_card;
  }
  return offer.type->gpu_count / cards;
}

std::uint64_t replicas_by(std::uint64_t asked, const std::optional<std::uint64_t>& has) {
  return asked == 0 || !has ? kUnlimited : *has / asked;
}

// Machines for one replica that may lie on several.
std::uint64_t machines_to_span(const manifests::ReplicaGroup& group, const Offer& offer) {
  std::uint64_t machines = 1;
  const auto need = [&](std::uint64_t asked, std::uint64_t each) {
    if (each > 0) machines = std::max(machines, (asked - 1) / each + 1);
  };
  for (const RequestedDevice& device : group.gpus) {
    need(device.count, offer.type->gpu_count * devices_per_card(device, *offer.card));
  }
  if (group.cpu_milli > 0) need(group.cpu_milli, offer.type->cpu_milli.value_or(0));
  if (group.memory_bytes > 0) need(group.memory_bytes, offer.type->memory_bytes.value_or(0));
  return machines;
}

bool holds_any_device(const manifests::ReplicaGroup& group, const Offer& offer) {
  return std::ranges::all_of(group.gpus, [&](const RequestedDevice& device) {
    return offer.card && devices_per_card(device, *offer.card) > 0;
  });
}

}  // namespace

Result<CardShare> requested_share(const RequestedDevice& device, const SoldCard& card) {
  switch (device.kind) {
    case RequestedDevice::Kind::kGpu:
      return card.part;
    case RequestedDevice::Kind::kMigSlice: {
      const MigShare share = TRY(find_mig_share(*card.model, device.mig_profile));
      return std::max(share.compute, share.memory);
    }
    case RequestedDevice::Kind::kFraction:
      return std::max(device.compute, device.memory);
    case RequestedDevice::Kind::kVirtualGpu: {
      CardShare share;
      if (device.cores_percent) share = CardShare::nearest_below(*device.cores_percent, 100);
      if (device.memory_percent) {
        share = std::max(share, CardShare::nearest_below(*device.memory_percent, 100));
      }
      if (device.memory_bytes) {
        if (*device.memory_bytes > card.model->memory_bytes) {
          return fail(ErrorCode::kUnsupported, "more memory than the GPU has");
        }
        share = std::max(share,
                         CardShare::nearest_below(*device.memory_bytes, card.model->memory_bytes));
      }
      // Without a limit it may use all of the card.
      return share.units() == 0 ? card.part : share;
    }
    case RequestedDevice::Kind::kReplica:
      return fail(ErrorCode::kUnsupported,
                  "a replica of a GPU that is shared by an unknown number");
  }
  return card.part;
}

std::optional<MachineFit> fit_on_machines(const manifests::ReplicaGroup& group,
                                          const Offer& offer) {
  MachineFit fit;
  const InstanceType& type = *offer.type;
  const std::uint64_t per_machine =
      std::min({replicas_by_gpus(group, offer), replicas_by(group.cpu_milli, type.cpu_milli),
                replicas_by(group.memory_bytes, type.memory_bytes)});
  if (per_machine > 0) {
    const bool is_alone = group.takes_whole_machines || per_machine == kUnlimited;
    fit.machines = is_alone ? group.replicas : (group.replicas + per_machine - 1) / per_machine;
  } else if (group.may_span_machines && holds_any_device(group, offer)) {
    fit.machines = machines_to_span(group, offer) * group.replicas;
  } else {
    return std::nullopt;
  }
  if (fit.machines > kMachinesMax) return std::nullopt;
  const UInt128 replicas = group.replicas;
  if (offer.card) {
    fit.gpu_units_all = UInt128{fit.machines} * type.gpu_count * offer.card->part.units();
    for (const RequestedDevice& device : group.gpus) {
      const auto share = requested_share(device, *offer.card);
      if (share) fit.gpu_units += replicas * device.count * share->units();
    }
  } else {
    fit.gpu_units_all = UInt128{fit.machines} * type.gpu_count * CardShare::kUnitsPerCard;
  }
  fit.cpu_milli_all = UInt128{fit.machines} * type.cpu_milli.value_or(0);
  fit.memory_bytes_all = UInt128{fit.machines} * type.memory_bytes.value_or(0);
  fit.cpu_milli = replicas * group.cpu_milli;
  fit.memory_bytes = replicas * group.memory_bytes;
  if (group.takes_whole_machines) {
    fit.gpu_units = fit.gpu_units_all;
    fit.cpu_milli = fit.cpu_milli_all;
    fit.memory_bytes = fit.memory_bytes_all;
  }
  return fit;
}

}  // namespace pennyweight::guardrails
