#include "reporting/invoice/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/ascii.h"
#include "core/card_share.h"
#include "core/check.h"
#include "core/try.h"
#include "reporting/invoice/rounding.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr int kShareDigits = 4;  // of a percentage
constexpr int kHourDigits = 4;
constexpr std::size_t kPrefixBytesMax = 32;

UInt128 magnitude(Int128 value) {
  return value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
}

// amount / quantity; empty where it has more digits than Money.
std::optional<QuotientAndRemainder> rate_ticks(Money amount, const LineQuantity& quantity) {
  const UInt128 size = magnitude(amount.ticks());
  const UInt128 part = magnitude(quantity.part);
  const UInt128 whole = static_cast<UInt128>(quantity.whole);
  if (part == 0) return std::nullopt;
  const UInt128 most = static_cast<UInt128>(Decimal::kTicksMax);
  if (size / part >= most / whole) return std::nullopt;
  return multiply_divide(size, whole, part);
}

// Two digits more than the currency has; four more for rates below one unit.
int rate_digits(Currency currency, UInt128 ticks) {
  return minor_digits(currency) + (ticks < static_cast<UInt128>(Money::kTicksPerUnit) ? 4 : 2);
}

void show_rate(InvoiceLine& line) {
  const Money amount = line.amount.exact;
  const auto rate = rate_ticks(amount, *line.quantity);
  if (!rate) return;
  const int digits = rate_digits(amount.currency(), rate->quotient);
  const bool negative = amount.is_negative() != (line.quantity->part < 0);
  const auto ticks = static_cast<Int128>(rate->quotient);
  line.rate =
      format_rounded(Decimal::from_ticks(negative ? -ticks : ticks), digits, Thousands::kSeparated);
  Int128 unit = Money::kTicksPerUnit;
  for (int i = 0; i < digits; ++i) unit /= 10;
  line.rate_is_exact = rate->remainder == 0 && ticks % unit == 0;
}

void show_quantity(InvoiceLine& line) {
  if (!line.quantity) return;
  const LineQuantity& quantity = *line.quantity;
  switch (quantity.kind) {
    case QuantityKind::kGpuHours:
      line.unit = "GPU-hour";
      line.quantity_shown =
          (quantity.part < 0 ? "-" : "") + format_gpu_hours(GpuTime::of(magnitude(quantity.part)),
                                                            kHourDigits, Thousands::kSeparated);
      show_rate(line);
      return;
    case QuantityKind::kShare: {
      const auto percent = format_percent(quantity.part, quantity.whole, kShareDigits);
      line.unit = "share of";
      line.quantity_shown = *percent + " %";  // 0 < whole, |part| <= whole
      const Money all = Money::from_ticks(quantity.whole, line.amount.exact.currency());
      line.rate = format_minor(round_to_minor(all));
      line.rate_is_exact = round_to_minor(all) == all;
      return;
    }
    case QuantityKind::kLump:
      line.unit = "lump sum";
      line.quantity_shown = "1";
      line.rate = format_minor(line.amount.shown);
      line.rate_is_exact = line.amount.shown == line.amount.exact;
      return;
  }
}

// What was issued to a customer in one currency: each line summed over all invoices.
struct IssuedLine {
  StatementLine line;
  bool has_hours = false;
};
struct IssuedBefore {
  std::string first_number;
  std::optional<TaxRule> tax;                                       // of the first
  std::map<std::pair<std::string, std::string>, IssuedLine> lines;  // by section, key
};
using CustomerKey = std::pair<std::string, Currency>;

std::optional<TaxRule> tax_of(const Invoice& invoice) {
  if (!invoice.tax) return std::nullopt;
  return TaxRule{invoice.tax->name, invoice.tax->percent};
}

std::string tax_text(const std::optional<TaxRule>& tax) {
  return tax ? fmt::format("{} of {} %", tax->name, to_text(tax->percent)) : "no tax";
}

