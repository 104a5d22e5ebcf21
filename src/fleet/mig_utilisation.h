// How busy a whole card is, from how busy its MIG instances are.
//
// DCGM's profiling metrics of an instance are relative to the instance: 1.0 is a full instance, not
// a full card. So U = Σ u·c / 7 over compute slices. On cards whose slices do not hold equally many
// multiprocessors (an H100's 1g has 16 of 132, its 3g 60) it is U = Σ u·SM / SM of the card, where
// all of them were measured; multiprocessors outside all instances then show as idle, which they
// are. This is for reporting how a card was used; what an instance costs is find_mig_share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "fleet/gpu_model.h"

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

// Whether profiling metrics of this layout are known to be wrong: on an A100 with a 1g beside a
// larger instance, activity of the larger stops at a half or a third, and may exceed 1 (DCGM issues
// 138, 248 and 152, open in 2026). They are clamped and flagged there, and never an allocation key.
// A profile that the model does not have counts for nothing.
bool mig_profiling_unreliable(const GpuModel& model, std::span<const std::string> profiles);

}  // namespace pennyweight
