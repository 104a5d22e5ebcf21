// MonthStatement: what each customer owes for one booked month, exactly, and what is not charged to
// anyone. It is made of summary rows; nothing is rounded here.
//
// Sections of a customer, in this order:
//   usage        what it held, with GPU-hours; one section per value of the requested details
//   credits      credits, adjustments and corrections of this month's bill
//   idle, shared its share of common cost, by the policy's method, which is named
//   adjustments  charges of earlier, closed months that are booked in this one
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "ledger/summary.h"
#include "reporting/invoice/invoice.h"
#include "reporting/invoice/rates.h"

namespace pennyweight {

enum class CostBasis { kEffective, kBilled, kList, kContracted };
std::string_view to_text(CostBasis basis);

struct StatementOptions {
  std::string month;
  std::string by;                   // the customers' dimension: "client"
  std::vector<std::string> detail;  // dimensions with a section for each value: "project"
  CostBasis cost = CostBasis::kEffective;
  std::map<std::string, std::string> methods;  // by posting kind, in words
  std::vector<std::string> not_customers;      // values that aren't customers; "(…)" never is one
  // What customers are charged in place of the cost. Rows are then by day, and have two more keys,
  // the GPU model and the tier.
  const InternalRates* rates = nullptr;  // null: none; outlives the call
  std::string tier;                      // the dimension of the tier; empty: none

  bool has_rates() const { return rates != nullptr && !rates->empty(); }
};

// The dimension that the caller replaces with a GPU model (see statement_group_by).
inline constexpr const char* kNodeDimension = "node";

struct StatementLine {
  std::string section;
  std::string section_title;
  std::string key;
  std::string description;
  std::string remark;
  std::optional<LineQuantity> quantity;
  Money amount;                              // what is charged
  std::optional<Money> cost = std::nullopt;  // where a rate was applied; else the amount
  std::string pricing = {};                  // the rate in words
  Money provider_cost() const { return cost.value_or(amount); }
};

// Of one currency.
struct CustomerStatement {
  std::string customer;
  std::vector<StatementLine> lines;  // by section, then as they are printed
  Money total;                       // what is charged
  Money cost;                        // what the bill says of it
};

// The sum of the charges booked in the month, of one currency, taken from the charges themselves.
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
  std::set<std::size_t> rates_used = {};       // the places of the rates that decided an amount
};

// The group_by of the query that month_statement() needs. With rates by GPU model the last key but
// one is the node, which the caller replaces by the model of its GPUs; with rates the query is by
// day.
std::vector<std::string> statement_group_by(const StatementOptions& options);

// REQUIRES: rows grouped by statement_group_by(), of postings booked in the month; one bill per
// currency. An error where the costs of a currency do not add up exactly to its bill.
Result<MonthStatement> month_statement(std::span<const SummaryRow> rows,
                                       std::span<const BillTotal> bills,
                                       const StatementOptions& options);

}  // namespace pennyweight
