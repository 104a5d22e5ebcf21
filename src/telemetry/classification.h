// Classification: what a series measures, decided once for each series from its labels alone.
//
// All traps of dcgm-exporter, nvidia_gpu_exporter, HAMi and their kin that labels show are handled
// here and nowhere else: renamed metrics and labels, `exported_*`, the exporter's own pod, series
// of the whole GPU that are repeated for each MIG instance and pod. What only shows over time
// (blanks, gaps, resets, sticky values) is left to the accumulator (telemetry/live).
//
// Two sources for one measurement. A GPU may be watched by dcgm-exporter and by
// nvidia_gpu_exporter, and each exporter by two Prometheus servers. Their samples must not
// interleave: with two clocks a counter seems to run backwards, and a reset that never happened
// would add the energy of a whole year. So each series names its `source`: the exporter's family,
// which kind of the metric it is, and the sender's replica. Of all series with one
// series_identity() one source counts. Another takes over once that one has been silent for as long
// as a value holds (as the HA trackers of Mimir and Thanos do). Nothing is averaged, and no more
// than one hold is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/hash.h"
#include "core/id.h"
#include "core/label.h"
#include "telemetry/prometheus/series.h"

namespace pennyweight::telemetry {

// What is measured, in the unit of its accumulated value.
enum class Quantity : std::uint8_t {
  kGpuUtil,         // ppm
  kEngineActive,    // ppm
  kSmActive,        // ppm
  kTensorActive,    // ppm
  kDramActive,      // ppm
  kMemoryUsed,      // bytes
  kMemoryFree,      // bytes
  kMemoryReserved,  // bytes
  kMemoryTotal,     // bytes
  kPower,           // mW
  kEnergy,          // counter, mJ
  kTemperature,     // degrees Celsius
  kSmClock,         // MHz
  kThrottle,        // bit mask of clock event reasons; counts while any harmful bit is set
  kPcie,            // bytes per second
  kNvlink,          // bytes per second
  kXid,             // the last XID code, sticky: counts where it changes
  kXidCount,   // XIDs of a sliding window (DCGM_EXP_XID_ERRORS_COUNT): counts what it grows by;
               // `component` is the code, "79"
  kEccErrors,  // counter of uncorrected errors
  kSmCyclesElapsed,  // counter; with the next one the exact SM_ACTIVE
  kSmCyclesActive,   // counter
};
inline constexpr std::size_t kQuantities = 21;
std::string_view to_text(Quantity quantity);  // "sm_active"

// One measurement of one device. Series with the same series_identity() and `source` are copies of
// each other. What exporters only know of a whole GPU (power, energy, temperature, clocks, XID,
// ECC, PCIe, NVLink) belongs to the GPU, whatever instance or pod the labels name.
struct DeviceSeries {
  ClusterId cluster;
  NodeId node;
  GpuId gpu;                 // UUID
  std::string mig_instance;  // GPU instance id; empty: the whole GPU
  std::string mig_profile;
  std::string model;
  std::int32_t gpu_index = -1;  // on its node; -1: not stated
  WorkloadId workload;          // "namespace/pod", an HPC job's id; may be empty
  bool of_workload = false;     // the values are of this workload alone
  Quantity quantity;
  // Series that differ only here add up: the containers of a pod under HAMi, both directions of a
  // link, XIDs by code.
  std::string component;
  std::string source;  // "dcgm", "nvidia-smi", "hami", and what tells two of one family apart
  double scale = 1;    // raw value × scale is in the quantity's unit
  double least = 0;    // of the raw value, as documented; values outside are counted
  // It measures nothing: it only says what GPU that is (nvidia_smi_gpu_info).
  bool is_description = false;
  double most = 0;  // and: shares up to 1.5 × `most` are clamped (DCGM issue #152), others dropped
};

// A counter of results (requests, tokens), or what a container uses of its host.
struct OutcomeSeries {
  ClusterId cluster;
  WorkloadId workload;
  std::string measure;    // ledger/outcome.h
  Labels labels;          // model, user, client …, as configured
  std::string component;  // engines, containers: their increases add up
  std::string source;     // as of a DeviceSeries
  std::uint64_t per = 1;  // each unit of the counter is so many of the measure
  // Not a counter but a level, of which so many units are one of the measure's: the measure is the
  // level times milliseconds.
  std::optional<std::uint64_t> level_unit = {};
};

// A series of kube-state-metrics, for ingest/schedulers/kubernetes, or a bucket of a latency
// histogram (latency_series.h). A label that Prometheus renamed
// to `exported_*` has its name back; "__name__" and what the sender added (job, instance, cluster,
// replica) are left out.
struct StateSeries {
  ClusterId cluster;
  std::string metric;
  std::vector<prometheus::Label> labels;
};

// No charge, KPI or alert needs it.
struct Ignored {};
// It measures a device or an outcome, but says too little. `why` is one of a few constant texts, by
// which such series are counted.
struct Unusable {
  std::string why;
};

using Classification = std::variant<Ignored, DeviceSeries, OutcomeSeries, StateSeries, Unusable>;

// A counter of results that the configuration names.
struct OutcomeRule {
  std::string metric;                         // exact name
  std::string measure;                        // what it counts
  std::vector<std::string> keep = {};         // labels to keep
  std::uint64_t per = 1;                      // each unit of the counter is so many of the measure
  std::vector<prometheus::Label> where = {};  // only series with these labels
};

// Which of the kubelet's two pages tells what containers use of processors and memory. They have
// the same names of metrics, so both at once would count twice.
enum class HostUsageSource {
  kNone,
  kCadvisor,  // /metrics/cadvisor
  kResource,  // /metrics/resource
};

struct ClassificationOptions {
  ClusterId cluster;  // where no label says otherwise
  std::string cluster_label =
      "cluster";  // an external label of the sender; empty: labels name no cluster
  std::vector<OutcomeRule> outcomes = {};  // besides the built-in ones of vLLM, Triton and TGI
  HostUsageSource host_usage = HostUsageSource::kNone;
  // External labels in which two senders of the same series differ.
  std::vector<std::string> replica_labels = {"prometheus_replica", "__replica__"};
  // A pod or container whose name contains one of these is an exporter, not a workload.
  std::vector<std::string> exporters = {"dcgm-exporter", "gpu-exporter", "gpu_exporter",
                                        "hami-device-plugin", "volcano-device-plugin"};
};

// `labels` are sorted by name and hold "__name__". Pure, thread-safe.
Classification classify_series(std::span<const prometheus::Label> labels,
                               const ClassificationOptions& options);

// What a series measures, whatever its source and scale: all fields but `node`, `model`,
// `gpu_index`, `source`, `scale`, `least` and `most`.
Hash128 series_identity(const DeviceSeries& series);
// All but `source`, `per` and `level_unit`.
Hash128 series_identity(const OutcomeSeries& series);

// Whether it is not a value at all: NaN, the infinities, and the blanks of DCGM (not found, not
// supported, not permitted) of any type of field. Source: dcgmlib/dcgm_structs.h, lines 54 to 130.
bool is_blank(double value);
// The same for one quantity. A counter passes through numbers that are blanks of other types of
// field: an energy of 2147483632 mJ is valid.
bool is_blank(Quantity quantity, double value);

}  // namespace pennyweight::telemetry
