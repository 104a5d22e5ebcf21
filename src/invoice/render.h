// An invoice for people and for their programs. Everything shown is in the invoice already, so that
// the same invoice gives the same bytes, today and in years.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "invoice/invoice.h"

namespace pennyweight {

// At most 100 columns wide, unless a figure needs more: a cut number is a wrong one.
std::string render_invoice_text(const Invoice& invoice);

// One file without anything from outside, made for printing: browsers repeat the table's head,
// number the pages and keep rows whole. Every text is escaped.
std::string render_invoice_html(const Invoice& invoice);

// One row a line, the tax among them, exact and shown, under one header. A text that a spreadsheet
// would take for a formula has an apostrophe in front.
std::string render_invoice_csv(std::span<const Invoice> invoices);

// "Invoice", "Credit note", "Supplementary invoice", "Cost statement", "Not charged to anyone".
std::string_view title_of(const Invoice& invoice);

// "March 2026"; what is no month stays as it is.
std::string month_in_words(std::string_view month);

}  // namespace pennyweight
