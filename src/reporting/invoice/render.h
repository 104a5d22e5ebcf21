// Renders an invoice as text, HTML or CSV. Everything shown is in the invoice already, so the same
// invoice always gives the same bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reporting/invoice/invoice.h"

namespace pennyweight {

// At most 100 columns wide, unless a figure needs more: figures are never truncated.
std::string render_invoice_text(const Invoice& invoice);

// One self-contained file, made for printing: browsers repeat the table's head, number the pages
// and keep rows whole. Every text is escaped.
std::string render_invoice_html(const Invoice& invoice);

// One row per line, including the tax, with exact and shown amounts. A text that a spreadsheet
// would take for a formula is prefixed with an apostrophe.
std::string render_invoice_csv(std::span<const Invoice> invoices);

// "Invoice", "Credit note", "Supplementary invoice", "Cost statement", "Not charged to anyone".
std::string_view invoice_title(const Invoice& invoice);

// "Set aside, not in the bill: 2 rows, 1 of them not readable".
std::string aside_label(const InvoiceAside& aside);

// What a line cost and by which rate it is charged, for the books: "cost 1,000.00; 12 % markup".
// REQUIRES: the line has a cost.
std::string pricing_note(const InvoiceLine& line);

// "March 2026". A text that is not a month stays as it is.
std::string format_month(std::string_view month);

}  // namespace pennyweight
