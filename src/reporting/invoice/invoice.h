// Invoice: the content of one chargeback invoice, as values. render.h lays it out.
//
// It holds every figure both exactly and as shown. A stored invoice is therefore rendered again
// without any calculation, and always looks the same.
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

// An exact amount, and the rounded one that the page shows.
struct InvoiceAmount {
  Money exact;
  Money shown;  // whole minor units
  static InvoiceAmount zero(Currency currency) {
    return {Money::zero(currency), Money::zero(currency)};
  }
  bool operator==(const InvoiceAmount&) const = default;
};

enum class QuantityKind {
  kGpuHours,  // whole: kGpuHour
  kShare,     // of a shared amount: part and whole are ticks of money
  kLump,      // 1 of 1
};

// part/whole, exactly. The part is negative for credited GPU-hours.
struct LineQuantity {
  QuantityKind kind = QuantityKind::kLump;
  Int128 part = 1;
  Int128 whole = 1;
  bool operator==(const LineQuantity&) const = default;
};

struct InvoiceLine {
  std::string key;  // identifies the line within its section across all invoices
  std::string description;
  std::string remark;  // the method, the service, or the earlier amount; may be empty
  std::optional<LineQuantity> quantity;
  std::string quantity_shown;
  std::string unit;
  std::string rate;            // as shown; empty: the amount has no rate
  bool rate_is_exact = false;  // quantity times rate is exactly the amount
  InvoiceAmount amount;
  // Where an internal rate was applied: what the bill says of the line, and the rate in words. In
  // the books' view only.
  std::optional<InvoiceAmount> cost = std::nullopt;
  std::string pricing = {};
  bool operator==(const InvoiceLine&) const = default;
};

struct InvoiceSection {
  std::string name;  // "usage", "idle", "shared", …; with a detail "usage:llm"
  std::string title;
  std::vector<InvoiceLine> lines;
  InvoiceAmount subtotal;
  bool operator==(const InvoiceSection&) const = default;
};

// Tax on the net total as shown. It is not part of the reconciliation with the bill.
struct TaxLine {
  std::string name;
  Decimal percent;
  InvoiceAmount amount;
  bool operator==(const TaxLine&) const = default;
};

// Rows of the month's bills that were set aside, and that nobody decided about: money that may be
// missing in the bill. The amount is that of the rows whose cost is readable, in the currency.
struct InvoiceAside {
  std::uint64_t rows = 0;
  std::uint64_t unreadable = 0;  // rows among them whose cost is not known
  InvoiceAmount amount;
  bool operator==(const InvoiceAside&) const = default;
};

// The cost of all invoices of the month and currency, plus what is not charged to anyone, equal the
// bill. The cost of an invoice is its net, unless internal rates were applied.
struct InvoiceReconciliation {
  InvoiceAmount this_invoice;
  std::uint64_t other_count = 0;
  InvoiceAmount others;
  InvoiceAmount not_charged;
  Money rounding;  // shown only; zero unless invoices were issued before
  std::uint64_t bill_lines = 0;
  InvoiceAmount bill;
  std::optional<InvoiceAside> aside = std::nullopt;  // nothing: no row is
  bool operator==(const InvoiceReconciliation&) const = default;
};

enum class InvoiceKind {
  kInvoice,
  kCreditNote,  // its total is below zero
  kSupplement,  // bills what an issued invoice left out
  kNotCharged,  // no invoice: what is not charged to anyone
};
enum class PaperSize { kA4, kLetter };

struct Invoice {
  InvoiceKind kind = InvoiceKind::kInvoice;
  std::string number;  // empty: not issued
  std::string month;
  std::string by;  // the dimension whose values are the customers
  std::string customer;
  Currency currency;
  std::string cost;       // which cost of the bill: "effective", "billed", …
  std::string issued_on;  // "2026-04-03"; empty while a draft
  std::string due_on;     // empty: nothing is to be paid, or there are no payment terms
  std::string refers_to;  // the number of the first invoice of the same month and customer
  std::string reason;     // of a correction
  bool showback = false;  // for information: nothing is to be paid
  PaperSize paper = PaperSize::kA4;
  Party issuer;
  Party bill_to;
  std::string logo;  // a data URI, or empty
  std::string note;
  std::vector<InvoiceSection> sections;
  InvoiceAmount net;
  bool has_rates = false;  // internal rates were applied: the net is not the cost
  std::optional<TaxLine> tax;
  Money total_shown;  // net and tax
  InvoiceReconciliation reconciliation;
  // Leaves the reconciliation, costs and rates in words out of pages and documents, for readers who
  // may see what this customer is charged but not what the others are. Stored documents always
  // include it.
  bool for_customer = false;

  explicit Invoice(Currency money)
      : currency(money),
        net(InvoiceAmount::zero(money)),
        total_shown(Money::zero(money)),
        reconciliation{net, 0, net, net, Money::zero(money), 0, net} {}
  bool operator==(const Invoice&) const = default;
  // Net less cost; zero without internal rates.
  Money margin() const { return net.exact - reconciliation.this_invoice.exact; }
  bool is_draft() const { return number.empty() && kind != InvoiceKind::kNotCharged; }
};

}  // namespace pennyweight
