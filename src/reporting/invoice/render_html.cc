// Invoices as HTML, for the screen and for paper.
#include <fmt/format.h>

#include <algorithm>

#include "reporting/invoice/html_page.h"
#include "reporting/invoice/render.h"
#include "reporting/invoice/rounding.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// A minus sign as wide as a plus, at which no line breaks.
std::string figure(std::string_view number) {
  std::string text = html_text(number);
  if (text.starts_with('-')) text.replace(0, 1, "\u2212");
  return text;
}

std::string money(Money shown) { return figure(format_minor(shown)); }

bool is_not_charged(const Invoice& invoice) { return invoice.kind == InvoiceKind::kNotCharged; }

std::string party_lines(const Party& party) {
  std::string out;
  for (const std::string& line : party.address) out += "<span>" + html_text(line) + "</span>\n";
  if (!party.tax_id.empty()) out += "<span>Tax id " + html_text(party.tax_id) + "</span>\n";
  if (!party.contact.empty()) out += "<span>" + html_text(party.contact) + "</span>\n";
  return out;
}

std::string page_head(const Invoice& invoice) {
  std::string out = "<header>\n<address class=\"issuer\">\n";
  if (!invoice.logo.empty()) {
    out += fmt::format("<img src=\"{}\" alt=\"{}\">\n", html_text(invoice.logo),
                       html_text(invoice.issuer.name));
  }
  if (!invoice.issuer.name.empty()) {
    out += "<span><strong>" + html_text(invoice.issuer.name) + "</strong></span>\n";
  }
  out += party_lines(invoice.issuer) + "</address>\n<div>\n";
  out += fmt::format("<h1>{}</h1>\n", invoice_title(invoice));
  if (!invoice.number.empty()) {
    out += fmt::format("<p class=\"number\">{}</p>\n", html_text(invoice.number));
  }
  if (invoice.is_draft()) {
    out += "<p class=\"number\"><span class=\"draft\">DRAFT</span></p>\n";
  }
  return out + "</div>\n</header>\n";
}

std::string fact(std::string_view name, std::string_view value) {
  if (value.empty()) return "";
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html_text(value));
}

std::string sum_label(const Invoice& invoice) {
  if (is_not_charged(invoice)) return "Not charged";
  if (invoice.total_shown.is_negative()) return "Credited to you";
  if (invoice.showback) return "Cost, for information";
  return invoice.is_draft() ? "Would be due" : "Amount due";
}

std::string facts(const Invoice& invoice) {
  std::string out = "<div class=\"facts\">\n";
  if (!is_not_charged(invoice)) {
    out +=
        fmt::format("<section>\n<h2>Bill to</h2>\n<address>\n<span><strong>{}</strong></span>\n{}",
                    html_text(invoice.bill_to.name), party_lines(invoice.bill_to));
    out += "</address>\n</section>\n";
  }
  out += "<section>\n<h2>Details</h2>\n<dl>\n";
  out += fact("Period", format_month(invoice.month));
  if (!is_not_charged(invoice)) out += fact("Customer", invoice.by + " " + invoice.customer);
  out += fact("Issued", invoice.issued_on);
  out += fact("Due", invoice.due_on);
  out += fact("Refers to", invoice.refers_to);
  out += fact("Reason", invoice.reason);
  out += "</dl>\n</section>\n";
  Money sum = invoice.total_shown;
  out += fmt::format(
      "<section class=\"sum\">\n<h2>{}</h2>\n<p>{} {}</p>\n<small>{}</small>\n</section>\n</div>\n",
      sum_label(invoice), invoice.currency.text(), money(sum),
      invoice.due_on.empty() || sum.is_negative() ? std::string()
                                                  : "by " + html_text(invoice.due_on));
  return out;
}

std::string line_row(const InvoiceLine& line, bool for_customer) {
  std::string out = "<tr><td>" + html_text(line.description);
  if (!line.remark.empty()) {
    out += "<span class=\"remark\">" + html_text(line.remark) + "</span>";
  }
  if (line.cost && !for_customer) {
    out += "<span class=\"remark\">" + html_text(pricing_note(line)) + "</span>";
  }
  const bool is_average =
      line.quantity && line.quantity->kind == QuantityKind::kGpuHours && !line.rate_is_exact;
  out += fmt::format(
      "</td><td class=\"figure\">{}</td><td class=\"unit\">{}</td>"
      "<td class=\"figure\"><span{}>{}</span></td><td class=\"figure\">{}</td></tr>\n",
      figure(line.quantity_shown), html_text(line.unit),
      is_average && !line.rate.empty() ? " class=\"average\"" : "", figure(line.rate),
      money(line.amount.shown));
  return out;
}

std::string lines_table(const Invoice& invoice) {
  std::string out = fmt::format(
      "<table class=\"lines\">\n<thead>\n<tr><th scope=\"col\">Description</th>"
      "<th scope=\"col\">Quantity</th><th scope=\"col\" class=\"unit\">Unit</th>"
      "<th scope=\"col\">Rate</th><th scope=\"col\">Amount {}</th></tr>\n</thead>\n",
      invoice.currency.text());
  for (const InvoiceSection& section : invoice.sections) {
    out += fmt::format("<tbody>\n<tr><th scope=\"rowgroup\" colspan=\"5\">{}</th></tr>\n",
                       html_text(section.title));
    for (const InvoiceLine& line : section.lines) {
      out += line_row(line, invoice.for_customer);
    }
    out += fmt::format(
        "<tr class=\"subtotal\"><th scope=\"row\" colspan=\"4\">Subtotal</th>"
        "<td class=\"figure\">{}</td></tr>\n</tbody>\n",
        money(section.subtotal.shown));
  }
  return out + "</table>\n";
}