void add_issued(IssuedBefore& before, const Invoice& invoice) {
  if (before.first_number.empty()) {
    before.first_number = invoice.number;
    before.tax = tax_of(invoice);
  }
  for (const InvoiceSection& section : invoice.sections) {
    for (const InvoiceLine& line : section.lines) {
      const bool hours = line.quantity && line.quantity->kind == QuantityKind::kGpuHours;
      StatementLine as_issued{section.name, section.title, line.key,         line.description,
                              "",           line.quantity, line.amount.exact};
      if (line.cost) as_issued.cost = line.cost->exact;
      as_issued.pricing = line.pricing;
      const auto [known, is_new] = before.lines.try_emplace(
          {section.name, line.key}, IssuedLine{std::move(as_issued), hours});
      if (is_new) continue;
      StatementLine& sum = known->second.line;
      const Money cost = line.cost ? line.cost->exact : line.amount.exact;
      if (sum.cost || line.cost) sum.cost = sum.provider_cost() + cost;
      sum.amount += line.amount.exact;
      if (!hours) continue;
      if (known->second.has_hours) {
        sum.quantity->part += line.quantity->part;
      } else {
        sum.quantity = line.quantity;
      }
      known->second.has_hours = true;
    }
  }
}

std::string was_and_is(Money was, Money is) {
  return fmt::format("was {}, is {}", format_minor(round_to_minor(was)),
                     format_minor(round_to_minor(is)));
}

std::optional<LineQuantity> hours_between(const StatementLine& now, const StatementLine& was,
                                          bool was_hours) {
  const bool now_hours = now.quantity && now.quantity->kind == QuantityKind::kGpuHours;
  if (!now_hours && !was_hours) return std::nullopt;
  const Int128 part = (now_hours ? now.quantity->part : 0) - (was_hours ? was.quantity->part : 0);
  if (part == 0) return std::nullopt;
  return LineQuantity{QuantityKind::kGpuHours, part, static_cast<Int128>(kGpuHour.count())};
}

// The differences between the statement and what was issued: in the statement's order, then issued
// lines that the statement no longer has.
std::vector<StatementLine> not_yet_issued(const std::vector<StatementLine>& lines,
                                          IssuedBefore before) {
  if (before.first_number.empty()) return lines;
  std::vector<StatementLine> rest;
  for (const StatementLine& line : lines) {
    const auto known = before.lines.find({line.section, line.key});
    if (known == before.lines.end()) {
      rest.push_back(line);
      continue;
    }
    const IssuedLine was = std::move(known->second);
    before.lines.erase(known);
    const auto hours = hours_between(line, was.line, was.has_hours);
    if (line.amount == was.line.amount && !hours) continue;
    StatementLine difference = line;
    difference.amount = line.amount - was.line.amount;
    if (line.cost || was.line.cost) {
      difference.cost = line.provider_cost() - was.line.provider_cost();
    }
    difference.quantity = hours;
    difference.remark = was_and_is(was.line.amount, line.amount);
    rest.push_back(std::move(difference));
  }
  for (const auto& [key, was] : before.lines) {
    if (was.line.amount.is_zero() && !(was.has_hours && was.line.quantity->part != 0)) continue;
    StatementLine gone = was.line;
    gone.quantity = std::nullopt;
    if (was.has_hours && was.line.quantity->part != 0) {
      gone.quantity = LineQuantity{QuantityKind::kGpuHours, -was.line.quantity->part,
                                   static_cast<Int128>(kGpuHour.count())};
    }
    gone.remark = was_and_is(was.line.amount, Money::zero(was.line.amount.currency()));
    gone.amount = -was.line.amount;
    if (was.line.cost) gone.cost = -*was.line.cost;
    rest.push_back(std::move(gone));
  }
  return rest;
}

Money sum_costs(const std::vector<StatementLine>& lines, Currency currency) {
  Money sum = Money::zero(currency);
  for (const StatementLine& line : lines) sum += line.provider_cost();
  return sum;
}

Money sum_lines(const std::vector<StatementLine>& lines, Currency currency) {
  Money sum = Money::zero(currency);
  for (const StatementLine& line : lines) sum += line.amount;
  return sum;
}

