// MonthStatement: what the accounts of one month say that each customer owes, exactly, and what is
// charged to nobody. Summary rows in, lines out; no cent is rounded here.
//
// Sections of a customer, in this order:
//   usage        what it held, with GPU-hours; one section for each value of the details asked for
//   credits      credits, adjustments and corrections of this month's bill
//   idle, shared its part of what many bear, by the named method of the policy
//   adjustments  lines of earlier, closed months that are booked in this one
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "invoice/invoice.h"
#include "ledger/summary.h"

namespace pennyweight {

enum class CostBasis { kEffective, kBilled, kList, kContracted };
std::string_view to_text(CostBasis basis);

struct StatementOptions {
  std::string month;
  std::string by;                   // the customers' dimension: "client"
  std::vector<std::string> detail;  // dimensions with a section for each value: "project"
  CostBasis cost = CostBasis::kEffective;
  std::map<std::string, std::string> methods;  // of a posting kind, in words
  std::vector<std::string> not_customers;      // values that nobody stands for; "(…)" never does
};

struct StatementLine {
  std::string section;
  std::string section_title;
  std::string key;
  std::string description;
  std::string remark;
  std::optional<LineQuantity> quantity;
  Money amount;
};

// Of one currency.
struct CustomerStatement {
  std::string customer;
  std::vector<StatementLine> lines;  // by section, then as they are printed
  Money total;
};

// The bill lines that are booked in the month, of one currency, from the lines themselves.
struct BillTotal {
  Money amount;
  std::uint64_t lines = 0;
};

// Customers by name, then currency.
struct MonthStatement {
  std::string month;
  std::string by;
  CostBasis cost = CostBasis::kEffective;
  std::vector<CustomerStatement> customers;
  std::vector<CustomerStatement> not_charged;  // one for each currency of the bill
  std::vector<BillTotal> bills;                // by currency
};

// The group_by of the query that month_statement() needs.
std::vector<std::string> statement_dimensions(const StatementOptions& options);

// REQUIRES: rows of a query grouped so, of postings booked in the month; one bill a currency.
// An error where the rows of a currency do not add up to its bill, to the last digit.
Result<MonthStatement> month_statement(std::span<const SummaryRow> rows,
                                       std::span<const BillTotal> bills,
                                       const StatementOptions& options);

}  // namespace pennyweight
