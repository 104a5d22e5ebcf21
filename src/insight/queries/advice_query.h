// Queries advice for a month: what to change, what it would save, and what is missing for more.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocation/policy/policy.h"
#include "allocation/pricing/catalog.h"
#include "core/gpu/cloud_resource.h"
#include "insight/advice/advise.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

struct AdviceQuery {
  std::string month;               // empty: the last one with charges
  std::string cluster = {};        // empty: all
  std::vector<std::string> kinds;  // empty: all
  std::string cost = "effective";
  Instant prices_at;  // list prices of what could be bought
};

struct AdviceSettings {
  const Policy& policy;
  const Catalog& catalog;
  std::span<const JoinRule> join_rules;
};

struct AdviceResult {
  std::string month;
  std::vector<advising::Proposal> proposals;  // of all clusters, ranked
  std::vector<std::string> gaps;
};

// Errors: kBadValue for a word that is not understood, kNotFound where there are no charges.
Result<AdviceResult> query_advice(Store& store, const AdviceQuery& query,
                                  const AdviceSettings& settings);

// One table a currency, each with the total of what can be followed together; without proposals one
// table that says what is missing.
std::vector<Table> advice_tables(const AdviceResult& result);

// Everything about one proposal, in rows of a name and a text. kNotFound: there is none of this id,
// or of those that begin with it more than one.
Result<Table> advice_detail(const AdviceResult& result, const std::string& id);

}  // namespace pennyweight
