#include "core/gpu/mig_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/check.h"
#include "core/gpu/mig_profile.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using Size = MigInstanceSize;

// How many of each size, in the order of CardLayouts::sizes.
using Counts = std::vector<std::uint32_t>;

using CardLayouts = MigLayouts;

// Every way to put instances on the memory slices from `slice` on.
void place_from(std::uint32_t slice, std::uint32_t slices,
                const std::vector<std::vector<std::size_t>>& sizes_at,
                const std::vector<Size>& sizes, Counts& counts, std::set<Counts>& legal) {
  if (slice >= slices) {
    legal.insert(counts);
    return;
  }
  place_from(slice + 1, slices, sizes_at, sizes, counts, legal);
  for (const std::size_t size : sizes_at[slice]) {
    ++counts[size];
    place_from(slice + sizes[size].memory_slices, slices, sizes_at, sizes, counts, legal);
    --counts[size];
  }
}

CardLayouts layouts_of(const GpuModel& model) {
  std::map<Size, std::vector<std::uint32_t>> placements;
  for (const std::string& geometry : model.mig_geometries) {
    for (const MigProfile& profile : mig_profiles(geometry)) {
      placements.emplace(Size{profile.compute_slices, profile.memory_slices},
                         mig_placements(model, profile));
    }
  }
  CardLayouts layouts;
  std::vector<std::vector<std::size_t>> sizes_at(model.mig_memory_slices);
  for (const auto& [size, starts] : placements) {
    for (const std::uint32_t start : starts) sizes_at[start].push_back(layouts.sizes.size());
    layouts.sizes.push_back(size);
  }
  Counts counts(layouts.sizes.size());
  std::set<Counts> legal;
  place_from(0, model.mig_memory_slices, sizes_at, layouts.sizes, counts, legal);
  layouts.legal.assign(legal.begin(), legal.end());
  return layouts;
}

// Computed once and never changed.
const CardLayouts& built_in_layouts(const GpuModel& model) {
  static const auto layouts = [] {
    std::map<std::string, CardLayouts> by_model;
    for (const GpuModel& each : gpu_models()) {
      if (!each.mig_geometries.empty()) by_model.emplace(each.name, layouts_of(each));
    }
    return by_model;
  }();
  const auto at = layouts.find(model.name);
  CHECK(at != layouts.end(), "a model with MIG is one of gpu_models()");
  return at->second;
}

// The fewest GPU instances of so many compute slices that hold compute instances of these sizes:
// the largest first, each into the first that has room, which is exact for at most seven slices.
std::uint32_t instances_that_hold(std::vector<std::uint32_t> sizes, std::uint32_t slices) {
  std::ranges::sort(sizes, std::greater());
  std::vector<std::uint32_t> room;
  for (const std::uint32_t size : sizes) {
    const auto at = std::ranges::find_if(room, [&](std::uint32_t left) { return left >= size; });
    if (at == room.end()) {
      room.push_back(slices - size);
    } else {
      *at -= size;
    }
  }
  return static_cast<std::uint32_t>(room.size());
}

// The most slices of either kind that a legal layout with all of these instances takes; nothing
// where there is no such layout.
std::optional<Size> most_beside(const Counts& wanted, const CardLayouts& card) {
  std::optional<Size> most;
  for (const Counts& legal : card.legal) {
    if (!std::ranges::equal(legal, wanted, std::greater_equal())) continue;
    Size sum;
    for (std::size_t i = 0; i < legal.size(); ++i) {
      sum.compute_slices += legal[i] * card.sizes[i].compute_slices;
      sum.memory_slices += legal[i] * card.sizes[i].memory_slices;
    }
    if (!most) most = sum;
    most->compute_slices = std::max(most->compute_slices, sum.compute_slices);
    most->memory_slices = std::max(most->memory_slices, sum.memory_slices);
  }
  return most;
}

struct RequestedProfile {
  const MigProfile* profile = nullptr;
  std::vector<std::uint32_t> compute_instances;  // their slices
  std::uint32_t instances = 0;                   // GPU instances
};
using RequestedProfiles = std::map<std::string, RequestedProfile, std::less<>>;

// "1 x 1g.5gb + 2 x 3g.20gb"
std::string requested_layout_text(const RequestedProfiles& asked) {
  std::vector<std::string> parts;
  for (const auto& [name, of_profile] : asked) {
    parts.push_back(fmt::format("{} x {}", of_profile.instances, name));
  }
  return fmt::format("{}", fmt::join(parts, " + "));
}

CardShare slice_share(std::uint32_t slices, std::uint32_t of) {
  const auto share = CardShare::of(slices, of);
  CHECK(share.has_value(), "CardShare holds sevenths and eighths exactly");
  return *share;
}

CardShare rest_of(CardShare whole, CardShare part) {
  CHECK(part <= whole, "a layout that fits takes no more than there is");
  return CardShare::from_units(whole.units() - part.units());
}

}  // namespace

const MigLayouts& legal_mig_layouts(const GpuModel& model) { return built_in_layouts(model); }

Result<MigLayout> mig_layout(const GpuModel& model, std::span<const std::string> profiles) {
  if (model.mig_geometries.empty()) {
    return fail(ErrorCode::kBadValue,
                fmt::format("MIG layout on a {}: this model has no MIG", model.name));
  }
  MigLayout layout;
  MigShare taken;
  RequestedProfiles asked;
  for (const std::string& text : profiles) {
    const auto use = TRY(find_mig_profile(model, text));
    RequestedProfile& of_profile = asked[use.profile->name];
    of_profile.profile = use.profile;
    if (use.is_whole()) {
      ++of_profile.instances;
    } else {
      of_profile.compute_instances.push_back(use.compute_slices);
    }
    const auto share = find_mig_share(model, text);
    CHECK(share.has_value(), "a profile that is known has a share");
    taken.compute += share->compute;
    taken.memory += share->memory;
    layout.instances.push_back(*share);
  }

  const CardLayouts& card = built_in_layouts(model);
  Counts wanted(card.sizes.size());
  for (auto& [name, of_profile] : asked) {
    const MigProfile& profile = *of_profile.profile;
    of_profile.instances +=
        instances_that_hold(of_profile.compute_instances, profile.compute_slices);
    const auto size =
        std::ranges::find(card.sizes, Size{profile.compute_slices, profile.memory_slices});
    wanted[static_cast<std::size_t>(size - card.sizes.begin())] += of_profile.instances;
  }
  const auto refuse = [&](std::string_view reason) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("MIG layout {} on a {}: {}", requested_layout_text(asked), model.name, reason));
  };
  for (const auto& [name, of_profile] : asked) {
    if (of_profile.instances > of_profile.profile->max_instances) {
      return refuse(fmt::format("at most {} of {}", of_profile.profile->max_instances, name));
    }
  }

  const auto most = most_beside(wanted, card);
  if (!most) return refuse("these instances do not fit on one GPU together");

  const MigShare usable = {.compute = slice_share(most->compute_slices, model.mig_compute_slices),
                           .memory = slice_share(most->memory_slices, model.mig_memory_slices)};
  layout.free = {.compute = rest_of(usable.compute, taken.compute),
                 .memory = rest_of(usable.memory, taken.memory)};
  layout.stranded = {.compute = rest_of(CardShare::whole(), usable.compute),
                     .memory = rest_of(CardShare::whole(), usable.memory)};
  return layout;
}

}  // namespace pennyweight
