// Queries the monthly report of clients: what each spent on training, inference, storage and the
// rest, how its budgets stand, and what is earned with it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "insight/budgets/budget.h"
#include "ledger/summary.h"
#include "reporting/queries/costs.h"
#include "reporting/table.h"

namespace pennyweight {

struct ClientReportQuery {
  std::string month;  // the booked one, "2026-03"
  std::string by;     // the dimension of clients
  CostColumn cost = CostColumn::kEffective;
  // The dimension that says what work is for, and its value for each of the two.
  std::string work = "workload_type";
  std::vector<std::string> training = {"training"};
  std::vector<std::string> inference = {"inference"};
  std::vector<std::string> storage = {};  // ServiceNames of bills; empty: storage_services()
};

// The ServiceNames under which clouds bill storage.
std::vector<std::string> storage_services();

// `profitability`: the tables of query_profitability() of the same month and dimension; empty:
// none. A table a currency; training, inference, storage and other add up to the cost, exactly.
// Errors: kNotFound where the month has no cost.
Result<std::vector<Table>> query_client_report(const ClientReportQuery& params,
                                               const SummarySource& summarise,
                                               std::span<const BudgetStatus> budgets,
                                               std::span<const Table> profitability);

}  // namespace pennyweight
