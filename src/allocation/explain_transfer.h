// explain_transfer(): explains an owner's part of a spread bucket, or of a correction.
#pragma once

#include <optional>
#include <span>

#include "allocation/explain.h"
#include "ledger/correction.h"

namespace pennyweight {

struct TransferInput {
  std::span<const Posting> postings;  // all of the transfer's in one run
  std::size_t chosen = 0;             // the explained posting
  const Run& run;
  const Policy& policy;                          // of the run
  std::span<const Correction> corrections = {};  // of the cluster
};

// REQUIRES: chosen < postings.size().
Explanation explain_transfer(const TransferInput& input);

}  // namespace pennyweight
