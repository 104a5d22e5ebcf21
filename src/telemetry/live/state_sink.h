// StateSink: takes the series of kube-state-metrics, for the module that makes holdings of them.
//
// One call at a time, with the samples of a body in the order in which it was journaled. Handles
// are the sink's own and live until the process ends. After a restart, or after a series had no
// samples for long, it is declared again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "telemetry/classification.h"

namespace pennyweight::live {

class StateSink {
 public:
  virtual ~StateSink() = default;
  // Declares a series, once. The handle comes with each of its samples.
  virtual std::uint64_t declare(const telemetry::StateSeries& series) = 0;
  virtual void sample(std::uint64_t handle, std::int64_t at_ms, double value) = 0;
  virtual void stale(std::uint64_t handle, std::int64_t at_ms) = 0;
  // The state of the sink as a part of the engine's snapshot: it covers the samples before it, and
  // later ones are given again after a crash. A sink without state keeps these defaults.
  virtual std::string save() const { return {}; }
  virtual Result<void> load(std::string_view) { return {}; }
};

}  // namespace pennyweight::live
