// The MIG profiles of each GPU: how many slices each takes, and where it can be placed.
//
// They are the rows of data/fleet/mig_profiles.csv, by geometry. find_mig_share
// (core/gpu/gpu_model.h) says what share of the GPU a profile is charged for, core/gpu/mig_layout.h
// what a set of instances leaves over.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/gpu/gpu_model.h"

namespace pennyweight {

struct MigProfile {
  std::string geometry;  // "A100-40GB", one of GpuModel::mig_geometries
  std::string name;      // "3g.20gb"
  std::uint32_t compute_slices = 0;
  std::uint32_t memory_slices = 0;
  std::uint32_t max_instances = 0;               // of this profile on one card
  std::optional<std::uint32_t> multiprocessors;  // where they were measured
  std::optional<std::uint32_t> card_multiprocessors;
};

// A profile as it was read: the profile, and the compute slices that a compute instance
// ("1c.3g.20gb") takes of its GPU instance; all of them where the text names no compute instance.
struct MigProfileUse {
  const MigProfile* profile;
  std::uint32_t compute_slices;
  bool is_whole() const { return compute_slices == profile->compute_slices; }
};

// The spellings and errors of find_mig_share.
Result<MigProfileUse> find_mig_profile(const GpuModel& model, std::string_view text);

// All profiles of one geometry, in the order of the table; empty where there is no such geometry.
std::span<const MigProfile> mig_profiles(std::string_view geometry);

// The memory slices at which an instance may begin, ascending: {0, 4} for 3g.20gb of an A100-40GB.
//
// An instance takes adjacent memory slices, begins at a multiple of their number, and takes the
// compute slices of the same numbers, of which a card with eight memory slices has one less. This
// gives what `nvidia-smi mig -lgipp` lists: 1g at 0-6, 1g with two memory slices at 0, 2, 4 and 6,
// 2g at 0, 2 and 4, 3g at 0 and 4, 4g and 7g at 0; on an A30 1g at 0-3, 2g at 0 and 2, 4g at 0
// (NVIDIA MIG user guide, "Supported MIG profiles" and "Listing GPU instance profiles").
std::vector<std::uint32_t> mig_placements(const GpuModel& model, const MigProfile& profile);

}  // namespace pennyweight
