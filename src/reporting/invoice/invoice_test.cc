// Invoices from summary rows to the page: a small month by hand, what is put right later, and any
// month at random.
#include "reporting/invoice/invoice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/card_share.h"
#include "reporting/invoice/document.h"
#include "reporting/invoice/prepare.h"
#include "reporting/invoice/render.h"
#include "reporting/invoice/rounding.h"

namespace pennyweight {
namespace {

using testing::HasSubstr;
using testing::Not;

Money money(std::string_view text, Currency currency = kUsd) {
  return Money::from_decimal(*parse_exact_decimal(text), currency);
}

struct Posted {
  std::string customer;
  std::string kind = "used";
  std::string amount;
  std::uint64_t gpu_minutes = 0;
  std::string component = "gpu";
  std::string category = "Usage";
  std::string billing_month = "2026-03";
  std::string instance_type = "p5.48xlarge";
  std::string pricing = "Standard";
  std::string service = "Compute";
  std::string charge_class = {};
};

SummaryRow row(const Posted& posted, Currency currency = kUsd) {
  Costs costs = Costs::zero(currency);
  costs.effective = money(posted.amount, currency);
  const GpuTime time = GpuTime::of(kGpuHour.count() / 60 * posted.gpu_minutes);
  const bool nobody = posted.customer.empty();
  return {std::nullopt,
          {posted.customer, posted.billing_month, posted.kind, posted.component, posted.category,
           posted.service, posted.instance_type, posted.pricing, posted.charge_class},
          costs,
          nobody ? GpuTime() : time,
          nobody ? time : GpuTime(),
          {},
          {},
          1};
}

Posted transfer(const std::string& customer, const std::string& kind, const std::string& amount) {
  return {.customer = customer,
          .kind = kind,
          .amount = amount,
          .gpu_minutes = 0,
          .component = "gpu",
          .category = "",
          .billing_month = "",
          .instance_type = "",
          .pricing = "",
          .service = "",
          .charge_class = ""};
}

StatementOptions march() {
  StatementOptions options;
  options.month = "2026-03";
  options.by = "client";
  options.methods = {{"unallocated", "Method: in proportion to what each pays for GPUs"},
                     {"shared", "Method: the same for each client"}};
  return options;
}

Money sum_of(const std::vector<SummaryRow>& rows, Currency currency = kUsd) {
  Money sum = Money::zero(currency);
  for (const SummaryRow& one : rows) sum += one.costs.effective;
  return sum;
}

Result<MonthStatement> statement_of(const std::vector<SummaryRow>& rows,
                                    const StatementOptions& options = march()) {
  const BillTotal bill{sum_of(rows), rows.size()};
  return month_statement(rows, {&bill, 1}, options);
}

// The month by hand: 100 GPU-hours at 10.00, half of an idle 301.01 and a third of 100 shared.
std::vector<SummaryRow> small_month() {
  return {
      row({.customer = "acme", .amount = "1000", .gpu_minutes = 6000}),
      row({.customer = "acme", .amount = "81.6666665", .component = "cpu"}),
      row({.customer = "acme", .amount = "18.3333335", .component = "memory"}),
      row({.customer = "umbrella", .amount = "500.004", .gpu_minutes = 2987, .pricing = "Dynamic"}),
      row({.customer = "umbrella",
           .kind = "held_idle",
           .amount = "12.3456",
           .gpu_minutes = 61,
           .pricing = "Dynamic"}),
      row({.customer = "umbrella", .amount = "-7.5", .component = "whole", .category = "Credit"}),
      row({.customer = "", .kind = "unallocated", .amount = "301.01", .gpu_minutes = 1800}),
      row(transfer("", "unallocated", "-200")),
      row(transfer("acme", "unallocated", "133.333333333333333333")),
      row(transfer("umbrella", "unallocated", "66.666666666666666667")),
      row({.customer = "",
           .kind = "shared",
           .amount = "100",
           .component = "whole",
           .instance_type = "",
           .pricing = "",
           .service = "Support"}),
      row(transfer("", "shared", "-100")),
      row(transfer("acme", "shared", "33.333333333333333334")),
      row(transfer("umbrella", "shared", "66.666666666666666666")),
  };
}

InvoiceSettings settings() {
  InvoiceSettings settings;
  settings.prefix = "NW";
  settings.issuer = {"Northwind Compute Ltd",
                     {"4 Harbour Road", "Bergen"},
                     "NO 999 999 999",
                     "billing@northwind.example"};
  settings.customers["acme"] = {"Acme GmbH", {"Hauptstrasse 1", "10115 Berlin"}, "DE 111", ""};
  settings.note = "Please pay by bank transfer.";
  return settings;
}

IssueOptions issue(std::string reason = "") { return {true, "2026-04-03", "2026-05-03", reason}; }

std::vector<Invoice> prepared(const std::vector<SummaryRow>& rows,
                              const std::vector<Invoice>& before, const IssueOptions& issuing) {
  const auto statement = statement_of(rows);
  EXPECT_TRUE(statement) << statement.error().message;
  const auto month = prepare_invoices(*statement, before, settings(), issuing);
  EXPECT_TRUE(month) << month.error().message;
  return month->invoices;
}

const InvoiceLine& line_of(const Invoice& invoice, const std::string& start) {
  for (const InvoiceSection& section : invoice.sections) {
    for (const InvoiceLine& line : section.lines) {
      if (line.description.starts_with(start)) return line;
    }
  }
  throw std::runtime_error("no line " + start);
}

// Every sum of a page, and that of the month.
void expect_footed(const Invoice& invoice) {
  Money shown = Money::zero(invoice.currency);
  Money exact = shown;
  for (const InvoiceSection& section : invoice.sections) {
    Money section_shown = Money::zero(invoice.currency);
    Money section_exact = section_shown;
    for (const InvoiceLine& line : section.lines) {
      section_shown += line.amount.shown;
      section_exact += line.amount.exact;
    }
    ASSERT_EQ(section_shown, section.subtotal.shown);
    ASSERT_EQ(section_exact, section.subtotal.exact);
    shown += section_shown;
    exact += section_exact;
  }
  ASSERT_EQ(shown, invoice.net.shown);
  ASSERT_EQ(exact, invoice.net.exact);
  const InvoiceReconciliation& month = invoice.reconciliation;
  ASSERT_EQ(month.this_invoice.exact + month.others.exact + month.not_charged.exact,
            month.bill.exact);
  ASSERT_EQ(
      month.this_invoice.shown + month.others.shown + month.not_charged.shown + month.rounding,
      month.bill.shown);
}

TEST(Invoices, ASmallMonthByHand) {
  const auto statement = statement_of(small_month());
  ASSERT_TRUE(statement) << statement.error().message;
  const auto month = prepare_invoices(*statement, {}, settings(), issue());
  ASSERT_TRUE(month) << month.error().message;
  ASSERT_EQ(month->invoices.size(), 2U);
  const Invoice& acme = month->invoices[0];
  const Invoice& umbrella = month->invoices[1];
  EXPECT_EQ(acme.number, "NW-2026-03-0001");
  EXPECT_EQ(umbrella.number, "NW-2026-03-0002");
  // 1000 + 100 + 133.33… + 33.33…
  EXPECT_EQ(acme.net.exact, money("1266.666666666666666667"));
  EXPECT_EQ(format_minor(acme.net.shown), "1,266.67");
  const InvoiceLine& gpu = line_of(acme, "GPU time on p5.48xlarge");
  EXPECT_EQ(gpu.quantity_shown, "100.0000");
  EXPECT_EQ(gpu.rate, "10.0000");
  EXPECT_TRUE(gpu.rate_is_exact);
  EXPECT_EQ(format_minor(line_of(acme, "CPU and memory").amount.shown), "100.00");
  const InvoiceLine& idle = line_of(acme, "Unallocated GPUs");
  EXPECT_EQ(idle.remark, "Method: in proportion to what each pays for GPUs");
  EXPECT_EQ(idle.quantity_shown, "44.2953 %");  // 133.33… of 301.01
  EXPECT_EQ(idle.rate, "301.01");
  EXPECT_EQ(line_of(acme, "Shared cost").quantity_shown, "33.3333 %");
  const InvoiceLine& spot = line_of(umbrella, "GPU time on p5.48xlarge, spot");
  EXPECT_EQ(spot.quantity_shown, "49.7833");
  EXPECT_EQ(spot.rate, "10.0436");
  EXPECT_FALSE(spot.rate_is_exact);
  EXPECT_EQ(format_minor(line_of(umbrella, "Credit on p5").amount.shown), "-7.50");
  for (const Invoice& invoice : month->invoices) expect_footed(invoice);
  // 101.01 of the idle and nothing of the shared cost stay with nobody.
  EXPECT_EQ(month->not_charged[0].net.exact, money("101.01"));
  EXPECT_EQ(acme.reconciliation.other_count, 1U);
  EXPECT_TRUE(acme.reconciliation.rounding.is_zero());
  expect_footed(month->not_charged[0].kind == InvoiceKind::kNotCharged ? umbrella : acme);
}

TEST(Invoices, TheSameMonthAgainIssuesNothing) {
  const auto first = prepared(small_month(), {}, issue());
  EXPECT_TRUE(prepared(small_month(), first, issue()).empty());
}

TEST(Invoices, WhatChangedIsPutRightByItself) {
  const auto first = prepared(small_month(), {}, issue());
  auto rows = small_month();
  // acme held ten hours less, and umbrella's spot hours cost 2.00 more.
  rows[0] = row({.customer = "acme", .amount = "900", .gpu_minutes = 5400});
  rows[3] =
      row({.customer = "umbrella", .amount = "502.004", .gpu_minutes = 2987, .pricing = "Dynamic"});
  const auto statement = statement_of(rows);
  const auto refused = prepare_invoices(*statement, first, settings(), issue());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--reason"));

  const auto second = prepared(rows, first, issue("the bill was sent again"));
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].number, "NW-2026-03-0003");
  EXPECT_EQ(second[0].kind, InvoiceKind::kCreditNote);
  EXPECT_EQ(second[0].refers_to, "NW-2026-03-0001");
  EXPECT_EQ(second[0].reason, "the bill was sent again");
  EXPECT_EQ(second[0].net.exact, money("-100"));
  const InvoiceLine& hours = line_of(second[0], "GPU time");
  EXPECT_EQ(hours.quantity_shown, "-10.0000");
  EXPECT_EQ(hours.rate, "10.0000");
  EXPECT_EQ(hours.remark, "was 1,000.00, is 900.00");
  EXPECT_EQ(second[1].kind, InvoiceKind::kSupplement);
  EXPECT_EQ(second[1].net.exact, money("2"));
  EXPECT_FALSE(line_of(second[1], "GPU time").quantity);
  for (const Invoice& invoice : second) expect_footed(invoice);

