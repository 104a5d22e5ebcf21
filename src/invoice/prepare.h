// prepare_invoices(): the invoices that a month still needs.
//
// A month is invoiced by what its statement says beyond what was issued before: at first
// everything, later only what differs, as credit notes and supplements that refer to the first
// invoice. Where nothing differs there is nothing to issue, however often it is asked for.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "invoice/statement.h"

namespace pennyweight {

struct TaxRule {
  std::string name;  // "VAT"
  Decimal percent;   // 19
  bool operator==(const TaxRule&) const = default;
};

struct InvoiceSettings {
  std::string prefix = "INV";  // of the series: letters, digits, '-', '_' and '.'
  Party issuer;
  std::map<std::string, Party> customers;  // by dimension value; others go by that value
  std::optional<TaxRule> tax = std::nullopt;
  bool showback = false;
  Paper paper = Paper::kA4;
  std::string logo;
  std::string note;
};

struct Issuing {
  bool issue = false;  // else drafts, without numbers
  std::string issued_on;
  std::string due_on;
  std::string reason;  // needed where something that was issued is put right
};

struct PreparedMonth {
  std::vector<Invoice> invoices;     // by customer, then currency
  std::vector<Invoice> not_charged;  // one for each currency of the bill
};

// `issued`: all that was ever issued, of any month and series, in any order.
// Numbers are PREFIX-MONTH-0001 and so on, without a gap within prefix and month, in the order of
// the customers.
// ENSURES: lines shown add up to subtotals, these to totals; what is shown of all invoices, of
// what nobody is charged, and as rounding add up to the bill as shown; the exact values without
// rounding.
Result<PreparedMonth> prepare_invoices(const MonthStatement& statement,
                                       std::span<const Invoice> issued,
                                       const InvoiceSettings& settings, const Issuing& issuing);

// "PW-2026-03-" of a prefix and a month; an error where the prefix has other characters.
Result<std::string> series_of(const std::string& prefix, const std::string& month);

}  // namespace pennyweight