// Groups lines into sections, and rounds from the shown total down to each line.
void fill_sections(Invoice& invoice, const std::vector<StatementLine>& lines, Money shown) {
  const Currency currency = invoice.currency;
  for (const StatementLine& line : lines) {
    auto section = std::ranges::find(invoice.sections, line.section, &InvoiceSection::name);
    if (section == invoice.sections.end()) {
      invoice.sections.push_back(
          {line.section, line.section_title, {}, InvoiceAmount::zero(currency)});
      section = invoice.sections.end() - 1;
    }
    InvoiceLine item{line.key,
                     line.description,
                     line.remark,
                     line.quantity,
                     "",
                     "",
                     "",
                     false,
                     {line.amount, Money::zero(currency)}};
    if (line.cost) item.cost = InvoiceAmount{*line.cost, round_to_minor(*line.cost)};
    item.pricing = line.pricing;
    section->subtotal.exact += line.amount;
    section->lines.push_back(std::move(item));
  }
  invoice.net = {sum_lines(lines, currency), shown};
  std::vector<Money> subtotals;
  for (const InvoiceSection& section : invoice.sections) {
    subtotals.push_back(section.subtotal.exact);
  }
  const RoundedAmounts down = round_to_total(subtotals, shown);
  CHECK(down.residue.is_zero(), "a total is shown as the minor unit below or above it");
  for (std::size_t i = 0; i < invoice.sections.size(); ++i) {
    InvoiceSection& section = invoice.sections[i];
    section.subtotal.shown = down.shown[i];
    std::vector<Money> amounts;
    for (const InvoiceLine& line : section.lines) amounts.push_back(line.amount.exact);
    const RoundedAmounts lines_down = round_to_total(amounts, down.shown[i]);
    CHECK(lines_down.residue.is_zero(), "a subtotal is the minor unit below or above it");
    for (std::size_t n = 0; n < section.lines.size(); ++n) {
      section.lines[n].amount.shown = lines_down.shown[n];
      show_quantity(section.lines[n]);
    }
  }
}

// Tax on the net as shown, so that the page multiplies out; rounds half away from zero, as tax
// offices do.
Result<TaxLine> make_tax_line(Money net_shown, const TaxRule& rule) {
  const auto share = TRY(multiply(net_shown.amount(), rule.percent, Rounding::kHalfEven));
  // Percent have two digits and minor units four at most, so the product is exact past them; the
  // hundredth part is too, unless the percentage has more than twelve.
  if (share.ticks() % 100 != 0) {
    return fail(ErrorCode::kConfig,
                fmt::format("the tax of {} percent has too many digits", to_text(rule.percent)));
  }
  const Money exact = Money::from_ticks(share.ticks() / 100, net_shown.currency());
  Int128 unit = Money::kTicksPerUnit;
  for (int i = 0; i < minor_digits(exact.currency()); ++i) unit /= 10;
  const Int128 size = exact.is_negative() ? -exact.ticks() : exact.ticks();
  const Int128 rounded = (size + unit / 2) / unit * unit;
  return TaxLine{
      rule.name,
      rule.percent,
      {exact, Money::from_ticks(exact.is_negative() ? -rounded : rounded, exact.currency())}};
}

Party customer_party(const std::string& customer, const InvoiceSettings& settings) {
  const auto known = settings.customers.find(customer);
  Party party = known == settings.customers.end() ? Party{customer, {}, "", ""} : known->second;
  if (party.name.empty()) party.name = customer;
  return party;
}

// The number of an invoice within its series; empty for another series.
std::optional<std::uint64_t> place_in(const std::string& series, const std::string& number) {
  if (!number.starts_with(series)) return std::nullopt;
  const char* begin = number.data() + series.size();
  const char* end = number.data() + number.size();
  std::uint64_t place = 0;
  const auto [stop, problem] = std::from_chars(begin, end, place);
  if (problem != std::errc() || stop != end || begin == end) return std::nullopt;
  return place;
}

// One month in one series.
class Month {
 public:
  Month(const MonthStatement& statement, const InvoiceSettings& settings,
        const IssueOptions& issuing, std::string series)
      : statement_(statement), settings_(settings), issuing_(issuing), series_(std::move(series)) {}

