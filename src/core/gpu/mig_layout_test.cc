#include "core/gpu/mig_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu/mig_profile.h"

namespace pennyweight {
namespace {

using Profiles = std::vector<std::string>;

const GpuModel& model(std::string_view name) {
  const GpuModel* found = find_gpu_model(name);
  if (found == nullptr) throw std::runtime_error("no model " + std::string(name));
  return *found;
}

MigLayout layout_of(std::string_view model_name, const Profiles& profiles) {
  const auto layout = mig_layout(model(model_name), profiles);
  if (!layout) throw std::runtime_error(layout.error().message);
  return *layout;
}

MigShare sum_of(const MigLayout& layout) {
  MigShare sum = {.compute = layout.stranded.compute + layout.free.compute,
                  .memory = layout.stranded.memory + layout.free.memory};
  for (const MigShare& instance : layout.instances) {
    sum.compute += instance.compute;
    sum.memory += instance.memory;
  }
  return sum;
}

struct Parts {
  std::uint64_t parts;
  std::uint64_t whole;
};
CardShare share(Parts part) { return CardShare::of(part.parts, part.whole).value(); }

constexpr Parts kNone = {0, 1};
constexpr Parts kAll = {1, 1};

struct LayoutCase {
  std::string_view model;
  Profiles profiles;
  Parts stranded_compute;
  Parts stranded_memory;
  Parts free_compute;
  Parts free_memory;
};

void expect_layout(const LayoutCase& c) {
  SCOPED_TRACE(std::string(c.model) + " " + (c.profiles.empty() ? "-" : c.profiles.front()) +
               " x " + std::to_string(c.profiles.size()));
  const auto layout = mig_layout(model(c.model), c.profiles);
  ASSERT_TRUE(layout.has_value()) << layout.error().message;
  EXPECT_EQ(layout->instances.size(), c.profiles.size());
  EXPECT_EQ(layout->stranded.compute, share(c.stranded_compute));
  EXPECT_EQ(layout->stranded.memory, share(c.stranded_memory));
  EXPECT_EQ(layout->free.compute, share(c.free_compute));
  EXPECT_EQ(layout->free.memory, share(c.free_memory));
  EXPECT_EQ(sum_of(*layout).compute, CardShare::whole());
  EXPECT_EQ(sum_of(*layout).memory, CardShare::whole());
}

TEST(MigLayout, WhatIsStrandedAndWhatIsFree) {
  const LayoutCase cases[] = {
      // The layouts of the allocation reference, section 4.3.
      {"A100-SXM4-40GB", Profiles(7, "1g.5gb"), kNone, {1, 8}, kNone, kNone},
      {"A100-SXM4-40GB", Profiles(2, "3g.20gb"), {1, 7}, kNone, kNone, kNone},
      {"A100-SXM4-40GB", {"4g.20gb", "3g.20gb"}, kNone, kNone, kNone, kNone},
      {"A100-SXM4-40GB", {"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"}, kNone, kNone, kNone, kNone},
      {"A100-SXM4-40GB", {"2g.10gb", "2g.10gb", "2g.10gb", "1g.5gb"}, kNone, {1, 8}, kNone, kNone},
      {"A100-SXM4-40GB", Profiles(4, "1g.10gb"), {3, 7}, kNone, kNone, kNone},
      {"A100-SXM4-40GB", {"7g.40gb"}, kNone, kNone, kNone, kNone},
      // MIG is enabled, and no instance exists yet.
      {"A100-SXM4-40GB", {}, kNone, kNone, kAll, kAll},
      // Room is left, and can be filled.
      {"A100-SXM4-40GB", {"3g.20gb"}, kNone, kNone, {4, 7}, {1, 2}},
      {"A100-SXM4-40GB", {"4g.20gb"}, kNone, kNone, {3, 7}, {1, 2}},
      {"A100-SXM4-40GB", {"1g.5gb"}, kNone, kNone, {6, 7}, {7, 8}},
      {"A100-SXM4-40GB", Profiles(3, "2g.10gb"), kNone, kNone, {1, 7}, {1, 4}},
      {"A100-SXM4-40GB", Profiles(6, "1g.5gb"), kNone, kNone, {1, 7}, {1, 4}},
      // Room is left, and part of it cannot be used in any way: of the four sevenths beside three
      // 1g.10gb, two can be used, by two 1g.5gb on memory slices 0 and 1.
      {"A100-SXM4-40GB", Profiles(3, "1g.10gb"), {2, 7}, kNone, {2, 7}, {1, 4}},
      {"A100-SXM4-40GB", Profiles(2, "1g.10gb"), {1, 7}, kNone, {4, 7}, {1, 2}},
      {"A100-SXM4-40GB", {"3g.20gb", "1g.10gb"}, {1, 7}, kNone, {2, 7}, {1, 4}},
      // The same for other GPUs.
      {"A100-SXM4-80GB", Profiles(7, "1g.10gb"), kNone, {1, 8}, kNone, kNone},
      {"H100-SXM5-80GB", Profiles(2, "3g.40gb"), {1, 7}, kNone, kNone, kNone},
      {"H200-SXM-141GB", Profiles(4, "1g.35gb"), {3, 7}, kNone, kNone, kNone},
      {"GB300-278GB", Profiles(7, "1g.35gb"), kNone, {1, 8}, kNone, kNone},
      {"B200-SXM-180GB", {"4g.95gb"}, kNone, kNone, {3, 7}, {1, 2}},
      // Quarters and halves leave nothing that cannot be used.
      {"A30", Profiles(4, "1g.6gb"), kNone, kNone, kNone, kNone},
      {"A30", {"2g.12gb", "1g.6gb"}, kNone, kNone, {1, 4}, {1, 4}},
      {"RTX-PRO-6000-BLACKWELL-96GB", {"1g.24gb+me", "1g.24gb-me"}, kNone, kNone, {1, 2}, {1, 2}},
      {"RTX-PRO-4500-BLACKWELL-32GB", {"1g.16gb"}, kNone, kNone, {1, 2}, {1, 2}},
      // Spellings of Kubernetes and Slurm; one of the seven has the media engines.
      {"A100-SXM4-40GB", {"mig-3g.20gb", "a100_3g.20gb"}, {1, 7}, kNone, kNone, kNone},
      {"A100-SXM4-40GB",
       {"mig-1g.5gb.me", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb"},
       kNone,
       {1, 8},
       kNone,
       kNone},
      // Three compute instances in one GPU instance; two in another, with a third of it left.
      {"A100-SXM4-40GB", {"1c.3g.20gb", "1c.3g.20gb", "1c.3g.20gb"}, kNone, kNone, {4, 7}, {1, 2}},
      {"A100-SXM4-40GB", {"2c.3g.20gb", "3g.20gb"}, {1, 7}, kNone, {1, 7}, {1, 6}},
      {"A100-SXM4-40GB", {"2c.3g.20gb", "2c.3g.20gb"}, {1, 7}, kNone, {2, 7}, {1, 3}},
      {"H100-SXM5-80GB", {"4c.7g.80gb", "3c.7g.80gb"}, kNone, kNone, kNone, kNone},
  };
  for (const LayoutCase& c : cases) expect_layout(c);
}

TEST(MigLayout, StrandedMoneyOfAnA100AtFourDollars) {
  struct Case {
    Profiles profiles;
    Parts stranded;  // of the GPU, half by compute and half by memory
  };
  // .25, .285714, 0, 0, .25 and .857143 dollars an hour.
  const Case cases[] = {
      {Profiles(7, "1g.5gb"), {1, 16}},
      {Profiles(2, "3g.20gb"), {1, 14}},
      {{"4g.20gb", "3g.20gb"}, {0, 1}},
      {{"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"}, {0, 1}},
      {{"2g.10gb", "2g.10gb", "2g.10gb", "1g.5gb"}, {1, 16}},
      {Profiles(4, "1g.10gb"), {3, 14}},
  };
  for (const Case& c : cases) {
    const MigLayout layout = layout_of("A100-SXM4-40GB", c.profiles);
    EXPECT_EQ((layout.stranded.compute.units() + layout.stranded.memory.units()) * c.stranded.whole,
              2 * CardShare::kUnitsPerCard * c.stranded.parts)
        << c.profiles.front();
  }
}

TEST(MigLayout, EachInstanceHasTheShareOfItsProfile) {
  const MigLayout layout = layout_of("A100-SXM4-40GB", {"4g.20gb", "3g.20gb"});
  EXPECT_EQ(layout.instances[0].compute, share({4, 7}));
  EXPECT_EQ(layout.instances[0].memory, share({1, 2}));
  EXPECT_EQ(layout.instances[1].compute, share({3, 7}));
  EXPECT_EQ(layout.instances[1].memory, share({1, 2}));
  const MigLayout other = layout_of("A100-SXM4-40GB", {"1g.10gb"});
  EXPECT_EQ(other.instances[0].memory, share({1, 4}));
  EXPECT_EQ(layout_of("A100-SXM4-80GB", {"1g.10gb"}).instances[0].memory, share({1, 8}));
}

TEST(MigLayout, WhatDoesNotFitIsRefusedByName) {
  struct Case {
    std::string_view model;
    Profiles profiles;
    std::string_view want;
  };
  const Case cases[] = {
      {"A100-SXM4-40GB",
       {"4g.20gb", "4g.20gb"},
       "MIG layout 2 x 4g.20gb on a A100-SXM4-40GB: at most 1 of 4g.20gb"},
      {"A100-SXM4-40GB", Profiles(8, "1g.5gb"),
       "MIG layout 8 x 1g.5gb on a A100-SXM4-40GB: at most 7 of 1g.5gb"},
      {"A100-SXM4-40GB",
       {"1g.5gb+me", "1g.5gb+me"},
       "MIG layout 2 x 1g.5gb+me on a A100-SXM4-40GB: at most 1 of 1g.5gb+me"},
      {"A100-SXM4-40GB",
       {"7g.40gb", "1g.5gb"},
       "MIG layout 1 x 1g.5gb + 1 x 7g.40gb on a A100-SXM4-40GB: these instances do not fit on one "
       "GPU together"},
      {"A100-SXM4-40GB",
       {"3g.20gb", "3g.20gb", "1g.5gb"},
       "MIG layout 1 x 1g.5gb + 2 x 3g.20gb on a A100-SXM4-40GB: these instances do not fit on one "
       "GPU together"},
      // Seven sevenths and eight eighths, but no valid placement: two 1g.5gb cannot be placed on
      // slices 6 and 7.
      {"A100-SXM4-40GB",
       {"4g.20gb", "2g.10gb", "1g.5gb", "1g.5gb"},
       "MIG layout 2 x 1g.5gb + 1 x 2g.10gb + 1 x 4g.20gb on a A100-SXM4-40GB: these instances do "
       "not fit on one GPU together"},
      {"A100-SXM4-40GB",
       {"2c.3g.20gb", "2c.3g.20gb", "2c.3g.20gb"},
       "MIG layout 3 x 3g.20gb on a A100-SXM4-40GB: at most 2 of 3g.20gb"},
      {"A30",
       {"2g.12gb", "2g.12gb", "1g.6gb"},
       "MIG layout 1 x 1g.6gb + 2 x 2g.12gb on a A30: these instances do not fit on one GPU "
       "together"},
      {"A100-SXM4-40GB",
       {"3g.20gb", "3g.40gb"},
       "MIG profile '3g.40gb' on a A100-SXM4-40GB: no such profile of this model in the table; see "
       "data/fleet/mig_profiles.csv"},
      {"H100-SXM5-80GB",
       {"a100_3g.40gb"},
       "MIG profile 'a100_3g.40gb' on a H100-SXM5-80GB: the name is of another model"},
      {"T4", {"1g.5gb"}, "MIG layout on a T4: this model has no MIG"},
      {"T4", {}, "MIG layout on a T4: this model has no MIG"},
  };
  for (const Case& c : cases) {
    const auto layout = mig_layout(model(c.model), c.profiles);
    ASSERT_FALSE(layout.has_value()) << c.want;
    EXPECT_EQ(layout.error().message, c.want);
  }
}

// `nvidia-smi mig -lgipp` of an A100 and an A30, which the NVIDIA MIG user guide prints.
TEST(MigProfile, Placements) {
  struct Case {
    std::string_view model;
    std::string_view profile;
    std::vector<std::uint32_t> want;
  };
  const Case cases[] = {
      {"A100-SXM4-40GB", "1g.5gb", {0, 1, 2, 3, 4, 5, 6}},
      {"A100-SXM4-40GB", "1g.5gb+me", {0, 1, 2, 3, 4, 5, 6}},
      {"A100-SXM4-40GB", "1g.10gb", {0, 2, 4, 6}},
      {"A100-SXM4-40GB", "2g.10gb", {0, 2, 4}},
      {"A100-SXM4-40GB", "3g.20gb", {0, 4}},
      {"A100-SXM4-40GB", "4g.20gb", {0}},
      {"A100-SXM4-40GB", "7g.40gb", {0}},
      {"A30", "1g.6gb", {0, 1, 2, 3}},
      {"A30", "2g.12gb", {0, 2}},
      {"A30", "4g.24gb", {0}},
      {"RTX-PRO-5000-BLACKWELL-48GB", "1g.24gb", {0, 1}},
      {"RTX-PRO-5000-BLACKWELL-48GB", "2g.48gb", {0}},
  };
  for (const Case& c : cases) {
    const auto use = find_mig_profile(model(c.model), c.profile);
    ASSERT_TRUE(use.has_value()) << use.error().message;
    EXPECT_EQ(mig_placements(model(c.model), *use->profile), c.want) << c.model << c.profile;
  }
}

TEST(MigProfile, NoProfileHasFewerPlacesThanInstances) {
  for (const GpuModel& each : gpu_models()) {
    for (const std::string& geometry : each.mig_geometries) {
      for (const MigProfile& profile : mig_profiles(geometry)) {
        EXPECT_LE(profile.max_instances, mig_placements(each, profile).size())
            << each.name << " " << profile.name;
        // The table's number of plain instances equals what their placements allow.
        if (profile.name.find_first_of("+-") == std::string::npos) {
          EXPECT_EQ(profile.max_instances, mig_placements(each, profile).size())
              << each.name << " " << profile.name;
        }
      }
    }
  }
}

// A model with MIG, and profiles of it that may or may not fit.
struct Draw {
  const GpuModel* card;
  Profiles profiles;
};

Draw draw() {
  std::vector<const GpuModel*> cards;
  for (const GpuModel& each : gpu_models()) {
    if (!each.mig_geometries.empty()) cards.push_back(&each);
  }
  Draw drawn;
  drawn.card = *rc::gen::elementOf(cards);
  std::vector<std::string> names;
  for (const std::string& geometry : drawn.card->mig_geometries) {
    for (const MigProfile& profile : mig_profiles(geometry)) names.push_back(profile.name);
  }
  const auto count = *rc::gen::inRange<std::size_t>(0, 8);
  for (std::size_t i = 0; i < count; ++i) drawn.profiles.push_back(*rc::gen::elementOf(names));
  return drawn;
}

RC_GTEST_PROP(MigLayoutProperty, AddsUpWhateverTheOrder, ()) {
  const Draw drawn = draw();
  const auto layout = mig_layout(*drawn.card, drawn.profiles);
  Profiles turned(drawn.profiles.rbegin(), drawn.profiles.rend());
  const auto same = mig_layout(*drawn.card, turned);
  RC_ASSERT(layout.has_value() == same.has_value());
  RC_CLASSIFY(layout.has_value(), "fits");
  if (!layout) {
    RC_ASSERT(layout.error() == same.error());
    return;
  }
  RC_ASSERT(sum_of(*layout).compute == CardShare::whole());
  RC_ASSERT(sum_of(*layout).memory == CardShare::whole());
  RC_ASSERT(layout->free.compute == same->free.compute);
  RC_ASSERT(layout->free.memory == same->free.memory);
}

RC_GTEST_PROP(MigLayoutProperty, AnInstanceLessStrandsNoMore, ()) {
  Draw drawn = draw();
  const auto layout = mig_layout(*drawn.card, drawn.profiles);
  if (!layout || drawn.profiles.empty()) return;
  drawn.profiles.pop_back();
  const auto before = mig_layout(*drawn.card, drawn.profiles);
  RC_ASSERT(before.has_value());
  RC_ASSERT(before->stranded.compute <= layout->stranded.compute);
  RC_ASSERT(before->stranded.memory <= layout->stranded.memory);
}

// The simpler rule, under which all of the rest is free as long as anything fits, agrees on when
// nothing is free.
bool another_fits(const Draw& drawn) {
  for (const std::string& geometry : drawn.card->mig_geometries) {
    for (const MigProfile& profile : mig_profiles(geometry)) {
      Profiles more = drawn.profiles;
      more.push_back(profile.name);
      if (mig_layout(*drawn.card, more).has_value()) return true;
    }
  }
  return false;
}

RC_GTEST_PROP(MigLayoutProperty, NothingIsFreeExactlyWhenNoFurtherInstanceFits, ()) {
  const Draw drawn = draw();
  const auto layout = mig_layout(*drawn.card, drawn.profiles);
  if (!layout) return;
  const bool some_free = layout->free.compute > CardShare() && layout->free.memory > CardShare();
  RC_ASSERT(some_free == another_fits(drawn));
}

}  // namespace
}  // namespace pennyweight
