// A month has too many samples to be sorted at once, and releases before 2020 sort everything that
// they return in order. So the GPUs are listed first and then read a slice at a time. A GPU's rows
// are contiguous within each day, so a slice reads little else.
#include "ledger/store/clickhouse/usage_scan.h"

#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/try.h"

namespace pennyweight {
namespace {

// The GPUs of one slice, from the first to the last.
struct GpuRange {
  std::string first, last;
  std::uint64_t rows = 0;  // of all sessions, committed or not
};

Result<std::vector<GpuRange>> find_gpu_ranges(const Scan& scan, const std::string& wanted) {
  std::vector<GpuRange> slices;
  std::ignore = TRY(scan.visit("SELECT gpu, toUInt64(count()) FROM " + scan.all("usages") +
                                   " WHERE " + wanted + " GROUP BY gpu ORDER BY gpu",
                               [&](const clickhouse::Block& block) -> Result<bool> {
                                 for (std::uint64_t row = 0; row < block.rows; ++row) {
                                   const std::string gpu(block.columns[0].text(row));
                                   if (slices.empty() || slices.back().rows >= kSliceRows)
                                     slices.push_back({gpu, gpu, 0});
                                   slices.back().last = gpu;
                                   slices.back().rows += block.columns[1].uint64(row);
                                 }
                                 return true;
                               }));
  return slices;
}

// Sets the fields of a sample from a row, as a visitor of Table<Usage>.
class SampleReader {
 public:
  SampleReader(const clickhouse::Block& block, std::uint64_t row, Usage& usage)
      : block_(block), row_(row), usage_(usage) {}
  void text(const char*, auto field) { std::invoke(field, usage_) = next().text(row_); }
  // Most rows have the GPU, the node and the workload of the previous row, so the texts are reused.
  void id(const char*, auto field) {
    auto& id = std::invoke(field, usage_);
    const std::string_view text = next().text(row_);
    if (id.text() != text) id = std::remove_cvref_t<decltype(id)>(std::string(text));
  }
  void boolean(const char*, auto field) { std::invoke(field, usage_) = next().boolean(row_); }
  void instant(const char*, auto field) {
    std::invoke(field, usage_) = from_unix_ms(next().int64(row_));
  }
  void count(const char*, auto field) { std::invoke(field, usage_) = next().uint64(row_); }
  void small_count(const char*, auto field) { std::invoke(field, usage_) = next().uint32(row_); }
  void optional_count(const char*, auto field) {
    const clickhouse::Column& column = next();
    auto& value = std::invoke(field, usage_);
    if (column.is_null(row_)) {
      value.reset();
    } else {
      value = column.uint64(row_);
    }
  }

 private:
  const clickhouse::Column& next() { return block_.columns[next_++]; }

  const clickhouse::Block& block_;
  std::uint64_t row_;
  Usage& usage_;
  std::size_t next_ = 0;
};

// Collects rows into batches that contain all samples of a GPU.
class UsageBatches {
 public:
  UsageBatches(const ClusterId& cluster, std::span<const UsageNumber> numbers,
               const Store::UsageSink& sink)
      : cluster_(cluster), numbers_(numbers), sink_(sink) {}

  // "gpu, mig_instance, …": the columns that take() reads.
  std::string columns() const {
    clickhouse_io::Schema schema;
    list(schema);
    return schema.names();
  }
  // Returns whether the sink wants more. The rows have these columns.
  bool take(const clickhouse::Block& block) {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const std::string_view gpu = block.columns[0].text(row);
      if (size_ >= kBatchRowsLeast && gpu != batch_[size_ - 1].gpu.text() && !hand_over()) {
        return false;
      }
      if (size_ == batch_.size()) {
        batch_.push_back(Table<Usage>::blank());
        batch_.back().cluster = cluster_;
      }
      SampleReader reader(block, row, batch_[size_++]);
      list(reader);
    }
    return true;
  }
  bool finish() { return size_ == 0 || hand_over(); }

 private:
  // One day of one-minute samples of a GPU fills a batch.
  static constexpr std::size_t kBatchRowsLeast = 1024;

  void list(auto& io) const {
    Table<Usage>::list_series(io);
    Table<Usage>::list_sample(io);
    for (const UsageNumber& number : numbers_) io.optional_count(number.column, number.field);
  }
  bool hand_over() { return sink_(std::span<const Usage>(batch_).first(std::exchange(size_, 0))); }

  const ClusterId& cluster_;
  const std::span<const UsageNumber> numbers_;
  const Store::UsageSink& sink_;
  std::vector<Usage> batch_;  // reused from batch to batch, to keep the memory of its texts
  std::size_t size_ = 0;      // the number of elements in this batch
};

}  // namespace

Result<void> scan_clickhouse_usage(const Scan& scan, const ClusterId& cluster,
                                   const Interval& during, UsageDetail detail,
                                   const Store::UsageSink& sink) {
  if (scan.snapshot().imports() == 0) return {};
  const std::string wanted = "cluster = " + clickhouse::sql_literal(cluster.text()) +
                             " AND day BETWEEN " + std::to_string(utc_day(during.begin())) +
                             " AND " + std::to_string(utc_day(during.end()));
  const std::vector<GpuRange> slices = TRY(find_gpu_ranges(scan, wanted));
  const std::vector<UsageNumber> numbers = Table<Usage>::numbers(detail);
  UsageBatches batches(cluster, numbers, sink);
  for (const GpuRange& gpus : slices) {
    const Result<bool> more = scan.visit(
        "SELECT " + batches.columns() + " FROM " + scan.snapshot().facts("usages") + " AND " +
            wanted + " AND gpu BETWEEN " + clickhouse::sql_literal(gpus.first) + " AND " +
            clickhouse::sql_literal(gpus.last) +
            " AND observed_at >= " + std::to_string(unix_ms(during.begin())) +
            " AND observed_at < " + std::to_string(unix_ms(during.end())) +
            " ORDER BY gpu, mig_instance, workload, observed_at, span_ms, part",
        [&](const clickhouse::Block& block) -> Result<bool> { return batches.take(block); });
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  batches.finish();
  return {};
}

}  // namespace pennyweight
