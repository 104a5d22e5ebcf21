#include "reporting/pdf/invoice_pdf.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base_encoding.h"
#include "core/try.h"
#include "reporting/invoice/render.h"
#include "reporting/minor_unit.h"
#include "reporting/number_format.h"
#include "reporting/pdf/page_writer.h"

namespace pennyweight {
namespace {

using pdf::Align;
using pdf::PageWriter;

constexpr pdf::PageSize kLetter{.width = 612, .height = 792};
constexpr float kMargin = 50;
constexpr float kBottom = 60;  // of the page, for its foot
constexpr float kSmall = 7.5F;
constexpr float kBody = 8.5F;
constexpr float kGap = 8;  // between columns
constexpr float kLeading = 1.35F;

std::string figure(Money shown) {
  std::string text = format_minor(shown);
  if (text.starts_with('-')) text.replace(0, 1, "\u2212");
  return text;
}

bool is_not_charged(const Invoice& invoice) { return invoice.kind == InvoiceKind::kNotCharged; }

class InvoicePage {
 public:
  InvoicePage(const Invoice& invoice, const pdf::PageSize& size, PageWriter& out)
      : invoice_(invoice),
        out_(out),
        right_(size.width - kMargin),
        bottom_(size.height - kBottom),
        width_(size.width - 2 * kMargin) {}

  Result<void> draw() {
    measure_columns();
    begin_page();
    TRY(head());
    parties();
    table_head();
    for (const InvoiceSection& section : invoice_.sections) section_rows(section);
    totals();
    if (!invoice_.for_customer) reconciliation();
    notes();
    feet();
    return {};
  }

 private:
  struct Columns {
    float description = 0, quantity = 0, unit = 0, rate = 0, amount = 0;  // widths
  };

  void begin_page() {
    if (invoice_.is_draft()) out_.mark("DRAFT");
    y_ = kMargin;
  }

  // Goes on to the next page where less than `height` is left on this one.
  void need(float height) {
    if (y_ + height <= bottom_) return;
    out_.add_page();
    begin_page();
    if (in_table_) table_head();
  }

  Result<void> head() {
    float left_y = y_;
    if (!invoice_.logo.empty()) {
      const float height = TRY(logo(left_y));
      left_y += height + 6;
    }
    left_y = party(kMargin, left_y + 10, invoice_.issuer, 1);
    const std::string title(invoice_title(invoice_));
    out_.bold(right_, y_ + 16, title, 20, Align::kRight);
    float right_y = y_ + 32;
    if (!invoice_.number.empty()) {
      out_.text(right_, right_y, invoice_.number, 11, Align::kRight);
      right_y += 14;
    }
    if (invoice_.is_draft()) {
      out_.bold(right_, right_y, "DRAFT", 11, Align::kRight);
      right_y += 14;
    }
    y_ = std::max(left_y, right_y) + 10;
    return {};
  }

  Result<float> logo(float y) {
    constexpr std::string_view kPng = "data:image/png;base64,";
    constexpr std::string_view kJpeg = "data:image/jpeg;base64,";
    std::string_view uri = invoice_.logo;
    const bool is_png = uri.starts_with(kPng);
    if (!is_png && !uri.starts_with(kJpeg)) {
      return fail(ErrorCode::kUnsupported,
                  "a PDF can't have this invoice.logo; use a PNG or JPEG, or print the HTML");
    }
    std::string text(uri.substr(is_png ? kPng.size() : kJpeg.size()));
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
    text.erase(std::min(text.find('='), text.size()));
    const auto bytes = from_base64url(text);
    if (!bytes) return fail(ErrorCode::kBadValue, "invoice.logo is not base64");
    return out_.image(*bytes, is_png, kMargin, y, 160, 48);
  }

  // The y below it.
  float party(float x, float y, const Party& who, int bold_lines) {
    const auto put = [&](const std::string& text, bool is_bold) {
      for (const std::string& line : out_.wrapped(text, kBody, width_ / 2 - kGap)) {
        is_bold ? out_.bold(x, y, line, kBody + 1) : out_.text(x, y, line, kBody);
        y += kBody * kLeading;
      }
    };
    put(who.name, bold_lines > 0);
    for (const std::string& line : who.address) put(line, false);
    if (!who.tax_id.empty()) put("Tax id " + who.tax_id, false);
    put(who.contact, false);
    return y;
  }

  void parties() {
    const float begin = y_;
    float left = begin;
    if (!is_not_charged(invoice_)) {
      out_.text(kMargin, begin, "Bill to", kSmall, Align::kLeft, 0.4F);
      left = party(kMargin, begin + 12, invoice_.bill_to, 1);
    }
    const float x = kMargin + width_ / 2;
    float y = begin;
    const auto fact = [&](const std::string& name, const std::string& value) {
      if (value.empty()) return;
      out_.text(x, y, name, kSmall, Align::kLeft, 0.4F);
      for (const std::string& line : out_.wrapped(value, kBody, width_ / 2 - 70)) {
        out_.text(x + 70, y, line, kBody);
        y += kBody * kLeading;
      }
    };
    fact("Period", format_month(invoice_.month));
    if (!is_not_charged(invoice_)) fact("Customer", invoice_.by + " " + invoice_.customer);
    fact("Issued", invoice_.issued_on);
    fact("Due", invoice_.due_on);
    fact("Refers to", invoice_.refers_to);
    fact("Reason", invoice_.reason);
    fact("Currency", invoice_.currency.text());
    y_ = std::max(left, y) + 16;
  }

