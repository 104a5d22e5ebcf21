// Sums of postings, one by one: the plain way, by which the others are measured.
#pragma once

#include <functional>
#include <vector>

#include "store/memory/memory_book.h"

namespace pennyweight {

// Visits each posting of a current run that the query's days and filters let through.
void visit_postings(const MemoryBook& book, const SummaryQuery& query,
                    const std::function<void(const KeptRun&, const Posting&)>& visit);
std::vector<SummaryRow> summarise(const MemoryBook& book, const SummaryQuery& query);

}  // namespace pennyweight
