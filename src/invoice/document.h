// The canonical JSON of an invoice: what is stored when it is issued, and what `--format json`
// prints. Its keys and their order are those of docs/guide/invoices.md, schema
// pennyweight-invoice/1.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "invoice/invoice.h"

namespace pennyweight {

// One line for each section and invoice line; the same invoice gives the same bytes.
std::string invoice_document(const Invoice& invoice);

// ENSURES: read_invoice(invoice_document(x)) == x. An error for any text that is not one.
Result<Invoice> read_invoice(std::string_view document);

}  // namespace pennyweight
