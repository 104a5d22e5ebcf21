#include "ledger/delivery.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/check.h"
#include "ledger/account_in_scope.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

constexpr std::string_view kAccountWord = " account ";  // of account_scope()

std::optional<Decimal> negated(const std::optional<Decimal>& number) {
  return number ? std::optional(-*number) : std::nullopt;
}

// "12" → "-12", "-12" → "12"; "0.00", and a text that is not a number, stay as they are.
std::string negated(const std::string& text) {
  const auto number = parse_decimal(text);
  if (!number || number->value == Decimal()) return text;
  return text.starts_with('-') ? text.substr(1) : "-" + text;
}

// The object is flat, text to text, as ingest writes it, and a number holds no quote, so that the
// texts of amounts can be changed where they stand.
std::string with_amounts_negated(const std::string& json) {
  std::string out;
  std::size_t at = 0;
  while (at < json.size()) {
    const std::size_t cost = json.find("Cost\":\"", at);
    const std::size_t quantity = json.find("Quantity\":\"", at);
    const std::size_t found = std::min(cost, quantity);
    if (found == std::string::npos) break;
    const std::size_t value = json.find(":\"", found) + 2;
    const std::size_t end = json.find('"', value);
    if (end == std::string::npos) break;
    out += json.substr(at, value - at);
    out += negated(json.substr(value, end - value));
    at = end;
  }
  return out + json.substr(at);
}

}  // namespace

std::string_view to_text(DeliveryStyle style) {
  switch (style) {
    case DeliveryStyle::kGuarded:
      return "guarded";
    case DeliveryStyle::kReplacement:
      return "replacement";
    case DeliveryStyle::kDelta:
      return "delta";
    case DeliveryStyle::kLedger:
      return "ledger";
  }
  CHECK(false, "every style has a name");
}

std::optional<DeliveryStyle> parse_delivery_style(std::string_view text) {
  for (const DeliveryStyle style : {DeliveryStyle::kGuarded, DeliveryStyle::kReplacement,
                                    DeliveryStyle::kDelta, DeliveryStyle::kLedger}) {
    if (to_text(style) == text) return style;
  }
  return std::nullopt;
}

std::string_view other_column_text(const Charge& charge, std::string_view column) {
  const std::string_view json = charge.other_columns;
  if (json.empty()) return {};
  const std::string key = fmt::format("\"{}\":\"", column);
  const std::size_t found = json.find(key);
  if (found == std::string_view::npos) return {};
  const std::size_t begin = found + key.size();
  return json.substr(begin, json.find('"', begin) - begin);
}

std::string_view cloud_of(const Charge& charge) {
  for (const std::string& name : {charge.invoice_issuer_name, charge.service_provider_name}) {
    for (const CloudName& known : kCloudNames) {
      if (ascii::equal_ignoring_case(std::string_view(name).substr(0, known.begins.size()),
                                     known.begins)) {
        return known.cloud;
      }
    }
  }
  return {};
}

std::string account_in_scope(const std::string& account, std::string_view cloud) {
  return cloud == kAzureCloud ? ascii::lower_case(account) : account;
}

std::string account_scope_of_statement(const std::string& scope, std::string_view cloud) {
  return scope.contains(kAccountWord) ? account_in_scope(scope, cloud) : scope;
}

std::string account_in_scope(const Charge& charge, const std::string& account) {
  return account_in_scope(account, cloud_of(charge));
}

std::string account_scope(const Charge& charge) {
  std::string scope = month_of(charge.billing_period.begin());
  scope += charge.billing_account_id.empty()
               ? " issuer " + charge.invoice_issuer_name
               : std::string(kAccountWord) + account_in_scope(charge, charge.billing_account_id);
  return scope;
}

std::string delivery_scope(const Charge& charge) {
  std::string scope = account_scope(charge);
  if (!charge.sub_account_id.empty()) {
    scope += " sub " + account_in_scope(charge, charge.sub_account_id);
  }
  if (const auto cloud = cloud_of(charge); !cloud.empty()) scope += fmt::format(" of {}", cloud);
  if (charge.other_columns.empty()) return scope;
  for (const ScopeColumn& column : kScopeColumns) {
    const std::string_view text = other_column_text(charge, column.name);
    if (!text.empty()) scope += fmt::format(" {} {}", column.title, text);
  }
  return scope;
}

bool has_line_identity(const Charge& charge) {
  return std::ranges::any_of(kScopeColumns, [&](const ScopeColumn& column) {
    return column.name != kDeliveryPartColumn && !other_column_text(charge, column.name).empty();
  });
}

bool has_line_number(const Charge& charge) {
  return std::ranges::any_of(kScopeColumns, [&](const ScopeColumn& column) {
    return column.title == kLineScope && !other_column_text(charge, column.name).empty();
  });
}

std::string month_after(const std::string& month) {
  CHECK(month.size() == 7, "a month is written 2026-03");
  const int year = std::stoi(month.substr(0, 4));
  const int number = std::stoi(month.substr(5));
  return number == 12 ? fmt::format("{:04}-01", year + 1)
                      : fmt::format("{:04}-{:02}", year, number + 1);
}

Charge reversal_of(const Charge& original, const std::string& booked_month) {
  Charge reversal = original;
  reversal.id = FactId{Fingerprint().add("reversal").add(to_text(original.id)).hash()};
  reversal.source = {};
  reversal.import_number = 0;
  reversal.booked_month = booked_month;
  reversal.takes_back = original.id;
  reversal.is_correction = true;
  for (Money* cost : {&reversal.costs.billed, &reversal.costs.effective, &reversal.costs.list,
                      &reversal.costs.contracted}) {
    *cost = -*cost;
  }
  reversal.pricing_quantity = negated(original.pricing_quantity);
  reversal.consumed_quantity = negated(original.consumed_quantity);
  reversal.other_columns = with_amounts_negated(original.other_columns);
  return reversal;
}

}  // namespace pennyweight
