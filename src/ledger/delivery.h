// Delivery: what a bill that arrives again means for the one that is there.
//
// Styles are those of FOCUS 1.4 (CorrectionHandling, DeliveryHandling): a provider's documentation
// says which is his. Under every style both versions of a line stay in the ledger, a closed month
// does not change, and the same delivery again changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/charge.h"

namespace pennyweight {

enum class DeliveryStyle {
  // Not known: lines that are new are taken; where a line comes with other amounts than the ledger
  // has, the ledger keeps its own and the other is kept aside, until somebody says which it is.
  kGuarded,
  // The whole of its scope: what it does not repeat is no longer so. The scope is each billing
  // account and billing month of which it has a line (an account left empty: the invoice issuer).
  kReplacement,
  // Differences to what came before, each of its own: every line adds, also one that looks like
  // another. A file that was taken before is known by its bytes, and adds nothing.
  kDelta,
  // Reversals and re-entries, each a line of its own: as kDelta.
  kLedger,
};

std::string_view to_text(DeliveryStyle style);  // "guarded", "replacement", "delta", "ledger"
std::optional<DeliveryStyle> parse_delivery_style(std::string_view text);

// A line that a delivery said is no longer so.
struct RetiredCharge {
  Charge charge;                     // as it was
  std::uint64_t import_number = 0;   // of the delivery
  std::optional<Charge> taken_back;  // by this line, where its month was closed; nothing: it left
                                     // the accounts of its open month
  bool operator==(const RetiredCharge&) const = default;
};

// Where a provider sends one month as several datasets that complete each other, the column by
// which lines say of which they are, among Charge::other_columns: each is replaced by itself.
inline constexpr const char* kDeliveryPartColumn = "x_DeliveryPart";
// Account or issuer, month and part: what a replacement replaces.
std::string delivery_scope(const Charge& charge);

// The first of `month` and the months after it that `is_closed` does not hold.
template <class IsClosed>
std::string open_month_from(std::string month, const IsClosed& is_closed);
std::string month_after(const std::string& month);  // "2026-12" → "2027-01"

template <class IsClosed>
std::string open_month_from(std::string month, const IsClosed& is_closed) {
  while (is_closed(month)) month = month_after(month);
  return month;
}

// The line that takes `original` back in the accounts of `booked_month`: the same, with costs and
// quantities of the other sign and ChargeClass Correction; among the other columns those whose
// names end in Cost or Quantity too.
// REQUIRES: the original has its id.
Charge reversal_of(const Charge& original, const std::string& booked_month);

}  // namespace pennyweight