  Result<void> take_issued(std::span<const Invoice> issued) {
    std::map<std::uint64_t, const Invoice*> by_place;
    for (const Invoice& invoice : issued) {
      if (const auto place = place_in(series_, invoice.number)) {
        by_place.emplace(*place, &invoice);
      } else if (invoice.kind == InvoiceKind::kInvoice || invoice.refers_to.empty()) {
        const std::tuple who(invoice.by, invoice.customer, invoice.currency, invoice.month);
        if (first_numbers_.emplace(who, invoice.number).second) {
          earlier_taxes_.emplace(who, tax_of(invoice));
        }
      }
    }
    for (const auto& [place, invoice] : by_place) {
      if (place != ++last_) {
        return fail(ErrorCode::kConflict, fmt::format("the number {}{:04} is missing among the "
                                                      "issued invoices; restore a backup",
                                                      series_, last_));
      }
      if (invoice->by != statement_.by || invoice->cost != to_text(statement_.cost)) {
        return fail(ErrorCode::kConfig,
                    fmt::format("{} was issued by {} at {} cost, not by {} at {} cost; another "
                                "prefix begins a series of its own",
                                invoice->number, invoice->by, invoice->cost, statement_.by,
                                to_text(statement_.cost)));
      }
      add_issued(before_[{invoice->customer, invoice->currency}], *invoice);
      auto& sum = issued_.try_emplace(invoice->currency, invoice->currency).first->second;
      sum.exact += invoice->reconciliation.this_invoice.exact;
      sum.shown += invoice->reconciliation.this_invoice.shown;
      sum.has_rates = sum.has_rates || invoice->has_rates;
      ++sum.count;
    }
    return {};
  }

  Result<PreparedInvoices> prepare() {
    PreparedInvoices prepared;
    for (std::size_t i = 0; i < statement_.bills.size(); ++i) {
      TRY(prepare(i, prepared));
    }
    if (prepared.invoices.size() + last_ > kInvoicesOfMonthMax) {
      return fail(ErrorCode::kLimit, fmt::format("more than {} invoices of {}", kInvoicesOfMonthMax,
                                                 statement_.month));
    }
    std::ranges::stable_sort(prepared.invoices, [](const Invoice& a, const Invoice& b) {
      return std::tie(a.customer, a.currency) < std::tie(b.customer, b.currency);
    });
    note_taxes(prepared);
    for (Invoice& invoice : prepared.invoices) {
      if (!invoice.refers_to.empty() && issuing_.issue && issuing_.reason.empty()) {
        return fail(
            ErrorCode::kConfig,
            fmt::format(
                "{} was issued already and would be corrected; give the reason with --reason",
                invoice.refers_to));
      }
      if (issuing_.issue) invoice.number = fmt::format("{}{:04}", series_, ++last_);
    }
    return prepared;
  }

 private:
  struct IssuedSum {
    Money exact, shown;
    std::uint64_t count = 0;
    bool has_rates = false;
    explicit IssuedSum(Currency currency)
        : exact(Money::zero(currency)), shown(Money::zero(currency)) {}
  };
  struct Owed {
    std::string customer;
    std::vector<StatementLine> lines;
    Money total;
    Money cost;
    std::string refers_to;
    std::optional<TaxRule> tax;
  };

  // Where the tax of issued documents is not the configured one.
  void note_taxes(PreparedInvoices& prepared) const {
    if (settings_.showback) return;
    std::map<std::string, std::string> others;  // by tax in words: the first document with it
    for (const auto& [who, issued] : before_) {
      if (issued.tax != settings_.tax)
        others.try_emplace(tax_text(issued.tax), issued.first_number);
    }
    for (const auto& [tax, number] : others) {
      prepared.notes.push_back(
          fmt::format("{} was issued with {}, and {} is configured: what corrects it keeps its "
                      "tax, and the tax "
                      "itself is corrected by hand, or in a series with another prefix",
                      number, tax, tax_text(settings_.tax)));
    }
    for (const Invoice& invoice : prepared.invoices) {
      for (const InvoiceSection& section : invoice.sections) {
        if (section.name != "adjustments") continue;
        for (const auto& [who, tax] : earlier_taxes_) {
          const auto& [by, customer, currency, month] = who;
          const bool is_adjusted = std::ranges::any_of(section.lines, [&](const InvoiceLine& line) {
            return line.description.starts_with("Adjustment to " + month + ": ");
          });
          if (by != statement_.by || customer != invoice.customer || currency != invoice.currency ||
              tax == settings_.tax || !is_adjusted) {
            continue;
          }
          prepared.notes.push_back(fmt::format(
              "the adjustments of '{}' to {} are taxed with {}, and {} was issued with {}",
              customer, month, tax_text(tax_of(invoice)), first_numbers_.at(who), tax_text(tax)));
        }
      }
    }
  }

