#include "ledger/charge.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace pennyweight {
namespace {

// One name of an enumeration as FOCUS spells it.
template <class Enum>
struct Spelling {
  Enum value;
  std::string_view text;
};

constexpr std::array kChargeCategories = {
    Spelling{ChargeCategory::kUsage, "Usage"}, Spelling{ChargeCategory::kPurchase, "Purchase"},
    Spelling{ChargeCategory::kTax, "Tax"}, Spelling{ChargeCategory::kCredit, "Credit"},
    Spelling{ChargeCategory::kAdjustment, "Adjustment"}};
constexpr std::array kChargeFrequencies = {Spelling{ChargeFrequency::kOneTime, "One-Time"},
                                           Spelling{ChargeFrequency::kRecurring, "Recurring"},
                                           Spelling{ChargeFrequency::kUsageBased, "Usage-Based"}};
constexpr std::array kPricingCategories = {Spelling{PricingCategory::kStandard, "Standard"},
                                           Spelling{PricingCategory::kDynamic, "Dynamic"},
                                           Spelling{PricingCategory::kCommitted, "Committed"},
                                           Spelling{PricingCategory::kOther, "Other"}};
constexpr std::array kUsedOrUnused = {Spelling{UsedOrUnused::kUsed, "Used"},
                                      Spelling{UsedOrUnused::kUnused, "Unused"}};

template <class Enum, std::size_t N>
constexpr std::string_view spell(const std::array<Spelling<Enum>, N>& names, Enum value) {
  for (const auto& name : names) {
    if (name.value == value) return name.text;
  }
  return {};
}

template <class Enum, std::size_t N>
std::optional<Enum> read(const std::array<Spelling<Enum>, N>& names, std::string_view text) {
  for (const auto& name : names) {
    if (name.text == text) return name.value;
  }
  return std::nullopt;
}

template <class Enum>
std::string spell_optional(std::optional<Enum> value) {
  return value ? std::string(to_text(*value)) : std::string();
}

std::string spell_number(const std::optional<Decimal>& number) {
  return number ? to_text(*number) : std::string();
}

std::string spell_labels(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels.entries()) text += fmt::format("{}={};", key, value);
  return text;
}

void add(Fingerprint& print, const std::optional<Decimal>& number) {
  if (!number) {
    print.add_absent();
    return;
  }
  const auto ticks = static_cast<UInt128>(number->ticks());
  print.add(std::int64_t{1});
  print.add(static_cast<std::int64_t>(static_cast<std::uint64_t>(ticks >> 64)));
  print.add(static_cast<std::int64_t>(static_cast<std::uint64_t>(ticks)));
}

template <class Enum>
void add_enum(Fingerprint& print, std::optional<Enum> value) {
  print.add(value ? static_cast<std::int64_t>(*value) : std::int64_t{-1});
}

bool is_amount(std::string_view column) {
  return column.ends_with("Cost") || column.ends_with("Quantity") || column.ends_with("UnitPrice");
}

// The end of the JSON string whose opening quote stands at `open`; npos when it is cut short.
std::size_t end_of_string(std::string_view json, std::size_t open) {
  for (std::size_t i = open + 1; i < json.size(); ++i) {
    if (json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      return i;
    }
  }
  return std::string_view::npos;
}

// The columns of other_columns that are not amounts: they belong to what the line is about. The
// object is flat, text to text, as ingest writes it; anything else is taken whole.
void add_identity_of(Fingerprint& print, std::string_view json) {
  std::size_t at = 0;
  while ((at = json.find('"', at)) != std::string_view::npos) {
    const std::size_t key_end = end_of_string(json, at);
    if (key_end == std::string_view::npos) break;
    const std::size_t value = json.find('"', key_end + 1);
    if (value == std::string_view::npos) break;
    const std::size_t value_end = end_of_string(json, value);
    if (value_end == std::string_view::npos) break;
    const std::string_view column = json.substr(at + 1, key_end - at - 1);
    if (!is_amount(column)) print.add(json.substr(at, value_end - at));
    at = value_end + 1;
  }
}

