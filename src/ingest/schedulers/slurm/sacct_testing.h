// What the tests of this module share: readers that collect everything, and GPU-hours as text.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/schedulers/slurm/sacct_json.h"
#include "ingest/schedulers/slurm/sacct_text.h"
#include "ledger/holding.h"

namespace pennyweight::slurm {

struct SacctReading {
  SacctCounts counts;
  std::vector<Holding> holdings;
  std::vector<RejectedRow> rejected;
  std::vector<Outcome> without_time;
  std::vector<Outcome> usage;
  std::string error;  // empty when the file as a whole was read
};

inline SacctOptions options_for(std::string_view cluster) {
  SacctOptions options{.zone = TimeZone::utc(), .file = "sacct", .cluster = {}, .now = {}};
  if (!cluster.empty()) options.cluster = ClusterId(std::string(cluster));
  return options;
}

inline SacctSink collect_into(SacctReading& read) {
  return {.holdings = [&read](std::span<const Holding> rows) -> Result<void> {
            read.holdings.insert(read.holdings.end(), rows.begin(), rows.end());
            return {};
          },
          .rejected = [&read](std::span<const RejectedRow> rows) -> Result<void> {
            read.rejected.insert(read.rejected.end(), rows.begin(), rows.end());
            return {};
          },
          .without_time = [&read](std::span<const Outcome> rows) -> Result<void> {
            read.without_time.insert(read.without_time.end(), rows.begin(), rows.end());
            return {};
          },
          .usage = [&read](std::span<const Outcome> rows) -> Result<void> {
            read.usage.insert(read.usage.end(), rows.begin(), rows.end());
            return {};
          }};
}

inline void take(SacctReading& read, const Result<SacctCounts>& counts) {
  if (counts) {
    read.counts = *counts;
  } else {
    read.error = counts.error().message;
  }
}

inline SacctReading read_text(std::string_view text, const SacctOptions& options,
                              std::size_t chunk_bytes = 65'536) {
  SacctReading read;
  SacctText reader(options, collect_into(read));
  for (std::size_t at = 0; at < text.size(); at += chunk_bytes) {
    if (auto fed = reader.feed(text.substr(at, chunk_bytes)); !fed) {
      read.error = fed.error().message;
      return read;
    }
  }
  take(read, reader.finish());
  return read;
}

inline SacctReading read_json(std::string_view document, const SacctOptions& options) {
  SacctReading read;
  take(read, read_sacct_json(document, options, collect_into(read)));
  return read;
}

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline GpuTime total_gpu_time(const Holding& holding) {
  if (!std::holds_alternative<WholeGpu>(holding.device)) return {};
  return (CardShare::whole() * device_count(holding)).over_ms(holding.held.length_ms());
}

inline GpuTime total_gpu_time(const std::vector<Holding>& holdings) {
  GpuTime sum;
  for (const Holding& holding : holdings) sum += total_gpu_time(holding);
  return sum;
}

// With four digits behind the point, rounded half up.
inline std::string hours(GpuTime time) {
  const UInt128 whole = kGpuHour.count();
  const UInt128 tenthousandths = (time.count() * 10'000 * 2 + whole) / (whole * 2);
  return fmt::format("{}.{:04}", to_text(tenthousandths / 10'000),
                     static_cast<unsigned>(tenthousandths % 10'000));
}

}  // namespace pennyweight::slurm
