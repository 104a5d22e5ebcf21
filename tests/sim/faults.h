// Faults planted in the engine's output to prove that the auditor finds them. The product contains
// none of this code.
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
  kSwapShares,   // two holders of one charge get each other's money
  kFloat,        // one charge's effective cost is divided in floating point, and still adds up
};

std::optional<Fault> parse_fault(std::string_view text);
std::string_view fault_name(Fault fault);

// Plants the fault at a place that the seed chooses. A world without a suitable place stays as it
// is.
void plant(Fault fault, std::uint64_t seed, std::vector<Posting>& postings);

}  // namespace pennyweight::sim
