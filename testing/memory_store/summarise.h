// Sums postings one by one: the simple implementation that the others are compared with.
#pragma once

#include <functional>
#include <vector>

#include "testing/memory_store/memory_ledger.h"

namespace pennyweight {

// Visits each posting of a current run that passes the query's days and filters.
void visit_postings(const MemoryLedger& ledger, const SummaryQuery& query,
                    const std::function<void(const StoredRun&, const Posting&)>& visit);
std::vector<SummaryRow> summarise(const MemoryLedger& ledger, const SummaryQuery& query);

}  // namespace pennyweight