  // Both together say what the month says now; a third time there is nothing left.
  std::vector<Invoice> all = first;
  all.insert(all.end(), second.begin(), second.end());
  EXPECT_TRUE(prepared(rows, all, issue()).empty());
  // And back: the first state is reached again by two more.
  const auto third = prepared(small_month(), all, issue("it was right before"));
  ASSERT_EQ(third.size(), 2U);
  EXPECT_EQ(third[0].net.exact, money("100"));
  EXPECT_EQ(third[0].refers_to, "NW-2026-03-0001");
  EXPECT_EQ(third[1].net.exact, money("-2"));
}

TEST(Invoices, ACustomerThatIsGoneIsCreditedAndANewOneInvoiced) {
  const std::vector<SummaryRow> was = {row({.customer = "b", .amount = "10", .gpu_minutes = 60})};
  const std::vector<SummaryRow> is = {row({.customer = "a", .amount = "10", .gpu_minutes = 60})};
  const auto first = prepared(was, {}, issue());
  const auto second = prepared(is, first, issue("it was a's"));
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].customer, "a");
  EXPECT_EQ(second[0].kind, InvoiceKind::kInvoice);
  EXPECT_EQ(second[0].refers_to, "");
  EXPECT_EQ(second[0].number, "NW-2026-03-0002");
  EXPECT_EQ(second[1].customer, "b");
  EXPECT_EQ(second[1].net.exact, money("-10"));
  EXPECT_EQ(line_of(second[1], "GPU time").quantity_shown, "-1.0000");
}

