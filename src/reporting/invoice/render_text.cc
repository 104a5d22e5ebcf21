// Invoices for a terminal and for plain-text mail.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/utf8.h"
#include "reporting/invoice/render.h"
#include "reporting/invoice/rounding.h"
#include "reporting/number_format.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kHalf = 50;
constexpr std::size_t kDescriptionMin = 24;
constexpr std::size_t kIndent = 2;

std::string spaces(std::size_t count) { return std::string(count, ' '); }

std::string rule(std::string_view stroke) {
  std::string text;
  for (std::size_t i = 0; i < kWidth; ++i) text += stroke;
  return text + '\n';
}

std::string left(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return used < width ? text + spaces(width - used) : text;
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return used < width ? spaces(width - used) + text : text;
}

std::string without_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

// The first `width` code points, or fewer to end at a space.
std::string take_line(std::string_view& text, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t last_space = 0;
  for (std::size_t used = 0; used < width && bytes < text.size(); ++used) {
    if (text[bytes] == ' ') last_space = bytes;
    bytes += std::max<std::size_t>(1, code_point_bytes(text.substr(bytes)));
  }
  if (bytes < text.size() && text[bytes] != ' ' && last_space > 0) bytes = last_space;
  std::string line(text.substr(0, bytes));
  text.remove_prefix(bytes);
  while (text.starts_with(' ')) text.remove_prefix(1);
  return line;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  const std::string safe = printable(text);
  std::string_view rest = safe;
  std::vector<std::string> lines;
  while (!rest.empty()) lines.push_back(take_line(rest, width));
  return lines;
}

std::vector<std::string> party_block(std::string_view title, const Party& party) {
  std::vector<std::string> block = {std::string(title)};
  const auto add = [&](std::string_view text) {
    for (std::string& line : wrapped(text, kHalf - 2)) block.push_back(std::move(line));
  };
  add(party.name);
  for (const std::string& line : party.address) add(line);
  if (!party.tax_id.empty()) add("Tax id " + party.tax_id);
  add(party.contact);
  return block;
}

std::string beside(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::string out;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    out += without_end(left(i < a.size() ? a[i] : "", kHalf) + (i < b.size() ? b[i] : ""));
  }
  return out;
}

struct Widths {
  std::size_t description = 0, quantity = 8, unit = 4, rate = 4, amount = 6;
};

Widths column_widths(const Invoice& invoice) {
  Widths widths;
  const auto widen = [](std::size_t& width, std::string_view text) {
    width = std::max(width, display_width(text));
  };
  for (const InvoiceSection& section : invoice.sections) {
    widen(widths.amount, format_minor(section.subtotal.shown));
    for (const InvoiceLine& line : section.lines) {
      widen(widths.quantity, line.quantity_shown);
      widen(widths.unit, line.unit);
      widen(widths.rate, line.rate);
      widen(widths.amount, format_minor(line.amount.shown));
    }
  }
  widen(widths.amount, format_minor(invoice.net.shown));
  widen(widths.amount, format_minor(invoice.total_shown));
  const std::size_t figures =
      widths.quantity + widths.unit + widths.rate + widths.amount + 8 + kIndent;
  widths.description = figures + kDescriptionMin < kWidth ? kWidth - figures : kDescriptionMin;
  return widths;
}

std::string columns(const Widths& widths, const std::array<std::string, 5>& cells) {
  return without_end(spaces(kIndent) + left(cells[0], widths.description) + "  " +
                     right(cells[1], widths.quantity) + "  " + left(cells[2], widths.unit) + "  " +
                     right(cells[3], widths.rate) + "  " + right(cells[4], widths.amount));
}

std::string sum_line(const Widths& widths, std::string_view label, std::string_view amount) {
  const std::size_t all = kIndent + widths.description + widths.quantity + widths.unit +
                          widths.rate + widths.amount + 8;
  const std::size_t label_width = display_width(label);
  const std::size_t amount_width = display_width(amount);
  const std::size_t gap = all > label_width + amount_width ? all - label_width - amount_width : 1;
  return std::string(label) + spaces(gap) + std::string(amount) + '\n';
}

std::string section_text(const InvoiceSection& section, const Widths& widths, bool for_customer) {
  std::string out = "\n";
  for (const std::string& line : wrapped(section.title, kWidth)) out += line + '\n';
  for (const InvoiceLine& line : section.lines) {
    const std::vector<std::string> words = wrapped(line.description, widths.description);
    out += columns(widths, {words.empty() ? "" : words[0], line.quantity_shown, line.unit,
                            line.rate, format_minor(line.amount.shown)});
    for (std::size_t i = 1; i < words.size(); ++i) {
      out += without_end(spaces(kIndent) + words[i]);
    }
    for (const std::string& remark : wrapped(line.remark, kWidth - 2 * kIndent - 2)) {
      out += without_end(spaces(2 * kIndent) + remark);
    }
    if (line.cost && !for_customer) {
      out += spaces(2 * kIndent) + pricing_note(line) + '\n';
    }
  }
  return out + sum_line(widths, spaces(kIndent) + "Subtotal", format_minor(section.subtotal.shown));
}

