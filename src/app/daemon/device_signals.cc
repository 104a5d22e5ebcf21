#include "app/daemon/device_signals.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

namespace pennyweight {
namespace {

// GPUs with a trouble; those that come later are counted together for each cluster.
constexpr std::size_t kTroubledGpusMax = 5'000;
constexpr std::string_view kOtherGpus = "(others)";

}  // namespace

bool DeviceSignals::has_signal(const Usage& usage) {
  return usage.xid_errors.value_or(0) > 0 || usage.ecc_errors.value_or(0) > 0 ||
         usage.throttled_ms.value_or(0) > 0;
}

void DeviceSignals::note(std::span<const Usage> usages) {
  const std::lock_guard lock(mutex_);
  for (const Usage& usage : usages) {
    if (!has_signal(usage)) continue;
    Device device(usage.cluster, usage.node, usage.gpu);
    if (devices_.size() >= kTroubledGpusMax && !devices_.contains(device)) {
      device = {usage.cluster, NodeId(""), GpuId(std::string(kOtherGpus))};
    }
    Counts& counts = devices_[device];
    if (const std::uint64_t xids = usage.xid_errors.value_or(0); xids > 0) {
      counts.xids[usage.last_xid.value_or(0)] += xids;
    }
    counts.ecc_errors += usage.ecc_errors.value_or(0);
    counts.throttled_ms += usage.throttled_ms.value_or(0);
  }
}

void DeviceSignals::add_metrics(server::MetricsText& metrics) const {
  const std::lock_guard lock(mutex_);
  const auto each =
      [&](const std::function<void(const server::MetricsText::Labels&, const Counts&)>& write) {
        for (const auto& [device, counts] : devices_) {
          const auto& [cluster, node, gpu] = device;
          write({{"cluster", cluster.text()}, {"node", node.text()}, {"gpu", gpu.text()}}, counts);
        }
      };
  metrics.family("pennyweight_gpu_xid_errors_total", "counter",
                 "XIDs that became facts since serve began, by GPU and by the last code of each "
                 "minute; of GPUs that had any.");
  each([&](const server::MetricsText::Labels& labels, const Counts& counts) {
    for (const auto& [code, count] : counts.xids) {
      const std::string xid = code == 0 ? "" : std::to_string(code);
      server::MetricsText::Labels with_code = labels;
      with_code.emplace_back("xid", xid);
      metrics.sample(with_code, count);
    }
  });
  metrics.family("pennyweight_gpu_ecc_errors_total", "counter",
                 "Uncorrected memory errors that became facts since serve began, by GPU.");
  each([&](const server::MetricsText::Labels& labels, const Counts& counts) {
    if (counts.ecc_errors > 0) metrics.sample(labels, counts.ecc_errors);
  });
  metrics.family("pennyweight_gpu_throttled_seconds_total", "counter",
                 "Time with lowered clocks that became facts since serve began, by GPU.");
  each([&](const server::MetricsText::Labels& labels, const Counts& counts) {
    if (counts.throttled_ms == 0) return;
    metrics.sample(labels,
                   fmt::format("{}.{:03}", counts.throttled_ms / 1000, counts.throttled_ms % 1000));
  });
}

}  // namespace pennyweight
