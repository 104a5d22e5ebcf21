// explain(): explains an amount in steps whose arithmetic can be redone by hand.
//
// The steps go from the charge to the posting. The charge's split and the amounts of all its
// postings are recomputed from what is stored, and `exact` says whether they came out the same, to
// the last digit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "allocation/utilization.h"
#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/posting.h"
#include "ledger/run.h"

namespace pennyweight {

struct ExplanationStep {
  std::string title;                                       // "The bill line"
  std::vector<std::pair<std::string, std::string>> facts;  // name, value; in order
};

struct Explanation {
  std::vector<ExplanationStep> steps;
  bool exact = true;  // every recomputed amount equals the stored one
};

// What is needed to explain how a device was shared. Without it the explanation ends at the weight.
struct ExplanationFacts {
  std::span<const Gpu> gpus;
  std::span<const Outage> outages;
  std::span<const Holding> holdings;  // of the cluster, overlapping the posting's day
  UtilizationSource utilization;      // may be empty
};

struct ExplanationInput {
  const Charge& charge;
  std::span<const Posting> postings;  // all of the charge's in one run, in the order of that run
  std::size_t chosen = 0;             // the explained posting
  const Holding* holding = nullptr;   // of the chosen posting, if any
  std::span<const Node> nodes;        // of the posting's cluster
  const Run& run;
  const Policy& policy;  // of the run
  const Catalog& catalog;
  std::optional<ExplanationFacts> facts = {};
};

// REQUIRES: chosen < postings.size(); the postings are sorted by sort_in_run_order().
Explanation explain(const ExplanationInput& input);

}  // namespace pennyweight