std::string reconciliation_text(const Invoice& invoice) {
  const InvoiceReconciliation& month = invoice.reconciliation;
  std::vector<std::pair<std::string, Money>> rows;
  if (invoice.kind != InvoiceKind::kNotCharged) {
    rows.emplace_back(invoice.has_rates ? "This document, its cost" : "This document",
                      month.this_invoice.shown);
  }
  rows.emplace_back(fmt::format("{} {}{} of the month", month.other_count,
                                invoice.kind == InvoiceKind::kNotCharged ? "" : "other ",
                                month.other_count == 1 ? "document" : "documents"),
                    month.others.shown);
  rows.emplace_back("Not charged to anyone", month.not_charged.shown);
  if (!month.rounding.is_zero()) {
    rows.emplace_back("Rounding against earlier invoices", month.rounding);
  }
  rows.emplace_back(
      fmt::format("Bill of {}: {} lines, {} cost", invoice.month,
                  format_count(month.bill_lines, Thousands::kSeparated), invoice.cost),
      month.bill.shown);
  rows.emplace_back("Difference", month.this_invoice.shown + month.others.shown +
                                      month.not_charged.shown + month.rounding - month.bill.shown);
  if (month.aside) rows.emplace_back(aside_label(*month.aside), month.aside->amount.shown);
  std::string out = fmt::format("Reconciliation with the bill, {}\n", invoice.currency.text());
  if (invoice.has_rates) {
    rows.emplace_back("Net of this document", invoice.net.shown);
    rows.emplace_back("Margin: its net less its cost",
                      invoice.net.shown - month.this_invoice.shown);
  }
  for (const auto& [label, amount] : rows) {
    out += fmt::format("  {}{}\n", left(label, 56), right(format_minor(amount), 20));
  }
  return out;
}

}  // namespace

std::string render_invoice_text(const Invoice& invoice) {
  const std::string title =
      fmt::format("{}{}", invoice_title(invoice),
                  invoice.number.empty() ? "" : " " + printable(invoice.number));
  std::string out = rule("═");
  out += without_end(left(title, kWidth - 24) + right(invoice.is_draft() ? "DRAFT" : "", 24));
  out += rule("═");
  out += beside(party_block("From", invoice.issuer), invoice.kind == InvoiceKind::kNotCharged
                                                         ? std::vector<std::string>{}
                                                         : party_block("To", invoice.bill_to));
  out += '\n';
  out += fmt::format("For        {}, amounts in {}\n", format_month(invoice.month),
                     invoice.currency.text());
  if (!invoice.issued_on.empty()) out += fmt::format("Issued     {}\n", invoice.issued_on);
  if (!invoice.due_on.empty()) out += fmt::format("Due        {}\n", invoice.due_on);
  if (!invoice.refers_to.empty()) {
    out += fmt::format("Refers to  {}\n", printable(invoice.refers_to));
  }
  if (!invoice.reason.empty()) {
    std::string label = "Reason     ";
    for (const std::string& line : wrapped(invoice.reason, kWidth - 11)) {
      out += label + line + '\n';
      label = spaces(11);
    }
  }
  out += '\n';

  const Widths widths = column_widths(invoice);
  out += columns(widths, {"Description", "Quantity", "Unit", "Rate", "Amount"});
  out += rule("─");
  for (const InvoiceSection& section : invoice.sections) {
    out += section_text(section, widths, invoice.for_customer);
  }
  out += '\n' + rule("─");
  if (invoice.tax) {
    out += sum_line(widths, "Net", format_minor(invoice.net.shown));
    out += sum_line(widths,
                    fmt::format("{}, {} % of {}", printable(invoice.tax->name),
                                to_text(invoice.tax->percent), format_minor(invoice.net.shown)),
                    format_minor(invoice.tax->amount.shown));
  }
  out += sum_line(widths, "Total " + invoice.currency.text(), format_minor(invoice.total_shown));
  out += rule("═") + '\n';
  if (!invoice.for_customer) out += reconciliation_text(invoice);
  if (!invoice.note.empty()) {
    out += '\n';
    for (const std::string& line : wrapped(invoice.note, kWidth)) out += line + '\n';
  }
  return out;
}

}  // namespace pennyweight
