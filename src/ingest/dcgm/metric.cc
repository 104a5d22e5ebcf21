#include "ingest/dcgm/metric.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "core/whole_count.h"

namespace pennyweight::dcgm {
namespace {

// dcgm_fields.h of DCGM 4.6, whose older names are aliases there; the names in lower case are those
// of dcgm-exporter 1.x.
struct Name {
  std::string_view metric;
  Field field;
};
constexpr Name kNames[] = {
    {"DCGM_FI_DEV_GPU_UTIL", Field::kGpuUtil},
    {"DCGM_FI_DEV_GPU_UTIL_RATIO", Field::kGpuUtil},
    {"dcgm_gpu_utilization", Field::kGpuUtil},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", Field::kEngineActive},
    {"DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", Field::kEngineActive},
    {"DCGM_FI_PROF_SM_ACTIVE", Field::kSmActive},
    {"DCGM_FI_PROF_SM_UTIL_RATIO", Field::kSmActive},
    {"DCGM_FI_DEV_FB_USED", Field::kMemoryUsed},
    {"dcgm_fb_used", Field::kMemoryUsed},
    {"DCGM_FI_DEV_FB_FREE", Field::kMemoryFree},
    {"dcgm_fb_free", Field::kMemoryFree},
    {"DCGM_FI_DEV_FB_RESERVED", Field::kMemoryReserved},
    {"DCGM_FI_DEV_FB_TOTAL", Field::kMemoryTotal},
    {"DCGM_FI_DEV_POWER_USAGE", Field::kPower},
    {"DCGM_FI_DEV_BOARD_POWER_WATTS", Field::kPower},
    {"dcgm_power_usage", Field::kPower},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", Field::kEnergy},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total", Field::kEnergy},  // OpenMetrics' counters
    {"dcgm_total_energy_consumption", Field::kEnergy},
};

struct Scale {
  std::uint64_t units;  // of the field's unit in one of the metric's
  std::int64_t most;    // the largest value in the metric's own unit
  std::string_view text;
};

Scale scale_of(Field field) {
  switch (field) {
    case Field::kGpuUtil:
      return {10'000, 100, "0 to 100 %"};
    case Field::kEngineActive:
    case Field::kSmActive:
      return {1'000'000, 1, "0 to 1"};
    case Field::kMemoryUsed:
    case Field::kMemoryFree:
    case Field::kMemoryReserved:
    case Field::kMemoryTotal:
      return {1u << 20, 1 << 26, "0 to 64 TiB, in MiB"};
    case Field::kPower:
      return {1000, 100'000, "0 to 100 kW, in W"};
    case Field::kEnergy:
      return {1, std::int64_t{1} << 53, "0 to 2^53 mJ"};
  }
  CHECK(false, "every field has a scale");
}

// dcgm_structs.h: a base, and +1 not found, +2 not supported, +3 not permitted. The int64 ones are
// also read as they look after a passage through a double.
bool is_blank(Field field, Decimal value) {
  const auto within = [&](std::int64_t first, std::int64_t last) {
    return value >= Decimal::from_units(first) && value <= Decimal::from_units(last);
  };
  constexpr std::int64_t kInt64Blank = 9'223'372'036'854'775'792;
  constexpr std::int64_t kDoubleBlank = 140'737'488'355'328;
  // An energy counter passes through the int32 range, where those values are real.
  const bool int32 = field != Field::kEnergy && within(2'147'483'632, 2'147'483'635);
  // Shortest text of that double: 9.223372036854776e+18.
  const Decimal rounded =
      Decimal::from_ticks(Decimal::from_units(9'223'372'036'854'776).ticks() * 1000);
  return int32 || within(kDoubleBlank, kDoubleBlank + 3) ||
         (value >= Decimal::from_units(kInt64Blank) && value <= rounded);
}

}  // namespace

std::optional<Field> find_field(std::string_view metric) {
  const auto* const at = std::ranges::find(kNames, metric, &Name::metric);
  if (at == std::end(kNames)) return std::nullopt;
  return at->field;
}

Result<std::optional<std::uint64_t>> measure(Field field, Decimal value) {
  if (is_blank(field, value)) return std::nullopt;
  const Scale scale = scale_of(field);
  if (value.is_negative() || value > Decimal::from_units(scale.most)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} lies outside of the metric's documented scale, {}; it is not "
                            "clamped, so look at the driver or the exporter that wrote it",
                            to_text(value), scale.text));
  }
  const auto count = nearest_count(value, scale.units);
  if (!count) return std::unexpected(count.error());
  return *count;
}

}  // namespace pennyweight::dcgm
