// Invoice: all that one chargeback invoice says, as values; what it looks like is render.h's.
//
// Whatever a page shows is in here as it is shown, beside the exact value: a stored invoice is
// rendered again without working anything out, so that it stays the same for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/decimal.h"
#include "core/int128.h"
#include "core/money.h"

namespace pennyweight {

inline constexpr std::size_t kInvoiceLinesMax = 100'000;     // of one invoice
inline constexpr std::size_t kInvoicesOfMonthMax = 100'000;  // customers times currencies
inline constexpr std::size_t kInvoiceDocumentBytesMax = 1 << 27;

struct Party {
  std::string name;
  std::vector<std::string> address;  // its lines
  std::string tax_id;
  std::string contact;
  bool operator==(const Party&) const = default;
};

// What is owed to the last digit, and as the page has it.
struct Amount {
  Money exact;
  Money shown;  // whole minor units
  static Amount zero(Currency currency) { return {Money::zero(currency), Money::zero(currency)}; }
  bool operator==(const Amount&) const = default;
};

enum class QuantityKind {
  kGpuHours,  // whole: kGpuHour
  kShare,     // of an amount that many bear: part and whole are ticks of money
  kLump,      // 1 of 1
};

// part/whole, exactly. Of GPU-hours the part of a credit is negative.
struct LineQuantity {
  QuantityKind kind = QuantityKind::kLump;
  Int128 part = 1;
  Int128 whole = 1;
  bool operator==(const LineQuantity&) const = default;
};

struct InvoiceLine {
  std::string key;  // what it is for: the same in every invoice of its section
  std::string description;
  std::string remark;  // the method, the service, what was before; may be empty
  std::optional<LineQuantity> quantity;
  std::string quantity_shown;
  std::string unit;
  std::string rate;            // as shown; empty: the amount has no rate
  bool rate_is_exact = false;  // quantity times rate is the amount, to the last digit
  Amount amount;
  bool operator==(const InvoiceLine&) const = default;
};

struct InvoiceSection {
  std::string name;  // "usage", "idle", "shared", …; with a detail "usage:llm"
  std::string title;
  std::vector<InvoiceLine> lines;
  Amount subtotal;
  bool operator==(const InvoiceSection&) const = default;
};

// On top of the net total as it is shown; not part of what is reconciled with the bill.
struct TaxLine {
  std::string name;
  Decimal percent;
  Amount amount;
  bool operator==(const TaxLine&) const = default;
};

// All invoices of the month and currency, and what nobody is charged for, are the bill.
struct Reconciliation {
  Amount this_invoice;
  std::uint64_t other_count = 0;
  Amount others;
  Amount not_charged;
  Money rounding;  // shown only, and zero unless invoices were issued before
  std::uint64_t bill_lines = 0;
  Amount bill;
  bool operator==(const Reconciliation&) const = default;
};

enum class InvoiceKind {
  kInvoice,
  kCreditNote,  // its total is below zero
  kSupplement,  // it bills what an issued invoice left out
  kNotCharged,  // no invoice: what nobody is charged for
};
enum class Paper { kA4, kLetter };

struct Invoice {
  InvoiceKind kind = InvoiceKind::kInvoice;
  std::string number;  // empty: nobody issued it
  std::string month;
  std::string by;  // the dimension whose value the customer is
  std::string customer;
  Currency currency;
  std::string cost;       // which cost of the bill: "effective", "billed", …
  std::string issued_on;  // "2026-04-03"; empty while a draft
  std::string due_on;     // empty: nothing is to be paid, or no terms are agreed
  std::string refers_to;  // the number of the first invoice of the same month and customer
  std::string reason;     // of what is put right
  bool showback = false;  // for information: nothing is to be paid
  Paper paper = Paper::kA4;
  Party issuer;
  Party bill_to;
  std::string logo;  // a data URI, or empty
  std::string note;
  std::vector<InvoiceSection> sections;
  Amount net;
  std::optional<TaxLine> tax;
  Money total_shown;  // net and tax
  Reconciliation reconciliation;
  // For a reader who may know what the customer is charged and not what all the others are: pages
  // and documents have no reconciliation. What is kept has always one.
  bool for_customer = false;

  explicit Invoice(Currency money)
      : currency(money),
        net(Amount::zero(money)),
        total_shown(Money::zero(money)),
        reconciliation{net, 0, net, net, Money::zero(money), 0, net} {}
  bool operator==(const Invoice&) const = default;
  bool is_draft() const { return number.empty() && kind != InvoiceKind::kNotCharged; }
};

}  // namespace pennyweight
