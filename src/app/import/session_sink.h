// SessionSink: passes the facts of every parser into an import session; on the way it counts rows,
// adds up GPU time, and keeps the first few rejected rows for messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/import/delivered_lines.h"
#include "app/import/period_cells.h"
#include "core/hash.h"
#include "ingest/bills/import.h"
#include "ledger/store.h"
#include "ledger/store_rules.h"

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
  std::uint64_t rejected_count() const { return rejected_count_; }
  const std::vector<RejectedRow>& first_rejected() const { return first_rejected_; }

  // Bills: what their lines add up to. `part` is written into the lines of a part of a delivery;
  // empty: the delivery is whole.
  void watch_bill(std::string_view part);
  // After each file of a bill. An Error where it holds lines that an earlier one holds too.
  Result<void> end_bill_file(const std::string& file);
  const DeliveredLines& bill_lines() const { return bill_lines_; }
  // Of all lines, by billing period.
  const PeriodCells& bill_periods() const { return bill_periods_; }
  const std::vector<DeliveredFile>& bill_files() const { return bill_files_; }

 private:
  std::span<const Charge> with_part(std::span<const Charge> charges);

  ImportSession& session_;
  std::uint64_t rows_ = 0;
  std::uint64_t holdings_ = 0;
  GpuTime gpu_time_;
  std::uint64_t without_gpu_time_ = 0;
  std::uint64_t rejected_count_ = 0;
  std::vector<RejectedRow> first_rejected_;

  bool watches_bill_ = false;
  std::string part_json_;  // "x_DeliveryPart":"…"
  std::vector<Charge> labelled_;
  PeriodCells bill_periods_;
  DeliveredLines bill_lines_;  // of the files that ended
  DeliveredLines file_lines_;  // of the file that is read
  std::uint64_t file_line_count_ = 0;
  SetDigest file_digest_;
  std::vector<DeliveredFile> bill_files_;
};

}  // namespace pennyweight
