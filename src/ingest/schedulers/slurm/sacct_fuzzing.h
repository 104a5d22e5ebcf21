// Checks that must hold for the holdings and rows of any input; for the fuzzers.
#pragma once

#include <functional>
#include <span>

#include "core/check.h"
#include "core/limits.h"
#include "ingest/schedulers/slurm/sacct.h"
#include "ledger/holding.h"
#include "ledger/host_usage.h"

namespace pennyweight::slurm {

inline SacctOptions fuzz_options(bool is_odd) {
  // A zone with summer time, and an end that some jobs run over.
  SacctOptions options{.zone = *TimeZone::parse("America/Los_Angeles"),
                       .file = "fuzz",
                       .cluster = {},
                       .now = {},
                       .partitions_are_pools = is_odd};
  if (is_odd) options.cluster = ClusterId("c");
  if (is_odd) options.now = *parse_instant("2030-01-01");
  return options;
}

// Checks all rows, and counts them.
class FuzzSink {
 public:
  SacctSink sink() {
    return {.holdings = [this](std::span<const Holding> rows) { return take(rows); },
            .rejected = [this](std::span<const RejectedRow> rows) { return take(rows); },
            .without_time = {},
            .usage = [](std::span<const Outcome> rows) { return take(rows); }};
  }
  void check(const SacctCounts& counts) const {
    CHECK(counts.holdings == holdings_ && counts.rejected == rejected_, "all was handed on");
    const std::uint64_t good =
        counts.held + counts.pending + counts.never_started + counts.zero_length;
    CHECK(good <= counts.jobs && counts.jobs - good <= counts.rejected,
          "every job is one of these");
    CHECK(counts.running <= counts.held && counts.held <= counts.holdings, "a part is no more");
  }

 private:
  Result<void> take(std::span<const Holding> rows) {
    CHECK(rows.size() <= limits::kBatchRows, "batches are bounded");
    holdings_ += rows.size();
    for (const Holding& row : rows) {
      CHECK(device_count(row) <= limits::kGpusPerHoldingMax, "devices are limited");
      CHECK(parse_device(to_text(row.device)) == row.device, "the ledger can keep the device");
      CHECK(parse_placement(to_text(row.placement)) == row.placement, "and where it is");
      (void)content_hash(row);
    }
    return {};
  }
  Result<void> take(std::span<const RejectedRow> rows) {
    CHECK(rows.size() <= limits::kBatchRows, "batches are bounded");
    rejected_ += rows.size();
    for (const RejectedRow& row : rows) {
      CHECK(!row.reason.empty() && row.line > 0, "a rejected row says why and where");
      CHECK(row.text.size() <= limits::kRejectedTextBytesMax, "its text is cut");
    }
    return {};
  }

  static Result<void> take(std::span<const Outcome> rows) {
    CHECK(rows.size() <= limits::kBatchRows, "batches are bounded");
    for (const Outcome& row : rows) {
      CHECK(is_measure_of_host_usage(row.measure), "usage is usage");
      CHECK(row.during.end() - row.during.begin() <= kHostUsageMax, "a day is found in a day");
    }
    return {};
  }

  std::uint64_t holdings_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace pennyweight::slurm
