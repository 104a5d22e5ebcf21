// Texts cost more than numbers here. A row's series is looked for among those that followed the
// series of the row before it, where it nearly always is: exporters send their GPUs in one order.
#include "ledger/store/duckdb/activity_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/try.h"
#include "ledger/store/duckdb/fact_table.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kAllActivityPpm = 1'000'000;
constexpr const char* kActivityColumns =
    "gpu, mig_instance, workload, node, of_workload, observed_at, span_ms, part, sm_active_ppm, "
    "engine_active_ppm, gpu_util_ppm, dram_active_ppm, memory_used_bytes, memory_total_bytes, "
    "memory_used_max_bytes, power_milliwatts IS NOT NULL";

// The texts of a row; they live as long as its chunk.
struct SeriesTexts {
  std::string_view gpu, mig_instance, workload, node;
  bool of_workload;
};

class SeriesNumbers {
 public:
  std::uint32_t number_of(const SeriesTexts& row) {
    if (last_ != kNone) {
      // The same series again, or the one that came after it the last time.
      if (is(last_, row)) return last_;
      const std::uint32_t expected = next_[last_];
      if (expected != kNone && is(expected, row)) return last_ = expected;
    }
    const std::uint32_t found = find(row);
    if (last_ != kNone) next_[last_] = found;
    return last_ = found;
  }
  const std::vector<ActivitySeries>& all() const { return series_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  bool is(std::uint32_t number, const SeriesTexts& row) const {
    const ActivitySeries& there = series_[number];
    return there.gpu.text() == row.gpu && there.node.text() == row.node &&
           there.workload.text() == row.workload && there.mig_instance == row.mig_instance &&
           there.of_workload == row.of_workload;
  }

  std::uint32_t find(const SeriesTexts& row) {
    key_.clear();
    for (const std::string_view text : {row.gpu, row.mig_instance, row.workload, row.node}) {
      key_.append(text);
      key_ += '\0';  // no id has one
    }
    key_ += row.of_workload ? '1' : '0';
    const auto [at, is_new] =
        numbers_.try_emplace(key_, static_cast<std::uint32_t>(series_.size()));
    if (is_new) {
      series_.push_back({GpuId(std::string(row.gpu)), std::string(row.mig_instance),
                         WorkloadId(std::string(row.workload)), NodeId(std::string(row.node)),
                         row.of_workload});
      next_.push_back(kNone);
    }
    return at->second;
  }

  std::vector<ActivitySeries> series_;
  std::vector<std::uint32_t> next_;                         // by series
  std::unordered_map<std::string, std::uint32_t> numbers_;  // only looked into
  std::string key_;
  std::uint32_t last_ = kNone;
};

// One column of shares of time: absent, or at most the whole.
void read_shares(const duckdb::Column& column, std::span<ActivitySample> samples,
                 std::uint32_t ActivitySample::* field) {
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (column.is_null(row)) continue;
    const std::uint64_t ppm = column.uint64(row);
    if (ppm > kAllActivityPpm) {
      samples[row].is_impossible = 1;
    } else {
      samples[row].*field = static_cast<std::uint32_t>(ppm);
    }
  }
}

void read_samples(const duckdb::Rows& chunk, SeriesNumbers& series,
                  std::vector<ActivitySample>& samples) {
  samples.assign(chunk.size(), ActivitySample());
  const duckdb::Column gpu = chunk.column(0), mig = chunk.column(1), workload = chunk.column(2);
  const duckdb::Column node = chunk.column(3), of_workload = chunk.column(4);
  const duckdb::Column at = chunk.column(5), span = chunk.column(6), part = chunk.column(7);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    ActivitySample& sample = samples[row];
    sample.series = series.number_of({gpu.text(row), mig.text(row), workload.text(row),
                                      node.text(row), of_workload.boolean(row)});
    sample.at = at.timestamp_ms(row);
    sample.span_ms = span.uint32(row) & ((1u << 30) - 1);
    sample.part = part.uint64(row);
  }
  read_shares(chunk.column(8), samples, &ActivitySample::sm_ppm);
  read_shares(chunk.column(9), samples, &ActivitySample::engine_ppm);
  read_shares(chunk.column(10), samples, &ActivitySample::util_ppm);
  read_shares(chunk.column(11), samples, &ActivitySample::dram_ppm);
  const duckdb::Column used = chunk.column(12), total = chunk.column(13);
  const duckdb::Column most = chunk.column(14), has_power = chunk.column(15);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    ActivitySample& sample = samples[row];
    sample.has_power = has_power.boolean(row) ? 1 : 0;
    if (used.is_null(row)) continue;
    const std::uint64_t bytes = used.uint64(row);
    if (!total.is_null(row) && bytes > total.uint64(row)) sample.is_impossible = 1;
    sample.memory_bytes = most.is_null(row) ? bytes : std::max(bytes, most.uint64(row));
  }
}

}  // namespace

Result<void> scan_duckdb_activity(duckdb::Database& database, const ClusterId& cluster,
                                  const Interval& during, const ActivitySink& sink) {
  duckdb::Connection connection = TRY(database.connect());
  // Constants, and not parameters, so that blocks of other times are passed over.
  duckdb::Statement statement = TRY(connection.prepare(fmt::format(
      "SELECT {} FROM usages WHERE cluster = $1 AND observed_at >= epoch_ms({})::TIMESTAMP_MS AND "
      "observed_at < epoch_ms({})::TIMESTAMP_MS",
      kActivityColumns, during.begin().time_since_epoch().count(),
      during.end().time_since_epoch().count())));
  statement.bind_text(1, cluster.text());
  SeriesNumbers series;
  std::vector<ActivitySample> samples;
  return each_chunk(statement.query(), [&](const duckdb::Rows& chunk) -> Result<bool> {
    read_samples(chunk, series, samples);
    return sink(series.all(), samples);
  });
}

}  // namespace pennyweight
