// Tally: a checksum of rows of a table that doesn't depend on their order: the number of rows, the
// sum of their fingerprints, and the sum of each column. Two sets of rows with equal tallies are
// equal (but for a chance of one in 2^128); if they differ, the column sums tell where.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/int128.h"
#include "ledger/store/move/page.h"

namespace pennyweight::move {

class Tally {
 public:
  Tally() = default;
  // Restores a recorded tally. `sums`: a number for each column.
  Tally(std::uint64_t rows, const Hash128& digest, std::vector<UInt128> sums)
      : rows_(rows), digest_(as_number(digest)), sums_(std::move(sums)) {}

  void add(const Page& page);
  void add(const Tally& other);  // REQUIRES: of the same table

  std::uint64_t rows() const { return rows_; }
  // Of all values of each row and of its commit.
  Hash128 digest() const { return as_hash(digest_); }
  // Of each column, modulo 2^128, what is absent not counted; of texts, of their fingerprints.
  // Empty while nothing was added.
  std::span<const UInt128> sums() const { return sums_; }
  UInt128 sum(const MovedTable& table, std::string_view column) const;

  bool operator==(const Tally&) const = default;

 private:
  std::uint64_t rows_ = 0;
  UInt128 digest_ = 0;
  std::vector<UInt128> sums_;
};

// "charges: 10 rows there, 9 here; billed_cost differs": what two tallies of a table differ in.
std::string difference(const MovedTable& table, const Tally& source, const Tally& target);

}  // namespace pennyweight::move
