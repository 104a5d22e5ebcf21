#include "device_truth.h"

#include <string>

#include "core/check.h"

namespace pennyweight::sim {
namespace {

constexpr std::uint64_t kCard = CardShare::kUnitsPerCard;

const Model& model_named(const std::string& name) {
  for (const Model& model : models()) {
    if (name == model.name) return model;
  }
  CHECK(false, "a world has only the models above");
}

const Profile& profile_named(const Model& model, const std::string& name) {
  for (const Profile& profile : model.profiles) {
    if (name == profile.name) return profile;
  }
  CHECK(false, "a world has only the profiles above");
}

}  // namespace

// NVIDIA MIG user guide, "supported profiles". The layouts are mig-parted's defaults and some that
// leave a part of the GPU unusable, copied by hand since this is the truth. An A100 with a 1g
// beside larger instances measures them wrongly (DCGM issues 138, 248, 152).
const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"A100-SXM4-40GB",
       40,
       7,
       8,
       {{"1g.5gb", 1, 1},
        {"1g.10gb", 1, 2},
        {"2g.10gb", 2, 2},
        {"3g.20gb", 3, 4},
        {"4g.20gb", 4, 4},
        {"7g.40gb", 7, 8}},
       {{{0, 0, 0, 0, 0, 0, 0}, 0, 1},
        {{3, 3}, 1, 0},
        {{4, 3}},
        {{2, 2, 2}},
        {{0, 0, 2, 3}, 0, 0, false},
        {{1, 1, 1, 1}, 3, 0},
        {{5}}}},
      {"H100-SXM5-80GB",
       80,
       7,
       8,
       {{"1g.10gb", 1, 1},
        {"1g.20gb", 1, 2},
        {"2g.20gb", 2, 2},
        {"3g.40gb", 3, 4},
        {"4g.40gb", 4, 4},
        {"7g.80gb", 7, 8}},
       {{{0, 0, 0, 0, 0, 0, 0}, 0, 1},
        {{3, 3}, 1, 0},
        {{4, 3}},
        {{2, 2, 2, 0}, 0, 1},
        {{0, 0, 2, 3}},
        {{3}},
        {{5}}}},
      {"A30",
       24,
       4,
       4,
       {{"1g.6gb", 1, 1}, {"2g.12gb", 2, 2}, {"4g.24gb", 4, 4}},
       {{{0, 0, 0, 0}}, {{1, 1}}, {{1, 0, 0}}, {{2}}}},
      {"T4", 16, 0, 0, {}, {}},
      {"L4", 24, 0, 0, {}, {}},
  };
  return all;
}

CardUnits true_units(const Device& device, const Node& node) {
  const auto even = [](std::uint64_t parts, std::uint64_t whole) {
    return CardUnits{kCard * parts / whole, kCard * parts / whole};
  };
  if (const auto* part = std::get_if<CardFraction>(&device)) {
    return {part->compute.units(), part->memory.units()};
  }
  if (const auto* slice = std::get_if<MigSlice>(&device)) {
    const Model& model = model_named(node.gpu_model);
    const Profile& profile = profile_named(model, slice->profile);
    return {kCard * profile.compute / model.compute_slices,
            kCard * profile.memory / model.memory_slices};
  }
  if (std::holds_alternative<Shard>(device)) return even(node.gpu_count, node.shard_count);
  if (std::holds_alternative<MpsUnit>(device)) return even(node.gpu_count, node.mps_count);
  if (std::holds_alternative<Replica>(device)) return even(1, node.gpu_replicas);
  if (const auto* vgpu = std::get_if<VirtualGpu>(&device)) {
    std::uint64_t memory = kCard;
    if (vgpu->memory_percent) memory = kCard * *vgpu->memory_percent / 100;
    if (vgpu->memory_bytes) {
      // Worlds request whole 64ths of a GPU's memory, which are whole units.
      const std::uint64_t slice = (model_named(node.gpu_model).memory_gib << 30) / 64;
      memory = kCard / 64 * (*vgpu->memory_bytes / slice);
    }
    return {vgpu->cores_percent ? kCard * *vgpu->cores_percent / 100 : memory, memory};
  }
  return {kCard, kCard};
}

}  // namespace pennyweight::sim
