// StateSink: where the series of kube-state-metrics go, for the room that makes holdings of them.
//
// Called under the engine's order: one call at a time, samples of a body in the order in which it
// was journaled. Handles are the sink's own and live until the process ends; after a restart, or
// after a series was not seen for long, it is declared again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "telemetry/meaning.h"

namespace pennyweight::live {

class StateSink {
 public:
  virtual ~StateSink() = default;
  // What a series says, once. The handle is given back with each of its samples.
  virtual std::uint64_t declare(const telemetry::StateSeries& series) = 0;
  virtual void sample(std::uint64_t handle, std::int64_t at_ms, double value) = 0;
  virtual void stale(std::uint64_t handle, std::int64_t at_ms) = 0;
  // Its state as a part of the engine's snapshot: samples before are in it, later ones are given
  // again after a crash. A sink that has none keeps these.
  virtual std::string save() const { return {}; }
  virtual Result<void> load(std::string_view) { return {}; }
};

}  // namespace pennyweight::live
