// SessionSink: passes the facts of every parser into an import session; on the way it counts rows,
// adds up GPU time, and keeps the first few rejected rows for messages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ingest/bills/import.h"
#include "ledger/store.h"

namespace pennyweight {

class SessionSink : public bill::ImportSink {
 public:
  static constexpr std::size_t kRejectedShown = 5;

  // `session` must outlive the sink.
  explicit SessionSink(ImportSession& session) : session_(session) {}

  Result<void> charges(std::span<const Charge> charges) override;
  Result<void> rejected(std::span<const RejectedRow> rows) override;
  Result<void> holdings(std::span<const Holding> holdings);
  Result<void> nodes(std::span<const Node> nodes);
  Result<void> gpus(std::span<const Gpu> gpus);
  Result<void> usages(std::span<const Usage> usages);
  Result<void> outages(std::span<const Outage> outages);
  Result<void> corrections(std::span<const Correction> corrections);
  Result<void> outcomes(std::span<const Outcome> outcomes);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t holding_count() const { return holdings_; }
  GpuTime gpu_time() const { return gpu_time_; }
  std::uint64_t without_gpu_time() const { return without_gpu_time_; }
  const std::vector<RejectedRow>& first_rejected() const { return first_rejected_; }

 private:
  ImportSession& session_;
  std::uint64_t rows_ = 0;
  std::uint64_t holdings_ = 0;
  GpuTime gpu_time_;
  std::uint64_t without_gpu_time_ = 0;
  std::vector<RejectedRow> first_rejected_;
};

}  // namespace pennyweight
