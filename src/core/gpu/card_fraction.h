// Fractions of a GPU that clouds sell with an instance: "L4 1/8" of AWS g6f, "A10 1/6" of Azure
// NVadsA10.
//
// Kubernetes and Slurm show such a fraction as one whole GPU; only the instance type tells. Price
// lists (data/prices/instance_types.csv) write it behind the model. It is the same share of compute
// and of memory: an eighth of an L4 has 3 GB of 24, a sixth of an A10 has 4 GiB of 24 (Azure's page
// of the NVadsA10 v5 series).
#pragma once

#include <optional>
#include <string_view>

#include "core/card_share.h"
#include "core/gpu/gpu_model.h"

namespace pennyweight {

struct SoldCard {
  const GpuModel* model;  // of gpu_models(), never null
  CardShare part;         // of one physical card; whole for a plain model
};

// Nothing when the model is unknown, and when the fraction is not p/q with 0 < p <= q or not exact
// as a CardShare: it is refused, not rounded.
std::optional<SoldCard> find_sold_card(std::string_view gpu_model_text);

}  // namespace pennyweight
