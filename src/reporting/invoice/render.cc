#include "reporting/invoice/render.h"

#include <fmt/format.h>

#include <array>

#include "reporting/minor_unit.h"
#include "reporting/number_format.h"

namespace pennyweight {

std::string_view invoice_title(const Invoice& invoice) {
  switch (invoice.kind) {
    case InvoiceKind::kInvoice:
      return invoice.showback ? "Cost statement" : "Invoice";
    case InvoiceKind::kCreditNote:
      return invoice.showback ? "Correction of a cost statement" : "Credit note";
    case InvoiceKind::kSupplement:
      return invoice.showback ? "Correction of a cost statement" : "Supplementary invoice";
    case InvoiceKind::kNotCharged:
      return "Not charged to anyone";
  }
  CHECK(false, "every kind is listed");
}

std::string format_month(std::string_view month) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "January", "February", "March",     "April",   "May",      "June",
      "July",    "August",   "September", "October", "November", "December"};
  if (month.size() != 7 || month[4] != '-') return std::string(month);
  const int number = (month[5] - '0') * 10 + (month[6] - '0');
  if (number < 1 || number > 12) return std::string(month);
  return std::string(kNames[static_cast<std::size_t>(number - 1)]) + " " +
         std::string(month.substr(0, 4));
}

std::string aside_label(const InvoiceAside& aside) {
  std::string text = "Set aside, not in the bill: " + counted(aside.rows, "row");
  if (aside.unreadable > 0) text += fmt::format(", {} of them not readable", aside.unreadable);
  return text;
}

std::string pricing_note(const InvoiceLine& line) {
  return fmt::format("cost {}; {}", format_minor(line.cost->shown), line.pricing);
}

}  // namespace pennyweight
