// Samples: telemetry of one cluster, squeezed to 16 bytes a sample and sorted by what was watched.
//
// The first half of see() (allocate/seen.h): it finds the device that a row is about, reads the
// numbers in units of that device, and puts each series in order. What a label on a row means is
// the other half's question.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/instant.h"
#include "ledger/node.h"
#include "ledger/usage.h"
#include "policy/policy.h"

namespace pennyweight {

// Values in units of CardShare of the device, or Seen::kUnknown.
struct Sample {
  std::uint32_t at;       // milliseconds behind SampledDevices::begin
  std::uint32_t span;     // for how long it holds, in milliseconds; 0: until the next one
  std::uint32_t compute;  // the first of rules.activity that is known
  std::uint32_t util;     // GPU_UTIL, where rules.activity has it
  std::uint32_t memory;
  auto operator<=>(const Sample&) const = default;
};

// Whose values a series holds, as far as its rows say.
enum class SampleLabel {
  kNone,      // the device's
  kPod,       // a pod is named; the values may be its own or the device's
  kWorkload,  // the workload's own (Usage::of_workload)
};

struct SampleSeries {
  std::string device;
  std::string workload;  // empty: kNone
  SampleLabel label;
  std::span<Sample> samples;  // by time, then compute, util, memory: unknown ones last
};

struct SampledDevices {
  Instant begin;                     // hold_ms before the stretch
  std::vector<SampleSeries> series;  // by device, workload, label; none is empty
  std::unique_ptr<Sample[]> samples;
  std::uint64_t count = 0;
  std::uint64_t clamped = 0;
  std::uint64_t unreliable = 0;
};

// Takes the samples that, held for hold_ms at most, reach into `during`.
// REQUIRES: `during` and hold_ms together are shorter than 49 days.
SampledDevices sampled_devices(std::span<const Usage> usages, std::span<const Gpu> gpus,
                               const UsageRules& rules, const Interval& during);

}  // namespace pennyweight
