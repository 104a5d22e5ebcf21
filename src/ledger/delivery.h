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
  // The delivery is complete for its scopes (delivery_scope()): charges of them that it does not
  // repeat are retired.
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
inline constexpr std::string_view kDeliveryPartColumn = "x_DeliveryPart";

// Columns among Charge::other_columns by which a provider that only adds rows identifies what it
// sent: rows with one value are a scope of their own, so a later delivery replaces what it repeats
// and leaves the rest alone.
struct ScopeColumn {
  std::string_view name;   // of the column
  std::string_view title;  // in the scope
};
inline constexpr std::string_view kLineScope = "line";
inline constexpr ScopeColumn kScopeColumns[] = {
    {kDeliveryPartColumn, "part"},
    // Google Cloud: rows of one export never change; a correction is a row of a later export
    // (cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/standard-usage).
    {"x_ExportTime", "exported"},
    // Oracle: "lineItem/referenceNo: Line identifier"; corrections are further lines that name it
    // (docs.oracle.com, Cost and Usage Reports Overview).
    {"x_ReferenceNumber", kLineScope},
    {"oci_ReferenceNumber", kLineScope},  // in Oracle's FOCUS reports
};

// How the names of the clouds begin, in small letters. Accounts of two clouds may have the same
// number, and a bill of one never replaces the other's. What a cloud's companies are called, such
// as "Amazon Web Services EMEA SARL", changes nothing.
struct CloudName {
  std::string_view begins;
  std::string_view cloud;
};
inline constexpr CloudName kCloudNames[] = {
    {"amazon", "AWS"},          {"aws", "AWS"},       {"microsoft", "Azure"}, {"azure", "Azure"},
    {"google", "Google Cloud"}, {"oracle", "Oracle"},
};
// By the invoice's issuer, else by the provider of the service; empty: neither is one of them.
std::string_view cloud_of(const Charge& charge);

// The scope of a charge that a replacement replaces: the billing month, the billing account
// (without one: the invoice issuer), the sub account, the cloud if it is known, and the columns
// above where the charge has them.
std::string delivery_scope(const Charge& charge);
// The same without sub account, part and line: "2026-03 account 123456789012".
std::string account_scope(const Charge& charge);
// The text of a column among Charge::other_columns, as the JSON has it; empty: it has none.
std::string_view other_column_text(const Charge& charge, std::string_view column);
// Whether the charge is of a provider that only adds rows and says which row is which.
bool has_line_identity(const Charge& charge);
// Whether it says so by a number of each line, as Oracle does.
bool has_line_number(const Charge& charge);

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
