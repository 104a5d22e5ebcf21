#include "core/gpu/gpu_speed.h"

#include <map>
#include <string>
#include <string_view>

#include "core/check.h"
#include "core/decimal.h"
#include "core/gpu/embedded.h"
#include "core/gpu/plain_table.h"

namespace pennyweight {
namespace {

constexpr std::int64_t kThousandthTicks = Decimal::kTicksPerUnit / 1000;

// Thousandths of a number; 0 for an empty cell.
std::uint64_t thousandths(std::string_view cell) {
  if (cell.empty()) return 0;
  const auto value = parse_exact_decimal(cell);
  CHECK(value.has_value(), "the built-in tables are read by a test");
  return static_cast<std::uint64_t>(value->ticks() / kThousandthTicks);
}

std::map<std::string, GpuSpeed, std::less<>> read_speeds() {
  constexpr std::string_view kSpeedColumns[] = {"model", "memory_bandwidth_gb_s",
                                                "fp16_dense_tflops", "bf16_dense_tflops", "tdp_w"};
  const auto table = PlainTable::parse(embedded::gpu_catalog_csv(), "gpu_catalog.csv",
                                       {.required = kSpeedColumns, .others_ignored = true});
  CHECK(table.has_value(), "the built-in tables are read by a test");
  std::map<std::string, GpuSpeed, std::less<>> speeds;
  for (std::size_t i = 0; i < table->size(); ++i) {
    const auto row = table->row(i);
    // Thousandths of a TFLOPS are GFLOPS.
    speeds[std::string(row[0])] = {thousandths(row[1]) / 1000, thousandths(row[2]),
                                   thousandths(row[3]), thousandths(row[4]) / 1000};
  }
  return speeds;
}

}  // namespace

GpuSpeed gpu_speed(const GpuModel& model) {
  static const std::map<std::string, GpuSpeed, std::less<>> speeds = read_speeds();
  const auto at = speeds.find(model.name);
  return at == speeds.end() ? GpuSpeed{} : at->second;
}

}  // namespace pennyweight
