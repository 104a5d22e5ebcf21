// The samples of a month are too many to be sorted at once, and releases before 2020 sort whatever
// they hand over in order. So the cards are listed first, and then asked for a slice of them at a
// time: a card lies together within each day, hence a slice reads little else.
#include "store/clickhouse/usage_scan.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pennyweight {
namespace {

// What cost is divided by first, then the rest: UsageDetail.
struct Number {
  const char* column;
  std::optional<std::uint64_t> Usage::* field;
};
constexpr Number kNumbers[] = {{"gpu_util_ppm", &Usage::gpu_util_ppm},
                               {"engine_active_ppm", &Usage::engine_active_ppm},
                               {"sm_active_ppm", &Usage::sm_active_ppm},
                               {"memory_used_bytes", &Usage::memory_used_bytes},
                               {"memory_total_bytes", &Usage::memory_total_bytes},
                               {"power_milliwatts", &Usage::power_milliwatts},
                               {"energy_millijoules", &Usage::energy_millijoules},
                               {"tensor_active_ppm", &Usage::tensor_active_ppm},
                               {"dram_active_ppm", &Usage::dram_active_ppm},
                               {"memory_reserved_bytes", &Usage::memory_reserved_bytes},
                               {"temperature_celsius", &Usage::temperature_celsius},
                               {"sm_clock_mhz", &Usage::sm_clock_mhz},
                               {"pcie_bytes_per_second", &Usage::pcie_bytes_per_second},
                               {"nvlink_bytes_per_second", &Usage::nvlink_bytes_per_second},
                               {"energy_used_millijoules", &Usage::energy_used_millijoules},
                               {"activity_max_ppm", &Usage::activity_max_ppm},
                               {"memory_used_max_bytes", &Usage::memory_used_max_bytes},
                               {"power_max_milliwatts", &Usage::power_max_milliwatts},
                               {"throttled_ms", &Usage::throttled_ms},
                               {"xid_errors", &Usage::xid_errors},
                               {"last_xid", &Usage::last_xid},
                               {"ecc_errors", &Usage::ecc_errors}};
constexpr std::size_t kShareNumbers = 5;

std::span<const Number> numbers_of(UsageDetail detail) {
  return std::span(kNumbers).first(detail == UsageDetail::kShares ? kShareNumbers
                                                                  : std::size(kNumbers));
}

std::int64_t day_of(Instant at) {
  return std::chrono::floor<std::chrono::days>(at).time_since_epoch().count();
}

// Cards from the first to the last of a slice.
struct Cards {
  std::string first, last;
  std::uint64_t rows = 0;  // of sessions that count or not
};

Result<std::vector<Cards>> cards_of(const Scan& scan, const std::string& wanted) {
  std::vector<Cards> slices;
  const Result<bool> read = scan.visit("SELECT gpu, toUInt64(count()) FROM " + scan.all("usages") +
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
                                       });
  if (!read) return std::unexpected(read.error());
  return slices;
}

// Gathers rows into batches of whole cards.
class Batches {
 public:
  Batches(const ClusterId& cluster, std::span<const Number> numbers, const Store::UsageSink& sink)
      : cluster_(cluster), numbers_(numbers), sink_(sink) {}

  std::string columns() const {
    std::string names =
        "gpu, mig_instance, workload, node, mig_profile, model, of_workload, observed_at, span_ms, "
        "part";
    for (const Number& number : numbers_) names += std::string(", ") + number.column;
    return names;
  }
  // Whether the sink wants more. Rows come with these columns.
  bool take(const clickhouse::Block& block) {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const auto text = [&](std::size_t i) { return block.columns[i].text(row); };
      if (size_ >= kBatchRowsLeast && text(0) != batch_[size_ - 1].gpu.text() && !hand_over()) {
        return false;
      }
      if (size_ == batch_.size()) {
        batch_.push_back(Table<Usage>::blank());
        batch_.back().cluster = cluster_;
      }
      Usage& usage = batch_[size_++];
      set(usage.gpu, text(0));
      usage.mig_instance = text(1);
      set(usage.workload, text(2));
      set(usage.node, text(3));
      usage.mig_profile = text(4);
      usage.model = text(5);
      usage.of_workload = block.columns[6].boolean(row);
      usage.at = from_unix_ms(block.columns[7].int64(row));
      usage.span_ms = block.columns[8].uint32(row);
      usage.part = block.columns[9].uint64(row);
      for (std::size_t i = 0; i < numbers_.size(); ++i) {
        const clickhouse::Column& column = block.columns[kTexts + i];
        auto& field = usage.*numbers_[i].field;
        if (column.is_null(row)) {
          field.reset();
        } else {
          field = column.uint64(row);
        }
      }
    }
    return true;
  }
  bool finish() { return size_ == 0 || hand_over(); }

 private:
  // A card's day of one-minute samples makes a batch.
  static constexpr std::size_t kBatchRowsLeast = 1024;
  static constexpr std::size_t kTexts = 10;  // the columns before the numbers

  // Most rows are of the card, the node and the workload of the row that stood there before.
  template <class Tag>
  static void set(Id<Tag>& id, std::string_view text) {
    if (id.text() != text) id = Id<Tag>(std::string(text));
  }
  bool hand_over() { return sink_(std::span<const Usage>(batch_).first(std::exchange(size_, 0))); }

  const ClusterId& cluster_;
  const std::span<const Number> numbers_;
  const Store::UsageSink& sink_;
  std::vector<Usage> batch_;  // kept from batch to batch, for the memory of its texts
  std::size_t size_ = 0;      // of it, how many are of this batch
};

}  // namespace

Result<void> scan_clickhouse_usage(const Scan& scan, const ClusterId& cluster,
                                   const Interval& during, UsageDetail detail,
                                   const Store::UsageSink& sink) {
  if (scan.snapshot().imports() == 0) return {};
  const std::string wanted = "cluster = " + clickhouse::quoted(cluster.text()) +
                             " AND day BETWEEN " + std::to_string(day_of(during.begin())) +
                             " AND " + std::to_string(day_of(during.end()));
  const Result<std::vector<Cards>> slices = cards_of(scan, wanted);
  if (!slices) return std::unexpected(slices.error());
  Batches batches(cluster, numbers_of(detail), sink);
  for (const Cards& cards : *slices) {
    const Result<bool> more = scan.visit(
        "SELECT " + batches.columns() + " FROM " + scan.snapshot().facts("usages") + " AND " +
            wanted + " AND gpu BETWEEN " + clickhouse::quoted(cards.first) + " AND " +
            clickhouse::quoted(cards.last) +
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
