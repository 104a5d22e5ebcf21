// DeviceSignals: what went wrong with GPUs since `serve` began, as counters for /metrics: XIDs by
// code, uncorrected memory errors, and throttled time. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <tuple>

#include "core/id.h"
#include "ledger/usage.h"
#include "server/metrics.h"

namespace pennyweight {

class DeviceSignals {
 public:
  // Of rows that have become facts; each once.
  void note(std::span<const Usage> usages);
  void add_metrics(server::MetricsText& metrics) const;

  // Whether note() would count anything of it.
  static bool has_signal(const Usage& usage);

 private:
  using Device = std::tuple<ClusterId, NodeId, GpuId>;
  struct Counts {
    std::map<std::uint64_t, std::uint64_t> xids;  // by code; 0: not stated
    std::uint64_t ecc_errors = 0;
    std::uint64_t throttled_ms = 0;
  };
  mutable std::mutex mutex_;  // guards what follows
  std::map<Device, Counts> devices_;
};

}  // namespace pennyweight