  // Customers of the statement, and customers that it no longer has.
  std::vector<Owed> owed_in(Currency currency) {
    std::map<std::string, const CustomerStatement*> now;
    for (const CustomerStatement& customer : statement_.customers) {
      if (customer.total.currency() == currency) now.emplace(customer.customer, &customer);
    }
    for (const auto& [who, issued] : before_) {
      if (who.second == currency) now.try_emplace(who.first, nullptr);
    }
    std::vector<Owed> all;
    for (const auto& [customer, statement] : now) {
      const auto before = before_.find({customer, currency});
      const IssuedBefore issued = before == before_.end() ? IssuedBefore{} : before->second;
      Owed owed{customer,
                not_yet_issued(statement ? statement->lines : std::vector<StatementLine>(), issued),
                Money::zero(currency),
                Money::zero(currency),
                issued.first_number,
                issued.first_number.empty() ? settings_.tax : issued.tax};
      if (owed.lines.empty()) continue;
      owed.total = sum_lines(owed.lines, currency);
      owed.cost = sum_costs(owed.lines, currency);
      // Lines that only moved among themselves are no reason for a document.
      if (!owed.refers_to.empty() && owed.total.is_zero()) continue;
      name_earlier_invoices(owed);
      all.push_back(std::move(owed));
    }
    return all;
  }

  // An adjustment of an earlier month names the invoice of that month.
  void name_earlier_invoices(Owed& owed) const {
    for (StatementLine& line : owed.lines) {
      if (line.section != "adjustments") continue;
      for (auto known = first_numbers_.begin(); known != first_numbers_.end(); ++known) {
        const auto& [by, customer, currency, month] = known->first;
        if (by != statement_.by || customer != owed.customer) continue;
        if (currency != owed.total.currency()) continue;
        if (!line.description.starts_with("Adjustment to " + month + ": ")) continue;
        line.remark += (line.remark.empty() ? "" : "; ") + ("to invoice " + known->second);
      }
    }
  }