  void measure_columns() {
    const auto widen = [&](float& width, const std::string& text) {
      width = std::max(width, out_.width_of(text, kBody));
    };
    columns_ = {0, out_.width_of("Quantity", kBody), out_.width_of("lump sum", kBody),
                out_.width_of("Rate", kBody), out_.width_of("Amount", kBody)};
    for (const InvoiceSection& section : invoice_.sections) {
      widen(columns_.amount, figure(section.subtotal.shown));
      for (const InvoiceLine& line : section.lines) {
        widen(columns_.quantity, line.quantity_shown);
        widen(columns_.unit, line.unit);
        widen(columns_.rate, rate_text(line));
        widen(columns_.amount, figure(line.amount.shown));
      }
    }
    widen(columns_.amount, figure(invoice_.total_shown));
    columns_.description =
        width_ - columns_.quantity - columns_.unit - columns_.rate - columns_.amount - 4 * kGap;
  }

  static std::string rate_text(const InvoiceLine& line) {
    const bool is_average = line.quantity && line.quantity->kind == QuantityKind::kGpuHours &&
                            !line.rate_is_exact && !line.rate.empty();
    const bool is_negative = line.rate.starts_with('-');
    return (is_negative ? "\u2212" + line.rate.substr(1) : line.rate) + (is_average ? "*" : "");
  }

  float quantity_right() const { return kMargin + columns_.description + kGap + columns_.quantity; }
  float rate_right() const { return right_ - columns_.amount - kGap; }

  void table_head() {
    in_table_ = true;
    y_ += kBody;
    out_.bold(kMargin, y_, "Description", kBody);
    out_.bold(quantity_right(), y_, "Quantity", kBody, Align::kRight);
    out_.bold(quantity_right() + kGap, y_, "Unit", kBody);
    out_.bold(rate_right(), y_, "Rate", kBody, Align::kRight);
    out_.bold(right_, y_, "Amount", kBody, Align::kRight);
    y_ += 4;
    out_.rule(kMargin, y_, width_, 0.8F);
    y_ += 6;
  }

  void section_rows(const InvoiceSection& section) {
    const float row = kBody * kLeading;
    need(4 * row);
    y_ += row;
    out_.bold(kMargin, y_, section.title, kBody);
    y_ += 3;
    // A page never begins with a subtotal: its last line comes with it.
    const float subtotal = row + 4;
    for (const InvoiceLine& line : section.lines) {
      line_rows(line, &line == &section.lines.back() ? subtotal : 0);
    }
    need(subtotal);
    out_.rule(right_ - columns_.amount - 40, y_ + 4, columns_.amount + 40, 0.4F, 0.5F);
    y_ += subtotal;
    out_.text(kMargin, y_, "Subtotal", kBody, Align::kLeft, 0.3F);
    out_.bold(right_, y_, figure(section.subtotal.shown), kBody, Align::kRight);
    y_ += 3;
  }

  // `below`: what must stand on the same page as the line.
  void line_rows(const InvoiceLine& line, float below) {
    const float row = kBody * kLeading;
    std::vector<std::string> words = out_.wrapped(line.description, kBody, columns_.description);
    if (words.empty()) words.emplace_back();
    std::vector<std::string> remarks = out_.wrapped(line.remark, kSmall, columns_.description);
    if (line.cost && !invoice_.for_customer) {
      std::ranges::move(out_.wrapped(pricing_note(line), kSmall, columns_.description),
                        std::back_inserter(remarks));
    }
    need(row * static_cast<float>(words.size() + remarks.size()) + below);
    for (std::size_t i = 0; i < words.size(); ++i) {
      y_ += row;
      out_.text(kMargin, y_, words[i], kBody);
      if (i > 0) continue;
      out_.text(quantity_right(), y_, line.quantity_shown, kBody, Align::kRight);
      out_.text(quantity_right() + kGap, y_, line.unit, kBody);
      out_.text(rate_right(), y_, rate_text(line), kBody, Align::kRight);
      out_.text(right_, y_, figure(line.amount.shown), kBody, Align::kRight);
    }
    for (const std::string& remark : remarks) {
      y_ += row;
      out_.text(kMargin + 8, y_, remark, kSmall, Align::kLeft, 0.4F);
    }
  }

  void sum_row(const std::string& label, const std::string& amount, bool is_bold) {
    const float row = (kBody + 1) * 1.5F;
    y_ += row;
    const float label_right = right_ - std::max(columns_.amount, 80.0F) - kGap;
    if (is_bold) {
      out_.bold(label_right, y_, label, kBody + 1, Align::kRight);
      out_.bold(right_, y_, amount, kBody + 1, Align::kRight);
    } else {
      out_.text(label_right, y_, label, kBody, Align::kRight);
      out_.text(right_, y_, amount, kBody, Align::kRight);
    }
  }

