// GPU models and their MIG geometry: what share of a GPU a MIG profile is.
//
// One profile name is a different share on different models (1g.10gb is 2/8 of the memory of an
// A100-40GB and 1/8 of that of an A100-80GB), so everything is keyed by (model, profile). A name
// that is not in the tables is refused, never guessed. The tables are data/fleet/*.csv, built in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/card_share.h"
#include "core/error.h"

namespace pennyweight {

struct GpuModel {
  std::string name;         // "A100-SXM4-40GB", the key of every table
  std::string device_name;  // as NVML reports it: "NVIDIA A100-SXM4-40GB"
  std::string vendor;
  std::string architecture;
  std::uint64_t memory_bytes = 0;
  std::uint32_t mig_compute_slices = 0;     // 7, or 4; 0 without MIG
  std::uint32_t mig_memory_slices = 0;      // 8, or 4
  std::vector<std::string> mig_geometries;  // its keys in data/fleet/mig_profiles.csv
};

// The model that a name means, as NVML, DCGM, Kubernetes labels, Slurm's gres types, price lists or
// traces write it. Case, vendor prefix, '-', '_' and ' ' do not matter ("nvidia_a100-sxm4-40gb",
// "Tesla T4", "V100M32"), nor does a "-SHARED" or "-MIG-1g.5gb" at the end. Nothing for a name that
// fits several models (Slurm's "a100"): the node's inventory must say which.
const GpuModel* find_gpu_model(std::string_view reported);

std::span<const GpuModel> gpu_models();

// The share of a GPU that a MIG profile takes.
struct MigShare {
  CardShare compute;  // compute slices / slices of the card
  CardShare memory;
};

// "3g.20gb", also with "+me", "1c.3g.20gb" (its GPU instance's share of the card, split evenly over
// its compute slices), and Slurm's and Kubernetes' spellings ("a100_3g.20gb", "mig-3g.20gb"). An
// error names the model and the profile when the model does not have the profile.
Result<MigShare> find_mig_share(const GpuModel& model, std::string_view profile);

}  // namespace pennyweight
