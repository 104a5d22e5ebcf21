// Closing: the record of a month whose accounts are closed.
//
// A closed month no longer changes: none of its runs is replaced, and charges that arrive late for
// it are booked in the first open month after it.
#pragma once

#include <cstdint>
#include <string>

#include "core/hash.h"
#include "core/instant.h"

namespace pennyweight {

struct Closing {
  std::string month;  // "2026-03"
  Instant at;
  std::string by;      // who closed it
  std::string reason;  // in their words; may be empty

  // Set by the store: what the month consists of.
  std::uint64_t last_import = 0;  // the number of the last import before it
  std::uint64_t lines = 0;        // charges booked in the month
  std::uint64_t runs = 0;         // current runs of the month
  Hash128 digest;                 // of these charges and runs
  bool operator==(const Closing&) const = default;
};

}  // namespace pennyweight