void add_identity(Fingerprint& print, const Charge& c) {
  print.add("charge")
      .add(c.billing_account_id)
      .add(c.billing_account_name)
      .add(c.sub_account_id)
      .add(c.sub_account_name)
      .add(unix_ms(c.billing_period.begin()))
      .add(unix_ms(c.billing_period.end()))
      .add(unix_ms(c.charge_period.begin()))
      .add(unix_ms(c.charge_period.end()))
      .add(c.invoice_id)
      .add(c.invoice_issuer_name)
      .add(c.service_provider_name)
      .add(static_cast<std::int64_t>(c.charge_category))
      .add(std::int64_t{c.is_correction})
      .add(c.charge_description)
      .add(c.service_category)
      .add(c.service_subcategory)
      .add(c.service_name)
      .add(c.region_id)
      .add(c.availability_zone)
      .add(c.resource_id)
      .add(c.resource_name)
      .add(c.resource_type)
      .add(c.sku_id)
      .add(c.sku_meter)
      .add(c.sku_price_id)
      .add(c.sku_price_details)
      .add(c.instance_type)
      .add(c.pricing_unit)
      .add(c.consumed_unit)
      .add(c.commitment_discount_id)
      .add(c.commitment_discount_category)
      .add(c.commitment_discount_type)
      .add(c.capacity_reservation_id)
      .add(c.cluster)
      .add(c.pool)
      .add(c.costs.currency().text());
  add_enum(print, c.charge_frequency);
  add_enum(print, c.pricing_category);
  add_enum(print, c.commitment_discount_status);
  add_enum(print, c.capacity_reservation_status);
  for (const auto& [key, value] : c.tags.entries()) print.add(key).add(value);
}

using Column = std::pair<std::string_view, std::string>;

// Every column that can differ between two lines with one natural key.
std::vector<Column> amounts_of(const Charge& c) {
  return {{"BilledCost", to_text(c.costs.billed.amount())},
          {"EffectiveCost", to_text(c.costs.effective.amount())},
          {"ListCost", to_text(c.costs.list.amount())},
          {"ContractedCost", to_text(c.costs.contracted.amount())},
          {"PricingQuantity", spell_number(c.pricing_quantity)},
          {"ListUnitPrice", spell_number(c.list_unit_price)},
          {"ContractedUnitPrice", spell_number(c.contracted_unit_price)},
          {"ConsumedQuantity", spell_number(c.consumed_quantity)},
          {"the other columns", c.other_columns},
          {"PricingCategory", spell_optional(c.pricing_category)},
          {"Tags", spell_labels(c.tags)}};
}

}  // namespace

Hash128 natural_key(const Charge& charge) { return hashes_of(charge).natural_key; }
Hash128 content_hash(const Charge& charge) { return hashes_of(charge).content; }

ChargeHashes hashes_of(const Charge& charge) {
  // Of one thread, so that no line pays for memory.
  static thread_local Fingerprint print;
  print.clear();
  add_identity(print, charge);
  const std::size_t identity = print.size();
  add_identity_of(print, charge.other_columns);
  const Hash128 natural = print.hash();
  print.cut(identity);
  add(print, charge.costs.billed.amount());
  add(print, charge.costs.effective.amount());
  add(print, charge.costs.list.amount());
  add(print, charge.costs.contracted.amount());
  add(print, charge.pricing_quantity);
  add(print, charge.list_unit_price);
  add(print, charge.contracted_unit_price);
  add(print, charge.consumed_quantity);
  print.add(charge.other_columns);
  return {natural, print.hash()};
}

std::string difference(const Charge& there, const Charge& here) {
  const auto old_columns = amounts_of(there);
  const auto new_columns = amounts_of(here);
  std::string text;
  for (std::size_t i = 0; i < old_columns.size(); ++i) {
    if (old_columns[i].second == new_columns[i].second) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {} there, {} here", old_columns[i].first,
                        old_columns[i].second.empty() ? "null" : old_columns[i].second,
                        new_columns[i].second.empty() ? "null" : new_columns[i].second);
  }
  return text.empty() ? "the same line a different number of times" : text;
}

std::string_view to_text(ChargeCategory value) { return spell(kChargeCategories, value); }
std::string_view to_text(ChargeFrequency value) { return spell(kChargeFrequencies, value); }
std::string_view to_text(PricingCategory value) { return spell(kPricingCategories, value); }
std::string_view to_text(UsedOrUnused value) { return spell(kUsedOrUnused, value); }

std::optional<ChargeCategory> parse_charge_category(std::string_view text) {
  return read(kChargeCategories, text);
}
std::optional<ChargeFrequency> parse_charge_frequency(std::string_view text) {
  return read(kChargeFrequencies, text);
}
std::optional<PricingCategory> parse_pricing_category(std::string_view text) {
  return read(kPricingCategories, text);
}
std::optional<UsedOrUnused> parse_used_or_unused(std::string_view text) {
  return read(kUsedOrUnused, text);
}

}  // namespace pennyweight
