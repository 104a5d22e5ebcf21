// explain_transfer(): why an owner bears what it bears of a bucket, or of a correction.
#pragma once

#include <optional>
#include <span>

#include "allocate/explain.h"
#include "ledger/correction.h"

namespace pennyweight {

struct TransferInput {
  std::span<const Posting> postings;  // all of the transfer's, of one run
  std::size_t chosen = 0;             // which of them
  const Run& run;
  const Policy& policy;                          // that of the run
  std::span<const Correction> corrections = {};  // of the cluster
};

// REQUIRES: chosen < postings.size().
Explanation explain_transfer(const TransferInput& input);

}  // namespace pennyweight
