#include "ledger/charge.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "core/enum_names.h"
#include "ledger/other_columns.h"

namespace pennyweight {
namespace {

constexpr auto kChargeCategories = enum_names<ChargeCategory>({
    {ChargeCategory::kUsage, "Usage"},
    {ChargeCategory::kPurchase, "Purchase"},
    {ChargeCategory::kTax, "Tax"},
    {ChargeCategory::kCredit, "Credit"},
    {ChargeCategory::kAdjustment, "Adjustment"},
});
constexpr auto kChargeFrequencies = enum_names<ChargeFrequency>({
    {ChargeFrequency::kOneTime, "One-Time"},
    {ChargeFrequency::kRecurring, "Recurring"},
    {ChargeFrequency::kUsageBased, "Usage-Based"},
});
constexpr auto kPricingCategories = enum_names<PricingCategory>({
    {PricingCategory::kStandard, "Standard"},
    {PricingCategory::kDynamic, "Dynamic"},
    {PricingCategory::kCommitted, "Committed"},
    {PricingCategory::kOther, "Other"},
});
constexpr auto kUsedOrUnused = enum_names<UsedOrUnused>({
    {UsedOrUnused::kUsed, "Used"},
    {UsedOrUnused::kUnused, "Unused"},
});

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

void add_decimal(Fingerprint& print, const std::optional<Decimal>& number) {
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

// The other columns that are not amounts: they belong to what the charge is about.
void add_other_columns(Fingerprint& print, std::string_view json) {
  OtherColumnReader columns(json);
  while (const auto column = columns.next()) {
    if (!is_amount_column(column->name)) print.add(column->identity);
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

// Every column that can differ between two charges with one natural key.
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
  // Reused by all charges of a thread, so that none allocates memory.
  static thread_local Fingerprint print;
  print.clear();
  add_identity(print, charge);
  const std::size_t identity = print.size();
  add_other_columns(print, charge.other_columns);
  const Hash128 natural = print.hash();
  print.cut(identity);
  add_decimal(print, charge.costs.billed.amount());
  add_decimal(print, charge.costs.effective.amount());
  add_decimal(print, charge.costs.list.amount());
  add_decimal(print, charge.costs.contracted.amount());
  add_decimal(print, charge.pricing_quantity);
  add_decimal(print, charge.list_unit_price);
  add_decimal(print, charge.contracted_unit_price);
  add_decimal(print, charge.consumed_quantity);
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

std::string_view to_text(ChargeCategory value) { return kChargeCategories.name(value); }
std::string_view to_text(ChargeFrequency value) { return kChargeFrequencies.name(value); }
std::string_view to_text(PricingCategory value) { return kPricingCategories.name(value); }
std::string_view to_text(UsedOrUnused value) { return kUsedOrUnused.name(value); }

std::optional<ChargeCategory> parse_charge_category(std::string_view text) {
  return kChargeCategories.parse(text);
}
std::optional<ChargeFrequency> parse_charge_frequency(std::string_view text) {
  return kChargeFrequencies.parse(text);
}
std::optional<PricingCategory> parse_pricing_category(std::string_view text) {
  return kPricingCategories.parse(text);
}
std::optional<UsedOrUnused> parse_used_or_unused(std::string_view text) {
  return kUsedOrUnused.parse(text);
}

}  // namespace pennyweight
