#include "ingest/bills/gcp/credit.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/try.h"
#include "ingest/bills/gcp/columns.h"
#include "ingest/bills/gcp/export_values.h"
#include "ingest/bills/number.h"

namespace pennyweight::gcp {
namespace {

struct Type {
  std::string_view name;
  CreditKind kind;
};

// credits.type, from the page of the detailed export. CREDIT_TYPE_UNSPECIFIED and what is not
// listed are charges of their own, which are easy to see.
constexpr Type kTypes[] = {
    {"COMMITTED_USAGE_DISCOUNT", CreditKind::kUsageCovered},
    {"COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE", CreditKind::kSpendCovered},
    {"FEE_UTILIZATION_OFFSET", CreditKind::kFeeOffset},
    {"SUSTAINED_USAGE_DISCOUNT", CreditKind::kReducedPrice},
    {"DISCOUNT", CreditKind::kReducedPrice},
    {"SPENDING_BASED_DISCOUNT", CreditKind::kReducedPrice},
    {"FREE_TIER", CreditKind::kReducedPrice},
    {"SUBSCRIPTION_BENEFIT", CreditKind::kReducedPrice},
    {"RESELLER_MARGIN", CreditKind::kReducedPrice},
    {"PROMOTION", CreditKind::kOwnCharge},
};

// Before September 2020 credits had a name and no type.
constexpr Type kNames[] = {
    {"Committed Usage Discount - Dollar Based", CreditKind::kSpendCovered},
    {"Committed use discount - dollar based", CreditKind::kSpendCovered},
    {"Committed Usage Discount", CreditKind::kUsageCovered},
    {"Committed Use Discount", CreditKind::kUsageCovered},
    {"Sustained Usage Discount", CreditKind::kReducedPrice},
    {"Sustained Use Discount", CreditKind::kReducedPrice},
};

CreditKind kind_of(const Credit& credit) {
  for (const Type& type : kTypes) {
    if (type.name == credit.type) return type.kind;
  }
  if (!credit.type.empty()) return CreditKind::kOwnCharge;
  for (const Type& type : kNames) {
    if (credit.name.starts_with(type.name) || credit.id.starts_with(type.name)) return type.kind;
  }
  return CreditKind::kOwnCharge;
}

// The record, normalised: one spelling of its amounts, no insignificant whitespace.
std::string record_text(const JsonValue& record) {
  std::vector<JsonMember> members;
  members_of(record, members);
  std::string text = "{";
  for (const JsonMember& member : members) {
    if (text.size() > 1) text += ',';
    text.append(member.raw_key) += ':';
    const bool is_nested =
        member.value.kind == JsonKind::kArray || member.value.kind == JsonKind::kObject;
    if (unescaped(member.raw_key).ends_with("amount") && !is_nested) {
      const auto amount = bill::parse_printed_number(text_of(member.value));
      if (amount && !amount->rounded) {
        text += to_text(amount->value);
        continue;
      }
    }
    text += is_nested ? text_of(member.value) : std::string(member.value.raw);
  }
  return text + "}";
}

Result<Credit> credit_of(const JsonValue& record, std::size_t& rounded) {
  if (record.kind != JsonKind::kObject) {
    return fail(ErrorCode::kBadValue, "holds something that is not a record");
  }
  Credit credit;
  bool has_amount = false;
  std::vector<JsonMember> members;
  members_of(record, members);
  for (const JsonMember& member : members) {
    const std::string key = unescaped(member.raw_key);
    std::string text = text_of(member.value);
    if (key == "amount") {
      if (has_amount) return fail(ErrorCode::kBadValue, "has a credit with two amounts");
      const auto amount = bill::parse_printed_number(text);
      if (!amount) {
        return fail(ErrorCode::kBadValue, "has an amount that " + amount.error().message);
      }
      credit.amount = amount->value;
      rounded += amount->rounded ? 1 : 0;
      has_amount = true;
    } else if (key == "id") {
      credit.id = std::move(text);
    } else if (key == "name") {
      credit.name = std::move(text);
    } else if (key == "full_name") {
      credit.full_name = std::move(text);
    } else if (key == "type") {
      credit.type = std::move(text);
    } else if (!text.empty()) {
      credit.others.emplace_back(kept_name("credit_" + key), std::move(text));
    }
  }
  if (!has_amount) return fail(ErrorCode::kBadValue, "has a credit without an amount");
  for (const auto& [name, text] :
       {std::pair("x_CreditFullName", &credit.full_name), std::pair("x_CreditId", &credit.id),
        std::pair("x_CreditName", &credit.name), std::pair("x_CreditType", &credit.type)}) {
    if (!text->empty()) credit.others.emplace_back(name, *text);
  }
  std::ranges::sort(credit.others);
  credit.kind = kind_of(credit);
  return credit;
}

}  // namespace

Result<Credits> parse_credits(std::string_view json) {
  Credits credits;
  if (json.empty() || json == "[]") return credits;
  const auto list = TRY(parse_json(json));
  if (list.kind == JsonKind::kNull) return credits;
  const auto items = TRY(items_of_list(list));
  for (const JsonValue& item : items) {
    auto credit = TRY(credit_of(item, credits.rounded));
    credits.all.push_back(std::move(credit));
    credits.text += credits.text.empty() ? "[" : ",";
    credits.text += record_text(item);
  }
  if (!credits.text.empty()) credits.text += ']';
  return credits;
}

}  // namespace pennyweight::gcp