  void totals() {
    in_table_ = false;
    need(70);
    y_ += 8;
    out_.rule(kMargin, y_, width_, 0.8F);
    if (invoice_.tax) {
      sum_row("Net", figure(invoice_.net.shown), false);
      sum_row(fmt::format("{}, {} % of {}", invoice_.tax->name, to_text(invoice_.tax->percent),
                          figure(invoice_.net.shown)),
              figure(invoice_.tax->amount.shown), false);
    }
    sum_row("Total " + invoice_.currency.text(), figure(invoice_.total_shown), true);
    y_ += 10;
  }

  void reconciliation() {
    const InvoiceReconciliation& month = invoice_.reconciliation;
    std::vector<std::pair<std::string, Money>> rows;
    if (invoice_.has_rates) {
      rows.emplace_back("Net of this document", invoice_.net.shown);
      rows.emplace_back("Margin: its net less its cost",
                        invoice_.net.shown - month.this_invoice.shown);
    }
    if (!is_not_charged(invoice_)) {
      rows.emplace_back(invoice_.has_rates ? "This document, its cost" : "This document",
                        month.this_invoice.shown);
    }
    rows.emplace_back(fmt::format("{} other {} of the month", month.other_count,
                                  month.other_count == 1 ? "document" : "documents"),
                      month.others.shown);
    rows.emplace_back("Not charged to anyone", month.not_charged.shown);
    if (!month.rounding.is_zero()) {
      rows.emplace_back("Rounding against earlier invoices", month.rounding);
    }
    rows.emplace_back(fmt::format("Bill of {}: {}, {} cost", format_month(invoice_.month),
                                  counted(month.bill_lines, "line"), invoice_.cost),
                      month.bill.shown);
    rows.emplace_back("Difference", month.this_invoice.shown + month.others.shown +
                                        month.not_charged.shown + month.rounding -
                                        month.bill.shown);
    if (month.aside) rows.emplace_back(aside_label(*month.aside), month.aside->amount.shown);
    need(24 + kBody * kLeading * static_cast<float>(rows.size()));
    y_ += 16;
    out_.bold(kMargin, y_, "Reconciliation with the provider's bill", kBody);
    for (const auto& [label, amount] : rows) {
      y_ += kBody * kLeading;
      out_.text(kMargin, y_, label, kBody);
      out_.text(kMargin + width_ / 2 + 40, y_, figure(amount), kBody, Align::kRight);
    }
  }

  void paragraph(const std::string& text, float size, float grey) {
    for (const std::string& line : out_.wrapped(text, size, width_)) {
      need(size * kLeading);
      y_ += size * kLeading;
      out_.text(kMargin, y_, line, size, Align::kLeft, grey);
    }
  }

  void notes() {
    y_ += 12;
    if (!invoice_.note.empty()) {
      paragraph(invoice_.note, kBody, 0);
      y_ += 6;
    }
    const bool has_average = std::ranges::any_of(invoice_.sections, [](const auto& section) {
      return std::ranges::any_of(section.lines,
                                 [](const auto& line) { return rate_text(line).ends_with('*'); });
    });
    paragraph(std::string("Amounts are kept exactly and shown in whole minor units so that the "
                          "page adds up; a line may differ by one unit from its own rounding.") +
                  (has_average ? " * An average: the amount divided by the quantity." : ""),
              kSmall, 0.4F);
  }

  void feet() {
    const std::string name = invoice_.number.empty() ? invoice_.month : invoice_.number;
    for (std::size_t page = 0; page < out_.pages(); ++page) {
      out_.choose_page(page);
      out_.rule(kMargin, bottom_ + 14, width_, 0.4F, 0.6F);
      out_.text(kMargin, bottom_ + 26,
                fmt::format("{} {}{}", invoice_title(invoice_), name,
                            invoice_.is_draft() ? " (draft)" : ""),
                kSmall, Align::kLeft, 0.4F);
      out_.text(right_, bottom_ + 26, fmt::format("page {} of {}", page + 1, out_.pages()), kSmall,
                Align::kRight, 0.4F);
    }
  }

  const Invoice& invoice_;
  PageWriter& out_;
  float right_, bottom_, width_;
  float y_ = 0;
  bool in_table_ = false;
  Columns columns_;
};

}  // namespace

Result<std::string> render_invoice_pdf(const Invoice& invoice, const std::string& font_file) {
  const pdf::PageSize size = invoice.paper == PaperSize::kLetter ? kLetter : pdf::PageSize{};
  const std::string title = fmt::format("{} {}", invoice_title(invoice),
                                        invoice.number.empty() ? invoice.month : invoice.number);
  auto out = TRY(PageWriter::open(size, font_file, title));
  TRY(InvoicePage(invoice, size, out).draw());
  return out.finish();
}

}  // namespace pennyweight
