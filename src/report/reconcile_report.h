// The reconcile report: bill lines beside their postings, with the difference to the last digit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ledger/rejected_row.h"
#include "ledger/store.h"
#include "report/table.h"

namespace pennyweight {

// One table for each currency: the four costs of lines and postings, and what lies between.
// `month` is for the title; empty: all months.
std::vector<Table> reconcile_tables(const std::string& month,
                                    std::span<const ReconcileTotals> totals);

// The lines themselves, those of one currency in one table: id, source line, resource, postings,
// effective cost, what was posted, and the difference of each cost where there is one.
std::vector<Table> line_tables(const std::string& title, std::span<const LineCheck> lines);

// Rows that imports kept aside.
Table rejected_table(std::span<const RejectedRow> rows);

// "billed off by 0.01, list off by -2", posted less line; "never allocated"; empty when exact.
std::string what_is_off(const LineCheck& line);

}  // namespace pennyweight
