#include "ingest/devices/dcgm/metric.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight::dcgm {
namespace {

// dcgm_structs.h: a base, and +1 not found, +2 not supported, +3 not permitted. The int64 ones are
// also recognised as they look after conversion to a double and back.
bool is_blank(Field field, Decimal value) {
  const auto within = [&](std::int64_t first, std::int64_t last) {
    return value >= Decimal::from_units(first) && value <= Decimal::from_units(last);
  };
  constexpr std::int64_t kInt64Blank = 9'223'372'036'854'775'792;
  constexpr std::int64_t kDoubleBlank = 140'737'488'355'328;
  // An energy counter passes through the int32 range, where those values are valid.
  const bool int32 = field != Field::kEnergy && within(2'147'483'632, 2'147'483'635);
  // Shortest text of that double: 9.223372036854776e+18.
  const Decimal rounded =
      Decimal::from_ticks(Decimal::from_units(9'223'372'036'854'776).ticks() * 1000);
  return int32 || within(kDoubleBlank, kDoubleBlank + 3) ||
         (value >= Decimal::from_units(kInt64Blank) && value <= rounded);
}

}  // namespace

const DcgmMetric* find_field(std::string_view metric) {
  constexpr Field kRead[] = {Field::kGpuUtil,      Field::kEngineActive,   Field::kSmActive,
                             Field::kTensorActive, Field::kDramActive,     Field::kMemoryUsed,
                             Field::kMemoryFree,   Field::kMemoryReserved, Field::kMemoryTotal,
                             Field::kPower,        Field::kEnergy};
  const DcgmMetric* const found = find_dcgm_metric(metric);
  if (found == nullptr || !found->variant.empty()) return nullptr;
  return std::ranges::find(kRead, found->field) == std::end(kRead) ? nullptr : found;
}

Result<std::optional<std::uint64_t>> measure(const DcgmMetric& metric, Decimal value) {
  if (is_blank(metric.field, value)) return std::nullopt;
  if (value.is_negative() || value > Decimal::from_units(metric.most)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} lies outside of the metric's documented scale, {}; it is not "
                            "clamped, so look at the driver or the exporter that wrote it",
                            to_text(value), metric.scale));
  }
  const auto count = TRY(nearest_count(value, metric.units));
  return count;
}

}  // namespace pennyweight::dcgm
