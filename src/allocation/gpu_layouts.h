// layouts_in_force(): which facts about GPUs hold when, whoever stated them.
//
// An inventory or `nvidia-smi -L` states a GPU with its MIG instances. A reading of `nvidia-smi`,
// or a scrape, states the same GPU again, without instances or with those that it happens to number
// ("GPU-…/gi1"), because it can't see more. Such a statement must not end a layout: what GPUs did
// never changes who held them. So
//   - a fact without instances does not end the layout before it. A layout ends at its fact's `to`,
//     or when another one is stated;
//   - instances that are only numbered do not end a layout whose instances have UUIDs. They are
//     other names of its instances, profile by profile;
//   - a fact that moves a GPU to a node that no inventory has does not end the fact before it: an
//     exporter calls the node by another name.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/instant.h"
#include "ledger/node.h"

namespace pennyweight {

struct GpuInForce {
  const Gpu* gpu;
  std::optional<Interval> during;  // absent: it ended before it began, or was replaced at once
  // Further names of instances: the name, and the instance of `gpu` that it is.
  std::vector<std::pair<GpuId, GpuId>> aliases = {};
  // Profiles that later statements number and the layout does not have.
  std::vector<std::string> unknown_profiles = {};
};

// By UUID, then begin. `is_known` says whether an inventory has a node; empty: nodes are not
// compared.
std::vector<GpuInForce> layouts_in_force(std::span<const Gpu> gpus,
                                         const std::function<bool(const NodeId&)>& is_known = {});

}  // namespace pennyweight
