// Parts of a card that clouds sell as a machine: "L4 1/8" of AWS g6f, "A10 1/6" of Azure NVadsA10.
//
// Kubernetes and Slurm show such a part as one whole GPU; only the instance type tells. Price lists
// (data/prices/instance_types.csv) write it behind the model. A part has the same share of compute
// and of memory: an eighth of an L4 has 3 GB of 24, a sixth of an A10 has 4 GiB of 24 (Azure's page
// of the NVadsA10 v5 series).
#pragma once

#include <optional>
#include <string_view>

#include "core/card_share.h"
#include "fleet/gpu_model.h"

namespace pennyweight {

struct SoldCard {
  const GpuModel* model;  // of gpu_models(), never null
  CardShare part;         // of one physical card; whole for a plain model
};

// Nothing when the model is not known, or when the part is not p/q with 0 < p <= q and exact in
// CardShare: it is refused, not rounded.
std::optional<SoldCard> find_sold_card(std::string_view gpu_model_text);

}  // namespace pennyweight