TEST(Invoices, AnAdjustmentNamesTheInvoiceOfItsMonth) {
  auto statement_options = march();
  std::vector<SummaryRow> february = {
      row({.customer = "acme", .amount = "40", .gpu_minutes = 240, .billing_month = "2026-02"})};
  statement_options.month = "2026-02";
  const BillTotal bill{money("40"), 1};
  const auto old = month_statement(february, {&bill, 1}, statement_options);
  const auto issued = prepare_invoices(*old, {}, settings(), issue());
  ASSERT_TRUE(issued);
  // A refund of February that came when February was closed.
  auto rows = small_month();
  rows.push_back(row({.customer = "acme", .amount = "-4.5", .billing_month = "2026-02"}));
  const auto march_invoices = prepared(rows, issued->invoices, issue());
  const InvoiceLine& refund = line_of(march_invoices[0], "Adjustment to 2026-02");
  EXPECT_EQ(refund.amount.exact, money("-4.5"));
  EXPECT_THAT(refund.remark, HasSubstr("to invoice NW-2026-02-0001"));
  expect_footed(march_invoices[0]);
}

TEST(Invoices, RefusesWhatDoesNotMeetTheBill) {
  const auto rows = small_month();
  const BillTotal bill{sum_of(rows) + Money::from_ticks(1, kUsd), 14};
  const auto statement = month_statement(rows, {&bill, 1}, march());
  ASSERT_FALSE(statement);
  EXPECT_EQ(statement.error().code, ErrorCode::kConflict);
  EXPECT_THAT(statement.error().message, HasSubstr("pennyweight reconcile"));
}

