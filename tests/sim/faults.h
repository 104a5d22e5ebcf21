// Faults planted on purpose, to prove that the auditor finds them. They change what the engine
// said, after it said it; the product knows nothing of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ledger/posting.h"

namespace pennyweight::sim {

enum class Fault {
  kNone,
  kDropPosting,  // one posting is lost
  kSwapShares,   // two holders of one line get each other's money
  kFloat,        // one line's effective cost is divided in floating point, and still adds up
};

std::optional<Fault> parse_fault(std::string_view text);
std::string_view name_of(Fault fault);

// Plants it at a place that the seed chooses. A world without a fit place stays as it is.
void plant(Fault fault, std::uint64_t seed, std::vector<Posting>& postings);

}  // namespace pennyweight::sim
