#include "rollup/fold.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/check.h"
#include "ledger/keeping.h"

namespace pennyweight::rollup {
namespace {

constexpr std::uint64_t kBucketsMax = std::uint64_t{1} << 20;
constexpr std::uint64_t kChunkRows = 2048;  // of the engine, at most

std::uint64_t spread(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15;
  return key ^ key >> 32;
}

}  // namespace

Fold::Fold(const Question& question) : question_(question) {
  const auto at_least_one = [](std::size_t size) { return std::max<std::uint64_t>(size, 1); };
  widths_ = {at_least_one(question.facets.values.size()),
             at_least_one(question.places.values.size()), at_least_one(question.sets.values.size()),
             question.by_workload ? std::uint64_t{1} << 32 : 1};
  std::uint64_t all = kBucketsMax;
  for (const std::uint64_t width : widths_) {
    too_wide_ |= __builtin_mul_overflow(stride_, width, &stride_);
    too_wide_ |= __builtin_mul_overflow(all, width, &all);
  }
}

std::string Fold::columns(const Reading& reading) const {
  std::string columns = "t, facet";
  if (question_.needs_place) columns += ", place";
  if (reading.grain->has_value) {
    columns += ", value";
  } else if (question_.needs_sets) {
    columns += ", set_id";
  }
  if (question_.by_workload) columns += ", workload";
  for (const char* sum : kSums) columns += std::string(", ") + sum;
  return columns + ", postings";
}

std::uint64_t Fold::bucket_number(const Reading& reading, std::int32_t time) {
  if (question_.bucket == TimeBucket::kNone) return 0;
  if (has_last_ && last_time_ == time) return last_bucket_;
  const std::int32_t day = reading.grain->by_day ? time : first_day_of_month(time);
  const auto bucket = bucket_of(std::chrono::sys_days(std::chrono::days(day)), question_.bucket);
  const auto first = static_cast<std::int32_t>(bucket.time_since_epoch().count());
  const auto [at, is_new] = bucket_numbers_.try_emplace(first, buckets_.size());
  if (is_new) buckets_.push_back(first);
  CHECK(buckets_.size() <= kBucketsMax, "two thousand years of days are no bill");
  has_last_ = true;
  last_time_ = time;
  return last_bucket_ = at->second;
}

void Fold::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::uint64_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::uint64_t at = spread(keys_[i]) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

Fold::Sum& Fold::sum_of(std::uint64_t key) {
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t at = spread(key) & mask;
  while (slots_[at] != 0) {
    if (keys_[slots_[at] - 1] == key) return sums_[slots_[at] - 1];
    at = (at + 1) & mask;
  }
  keys_.push_back(key);
  sums_.emplace_back();
  slots_[at] = static_cast<std::uint32_t>(keys_.size());
  if (keys_.size() * 2 > slots_.size()) grow();
  return sums_.back();
}

void Fold::add(const Reading& reading, const duckdb::Rows& chunk) {
  std::uint64_t next = 0;
  const duckdb::Column times = chunk.column(next++), facets = chunk.column(next++);
  std::optional<duckdb::Column> places, labels, workloads;
  if (question_.needs_place) places.emplace(chunk.column(next++));
  const bool by_value = reading.grain->has_value;
  if (by_value || question_.needs_sets) {
    labels.emplace(chunk.column(next++));
  }
  if (question_.by_workload) workloads.emplace(chunk.column(next++));
  std::vector<duckdb::Column> sums;
  for (std::uint64_t i = 0; i < kSumCount; ++i) sums.push_back(chunk.column(next++));
  const duckdb::Column postings = chunk.column(next);
  const std::vector<Number>& group_of_label =
      by_value ? question_.group_of_value : question_.sets.group_of;

  has_last_ = false;  // days and months are not told apart by their numbers
  std::array<std::uint32_t, kChunkRows> indexes;
  std::array<std::uint32_t, kChunkRows> kept;
  std::size_t count = 0;
  CHECK(chunk.size() <= kept.size(), "a chunk has at most so many rows");
  for (std::uint32_t row = 0; row < chunk.size(); ++row) {
    const Number facet = question_.facets.group_of[facets.uint32(row)];
    const Number place = places ? question_.places.group_of[places->uint32(row)] : 0;
    const Number label = group_of_label[labels ? labels->uint32(row) : 0];
    if (facet == kLeftOut || place == kLeftOut || label == kLeftOut) continue;
    std::uint64_t key = bucket_number(reading, times.int32(row));
    key = key * widths_[0] + facet;
    key = key * widths_[1] + place;
    key = key * widths_[2] + label;
    if (workloads) key = key * widths_[3] + workloads->uint32(row);
    indexes[count] = static_cast<std::uint32_t>(&sum_of(key) - sums_.data());
    kept[count++] = row;
  }
  for (std::uint64_t i = 0; i < kSumCount; ++i) {
    for (std::size_t at = 0; at < count; ++at) {
      sums_[indexes[at]].amounts[i] += static_cast<UInt128>(sums[i].hugeint(kept[at]));
    }
  }
  for (std::size_t at = 0; at < count; ++at) {
    sums_[indexes[at]].postings += postings.uint64(kept[at]);
  }
}

std::vector<Number> Fold::workloads() const {
  std::vector<Number> found;
  if (!question_.by_workload) return found;
  for (const std::uint64_t key : keys_) found.push_back(static_cast<Number>(key % widths_[3]));
  std::ranges::sort(found);
  const auto rest = std::ranges::unique(found);
  found.erase(rest.begin(), rest.end());
  return found;
}

std::vector<SummaryRow> Fold::rows(const std::function<std::string(Number)>& name_of) const {
  const Names& names = question_.state.names;
  std::vector<SummaryRow> rows;
  rows.reserve(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::uint64_t key = keys_[i];
    const auto take = [&](std::uint64_t width) {
      const auto number = static_cast<Number>(key % width);
      key /= width;
      return number;
    };
    const Number workload = take(widths_[3]), label = take(widths_[2]);
    const Number place = take(widths_[1]), facet = take(widths_[0]);
    const std::vector<Number>& of_facet = question_.facets.values[facet];
    const Result<Currency> currency = Currency::parse(names.text(of_facet.back()));
    CHECK(currency.has_value(), "what came from Money is a currency");
    const Sum& sum = sums_[i];
    const auto more = [&](std::size_t at) {
      return Money::from_ticks(
          static_cast<Int128>(at == 0 ? sum.amounts[0] : sum.amounts[0] + sum.amounts[at]),
          *currency);
    };
    SummaryRow& row = rows.emplace_back(
        SummaryRow{{}, {}, {more(1), more(0), more(2), more(3)}, {}, {}, {}, {}, sum.postings});
    if (question_.bucket != TimeBucket::kNone) {
      row.bucket = std::chrono::sys_days(std::chrono::days(buckets_[key]));
    }
    row.keys.reserve(question_.keys.size());
    for (const Question::Key& part : question_.keys) {
      switch (part.origin) {
        case Question::Origin::kFacet:
          row.keys.push_back(names.text(of_facet[part.at]));
          break;
        case Question::Origin::kPlace:
          row.keys.push_back(names.text(question_.places.values[place][part.at]));
          break;
        case Question::Origin::kLabels:
          row.keys.push_back(names.text(question_.sets.values[label][part.at]));
          break;
        case Question::Origin::kWorkload:
          row.keys.push_back(name_of(workload));
          break;
        case Question::Origin::kNothing:
          CHECK(false, "every key has an origin");
      }
    }
    row.gpu_time = GpuTime::of(sum.amounts[4]);
    row.idle_time = GpuTime::of(sum.amounts[5]);
    row.memory_time = MemoryTime::of(sum.amounts[6]);
    row.observed_time = GpuTime::of(sum.amounts[7]);
  }
  // Rows are large: their numbers are put in order, and each row is moved once.
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return comes_before(rows[a], rows[b]); });
  std::vector<SummaryRow> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t i : order) sorted.push_back(std::move(rows[i]));
  return sorted;
}

}  // namespace pennyweight::rollup
