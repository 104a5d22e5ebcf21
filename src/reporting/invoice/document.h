// The canonical JSON of an invoice: stored when the invoice is issued, and printed by `--format
// json`. docs/guide/invoices.md documents it: schema pennyweight-invoice/1.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "reporting/invoice/invoice.h"

namespace pennyweight {

// Deterministic: the same invoice gives the same bytes. Each section and invoice line has a line.
std::string invoice_document(const Invoice& invoice);

// ENSURES: read_invoice(invoice_document(x)) == x. An error for any other text.
Result<Invoice> read_invoice(std::string_view document);

}  // namespace pennyweight
