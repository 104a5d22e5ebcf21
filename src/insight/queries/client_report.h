// Queries the monthly report of clients: what each spent on training, inference, storage and the
// rest, how its budgets stand, and what is earned with it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/date.h"
#include "core/error.h"
#include "insight/budgets/budget.h"
#include "ledger/store.h"
#include "ledger/summary.h"
#include "reporting/queries/costs.h"
#include "reporting/queries/invoices.h"
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

// `profits`: of the same month and dimension; empty: nothing is said of revenue. A table a
// currency; training, inference, storage and other add up to the cost, exactly. A client that is
// charged without a cost is there too, so that the revenue adds up to the invoices. Errors:
// kNotFound where the month has no cost.
Result<std::vector<Table>> query_client_report(const ClientReportQuery& params,
                                               const SummarySource& summarise,
                                               std::span<const BudgetStatus> budgets,
                                               std::span<const ClientProfit> profits);

// The report of a ledger: the margin where invoice.rates has rates, and each budget as at the end
// of the month, or as of today while it goes on.
struct LedgerClientReport {
  ClientReportQuery query;
  std::span<const Budget> budgets;
  std::span<const forecasting::KnownEvent> events;
  Date today;
};
// `query.by` may be empty: the clients' dimension is as configured, and so is the cost. Errors:
// also those of check_invoice_request().
Result<std::vector<Table>> query_ledger_client_report(Store& store,
                                                      const LedgerClientReport& params,
                                                      const Config& config);
// The same as a PDF.
Result<std::string> render_client_report_pdf(const ClientReportQuery& query,
                                             std::vector<Table> tables, const Config& config);

}  // namespace pennyweight