TEST(Invoices, RefusesAGapInItsNumbersAndAnotherWayOfCharging) {
  auto first = prepared(small_month(), {}, issue());
  const auto statement = statement_of(small_month());
  const std::vector<Invoice> with_gap = {first[1]};
  const auto gap = prepare_invoices(*statement, with_gap, settings(), issue());
  ASSERT_FALSE(gap);
  EXPECT_THAT(gap.error().message, HasSubstr("NW-2026-03-0001 is missing"));
  first[0].by = "team";
  const auto other = prepare_invoices(*statement, first, settings(), issue());
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("another prefix"));
  for (const char* prefix : {"", "a b", "../x", "-a", "a\"b", ".hidden"}) {
    EXPECT_FALSE(invoice_series(prefix, "2026-03")) << prefix;
  }
}

TEST(Invoices, TaxIsOfTheNetAsShown) {
  auto with_tax = settings();
  with_tax.tax = TaxRule{"VAT", Decimal::from_units(19)};
  const auto statement = statement_of(small_month());
  const auto month = prepare_invoices(*statement, {}, with_tax, issue());
  const Invoice& acme = month->invoices[0];
  EXPECT_EQ(acme.tax->amount.exact, money("240.6673"));  // 1266.67 * 0.19
  EXPECT_EQ(format_minor(acme.total_shown), "1,507.34");
  EXPECT_THAT(render_invoice_text(acme), HasSubstr("VAT, 19 % of 1,266.67"));
}

TEST(Invoices, WhatIsCorrectedIsTaxedAsItWas) {
  auto with_tax = settings();
  with_tax.tax = TaxRule{"VAT", Decimal::from_units(19)};
  const auto first = prepare_invoices(*statement_of(small_month()), {}, with_tax, issue());
  auto rows = small_month();
  rows[0] = row({.customer = "acme", .amount = "900", .gpu_minutes = 5400});
  for (const auto& tax :
       {std::optional<TaxRule>(), std::optional(TaxRule{"VAT", Decimal::from_units(7)})}) {
    auto today = settings();
    today.tax = tax;
    const auto note = prepare_invoices(*statement_of(rows), first->invoices, today, issue("less"));
    ASSERT_TRUE(note) << note.error().message;
    ASSERT_EQ(note->invoices.size(), 1U);
    EXPECT_EQ(note->invoices[0].tax->percent, Decimal::from_units(19));
    EXPECT_EQ(format_minor(note->invoices[0].total_shown), "-119.00");
    ASSERT_EQ(note->notes.size(), 1U);
    EXPECT_THAT(note->notes[0], HasSubstr("NW-2026-03-0001 was issued with VAT of 19 %, and "));
  }
  EXPECT_TRUE(first->notes.empty());
}