std::string total_row(std::string_view attributes, std::string_view label,
                      std::string_view amount) {
  return fmt::format("<tr{}><th scope=\"row\">{}</th><td class=\"figure\">{}</td></tr>\n",
                     attributes, label, amount);
}

std::string totals(const Invoice& invoice) {
  std::string out = "<table class=\"totals\">\n<tbody>\n";
  if (invoice.tax) {
    out += total_row("", "Net", money(invoice.net.shown));
    out += total_row("",
                     fmt::format("{}, {}\u2009% of {}", html_text(invoice.tax->name),
                                 to_text(invoice.tax->percent), money(invoice.net.shown)),
                     money(invoice.tax->amount.shown));
  }
  out +=
      total_row(" class=\"total\"", "Total " + invoice.currency.text(), money(invoice.total_shown));
  return out + "</tbody>\n</table>\n";
}

std::string proof(const Invoice& invoice) {
  const InvoiceReconciliation& month = invoice.reconciliation;
  std::string out =
      "<table class=\"proof\">\n<caption>Reconciliation with the provider’s "
      "bill</caption>\n<tbody>\n";
  std::string others = "documents of the month";
  if (!is_not_charged(invoice)) {
    if (invoice.has_rates) {
      out += total_row("", "Net of this document", money(invoice.net.shown));
      out += total_row("", "Margin", money(invoice.net.shown - month.this_invoice.shown));
    }
    out += total_row("", invoice.has_rates ? "This document, its cost" : "This document, net",
                     money(month.this_invoice.shown));
    others =
        month.other_count == 1 ? "other document of the month" : "other documents of the month";
  }
  out += total_row(
      "",
      fmt::format("{} {}, {}", month.other_count, others, invoice.has_rates ? "their cost" : "net"),
      money(month.others.shown));
  out += total_row("", "Not charged to anyone", money(month.not_charged.shown));
  if (!month.rounding.is_zero()) {
    out += total_row("", "Rounding against earlier invoices", money(month.rounding));
  }
  out += total_row(
      " class=\"bill\"",
      fmt::format("Bill of {}: {} lines, {} cost", html_text(format_month(invoice.month)),
                  format_count(month.bill_lines, Thousands::kSeparated), html_text(invoice.cost)),
      money(month.bill.shown));
  out += total_row("", "Difference",
                   money(month.this_invoice.shown + month.others.shown + month.not_charged.shown +
                         month.rounding - month.bill.shown));
  if (month.aside) {
    out += total_row("", html_text(aside_label(*month.aside)), money(month.aside->amount.shown));
  }
  return out + "</tbody>\n</table>\n";
}

bool has_average(const Invoice& invoice) {
  return std::ranges::any_of(invoice.sections, [](const InvoiceSection& section) {
    return std::ranges::any_of(section.lines, [](const InvoiceLine& line) {
      return line.quantity && line.quantity->kind == QuantityKind::kGpuHours &&
             !line.rate.empty() && !line.rate_is_exact;
    });
  });
}

// Safe: an invoice number has only the characters of prefixes and months (prepare.h).
std::string page_footer(const Invoice& invoice) {
  std::string foot;
  for (const char c : invoice.number.empty() ? invoice.month : invoice.number) {
    if (c != '"' && c != '\\' && c != '<' && c >= ' ') foot += c;
  }
  return std::string(invoice_title(invoice)) + " " + foot + (invoice.is_draft() ? " (draft)" : "");
}

}  // namespace

std::string render_invoice_html(const Invoice& invoice) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  // Nothing is loaded and no script runs, whatever a name contains.
  out +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; img-src data:\">\n";
  out += fmt::format("<title>{}</title>\n", html_text(page_footer(invoice)));
  out += "<style>\n" +
         invoice_style(invoice.paper == PaperSize::kA4 ? "A4" : "letter", page_footer(invoice)) +
         "</style>\n</head>\n<body>\n";
  if (invoice.is_draft()) out += "<div class=\"mark\" aria-hidden=\"true\">DRAFT</div>\n";
  out += page_head(invoice) + "<main>\n" + facts(invoice) + lines_table(invoice) +
         "<div class=\"sums\">\n" + totals(invoice) + (invoice.for_customer ? "" : proof(invoice)) +
         "</div>\n";
  if (!invoice.note.empty()) {
    out += "<p class=\"note\">" + html_text(invoice.note) + "</p>\n";
  }
  out +=
      "<p class=\"small\">Amounts are kept exactly and shown in whole minor units so that the page "
      "adds up; a line may differ by one unit from its own rounding.";
  if (has_average(invoice)) {
    out += " * An average, for information: the amount divided by the quantity.";
  }
  out += "</p>\n";
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace pennyweight
