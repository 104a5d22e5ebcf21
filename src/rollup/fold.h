// Fold: rows of grains added up into the groups of a question.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "core/int128.h"
#include "duckdb/rows.h"
#include "ledger/summary.h"
#include "rollup/question.h"

namespace pennyweight::rollup {

class Fold {
 public:
  // `question` outlives it. Nothing may be added where is_too_wide().
  explicit Fold(const Question& question);

  // Whether the question has more groups than a 64-bit number tells apart.
  bool is_too_wide() const { return too_wide_; }
  // The columns that add() wants to see of a reading: "t, facet, …".
  std::string columns(const Reading& reading) const;
  void add(const Reading& reading, const duckdb::Rows& chunk);

  // Workloads that occur, for their names.
  std::vector<Number> workloads() const;
  // By bucket, then keys, then currency. `name_of` gives the names of workloads.
  std::vector<SummaryRow> rows(const std::function<std::string(Number)>& name_of) const;

 private:
  struct Sum {
    std::array<UInt128, kSumCount> amounts{};  // wraps, and comes out right
    std::uint64_t postings = 0;
  };
  std::uint64_t bucket_number(const Reading& reading, std::int32_t time);
  Sum& sum_of(std::uint64_t key);
  void grow();

  const Question& question_;
  std::array<std::uint64_t, 4> widths_{};  // of facets, places, sets, workloads
  std::uint64_t stride_ = 1;               // of one bucket
  bool too_wide_ = false;
  std::vector<std::int32_t> buckets_;  // their first days
  std::unordered_map<std::int32_t, std::uint64_t> bucket_numbers_;
  std::int32_t last_time_ = 0;
  std::uint64_t last_bucket_ = 0;
  bool has_last_ = false;
  // Open addressing: where the sum of a key is, or 0.
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024);
  std::vector<std::uint64_t> keys_;
  std::vector<Sum> sums_;
};

}  // namespace pennyweight::rollup
