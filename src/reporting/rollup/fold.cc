#include "reporting/rollup/fold.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "core/check.h"
#include "ledger/store_rules.h"

namespace pennyweight::rollup {
namespace {

constexpr std::uint64_t kBucketsMax = std::uint64_t{1} << 20;
constexpr std::uint64_t kChunkRows = 2048;  // of the engine, at most

// In kSums.
std::size_t place_of(Cost cost) {
  switch (cost) {
    case Cost::kEffective:
      return 0;
    case Cost::kBilled:
      return 1;
    case Cost::kList:
      return 2;
    case Cost::kContracted:
      return 3;
  }
  CHECK(false, "every cost is named above");
  return 0;
}

std::uint64_t spread(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15;
  return key ^ key >> 32;
}

}  // namespace

SumSelection every_sum() {
  SumSelection all(kPostings + 1);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void select_cost(SumSelection& wanted, Cost cost) {
  for (const std::size_t sum : {place_of(Cost::kEffective), place_of(cost)}) {
    if (std::ranges::find(wanted, sum) == wanted.end()) wanted.push_back(sum);
  }
}

Fold::Fold(const QueryPlan& plan, SumSelection wanted) : plan_(plan), wanted_(std::move(wanted)) {
  at_.fill(kNowhere);
  for (std::size_t i = 0; i < wanted_.size(); ++i) at_[wanted_[i]] = i;
  const auto at_least_one = [](std::size_t size) { return std::max<std::uint64_t>(size, 1); };
  widths_ = {at_least_one(plan.facets.values.size()), at_least_one(plan.places.values.size()),
             at_least_one(plan.sets.values.size()), plan.by_workload ? std::uint64_t{1} << 32 : 1};
  std::uint64_t all = kBucketsMax;
  for (const std::uint64_t width : widths_) {
    too_wide_ |= __builtin_mul_overflow(stride_, width, &stride_);
    too_wide_ |= __builtin_mul_overflow(all, width, &all);
  }
}

std::string Fold::columns(const GrainScan& scan) const {
  std::string columns = "t, facet";
  if (plan_.needs_place) columns += ", place";
  if (scan.grain->has_value) {
    columns += ", value";
  } else if (plan_.needs_sets) {
    columns += ", set_id";
  }
  if (plan_.by_workload) columns += ", workload";
  for (const std::size_t sum : wanted_) {
    columns += std::string(", ") + (sum == kPostings ? "postings" : kSums[sum]);
  }
  return columns;
}

std::uint64_t Fold::bucket_number(const GrainScan& scan, std::int32_t time) {
  if (plan_.bucket == TimeBucket::kNone) return 0;
  if (has_last_ && last_time_ == time) return last_bucket_;
  const std::int32_t day = scan.grain->by_day ? time : first_day_of_month(time);
  const auto bucket = bucket_of(std::chrono::sys_days(std::chrono::days(day)), plan_.bucket);
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

std::uint32_t Fold::number_of(std::uint64_t key) {
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t at = spread(key) & mask;
  while (slots_[at] != 0) {
    if (keys_[slots_[at] - 1] == key) return slots_[at] - 1;
    at = (at + 1) & mask;
  }
  keys_.push_back(key);
  amounts_.resize(amounts_.size() + wanted_.size());
  slots_[at] = static_cast<std::uint32_t>(keys_.size());
  if (keys_.size() * 2 > slots_.size()) grow();
  return static_cast<std::uint32_t>(keys_.size() - 1);
}

// In three steps, each of which knows early what the next will look at: of many groups neither the
// slots nor the sums are in the processor's cache.
void Fold::add(const GrainScan& scan, const duckdb::Rows& chunk) {
  std::uint64_t next = 0;
  const duckdb::Column times = chunk.column(next++), facets = chunk.column(next++);
  std::optional<duckdb::Column> places, labels, workloads;
  if (plan_.needs_place) places.emplace(chunk.column(next++));
  const bool by_value = scan.grain->has_value;
  if (by_value || plan_.needs_sets) {
    labels.emplace(chunk.column(next++));
  }
  if (plan_.by_workload) workloads.emplace(chunk.column(next++));
  const std::vector<Number>& group_of_label = by_value ? plan_.group_of_value : plan_.sets.group_of;

  has_last_ = false;  // the number of a day and of a month may be equal
  std::array<std::uint64_t, kChunkRows> keys;
  std::array<std::uint32_t, kChunkRows> kept;
  std::size_t count = 0;
  CHECK(chunk.size() <= kept.size(), "a chunk has at most so many rows");
  for (std::uint32_t row = 0; row < chunk.size(); ++row) {
    Number facet = plan_.facets.group_of[facets.uint32(row)];
    const Number place = places ? plan_.places.group_of[places->uint32(row)] : 0;
    const Number label = group_of_label[labels ? labels->uint32(row) : 0];
    if (facet == kLeftOut || place == kLeftOut || label == kLeftOut) continue;
    const Number workload = workloads ? workloads->uint32(row) : 0;
    if (plan_.merges_owner_kinds && plan_.owns_place[place] && plan_.owns_label[label] &&
        !(workloads && workload == 0)) {
      facet = plan_.group_of_owner[facets.uint32(row)];
    }
    std::uint64_t key = bucket_number(scan, times.int32(row));
    key = key * widths_[0] + facet;
    key = key * widths_[1] + place;
    key = key * widths_[2] + label;
    if (workloads) key = key * widths_[3] + workload;
    __builtin_prefetch(&slots_[spread(key) & (slots_.size() - 1)]);
    keys[count] = key;
    kept[count++] = row;
  }
  std::array<std::size_t, kChunkRows> begins;
  for (std::size_t at = 0; at < count; ++at) {
    begins[at] = number_of(keys[at]) * wanted_.size();
    __builtin_prefetch(&amounts_[begins[at]], 1);
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const duckdb::Column sums = chunk.column(next++);
    if (wanted_[i] == kPostings) {
      for (std::size_t at = 0; at < count; ++at) {
        amounts_[begins[at] + i] += sums.uint64(kept[at]);
      }
    } else {
      for (std::size_t at = 0; at < count; ++at) {
        amounts_[begins[at] + i] += static_cast<UInt128>(sums.hugeint(kept[at]));
      }
    }
  }
}

Fold::Group Fold::group(std::uint32_t number) const {
  std::uint64_t key = keys_[number];
  const auto take = [&](std::uint64_t width) {
    const auto part = static_cast<Number>(key % width);
    key /= width;
    return part;
  };
  Group group;
  group.workload = take(widths_[3]);
  group.label = take(widths_[2]);
  group.place = take(widths_[1]);
  group.facet = take(widths_[0]);
  group.bucket = key;
  return group;
}

Fold::Amounts Fold::amounts(std::uint32_t number) const {
  Amounts all{};
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    all[wanted_[i]] = amounts_[number * wanted_.size() + i];
  }
  return all;
}

Int128 Fold::cost_of(const Amounts& amounts, Cost cost) const {
  if (at_[place_of(cost)] == kNowhere) return 0;
  const UInt128 effective = amounts[place_of(Cost::kEffective)];
  return static_cast<Int128>(cost == Cost::kEffective ? effective
                                                      : effective + amounts[place_of(cost)]);
}

Int128 Fold::cost(std::uint32_t number, Cost cost) const {
  const std::size_t sum = place_of(cost);
  if (at_[sum] == kNowhere) return 0;
  const UInt128 effective = amount(number, place_of(Cost::kEffective));
  return static_cast<Int128>(cost == Cost::kEffective ? effective
                                                      : effective + amount(number, sum));
}

}  // namespace pennyweight::rollup
