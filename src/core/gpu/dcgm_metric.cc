#include "core/gpu/dcgm_metric.h"

#include <algorithm>

namespace pennyweight {
namespace {

using enum DcgmField;

constexpr std::int64_t kExact = std::int64_t{1} << 53;  // whole numbers of a double
constexpr std::int64_t kMibMost = 1 << 26;
constexpr std::int64_t kBytesPerSecondMost = 100'000'000'000'000;

constexpr std::string_view kPercent = "0 to 100 %";
constexpr std::string_view kRatio = "0 to 1";
constexpr std::string_view kMib = "0 to 64 TiB, in MiB";
constexpr std::string_view kWatt = "0 to 100 kW, in W";
constexpr std::string_view kMillijoule = "0 to 2^53 mJ";
constexpr std::string_view kRate = "0 to 100 TB/s, in bytes per second";
constexpr std::string_view kCount = "0 to 2^53";

constexpr DcgmMetric ratio(std::string_view name, DcgmField field) {
  return {name, field, 1'000'000, 1, kRatio};
}
constexpr DcgmMetric percent(std::string_view name, DcgmField field) {
  return {name, field, 10'000, 100, kPercent};
}
constexpr DcgmMetric mib(std::string_view name, DcgmField field) {
  return {name, field, 1u << 20, kMibMost, kMib};
}
constexpr DcgmMetric watt(std::string_view name, std::string_view variant = {}) {
  return {name, kPower, 1000, 100'000, kWatt, variant};
}
constexpr DcgmMetric energy(std::string_view name) {
  return {name, kEnergy, 1, kExact, kMillijoule};
}
constexpr DcgmMetric celsius(std::string_view name) {
  return {name, kTemperature, 1, 1000, "0 to 1000 degrees Celsius"};
}
constexpr DcgmMetric clock_rate(std::string_view name) {
  return {name, kSmClock, 1, 100'000, "0 to 100 GHz, in MHz"};
}
constexpr DcgmMetric mask(std::string_view name) {
  return {name, kClockEvents, 1, std::int64_t{1} << 32, "a mask of 32 bits"};
}
constexpr DcgmMetric rate(std::string_view name, DcgmField field) {
  return {name, field, 1, kBytesPerSecondMost, kRate};
}
constexpr DcgmMetric xid(std::string_view name) { return {name, kXid, 1, 100'000, "0 to 100000"}; }
constexpr DcgmMetric count(std::string_view name, DcgmField field, std::string_view variant = {}) {
  return {name, field, 1, kExact, kCount, variant};
}

// Of all multiprocessors together, 2 x 10^11 a second: past the whole numbers of a double in a day.
constexpr DcgmMetric cycles(std::string_view name, DcgmField field) {
  return {name, field, 1, std::int64_t{1} << 62, "0 to 2^62"};
}

// dcgm_fields.h of DCGM 4.6, whose older names are aliases there; the names in lower case are those
// of dcgm-exporter 1.x; DCGM_EXP_ are the exporter's own. NVLINK_BANDWIDTH_TOTAL is not among them:
// no source says what it counts in, and fields 1011 and 1012 are the same thing with a unit.
constexpr DcgmMetric kMetrics[] = {
    percent("DCGM_FI_DEV_GPU_UTIL", kGpuUtil),
    percent("DCGM_FI_DEV_GPU_UTIL_RATIO", kGpuUtil),
    percent("dcgm_gpu_utilization", kGpuUtil),
    ratio("DCGM_FI_PROF_GR_ENGINE_ACTIVE", kEngineActive),
    ratio("DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", kEngineActive),
    ratio("DCGM_FI_PROF_SM_ACTIVE", kSmActive),
    ratio("DCGM_FI_PROF_SM_UTIL_RATIO", kSmActive),
    ratio("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", kTensorActive),
    ratio("DCGM_FI_PROF_TENSOR_UTIL_RATIO", kTensorActive),
    ratio("DCGM_FI_PROF_DRAM_ACTIVE", kDramActive),
    ratio("DCGM_FI_PROF_DRAM_UTIL_RATIO", kDramActive),
    mib("DCGM_FI_DEV_FB_USED", kMemoryUsed),
    mib("dcgm_fb_used", kMemoryUsed),
    mib("DCGM_FI_DEV_FB_FREE", kMemoryFree),
    mib("dcgm_fb_free", kMemoryFree),
    mib("DCGM_FI_DEV_FB_RESERVED", kMemoryReserved),
    mib("DCGM_FI_DEV_FB_TOTAL", kMemoryTotal),
    watt("DCGM_FI_DEV_POWER_USAGE"),
    watt("DCGM_FI_DEV_BOARD_POWER_WATTS"),
    watt("dcgm_power_usage"),
    watt("DCGM_FI_DEV_POWER_USAGE_INSTANT", "instant"),
    watt("DCGM_FI_DEV_BOARD_POWER_RAW_WATTS", "instant"),
    energy("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"),
    energy("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total"),  // OpenMetrics' counters
    energy("dcgm_total_energy_consumption"),
    celsius("DCGM_FI_DEV_GPU_TEMP"),
    celsius("DCGM_FI_DEV_GPU_TEMP_CELSIUS"),
    celsius("dcgm_gpu_temp"),
    clock_rate("DCGM_FI_DEV_SM_CLOCK"),
    clock_rate("dcgm_sm_clock"),
    mask("DCGM_FI_DEV_CLOCKS_EVENT_REASONS"),
    mask("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"),
    rate("DCGM_FI_PROF_PCIE_TX_BYTES", kPcieSent),
    rate("DCGM_FI_PROF_PCIE_RX_BYTES", kPcieReceived),
    rate("DCGM_FI_PROF_NVLINK_TX_BYTES", kNvlinkSent),
    rate("DCGM_FI_PROF_NVLINK_RX_BYTES", kNvlinkReceived),
    xid("DCGM_FI_DEV_XID_ERRORS"),
    xid("DCGM_FI_DEV_XID_ERROR"),
    xid("dcgm_xid_errors"),
    count("DCGM_EXP_XID_ERRORS_COUNT", kXidCount),
    count("DCGM_EXP_XID_ERRORS_TOTAL", kXidCount, "total"),
    count("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", kEccErrors),
    count("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", kEccErrors, "aggregate"),
    cycles("DCGM_FI_PROF_SM_CYCLES_ELAPSED_TOTAL", kSmCyclesElapsed),
    cycles("DCGM_FI_PROF_SM_CYCLES_ACTIVE_TOTAL", kSmCyclesActive),
};

}  // namespace

const DcgmMetric* find_dcgm_metric(std::string_view name) {
  const auto* const at = std::ranges::find(kMetrics, name, &DcgmMetric::name);
  return at == std::end(kMetrics) ? nullptr : at;
}

std::span<const DcgmMetric> dcgm_metrics() { return kMetrics; }

}  // namespace pennyweight
