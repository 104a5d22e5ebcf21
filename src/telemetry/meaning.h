// Meaning: what a series says, told from its labels alone, once a series.
//
// The traps of dcgm-exporter, nvidia_gpu_exporter, HAMi and their kin are dealt with here and
// nowhere else: renamed metrics and labels, `exported_*`, the exporter's own pod, series of the
// whole card that are repeated for each MIG instance and pod. What is only seen in time (blanks,
// gaps, resets, stickiness) is the accumulator's, in room `live`.
//
// Two speakers for one thing. One card may be watched by dcgm-exporter and by nvidia_gpu_exporter,
// and each exporter by two Prometheis. What they say must not interleave: two clocks make a counter
// run backwards, and a reset that never was would add all the energy of a year. So a series names
// its `source`: the exporter's family, what kind of the metric it is, and the sender's replica. Of
// all series with one identity_of() one source counts; another one takes over when that one has
// been silent for as long as a value holds (as Mimir's and Thanos' HA trackers do). Nothing is
// averaged, and nothing is lost but the hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/hash.h"
#include "core/id.h"
#include "core/label.h"
#include "ingest/prometheus/series.h"

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

// One measurement of one device. Series with the same identity_of() and `source` are the same one:
// copies. What is known of a whole card only (power, energy, temperature, clocks,
// XID, ECC, PCIe, NVLink) is told of the card, whatever instance or pod its labels name.
struct DeviceSeries {
  ClusterId cluster;
  NodeId node;
  GpuId gpu;                 // UUID of the card
  std::string mig_instance;  // GPU instance id; empty: the card
  std::string mig_profile;
  std::string model;
  std::int32_t gpu_index = -1;  // on its node; -1: not said
  WorkloadId workload;          // "namespace/pod", an HPC job's id; may be empty
  bool of_workload = false;     // the values are the workload's own
  Quantity quantity;
  // Values of series that differ only here add up: the containers of a pod under HAMi, both
  // directions of a link, XIDs by code.
  std::string component;
  std::string source;  // "dcgm", "nvidia-smi", "hami", with what tells two of a family apart
  double scale = 1;    // raw value × scale is in the quantity's unit
  double least = 0;    // of the raw value, as documented; what is outside is counted
  double most = 0;  // and: shares up to 1.5 × `most` are clamped (DCGM issue #152), others dropped
};

// A counter of what was done for somebody.
struct OutcomeSeries {
  ClusterId cluster;
  WorkloadId workload;
  std::string measure;    // ledger/outcome.h
  Labels labels;          // model, user, client …, as configured
  std::string component;  // engines, containers: their increases add up
  std::string source;     // as of a DeviceSeries
  std::uint64_t per = 1;  // each unit of the counter is so many of the measure
};

// A series of kube-state-metrics, for ingest/kubernetes. What Prometheus renamed to `exported_*`
// has its name back; without "__name__" and what the sender added (job, instance, cluster,
// replica).
struct StateSeries {
  ClusterId cluster;
  std::string metric;
  std::vector<prometheus::Label> labels;
};

// Nothing that a charge, a KPI or an alert needs.
struct Ignored {};
// Meant for us and not usable; `why` is a constant text, counted by it.
struct Unusable {
  std::string why;
};

using Meaning = std::variant<Ignored, DeviceSeries, OutcomeSeries, StateSeries, Unusable>;

// A counter by configuration.
struct OutcomeRule {
  std::string metric;                         // exact name
  std::string measure;                        // what it counts
  std::vector<std::string> keep = {};         // labels to keep
  std::uint64_t per = 1;                      // each unit of the counter is so many of the measure
  std::vector<prometheus::Label> where = {};  // only series with these labels
};

struct MeaningOptions {
  ClusterId cluster;  // where no label says otherwise
  std::string cluster_label =
      "cluster";  // an external label of the sender; empty: none is looked at
  std::vector<OutcomeRule> outcomes = {};  // besides the built-in ones of vLLM, Triton and TGI
  // External labels by which two senders of the same series differ.
  std::vector<std::string> replica_labels = {"prometheus_replica", "__replica__"};
  // A pod, or its container, whose name holds one of these is an exporter and no workload.
  std::vector<std::string> exporters = {"dcgm-exporter", "gpu-exporter", "gpu_exporter",
                                        "hami-device-plugin", "volcano-device-plugin"};
};

// `labels` are sorted by name and hold "__name__". Pure, thread-safe.
Meaning meaning_of(std::span<const prometheus::Label> labels, const MeaningOptions& options);

// What a series is about, whoever says it and in whatever scale: all but `node`, `model`,
// `gpu_index`, `source`, `scale`, `least` and `most`.
Hash128 identity_of(const DeviceSeries& series);
Hash128 identity_of(const OutcomeSeries& series);  // all but `source` and `per`

// No value at all: NaN, the infinities, and DCGM's blanks (not found, not supported, not
// permitted), of which `value` is any kind. Source: dcgmlib/dcgm_structs.h, lines 54 to 130.
bool is_blank(double value);
// The same, except that a counter of this quantity passes through numbers that are blanks of other
// types of field: an energy of 2147483632 mJ is one.
bool is_blank(Quantity quantity, double value);

}  // namespace pennyweight::telemetry
