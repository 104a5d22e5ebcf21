// Invoices as a table: one row per line.
#include "core/decimal.h"
#include "reporting/invoice/render.h"
#include "reporting/invoice/rounding.h"
#include "reporting/number_format.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

constexpr std::string_view kHeader =
    "number,title,status,month,customer,customer_name,currency,refers_to,section,line,description,"
    "remark,quantity,unit,rate,rate_is_exact,amount_exact,amount_shown,cost_exact,pricing\n";

std::string quote_csv(std::string_view text) {
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

// Spreadsheets take a text that begins so for a formula (owasp.org, CSV injection). Figures are
// written elsewhere.
std::string text_field(std::string_view text) {
  std::string safe = printable(text);
  if (!safe.empty() && std::string_view("=+-@").find(safe.front()) != std::string_view::npos) {
    safe.insert(0, 1, '\'');
  }
  return quote_csv(safe);
}

std::string plain(Money shown) {
  return format_rounded(shown.amount(), minor_digits(shown.currency()), Thousands::kPlain);
}

std::string without_separators(std::string_view number) {
  std::string plain_text;
  for (const char c : number) {
    if (c != ',') plain_text += c;
  }
  return plain_text;
}

std::string csv_prefix(const Invoice& invoice) {
  std::string row;
  for (const std::string_view text :
       {std::string_view(invoice.number), invoice_title(invoice),
        std::string_view(invoice.is_draft()       ? "draft"
                         : invoice.number.empty() ? ""
                                                  : "issued"),
        std::string_view(invoice.month), std::string_view(invoice.customer),
        std::string_view(invoice.bill_to.name)}) {
    row += text_field(text) + ',';
  }
  return row + invoice.currency.text() + ',' + text_field(invoice.refers_to) + ',';
}

}  // namespace

std::string render_invoice_csv(std::span<const Invoice> invoices) {
  std::string out(kHeader);
  for (const Invoice& invoice : invoices) {
    const std::string front = csv_prefix(invoice);
    std::size_t number = 0;
    for (const InvoiceSection& section : invoice.sections) {
      for (const InvoiceLine& line : section.lines) {
        out += front + text_field(section.title) + ',' + std::to_string(++number) + ',' +
               text_field(line.description) + ',' + text_field(line.remark) + ',' +
               quote_csv(without_separators(line.quantity_shown)) + ',' + text_field(line.unit) +
               ',' + without_separators(line.rate) + ',' + (line.rate_is_exact ? "true" : "false") +
               ',' + to_text(line.amount.exact.amount()) + ',' + plain(line.amount.shown) + ',' +
               (line.cost && !invoice.for_customer
                    ? to_text(line.cost->exact.amount()) + ',' + text_field(line.pricing)
                    : std::string(",")) +
               '\n';
      }
    }
    if (!invoice.tax) continue;
    out += front + text_field("Tax") + ',' + std::to_string(++number) + ',' +
           text_field(invoice.tax->name) + ",\"\",\"1\",\"lump sum\"," +
           plain(invoice.tax->amount.shown) + ",false," +
           to_text(invoice.tax->amount.exact.amount()) + ',' + plain(invoice.tax->amount.shown) +
           ",,\n";
  }
  return out;
}

}  // namespace pennyweight
