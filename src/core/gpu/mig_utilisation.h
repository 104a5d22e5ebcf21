// Computes the utilisation of a whole GPU from that of its MIG instances.
//
// DCGM's profiling metrics of an instance are relative to the instance: 1.0 is a full instance, not
// a full GPU. So U = Σ u·c / 7 over compute slices. On GPUs whose slices do not have equally many
// multiprocessors (an H100's 1g has 16 of 132, its 3g 60) it is U = Σ u·SM / SM of the GPU, where
// all of them were measured; multiprocessors outside all instances then count as idle, which they
// are. This is for reporting how a GPU was used; find_mig_share says what an instance is charged
// for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/gpu/gpu_model.h"

namespace pennyweight {

struct InstanceActivity {
  std::string profile;         // in any spelling of find_mig_share
  std::uint64_t activity_ppm;  // of the instance, as reported; more than the whole is clamped
};

struct CardActivity {
  std::uint32_t activity_ppm = 0;       // of the card, at most 1,000,000, rounded half up
  bool by_multiprocessors = false;      // else by compute slices
  std::uint32_t clamped_instances = 0;  // reported more than the whole
  bool operator==(const CardActivity&) const = default;
};

// An error names the model and a profile that it does not have, or says that the instances are more
// than a card.
Result<CardActivity> card_activity(const GpuModel& model,
                                   std::span<const InstanceActivity> instances);

// Whether the profiling metrics of this layout are known to be wrong: on an A100 with a 1g beside a
// larger instance, the activity of the larger one stops at a half or a third, and may exceed 1
// (DCGM issues 138, 248 and 152, open in 2026). They are clamped and flagged, and costs are never
// divided by them. A profile that the model does not have is ignored.
bool mig_profiling_unreliable(const GpuModel& model, std::span<const std::string> profiles);

}  // namespace pennyweight
