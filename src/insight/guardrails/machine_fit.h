// Says how many machines of a shape a group of replicas needs, and how much of them it asks for.
#pragma once

#include <cstdint>
#include <optional>

#include "core/error.h"
#include "core/int128.h"
#include "ingest/manifests/workload_request.h"
#include "insight/guardrails/offers.h"

namespace pennyweight::guardrails {

// What a group takes of so many machines. The shares are of all of them together.
struct MachineFit {
  std::uint64_t machines = 0;
  UInt128 gpu_units = 0;  // asked for, in CardShare units
  UInt128 gpu_units_all = 0;
  UInt128 cpu_milli = 0;
  UInt128 cpu_milli_all = 0;
  UInt128 memory_bytes = 0;
  UInt128 memory_bytes_all = 0;
};

// Replicas are packed whole, GPU devices on whole or shared cards as their kind allows; a device
// takes the larger of its shares of compute and memory. Nothing where a replica does not fit one
// machine, and the group may not span several. A shape that does not state its CPUs or memory has
// enough of them.
std::optional<MachineFit> fit_on_machines(const manifests::ReplicaGroup& group, const Offer& offer);

// The share of a card of this model that one device takes; an Error names what the model does not
// have.
Result<CardShare> requested_share(const RequestedDevice& device, const SoldCard& card);

}  // namespace pennyweight::guardrails
