#include "core/gpu/mig_utilisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/gpu/mig_profile.h"
#include "core/int128.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kWholePpm = 1'000'000;

// Whether profiles of the geometry differ in how many multiprocessors a slice has.
bool slices_differ(std::string_view geometry) {
  const MigProfile* first = nullptr;
  for (const MigProfile& profile : mig_profiles(geometry)) {
    if (!profile.multiprocessors) continue;
    if (first == nullptr) first = &profile;
    if (std::uint64_t{*profile.multiprocessors} * first->compute_slices !=
        std::uint64_t{*first->multiprocessors} * profile.compute_slices) {
      return true;
    }
  }
  return false;
}

bool is_measured(const MigProfileUse& use) {
  return use.profile->multiprocessors.has_value() && use.profile->card_multiprocessors.has_value();
}

}  // namespace

Result<CardActivity> card_activity(const GpuModel& model,
                                   std::span<const InstanceActivity> instances) {
  if (model.mig_geometries.empty()) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("activity of MIG instances on a {}: this model has no MIG", model.name));
  }
  std::vector<MigProfileUse> uses;
  for (const InstanceActivity& instance : instances) {
    const auto use = TRY(find_mig_profile(model, instance.profile));
    uses.push_back(use);
  }

  CardActivity card;
  card.by_multiprocessors = !uses.empty() && std::ranges::all_of(uses, is_measured) &&
                            slices_differ(uses.front().profile->geometry);
  // A compute instance has an even share of its GPU instance's multiprocessors. 84 is a multiple of
  // every number of slices, so that the shares stay whole numbers.
  constexpr std::uint64_t kParts = 84;
  const std::uint64_t whole =
      kParts * (card.by_multiprocessors ? *uses.front().profile->card_multiprocessors
                                        : model.mig_compute_slices);
  std::uint64_t held = 0;
  UInt128 sum = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const auto& [profile, slices] = uses[i];
    const std::uint64_t of_instance = card.by_multiprocessors ? kParts * *profile->multiprocessors *
                                                                    slices / profile->compute_slices
                                                              : kParts * slices;
    held += of_instance;
    if (instances[i].activity_ppm > kWholePpm) ++card.clamped_instances;
    sum += UInt128{std::min(instances[i].activity_ppm, kWholePpm)} * of_instance;
  }
  if (held > whole) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} MIG instances on a {}: together more than one GPU", uses.size(),
                            model.name));
  }
  card.activity_ppm = static_cast<std::uint32_t>((sum + whole / 2) / whole);
  return card;
}

bool mig_profiling_unreliable(const GpuModel& model, std::span<const std::string> profiles) {
  if (!model.name.starts_with("A100-")) return false;
  bool has_smallest = false;
  bool has_larger = false;
  for (const std::string& text : profiles) {
    const auto use = find_mig_profile(model, text);
    if (!use) continue;
    has_smallest = has_smallest || use->profile->compute_slices == 1;
    has_larger = has_larger || use->profile->compute_slices > 1;
  }
  return has_smallest && has_larger;
}

}  // namespace pennyweight
