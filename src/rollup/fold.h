// Fold: rows of grains added up into the groups of a question.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/int128.h"
#include "duckdb/rows.h"
#include "ledger/summary.h"
#include "rollup/first_rows.h"
#include "rollup/question.h"

namespace pennyweight::rollup {

// What is added up: places in kSums, or kPostings.
using Wanted = std::vector<std::size_t>;
inline constexpr std::size_t kPostings = kSumCount;
Wanted every_sum();
// What a cost is made of: it is kept as what it is more than the effective one.
void want_cost(Wanted& wanted, Cost cost);

class Fold {
 public:
  // `question` outlives it. Nothing may be added where is_too_wide().
  Fold(const Question& question, Wanted wanted);

  // Whether the question has more groups than a 64-bit number tells apart.
  bool is_too_wide() const { return too_wide_; }
  // The columns that add() wants to see of a reading: "t, facet, …".
  std::string columns(const Reading& reading) const;
  void add(const Reading& reading, const duckdb::Rows& chunk);

  // Groups have numbers, from 0 on, in the order in which they came.
  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  struct Group {
    std::uint64_t bucket = 0;  // a number
    Number facet = 0, place = 0, label = 0, workload = 0;
  };
  Group group(std::uint32_t number) const;
  const Question& question() const { return question_; }
  // The first day of a bucket. REQUIRES: there are any.
  std::int32_t day_of(std::uint64_t bucket) const { return buckets_[bucket]; }
  // By place in kSums, and kPostings. What was not wanted is 0.
  using Amounts = std::array<UInt128, kSumCount + 1>;
  UInt128 amount(std::uint32_t number, std::size_t sum) const {
    return at_[sum] == kNowhere ? 0 : amounts_[number * wanted_.size() + at_[sum]];
  }
  Amounts amounts(std::uint32_t number) const;
  // Of the amounts of a group, or of their sums. 0 unless want_cost() wanted it.
  Int128 cost_of(const Amounts& amounts, Cost cost) const;
  Int128 cost(std::uint32_t number, Cost cost) const;

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  std::uint64_t bucket_number(const Reading& reading, std::int32_t time);
  std::uint32_t number_of(std::uint64_t key);
  void grow();

  const Question& question_;
  const Wanted wanted_;
  std::array<std::size_t, kSumCount + 1> at_{};  // where a sum is among the wanted
  std::array<std::uint64_t, 4> widths_{};        // of facets, places, sets, workloads
  std::uint64_t stride_ = 1;                     // of one bucket
  bool too_wide_ = false;
  std::vector<std::int32_t> buckets_;  // their first days
  std::unordered_map<std::int32_t, std::uint64_t> bucket_numbers_;
  std::int32_t last_time_ = 0;
  std::uint64_t last_bucket_ = 0;
  bool has_last_ = false;
  // Open addressing: one more than the number of a key, or 0.
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);
  std::vector<std::uint64_t> keys_;
  std::vector<UInt128> amounts_;  // as many of each group as are wanted; wraps, and comes out right
};

}  // namespace pennyweight::rollup
