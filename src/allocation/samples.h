// Reads telemetry of one cluster into series of compact samples (20 bytes), grouped by device.
//
// This is the first half of to_intervals() (allocation/utilization.h): it finds the device of each
// row, converts the values to units of that device, and sorts each series by time. The second half
// decides what a pod's name on a row means.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/usage.h"

namespace pennyweight {

// Values in units of CardShare of the device, or UtilizationInterval::kUnknown.
struct Sample {
  std::uint32_t at;       // milliseconds after SampledDevices::begin
  std::uint32_t span;     // how long it holds, in milliseconds; 0: until the next one
  std::uint32_t compute;  // the first of rules.activity that is known
  std::uint32_t util;     // GPU_UTIL, where rules.activity has it
  std::uint32_t memory;
  auto operator<=>(const Sample&) const = default;
};

// Whose values a series has, as far as its rows say.
enum class SampleLabel {
  kDevice,    // the device's
  kPod,       // a pod is named; the values may be the pod's or the device's
  kWorkload,  // the workload's own (Usage::of_workload)
};

struct SampleSeries {
  std::string device;
  std::string workload;  // empty: kDevice
  SampleLabel label;
  std::span<Sample> samples;  // by time, then compute, util, memory: unknown ones last
};

struct SampledDevices {
  Instant begin;                     // hold_ms before the interval
  std::vector<SampleSeries> series;  // by device, workload, label; none is empty
  std::unique_ptr<Sample[]> samples;
  std::uint64_t count = 0;
  std::uint64_t clamped = 0;
  std::uint64_t unreliable = 0;
};

// Takes the samples that reach into `during` when each holds for hold_ms at most. REQUIRES:
// `during` and hold_ms together are shorter than 49 days.
SampledDevices read_device_samples(std::span<const Usage> usages, std::span<const Gpu> gpus,
                                   const UsageRules& rules, const Interval& during);

}  // namespace pennyweight