TEST(Rates, FitAModelByAnyOfItsNames) {
  const auto price_of = [](std::string_view model, std::string_view rule) {
    const InternalRates rates({{.client = {},
                                .gpu_model = std::string(rule),
                                .tier = {},
                                .currency = kUsd,
                                .rate = Decimal::from_units(4),
                                .markup = {},
                                .discount = {},
                                .floor = {}}});
    const auto price = rates.price({.client = "acme",
                                    .gpu_model = std::string(model),
                                    .tier = "",
                                    .day = std::nullopt,
                                    .cost = Money::zero(kUsd),
                                    .is_gpu_time = true,
                                    .time = kGpuHour});
    return price->rule.has_value();
  };
  for (const std::string_view model : {"H100-SXM5-80GB", "NVIDIA H100 80GB HBM3",
                                       "NVIDIA-H100-80GB-HBM3", "nvidia_h100_80gb_hbm3"}) {
    EXPECT_TRUE(price_of(model, "H100")) << model;
    EXPECT_TRUE(price_of(model, "H100-SXM5-80GB")) << model;
    EXPECT_TRUE(price_of(model, "NVIDIA H100 80GB HBM3")) << model;
    EXPECT_FALSE(price_of(model, "H10")) << model;
    EXPECT_FALSE(price_of(model, "H200")) << model;
    EXPECT_FALSE(price_of(model, "A100")) << model;
  }
  EXPECT_FALSE(price_of("H200-SXM-141GB", "H100"));
  EXPECT_TRUE(price_of("something new", "something"));
}

TEST(Rates, ThoseThatDecideNothingAreNamed) {
  const auto rate = [](std::string client, std::optional<Date> to) {
    return InternalRate{.from = {},
                        .to = to,
                        .client = std::move(client),
                        .gpu_model = "H100",
                        .tier = {},
                        .currency = {},
                        .rate = {},
                        .markup = Decimal::from_units(5),
                        .discount = {},
                        .floor = {}};
  };
  const Date first = *parse_date("2026-03-01");
  const InternalRates rates(
      {rate("acme", {}), rate("nobody", {}), rate("old", *parse_date("2026-02-28"))});
  EXPECT_THAT(rates.unused({0}, first, *parse_date("2026-03-31")),
              testing::ElementsAre("entry 2 of invoice.rates (client nobody, gpu_model H100)"));
}

TEST(Invoices, OneForEachCurrency) {
  const Currency yen("JPY");
  const std::vector<SummaryRow> rows = {
      row({.customer = "acme", .amount = "10.005", .gpu_minutes = 60}),
      row({.customer = "acme", .amount = "1000.5", .gpu_minutes = 60}, yen)};
  const std::vector<BillTotal> bills = {{money("1000.5", yen), 1}, {money("10.005"), 1}};
  const auto statement = month_statement(rows, bills, march());
  ASSERT_TRUE(statement) << statement.error().message;
  const auto month = prepare_invoices(*statement, {}, settings(), issue());
  ASSERT_EQ(month->invoices.size(), 2U);
  EXPECT_EQ(month->invoices[0].number, "NW-2026-03-0001");
  EXPECT_EQ(month->invoices[0].currency, yen);
  EXPECT_EQ(format_minor(month->invoices[0].total_shown), "1,000");
  EXPECT_EQ(month->invoices[1].currency, kUsd);
}

