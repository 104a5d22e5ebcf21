// Sums of postings, one by one: the plain way, by which the others are measured.
#pragma once

#include <functional>
#include <vector>

#include "testing/memory_store/memory_ledger.h"

namespace pennyweight {

// Visits each posting of a current run that the query's days and filters let through.
void visit_postings(const MemoryLedger& ledger, const SummaryQuery& query,
                    const std::function<void(const StoredRun&, const Posting&)>& visit);
std::vector<SummaryRow> summarise(const MemoryLedger& ledger, const SummaryQuery& query);

}  // namespace pennyweight
