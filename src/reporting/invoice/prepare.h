// Prepares the invoices that a month still needs.
//
// A month is invoiced by the difference between its statement and what was issued before: at first
// everything, later credit notes and supplements that refer to the first invoice. Without a
// difference there is nothing to issue, however often it is requested. What refers to an invoice is
// taxed as that was, whatever the rate is today.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "reporting/invoice/statement.h"

namespace pennyweight {

struct TaxRule {
  std::string name;  // "VAT"
  Decimal percent;   // 19
  bool operator==(const TaxRule&) const = default;
};

struct InvoiceSettings {
  std::string prefix = "INV";  // of the series: letters, digits, '-', '_' and '.'
  Party issuer;
  std::map<std::string, Party>
      customers;  // by dimension value; customers not listed are named by their value
  std::optional<TaxRule> tax = std::nullopt;
  bool showback = false;
  PaperSize paper = PaperSize::kA4;
  std::string logo;
  std::string note;
};

struct IssueOptions {
  bool issue = false;  // false: drafts, without numbers
  std::string issued_on;
  std::string due_on;
  std::string reason;  // required to correct an issued invoice
};

struct PreparedInvoices {
  std::vector<Invoice> invoices;     // by customer, then currency
  std::vector<Invoice> not_charged;  // one per currency of the bill
  std::vector<std::string> notes;    // what whoever issues them should know
};

// `issued`: all invoices ever issued, of every month and series, in any order.
// Numbers are PREFIX-MONTH-0001 and so on, without a gap within prefix and month, in the order of
// the customers.
// ENSURES: shown lines add up to subtotals, and these to totals. Shown totals of all invoices, of
// what is not charged, and the rounding add up to the shown bill; exact values do so without
// rounding.
Result<PreparedInvoices> prepare_invoices(const MonthStatement& statement,
                                          std::span<const Invoice> issued,
                                          const InvoiceSettings& settings,
                                          const IssueOptions& issuing);

// The series of a prefix and a month, "PW-2026-03-". An error for a prefix with other characters.
Result<std::string> invoice_series(const std::string& prefix, const std::string& month);

}  // namespace pennyweight