TEST(Invoices, ValuesInParenthesesAreNobody) {
  auto options = march();
  options.not_customers = {"internal"};
  const std::vector<SummaryRow> rows = {
      row({.customer = "(unowned)", .amount = "1", .gpu_minutes = 60}),
      row({.customer = "internal", .amount = "2", .gpu_minutes = 60}),
      row({.customer = "acme", .amount = "3", .gpu_minutes = 60})};
  const auto statement = statement_of(rows, options);
  ASSERT_TRUE(statement);
  ASSERT_EQ(statement->customers.size(), 1U);
  EXPECT_EQ(statement->not_charged[0].total, money("3"));
}

std::string hostile() {
  return "=cmd|'/c calc'!A1 <script>alert(1)</script>\" onload=\"x\" & \x1b[31m\xff \u202E\ngone";
}

TEST(Render, NoNameEscapes) {
  auto named = settings();
  named.customers["acme"] = {hostile(), {hostile()}, hostile(), hostile()};
  named.issuer.name = hostile();
  named.note = hostile();
  auto rows = small_month();
  rows[0].keys[5] = hostile();
  rows[0].keys[6] = hostile();
  const auto statement = statement_of(rows);
  const auto month = prepare_invoices(*statement, {}, named, issue(hostile()));
  const Invoice& invoice = month->invoices[0];
  const std::string html = render_invoice_html(invoice);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("\" onload")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
  for (const std::string& page : {html, render_invoice_text(invoice)}) {
    EXPECT_THAT(page, Not(HasSubstr("\x1b")));
    EXPECT_THAT(page, Not(HasSubstr("\xff")));
  }
  const std::string csv = render_invoice_csv({&invoice, 1});
  EXPECT_THAT(csv, HasSubstr("\"'=cmd|"));
  EXPECT_THAT(csv, Not(HasSubstr("\"=cmd|")));
  std::size_t rows_of_csv = 0;
  for (const char c : csv) rows_of_csv += c == '\n' ? 1 : 0;
  EXPECT_EQ(rows_of_csv, 5U);  // a header, and four lines whatever their names hold
  // Bytes that are not UTF-8 do not come out of a ledger; a document has U+FFFD in their place.
  const auto back = read_invoice(invoice_document(invoice));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_THAT(back->bill_to.name, HasSubstr("<script>"));
}

TEST(Render, FitsAHundredColumns) {
  for (const Invoice& invoice : prepared(small_month(), {}, issue())) {
    std::istringstream lines(render_invoice_text(invoice));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }), 100)
          << line;
    }
  }
}

TEST(Document, ReadsBackToTheSameAndRefusesOthers) {
  auto all = prepared(small_month(), {}, issue());
  auto changed = small_month();
  changed[0] = row({.customer = "acme", .amount = "900", .gpu_minutes = 5400});
  for (Invoice& invoice : prepared(changed, all, issue("why"))) all.push_back(std::move(invoice));
  for (const Invoice& invoice : all) {
    const std::string document = invoice_document(invoice);
    const auto back = read_invoice(document);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, invoice);
    EXPECT_EQ(invoice_document(*back), document);
    EXPECT_EQ(render_invoice_text(*back), render_invoice_text(invoice));
    EXPECT_EQ(render_invoice_html(*back), render_invoice_html(invoice));
  }
  EXPECT_FALSE(read_invoice(""));
  EXPECT_FALSE(read_invoice("[]"));
  EXPECT_FALSE(read_invoice("{}"));
  const std::string document = invoice_document(all[0]);
  const auto without = [&](const std::string& what, const std::string& with) {
    std::string text = document;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return read_invoice(text.replace(at, what.size(), with));
  };
  EXPECT_FALSE(without("\"issuer\":{", "\"x\":{"));
  EXPECT_FALSE(without("\"kind\":\"invoice\"", "\"kind\":\"bill\""));
  EXPECT_FALSE(without("\"net\":\"1266.666666666666666667\"", "\"net\":1266.67"));
  EXPECT_FALSE(without("\"net_shown\":\"1266.67\"", "\"net_shown\":\"1266.677\""));
  EXPECT_FALSE(without("\"quantity\":{", "\"quantity\":7,\"x\":{"));
  EXPECT_FALSE(without("\"sections\":[", "\"sections\":[1,"));
}

