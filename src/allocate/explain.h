// explain(): why a posting is what it is, in steps whose arithmetic can be redone by hand.
//
// The steps go from the bill line to the amount. Nothing is taken on trust: the line's split and
// the amounts of all its postings are computed again from what is stored, and `exact` says whether
// they came out the same, to the last digit.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allocate/seen.h"
#include "ledger/charge.h"
#include "ledger/holding.h"
#include "ledger/node.h"
#include "ledger/outage.h"
#include "ledger/posting.h"
#include "ledger/run.h"
#include "policy/policy.h"
#include "pricing/catalog.h"

namespace pennyweight {

struct ExplanationStep {
  std::string title;                                       // "The bill line"
  std::vector<std::pair<std::string, std::string>> facts;  // name, value; in order
};

struct Explanation {
  std::vector<ExplanationStep> steps;
  bool exact = true;  // every amount, computed again, is the stored one
};

// What an explanation needs to tell the sharing of a device again. Without it, it ends at the
// weight.
struct ExplanationFacts {
  std::span<const Gpu> gpus;
  std::span<const Outage> outages;
  std::span<const Holding> holdings;  // of the cluster, that overlap the posting's day
  SeenSource seen;                    // may be empty
};

struct ExplanationInput {
  const Charge& charge;
  std::span<const Posting> postings;  // all of the charge's, of one run, in its order
  std::size_t chosen = 0;             // which of them
  const Holding* holding = nullptr;   // the chosen posting's, where it has one
  std::span<const Node> nodes;        // of the posting's cluster
  const Run& run;
  const Policy& policy;  // that of the run
  const Catalog& catalog;
  std::optional<ExplanationFacts> facts = {};
};

// REQUIRES: chosen < postings.size(); the postings are as to_run_order() has them.
Explanation explain(const ExplanationInput& input);

}  // namespace pennyweight
