#include "reporting/invoice/document.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>

#include "core/card_share.h"
#include "core/json_text.h"
#include "core/try.h"
#include "reporting/invoice/rounding.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::string_view kSchema = "pennyweight-invoice/1";

std::string_view to_text(InvoiceKind kind) {
  switch (kind) {
    case InvoiceKind::kInvoice:
      return "invoice";
    case InvoiceKind::kCreditNote:
      return "credit_note";
    case InvoiceKind::kSupplement:
      return "supplement";
    case InvoiceKind::kNotCharged:
      return "not_charged";
  }
  CHECK(false, "every kind is listed");
}

std::string_view to_text(QuantityKind kind) {
  switch (kind) {
    case QuantityKind::kGpuHours:
      return "gpu_hours";
    case QuantityKind::kShare:
      return "share";
    case QuantityKind::kLump:
      return "lump";
  }
  CHECK(false, "every kind is listed");
}

// Writes the members of a JSON object.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_json_string(out_, value);
  }
  void truth(std::string_view name, bool value) {
    key(name);
    out_ += value ? "true" : "false";
  }
  void count(std::string_view name, std::uint64_t value) {
    key(name);
    out_ += std::to_string(value);
  }
  void amount(std::string_view name, const InvoiceAmount& amount) {
    text(name, pennyweight::to_text(amount.exact.amount()));
    text(std::string(name) + "_shown", shown_text(amount.shown));
  }
  void shown(std::string_view name, Money money) { text(name, shown_text(money)); }
  // Writes the name only; the caller writes the value.
  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_json_string(out_, name);
    out_ += ':';
    return out_;
  }
  void end() { out_ += '}'; }

 private:
  static std::string shown_text(Money money) {
    return format_rounded(money.amount(), minor_digits(money.currency()), Thousands::kPlain);
  }
  std::string& out_;
  bool first_ = true;
};

void append_party(std::string& out, const Party& party) {
  Members members(out);
  members.text("name", party.name);
  members.key("address") += '[';
  for (std::size_t i = 0; i < party.address.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, party.address[i]);
  }
  out += ']';
  members.text("tax_id", party.tax_id);
  members.text("contact", party.contact);
  members.end();
}

void append_quantity(std::string& out, const LineQuantity& quantity, std::string_view shown) {
  Members members(out);
  members.text("kind", to_text(quantity.kind));
  members.text("part", pennyweight::to_text(quantity.part));
  members.text("whole", pennyweight::to_text(quantity.whole));
  members.text("shown", shown);
  members.end();
}

void append_line(std::string& out, const InvoiceLine& line, bool for_customer) {
  Members members(out);
  members.text("key", line.key);
  members.text("description", line.description);
  members.text("remark", line.remark);
  members.key("quantity");
  if (line.quantity) {
    append_quantity(out, *line.quantity, line.quantity_shown);
  } else {
    out += "null";
  }
  members.text("unit", line.unit);
  members.text("rate", line.rate);
  members.truth("rate_is_exact", line.rate_is_exact);
  members.amount("amount", line.amount);
  if (line.cost && !for_customer) {
    members.amount("cost", *line.cost);
    members.text("pricing", line.pricing);
  }
  members.end();
}

void append_section(std::string& out, const InvoiceSection& section, bool for_customer) {
  Members members(out);
  members.text("name", section.name);
  members.text("title", section.title);
  members.key("lines") += '[';
  for (std::size_t i = 0; i < section.lines.size(); ++i) {
    out += i == 0 ? "\n  " : ",\n  ";
    append_line(out, section.lines[i], for_customer);
  }
  out += ']';
  members.amount("subtotal", section.subtotal);
  members.end();
}

