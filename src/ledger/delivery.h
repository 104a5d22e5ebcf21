// DeliveryStyle: what a bill that arrives again changes of the one in the ledger.
//
// The styles are those of FOCUS 1.4 (CorrectionHandling, DeliveryHandling); a provider's
// documentation says which one it uses. Under every style both versions of a charge stay in the
// ledger, a closed month does not change, and repeating a delivery changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/charge.h"

namespace pennyweight {

enum class DeliveryStyle {
  // The provider's style is unknown: new charges are added. Where a charge comes with other amounts
  // than in the ledger, the ledger keeps its own and the new one is set aside until a person
  // decides.
  kGuarded,
  // The delivery is complete for its scope: charges that it does not repeat are retired. Its scope
  // is
  // each billing account and billing month of its charges (without an account: the invoice issuer).
  kReplacement,
  // The delivery holds differences to earlier ones: every charge adds, even one that equals
  // another. A
  // file that was imported before is recognised by its bytes and adds nothing.
  kDelta,
  // The delivery holds reversals and new charges, which all add, as with kDelta.
  kLedger,
};

std::string_view to_text(DeliveryStyle style);  // "guarded", "replacement", "delta", "ledger"
std::optional<DeliveryStyle> parse_delivery_style(std::string_view text);

// A charge that a later delivery of its scope left out.
struct RetiredCharge {
  Charge charge;                     // as it was
  std::uint64_t import_number = 0;   // of the delivery
  std::optional<Charge> taken_back;  // the reversal, where its month was closed; nothing: it left
                                     // the accounts of its open month
  bool operator==(const RetiredCharge&) const = default;
};

// Where a provider sends a month as several datasets that complete each other: the column among
// Charge::other_columns that names the dataset of a charge. Each dataset is replaced separately.
inline constexpr const char* kDeliveryPartColumn = "x_DeliveryPart";
// The scope that a replacement replaces: account or issuer, month and dataset.
std::string delivery_scope(const Charge& charge);

// The first month from `month` on that is not closed.
template <class IsClosed>
std::string open_month_from(std::string month, const IsClosed& is_closed);
std::string month_after(const std::string& month);  // "2026-12" → "2027-01"

template <class IsClosed>
std::string open_month_from(std::string month, const IsClosed& is_closed) {
  while (is_closed(month)) month = month_after(month);
  return month;
}

// The charge that reverses `original` in the accounts of `booked_month`: the same, with ChargeClass
// Correction and the opposite sign of costs and quantities, those among the other columns included
// (whose names end in Cost or Quantity).
// REQUIRES: the original has its id.
Charge reversal_of(const Charge& original, const std::string& booked_month);

}  // namespace pennyweight
