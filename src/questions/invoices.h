// What is each client asked to pay for a month? Drafts, issuing, and what was issued.
//
// The statement comes from the ledger's postings and bill lines, its words from the configuration,
// the methods from the policies that the month's runs used. room invoice/ makes pages of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "core/error.h"
#include "core/instant.h"
#include "invoice/invoice.h"
#include "ledger/store.h"

namespace pennyweight {

struct InvoiceQuestion {
  std::string month;                     // "2026-03"
  std::string by = {};                   // the customers' dimension; empty: as configured
  std::vector<std::string> detail = {};  // dimensions with a section for each value; as configured
  std::string customer = {};             // only what is his; empty: of all
  bool issue = false;                    // of the whole month, which has to be closed
  std::string reason = {};               // why issued ones are put right
};

struct MonthInvoices {
  std::vector<Invoice> issued;       // of this month and series, before
  std::vector<Invoice> prepared;     // issued now, or drafts; by customer, then currency
  std::vector<Invoice> not_charged;  // what nobody pays; none where one customer was asked for
  std::size_t issued_all = 0;        // how many, whoever was asked for
  std::size_t prepared_all = 0;
  bool closed = false;  // the month
};

// What the question says wrong by itself, and nothing else: kBadValue, where no ledger is needed.
Result<void> check_question(const InvoiceQuestion& question, const Config& config);

// Errors: kBadValue for what check_question() refuses; kConflict where an open month is to be
// issued; kNotFound where the month has no bill lines, or the customer owes nothing.
// ENSURES: where something was issued, it is in the ledger when this returns.
Result<MonthInvoices> ask_invoices(Store& store, const Config& config,
                                   const InvoiceQuestion& question, Instant now);

// One that was issued, and what is kept of it. kNotFound, and kConflict where it is no longer what
// was issued.
struct KeptInvoice {
  IssuedInvoice kept;
  Invoice invoice;
};
Result<KeptInvoice> find_invoice(Store& store, std::string_view number);
// All, by number.
Result<std::vector<KeptInvoice>> issued_invoices(Store& store);

// "text", "html", "csv", "json".
std::string render_invoice(const Invoice& invoice, std::string_view format);

}  // namespace pennyweight