void append_reconciliation(std::string& out, const InvoiceReconciliation& month) {
  Members members(out);
  members.amount("this_invoice", month.this_invoice);
  members.count("other_invoices", month.other_count);
  members.amount("others", month.others);
  members.amount("not_charged", month.not_charged);
  members.shown("rounding_shown", month.rounding);
  members.count("bill_lines", month.bill_lines);
  members.amount("bill", month.bill);
  const Money sum =
      month.this_invoice.exact + month.others.exact + month.not_charged.exact - month.bill.exact;
  members.text("difference", pennyweight::to_text(sum.amount()));
  if (month.aside) {
    members.count("aside_rows", month.aside->rows);
    members.count("aside_unreadable", month.aside->unreadable);
    members.amount("aside", month.aside->amount);
  }
  members.end();
}

// Reads what Members wrote. It remembers the first error and carries on with empty values.
class Reader {
 public:
  using Object = simdjson::dom::object;

  std::string text(const Object& object, std::string_view name) {
    std::string_view value;
    if (object[name].get(value) != simdjson::SUCCESS) miss(name);
    return std::string(value);
  }
  bool truth(const Object& object, std::string_view name) {
    bool value = false;
    if (object[name].get(value) != simdjson::SUCCESS) miss(name);
    return value;
  }
  std::uint64_t count(const Object& object, std::string_view name) {
    std::uint64_t value = 0;
    if (object[name].get(value) != simdjson::SUCCESS) miss(name);
    return value;
  }
  Object object(const Object& parent, std::string_view name) {
    Object value;
    if (parent[name].get(value) != simdjson::SUCCESS) miss(name);
    return value;
  }
  simdjson::dom::array array(const Object& parent, std::string_view name) {
    simdjson::dom::array value;
    if (parent[name].get(value) != simdjson::SUCCESS) miss(name);
    return value;
  }
  Decimal decimal(const Object& object, std::string_view name) {
    const auto value = parse_exact_decimal(text(object, name));
    if (value) return *value;
    miss(name);
    return {};
  }
  Money money(const Object& object, std::string_view name, Currency currency) {
    return Money::from_decimal(decimal(object, name), currency);
  }
  Money shown(const Object& object, std::string_view name, Currency currency) {
    const Money value = money(object, name, currency);
    if (round_to_minor(value) != value) miss(name);
    return value;
  }
  InvoiceAmount amount(const Object& object, std::string_view name, Currency currency) {
    return {money(object, name, currency), shown(object, std::string(name) + "_shown", currency)};
  }
  Int128 integer(const Object& object, std::string_view name) {
    const auto value = parse_int128(text(object, name));
    if (!value) miss(name);
    return value.value_or(0);
  }
  void miss(std::string_view name) {
    if (missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  std::string missing_;
};

using Object = simdjson::dom::object;

InvoiceKind read_kind(Reader& reader, const Object& root) {
  const std::string text = reader.text(root, "kind");
  for (const InvoiceKind kind : {InvoiceKind::kInvoice, InvoiceKind::kCreditNote,
                                 InvoiceKind::kSupplement, InvoiceKind::kNotCharged}) {
    if (text == to_text(kind)) return kind;
  }
  reader.miss("kind");
  return InvoiceKind::kInvoice;
}

Party read_party(Reader& reader, const Object& object) {
  Party party{reader.text(object, "name"),
              {},
              reader.text(object, "tax_id"),
              reader.text(object, "contact")};
  const simdjson::dom::array address = reader.array(object, "address");
  if (!reader.missing().empty()) return party;
  for (const auto& item : address) {
    std::string_view line;
    if (item.get(line) != simdjson::SUCCESS) reader.miss("address");
    party.address.emplace_back(line);
  }
  return party;
}

LineQuantity read_quantity(Reader& reader, const Object& object) {
  const std::string text = reader.text(object, "kind");
  LineQuantity quantity{QuantityKind::kLump, reader.integer(object, "part"),
                        reader.integer(object, "whole")};
  for (const QuantityKind kind :
       {QuantityKind::kGpuHours, QuantityKind::kShare, QuantityKind::kLump}) {
    if (text != to_text(kind)) continue;
    quantity.kind = kind;
    const bool of_hours = quantity.whole == static_cast<Int128>(kGpuHour.count());
    if (quantity.whole <= 0 || (kind == QuantityKind::kGpuHours && !of_hours)) break;
    return quantity;
  }
  reader.miss("quantity");
  return {};
}

InvoiceLine read_line(Reader& reader, const Object& object, Currency currency) {
  InvoiceLine line{reader.text(object, "key"),
                   reader.text(object, "description"),
                   reader.text(object, "remark"),
                   std::nullopt,
                   "",
                   reader.text(object, "unit"),
                   reader.text(object, "rate"),
                   reader.truth(object, "rate_is_exact"),
                   reader.amount(object, "amount", currency)};
  simdjson::dom::element cost;
  if (object["cost"].get(cost) == simdjson::SUCCESS) {
    line.cost = reader.amount(object, "cost", currency);
    line.pricing = reader.text(object, "pricing");
  }
  simdjson::dom::element quantity;
  if (object["quantity"].get(quantity) != simdjson::SUCCESS) {
    reader.miss("quantity");
  } else if (!quantity.is_null()) {
    const Object there = reader.object(object, "quantity");
    if (!reader.missing().empty()) return line;
    line.quantity = read_quantity(reader, there);
    line.quantity_shown = reader.text(there, "shown");
  }
  return line;
}

InvoiceSection read_section(Reader& reader, const Object& object, Currency currency) {
  InvoiceSection section{reader.text(object, "name"),
                         reader.text(object, "title"),
                         {},
                         reader.amount(object, "subtotal", currency)};
  const simdjson::dom::array lines = reader.array(object, "lines");
  if (!reader.missing().empty()) return section;
  for (const auto& item : lines) {
    Object line;
    if (item.get(line) != simdjson::SUCCESS) reader.miss("lines");
    if (!reader.missing().empty()) break;
    section.lines.push_back(read_line(reader, line, currency));
  }
  return section;
}

InvoiceReconciliation read_reconciliation(Reader& reader, const Object& object, Currency currency) {
  InvoiceReconciliation month{reader.amount(object, "this_invoice", currency),
                              reader.count(object, "other_invoices"),
                              reader.amount(object, "others", currency),
                              reader.amount(object, "not_charged", currency),
                              reader.shown(object, "rounding_shown", currency),
                              reader.count(object, "bill_lines"),
                              reader.amount(object, "bill", currency)};
  simdjson::dom::element aside;
  if (object["aside"].get(aside) == simdjson::SUCCESS) {
    month.aside = {.rows = reader.count(object, "aside_rows"),
                   .unreadable = reader.count(object, "aside_unreadable"),
                   .amount = reader.amount(object, "aside", currency)};
  }
  return month;
}

}  // namespace

std::string invoice_document(const Invoice& invoice) {
  std::string out;
  Members members(out);
  members.text("schema", kSchema);
  members.text("kind", to_text(invoice.kind));
  members.text("number", invoice.number);
  members.text("month", invoice.month);
  members.text("by", invoice.by);
  members.text("customer", invoice.customer);
  members.text("currency", invoice.currency.text());
  members.text("cost", invoice.cost);
  members.text("issued_on", invoice.issued_on);
  members.text("due_on", invoice.due_on);
  members.text("refers_to", invoice.refers_to);
  members.text("reason", invoice.reason);
  members.truth("showback", invoice.showback);
  members.text("paper", invoice.paper == PaperSize::kA4 ? "a4" : "letter");
  members.key("issuer");
  append_party(out, invoice.issuer);
  members.key("bill_to");
  append_party(out, invoice.bill_to);
  members.text("logo", invoice.logo);
  members.text("note", invoice.note);
  members.key("sections") += '[';
  for (std::size_t i = 0; i < invoice.sections.size(); ++i) {
    out += i == 0 ? "\n " : ",\n ";
    append_section(out, invoice.sections[i], invoice.for_customer);
  }
  out += ']';
  members.amount("net", invoice.net);
  members.key("tax");
  if (invoice.tax) {
    Members tax(out);
    tax.text("name", invoice.tax->name);
    tax.text("percent", pennyweight::to_text(invoice.tax->percent));
    tax.amount("amount", invoice.tax->amount);
    tax.end();
  } else {
    out += "null";
  }
  members.shown("total_shown", invoice.total_shown);
  if (!invoice.for_customer) {
    if (invoice.has_rates) {
      members.text("margin", pennyweight::to_text(invoice.margin().amount()));
    }
    members.key("reconciliation");
    append_reconciliation(out, invoice.reconciliation);
  }
  members.end();
  out += '\n';
  return out;
}

Result<Invoice> read_invoice(std::string_view document) {
  if (document.size() > kInvoiceDocumentBytesMax) {
    return fail(ErrorCode::kLimit, fmt::format("the invoice has {} bytes; at most {} are allowed",
                                               document.size(), kInvoiceDocumentBytesMax));
  }
  simdjson::dom::parser parser;
  Object root;
  if (parser.parse(document.data(), document.size()).get(root) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadFile, "this is not the JSON of an invoice");
  }
  Reader reader;
  if (reader.text(root, "schema") != kSchema) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("this is not an invoice of schema {}", kSchema));
  }
  const auto currency = TRY(Currency::parse(reader.text(root, "currency")));
  Invoice invoice(currency);
  invoice.kind = read_kind(reader, root);
  invoice.number = reader.text(root, "number");
  invoice.month = reader.text(root, "month");
  invoice.by = reader.text(root, "by");
  invoice.customer = reader.text(root, "customer");
  invoice.cost = reader.text(root, "cost");
  invoice.issued_on = reader.text(root, "issued_on");
  invoice.due_on = reader.text(root, "due_on");
  invoice.refers_to = reader.text(root, "refers_to");
  invoice.reason = reader.text(root, "reason");
  invoice.showback = reader.truth(root, "showback");
  invoice.paper = reader.text(root, "paper") == "letter" ? PaperSize::kLetter : PaperSize::kA4;
  const auto part = [&](const char* name, auto read) {
    const Object object = reader.object(root, name);
    if (reader.missing().empty()) read(object);
  };
  part("issuer", [&](const Object& at) { invoice.issuer = read_party(reader, at); });
  part("bill_to", [&](const Object& at) { invoice.bill_to = read_party(reader, at); });
  invoice.logo = reader.text(root, "logo");
  invoice.note = reader.text(root, "note");
  simdjson::dom::array sections;
  if (root["sections"].get(sections) != simdjson::SUCCESS) {
    reader.miss("sections");
  } else {
    for (const auto& item : sections) {
      Object section;
      if (item.get(section) != simdjson::SUCCESS) reader.miss("sections");
      if (!reader.missing().empty()) break;
      invoice.sections.push_back(read_section(reader, section, currency));
    }
  }
  invoice.net = reader.amount(root, "net", currency);
  simdjson::dom::element tax;
  if (root["tax"].get(tax) != simdjson::SUCCESS) {
    reader.miss("tax");
  } else if (!tax.is_null()) {
    part("tax", [&](const Object& at) {
      invoice.tax = TaxLine{reader.text(at, "name"), reader.decimal(at, "percent"),
                            reader.amount(at, "amount", currency)};
    });
  }
  invoice.total_shown = reader.shown(root, "total_shown", currency);
  part("reconciliation", [&](const Object& at) {
    invoice.reconciliation = read_reconciliation(reader, at, currency);
  });
  for (const InvoiceSection& section : invoice.sections) {
    for (const InvoiceLine& line : section.lines) invoice.has_rates |= line.cost.has_value();
  }
  if (!reader.missing().empty()) {
    return fail(ErrorCode::kBadFile,
                fmt::format("this invoice has no '{}', or a wrong one", reader.missing()));
  }
  return invoice;
}

}  // namespace pennyweight