  Result<void> prepare(std::size_t at, PreparedInvoices& prepared) {
    const Money bill = statement_.bills[at].amount;
    const Currency currency = bill.currency();
    const CustomerStatement& nobody = statement_.not_charged[at];
    CHECK(nobody.total.currency() == currency, "one statement of what nobody is charged a bill");
    const IssuedSum issued = issued_.try_emplace(currency, currency).first->second;
    const std::vector<Owed> all = owed_in(currency);

    std::vector<Money> totals;
    Money sum = issued.exact + nobody.total;
    for (const Owed& owed : all) {
      totals.push_back(owed.cost);
      sum += owed.cost;
    }
    // A line at a rate per hour stays as it was issued when its cost changes.
    const Money moved = bill - sum;
    CHECK(moved.is_zero() || issued.has_rates, "a statement adds up to its bill");
    totals.push_back(moved);
    totals.push_back(nobody.total);
    const Money bill_shown = round_to_minor(bill);
    const RoundedAmounts down = round_to_total(totals, bill_shown - issued.shown);

    InvoiceReconciliation month{.this_invoice = InvoiceAmount::zero(currency),
                                .other_count = 0,
                                .others = InvoiceAmount::zero(currency),
                                .not_charged = InvoiceAmount::zero(currency),
                                .rounding = Money::zero(currency),
                                .bill_lines = 0,
                                .bill = {bill, bill_shown}};
    month.not_charged = {nobody.total, down.shown.back()};
    month.rounding = down.residue;
    month.bill_lines = statement_.bills[at].lines;
    month.other_count = issued.count + all.size();
    month.others = {bill - nobody.total, bill_shown - down.shown.back() - down.residue};

    for (std::size_t i = 0; i < all.size(); ++i) {
      Invoice invoice = new_invoice(currency);
      invoice.customer = all[i].customer;
      invoice.bill_to = customer_party(all[i].customer, settings_);
      invoice.refers_to = all[i].refers_to;
      if (!invoice.refers_to.empty()) invoice.reason = issuing_.reason;
      if (issuing_.issue) invoice.issued_on = issuing_.issued_on;
      const bool is_to_pay = !settings_.showback && !all[i].total.is_negative();
      if (issuing_.issue && is_to_pay) invoice.due_on = issuing_.due_on;
      invoice.note = settings_.note;
      invoice.kind = all[i].total.is_negative()  ? InvoiceKind::kCreditNote
                     : invoice.refers_to.empty() ? InvoiceKind::kInvoice
                                                 : InvoiceKind::kSupplement;
      invoice.has_rates = std::ranges::any_of(
          all[i].lines, [](const StatementLine& line) { return line.cost.has_value(); });
      // Without rates the net is the cost, and its cents are handed down from the bill.
      const Money shown = invoice.has_rates ? round_to_minor(all[i].total) : down.shown[i];
      fill_sections(invoice, all[i].lines, shown);
      invoice.total_shown = invoice.net.shown;
      if (all[i].tax && !settings_.showback) {
        const auto tax = TRY(make_tax_line(invoice.net.shown, *all[i].tax));
        invoice.tax = tax;
        invoice.total_shown += tax.amount.shown;
      }
      invoice.reconciliation = month;
      const InvoiceAmount cost{all[i].cost, down.shown[i]};
      invoice.reconciliation.this_invoice = cost;
      --invoice.reconciliation.other_count;
      invoice.reconciliation.others.exact = month.others.exact - cost.exact;
      invoice.reconciliation.others.shown = month.others.shown - cost.shown;
      prepared.invoices.push_back(std::move(invoice));
    }

    Invoice rest = new_invoice(currency);
    rest.kind = InvoiceKind::kNotCharged;
    fill_sections(rest, nobody.lines, down.shown.back());
    rest.total_shown = rest.net.shown;
    rest.reconciliation = month;
    rest.reconciliation.this_invoice = {Money::zero(currency), Money::zero(currency)};
    prepared.not_charged.push_back(std::move(rest));
    return {};
  }

  Invoice new_invoice(Currency currency) const {
    Invoice invoice(currency);
    invoice.month = statement_.month;
    invoice.by = statement_.by;
    invoice.cost = to_text(statement_.cost);
    invoice.showback = settings_.showback;
    invoice.paper = settings_.paper;
    invoice.issuer = settings_.issuer;
    invoice.logo = settings_.logo;
    return invoice;
  }

  const MonthStatement& statement_;
  const InvoiceSettings& settings_;
  const IssueOptions& issuing_;
  std::string series_;
  std::uint64_t last_ = 0;
  std::map<CustomerKey, IssuedBefore> before_;
  std::map<Currency, IssuedSum> issued_;
  // Of other months, and series.
  using EarlierKey = std::tuple<std::string, std::string, Currency,
                                std::string>;  // dimension, customer, currency, month
  std::map<EarlierKey, std::string> first_numbers_;
  std::map<EarlierKey, std::optional<TaxRule>> earlier_taxes_;
};

}  // namespace

Result<std::string> invoice_series(const std::string& prefix, const std::string& month) {
  const bool is_plain = std::ranges::all_of(prefix, [](char c) {
    return ascii::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
  });
  if (prefix.empty() || prefix.front() == '.' || prefix.front() == '-' ||
      prefix.size() > kPrefixBytesMax || !is_plain) {
    return fail(
        ErrorCode::kConfig,
        fmt::format("'{}' is not a valid prefix for invoice numbers: use letters, digits, '-', '_' "
                    "and '.', {} at most, a letter or digit first",
                    prefix.substr(0, kPrefixBytesMax), kPrefixBytesMax));
  }
  return prefix + "-" + month + "-";
}

Result<PreparedInvoices> prepare_invoices(const MonthStatement& statement,
                                          std::span<const Invoice> issued,
                                          const InvoiceSettings& settings,
                                          const IssueOptions& issuing) {
  auto series = TRY(invoice_series(settings.prefix, statement.month));
  Month month(statement, settings, issuing, std::move(series));
  TRY(month.take_issued(issued));
  return month.prepare();
}

}  // namespace pennyweight
