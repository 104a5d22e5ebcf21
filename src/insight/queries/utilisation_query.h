// The utilisation audit of a month: every GPU and MIG instance with how it was used, what it cost,
// and which advice would save it.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "insight/queries/advice_query.h"
#include "ledger/store.h"
#include "reporting/table.h"

namespace pennyweight {

struct UtilisationQuery {
  std::string month;         // empty: the last one with charges
  std::string cluster = {};  // empty: all
  Instant prices_at;
  Date today = {};
};

// The three easiest changes first (a table a currency), then the GPUs (one table a currency of
// their nodes): those under 30 % before the others, the dearest first, those that telemetry did not
// see last. Errors as query_advice().
Result<std::vector<Table>> query_utilisation(Store& store, const UtilisationQuery& query,
                                             const AdviceSettings& settings);

}  // namespace pennyweight
