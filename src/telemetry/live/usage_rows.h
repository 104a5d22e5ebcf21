// From the pieces of a device's series to rows of usage: one row for each interval, a column for
// each quantity.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ledger/usage.h"
#include "telemetry/classification.h"
#include "telemetry/live/accumulator.h"

namespace pennyweight::live {

// What one series of a group came to over one piece of time.
struct MemberPiece {
  AggregatePiece piece;
  telemetry::Quantity quantity;
  bool is_component;
};

// The sum of a piece that counts.
inline std::uint64_t whole(const AggregatePiece& piece) {
  return static_cast<std::uint64_t>(piece.sum);
}

void sort_by_time(std::vector<MemberPiece>& parts);

// Adds up components of one quantity whose times overlap, over the time that they cover together:
// where a container was not there it used nothing. Sorts by time.
void merge_components(std::vector<MemberPiece>& parts);

// Gives one row for each interval of `parts`: a copy of `device` with the values. REQUIRES: sorted
// by time.
void make_usages(const Usage& device, std::span<const MemberPiece> parts,
                 const std::function<void(Usage&)>& give);

}  // namespace pennyweight::live
