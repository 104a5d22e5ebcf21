#include "core/gpu/gpu_model.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/check.h"
#include "core/gpu/embedded.h"
#include "core/gpu/normal_name.h"
#include "core/gpu/plain_table.h"
#include "core/units.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kModelTableNumberMax = 1'000'000;

struct Models {
  std::vector<GpuModel> models;  // by name
  std::map<std::string, const GpuModel*, std::less<>> by_whole_name;
  std::map<std::string, const GpuModel*, std::less<>> by_normal_name;
};

PlainTable built_in_table(std::string_view text, std::string_view name,
                          std::span<const std::string_view> columns) {
  auto table = PlainTable::parse(text, name, {.required = columns, .others_ignored = true});
  CHECK(table.has_value(), "the built-in tables are read by a test");
  return *std::move(table);
}

// The slices of a card, from the first profile of its geometry.
void set_mig_slices(GpuModel& model, const PlainTable& profiles) {
  if (model.mig_geometries.empty()) return;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const auto row = profiles.row(i);
    if (row[0] != model.mig_geometries.front()) continue;
    model.mig_compute_slices =
        static_cast<std::uint32_t>(parse_count(row[1], kModelTableNumberMax).value());
    model.mig_memory_slices =
        static_cast<std::uint32_t>(parse_count(row[2], kModelTableNumberMax).value());
    return;
  }
  CHECK(false, "every geometry that gpu_catalog.csv names has rows in mig_profiles.csv");
}

std::vector<std::string> split_at_bars(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t bar = text.find('|');
    parts.emplace_back(text.substr(0, bar));
    text.remove_prefix(bar == std::string_view::npos ? text.size() : bar + 1);
  }
  return parts;
}

Models read_models() {
  constexpr std::string_view kModelColumns[] = {"model",        "device_name", "vendor",
                                                "architecture", "memory_gb",   "mig_geometry"};
  constexpr std::string_view kProfileColumns[] = {"gpu", "total_compute_slices",
                                                  "total_memory_slices"};
  constexpr std::string_view kAliasColumns[] = {"alias", "model", "written_whole"};
  const PlainTable catalog =
      built_in_table(embedded::gpu_catalog_csv(), "gpu_catalog.csv", kModelColumns);
  const PlainTable profiles =
      built_in_table(embedded::mig_profiles_csv(), "mig_profiles.csv", kProfileColumns);
  const PlainTable aliases =
      built_in_table(embedded::gpu_aliases_csv(), "gpu_aliases.csv", kAliasColumns);

  Models result;
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    const auto row = catalog.row(i);
    GpuModel& model = result.models.emplace_back();
    model.name = row[0];
    model.device_name = row[1];
    model.vendor = row[2];
    model.architecture = row[3];
    model.memory_bytes = parse_count(row[4], kModelTableNumberMax).value() * kBytesPerGib;
    model.mig_geometries = split_at_bars(row[5]);
    set_mig_slices(model, profiles);
  }
  std::sort(result.models.begin(), result.models.end(),
            [](const GpuModel& a, const GpuModel& b) { return a.name < b.name; });

  const auto add_name = [&](std::string_view name, const GpuModel* model) {
    const auto [at, added] = result.by_normal_name.emplace(normal_gpu_name(name), model);
    CHECK(added || at->second == model, "no name of the tables means two models");
  };
  for (const GpuModel& model : result.models) {
    add_name(model.name, &model);
    add_name(model.device_name, &model);
  }
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    const auto row = aliases.row(i);
    const auto model = std::find_if(result.models.begin(), result.models.end(),
                                    [&](const GpuModel& m) { return m.name == row[1]; });
    CHECK(model != result.models.end(), "every alias is of a model of gpu_catalog.csv");
    if (row[2] == "yes") {
      result.by_whole_name.emplace(whole_gpu_name(row[0]), &*model);
    } else {
      add_name(row[0], &*model);
    }
  }
  return result;
}

// Read once and never changed.
const Models& built_in_models() {
  static const Models models = read_models();
  return models;
}

}  // namespace

const GpuModel* find_gpu_model(std::string_view reported) {
  const Models& models = built_in_models();
  const auto whole = models.by_whole_name.find(whole_gpu_name(reported));
  if (whole != models.by_whole_name.end()) return whole->second;
  const auto normal = models.by_normal_name.find(normal_gpu_name(reported));
  return normal == models.by_normal_name.end() ? nullptr : normal->second;
}

std::span<const GpuModel> gpu_models() { return built_in_models().models; }

}  // namespace pennyweight
