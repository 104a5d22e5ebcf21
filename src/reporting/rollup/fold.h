// Fold: rows of grains added up into the groups of a plan.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/duckdb/rows.h"
#include "core/int128.h"
#include "ledger/summary.h"
#include "reporting/rollup/first_rows.h"
#include "reporting/rollup/query_plan.h"

namespace pennyweight::rollup {

// What to add up: indexes of kSums, or kPostings.
using SumSelection = std::vector<std::size_t>;
inline constexpr std::size_t kPostings = kSumCount;
SumSelection every_sum();
// Adds the sums that a cost is computed from, since costs are stored as differences.
void select_cost(SumSelection& wanted, Cost cost);

class Fold {
 public:
  // `plan` must outlive this. Don't add rows if is_too_wide().
  Fold(const QueryPlan& plan, SumSelection wanted);

  // Whether a group's key doesn't fit in 64 bits.
  bool is_too_wide() const { return too_wide_; }
  // The columns that add() needs: "t, facet, …".
  std::string columns(const GrainScan& scan) const;
  void add(const GrainScan& scan, const duckdb::Rows& chunk);

  // Groups are numbered from 0, in the order of their first rows.
  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  struct Group {
    std::uint64_t bucket = 0;  // a number
    Number facet = 0, place = 0, label = 0, workload = 0;
  };
  Group group(std::uint32_t number) const;
  const QueryPlan& plan() const { return plan_; }
  // The first day of a bucket. REQUIRES: there are any.
  std::int32_t day_of(std::uint64_t bucket) const { return buckets_[bucket]; }
  // By index of kSums, and kPostings. Sums that are not selected are 0.
  using Amounts = std::array<UInt128, kSumCount + 1>;
  UInt128 amount(std::uint32_t number, std::size_t sum) const {
    return at_[sum] == kNowhere ? 0 : amounts_[number * wanted_.size() + at_[sum]];
  }
  Amounts amounts(std::uint32_t number) const;
  // A cost, from the amounts of a group or of several. 0 unless select_cost() selected it.
  Int128 cost_of(const Amounts& amounts, Cost cost) const;
  Int128 cost(std::uint32_t number, Cost cost) const;

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  std::uint64_t bucket_number(const GrainScan& scan, std::int32_t time);
  std::uint32_t number_of(std::uint64_t key);
  void grow();

  const QueryPlan& plan_;
  const SumSelection wanted_;
  std::array<std::size_t, kSumCount + 1> at_{};  // where a sum is among the wanted
  std::array<std::uint64_t, 4> widths_{};        // of facets, places, sets, workloads
  std::uint64_t stride_ = 1;                     // of one bucket
  bool too_wide_ = false;
  std::vector<std::int32_t> buckets_;  // their first days
  std::unordered_map<std::int32_t, std::uint64_t> bucket_numbers_;
  std::int32_t last_time_ = 0;
  std::uint64_t last_bucket_ = 0;
  bool has_last_ = false;
  // A hash table with open addressing: a group's number + 1, or 0.
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);
  std::vector<std::uint64_t> keys_;
  std::vector<UInt128> amounts_;  // as many of each group as are wanted; wraps, and comes out right
};

}  // namespace pennyweight::rollup