// The worked example, kept as it is printed. UPDATE_GOLDEN=1 writes it anew, to be read again.
TEST(Render, TheWorkedExample) {
  const auto first = prepared(small_month(), {}, issue());
  auto changed = small_month();
  changed[0] = row({.customer = "acme", .amount = "900", .gpu_minutes = 5400});
  const auto credit = prepared(changed, first, issue("ten GPU-hours were another's"));
  const std::vector<std::pair<std::string, std::string>> pages = {
      {"acme.txt", render_invoice_text(first[0])},
      {"acme.html", render_invoice_html(first[0])},
      {"acme.csv", render_invoice_csv({first.data(), 1})},
      {"acme.json", invoice_document(first[0])},
      {"acme-credit-note.txt", render_invoice_text(credit[0])}};
  for (const auto& [name, page] : pages) {
    const std::string path = std::string(TEST_DATA) + "/invoice/" + name;
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << page;
    std::ifstream file(path);
    std::stringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(golden.str(), page) << path;
  }
}

// Any amounts, then any other amounts: whatever was issued before, every page adds up, and all
// pages together are the bill.
RC_GTEST_PROP(Invoices, AnyMonthAddsUpAndSoDoesItsCorrection, ()) {
  const auto any_month = [] {
    std::vector<SummaryRow> rows;
    const auto count = *rc::gen::inRange(1, 12);
    for (int i = 0; i < count; ++i) {
      const auto customer = *rc::gen::element<std::string>("", "a", "b", "c", "(unowned)");
      const auto kind = customer.empty() ? *rc::gen::element<std::string>("unallocated", "shared")
                                         : *rc::gen::element<std::string>("used", "held_idle");
      SummaryRow one = row({.customer = customer,
                            .kind = kind,
                            .amount = "0",
                            .gpu_minutes = *rc::gen::inRange<std::uint64_t>(0, 500),
                            .component = *rc::gen::element<std::string>("gpu", "cpu"),
                            .category = *rc::gen::element<std::string>("Usage", "Credit"),
                            .billing_month = *rc::gen::element<std::string>("2026-03", "2026-02"),
                            .instance_type = *rc::gen::element<std::string>("x", "y", "z")});
      one.costs.effective =
          Money::from_ticks(Int128{*rc::gen::inRange<std::int64_t>(-2'000'000'000'000'000'000,
                                                                   8'000'000'000'000'000'000)} *
                                *rc::gen::element<int>(1, 1000),
                            kUsd);
      rows.push_back(std::move(one));
    }
    return rows;
  };
  std::vector<Invoice> issued;
  for (int round = 0; round < 3; ++round) {
    const auto rows = any_month();
    const auto statement = statement_of(rows);
    RC_ASSERT(statement.has_value());
    const auto month = prepare_invoices(*statement, issued, settings(), issue("again"));
    RC_ASSERT(month.has_value());
    issued.insert(issued.end(), month->invoices.begin(), month->invoices.end());
    Money exact = Money::zero(kUsd);
    Money shown = exact;
    for (std::size_t i = 0; i < issued.size(); ++i) {
      RC_ASSERT(issued[i].number ==
                (i < 9 ? "NW-2026-03-000" : "NW-2026-03-00") + std::to_string(i + 1));
      exact += issued[i].net.exact;
      shown += issued[i].net.shown;
    }
    for (const Invoice& invoice : month->invoices) expect_footed(invoice);
    const Invoice& rest = month->not_charged.at(0);
    RC_ASSERT(exact + rest.net.exact == sum_of(rows));
    RC_ASSERT(shown + rest.net.shown + rest.reconciliation.rounding ==
              round_to_minor(sum_of(rows)));
    if (round == 0) RC_ASSERT(rest.reconciliation.rounding.is_zero());
    RC_ASSERT(!testing::Test::HasFailure());
    RC_ASSERT(prepare_invoices(*statement, issued, settings(), issue())->invoices.empty());
  }
}

}  // namespace
}  // namespace pennyweight
