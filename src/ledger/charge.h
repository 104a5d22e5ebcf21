// Charge: one line of a bill, in the terms of FOCUS 1.4 (focus.finops.org, dataset Cost and Usage).
//
// Fields have the FOCUS column names. A text that is null in the bill is empty; a number that is
// null is nullopt. Columns that no rule uses, and the provider's own x_ columns, are stored word
// for word in `other_columns`, so that nothing of the bill is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/decimal.h"
#include "core/instant.h"
#include "core/label.h"
#include "core/money.h"
#include "ledger/fact_id.h"

namespace pennyweight {

// The four costs of a charge, all in its billing currency.
struct Costs {
  Money billed;      // BilledCost: what the invoice says
  Money effective;   // EffectiveCost: with commitments amortised
  Money list;        // ListCost
  Money contracted;  // ContractedCost

  static Costs zero(Currency currency) {
    const Money none = Money::zero(currency);
    return {none, none, none, none};
  }
  Currency currency() const { return billed.currency(); }
  Costs& operator+=(const Costs& other) {
    billed += other.billed;
    effective += other.effective;
    list += other.list;
    contracted += other.contracted;
    return *this;
  }
  bool operator==(const Costs&) const = default;
};

enum class ChargeCategory { kUsage, kPurchase, kTax, kCredit, kAdjustment };
enum class ChargeFrequency { kOneTime, kRecurring, kUsageBased };
enum class PricingCategory { kStandard, kDynamic, kCommitted, kOther };  // kDynamic: spot
enum class UsedOrUnused { kUsed, kUnused };  // of a commitment or a capacity reservation

struct Charge {
  // Who is billed, by whom, for when.
  std::string billing_account_id;
  std::string billing_account_name;
  std::string sub_account_id;
  std::string sub_account_name;
  Interval billing_period;
  Interval charge_period;
  std::string invoice_id;
  std::string invoice_issuer_name;
  std::string service_provider_name;  // ProviderName before 1.3

  // What for.
  ChargeCategory charge_category = ChargeCategory::kUsage;
  bool is_correction = false;  // ChargeClass = Correction
  std::optional<ChargeFrequency> charge_frequency;
  std::string charge_description;
  std::string service_category;
  std::string service_subcategory;
  std::string service_name;
  std::string region_id;
  std::string availability_zone;
  std::string resource_id;
  std::string resource_name;
  std::string resource_type;
  std::string sku_id;
  std::string sku_meter;
  std::string sku_price_id;
  std::string sku_price_details;  // the JSON object as the bill has it
  std::string instance_type;      // SkuPriceDetails.InstanceType, or x_InstanceType
  Labels tags;

  // How much and how priced.
  Costs costs;
  std::optional<PricingCategory> pricing_category;
  std::optional<Decimal> pricing_quantity;
  std::string pricing_unit;
  std::optional<Decimal> list_unit_price;
  std::optional<Decimal> contracted_unit_price;
  std::optional<Decimal> consumed_quantity;
  std::string consumed_unit;
  std::string commitment_discount_id;
  std::string commitment_discount_category;
  std::string commitment_discount_type;
  std::optional<UsedOrUnused> commitment_discount_status;
  std::string capacity_reservation_id;
  std::optional<UsedOrUnused> capacity_reservation_status;

  // Where the resource belongs, for resources whose id alone does not tell: x_ClusterId, x_PoolId.
  std::string cluster;
  std::string pool;

  std::string other_columns;  // a JSON object of column to text, keys sorted; empty: none

  // Set by the store when the charge is read back; not content.
  FactId id;
  SourceLine source;
  std::uint64_t import_number = 0;   // of the delivery that brought it
  std::string booked_month;          // the month of its billing period, or a later one where that
                                     // was closed when the charge came
  std::optional<FactId> takes_back;  // the charge of a closed month that this one reverses

  explicit Charge(Interval billing, Interval charged, Costs amounts)
      : billing_period(billing), charge_period(charged), costs(amounts) {}
  bool operator==(const Charge&) const = default;
};

// Every column but the amounts: costs, quantities and unit prices, those among the other columns
// included. Two deliveries of one charge have the same natural key.
Hash128 natural_key(const Charge& charge);
// Every column.
Hash128 content_hash(const Charge& charge);
// Computes both together, in half the time.
struct ChargeHashes {
  Hash128 natural_key;
  Hash128 content;
};
ChargeHashes hashes_of(const Charge& charge);
// The columns in which two charges with one natural key differ, with both values:
// "BilledCost 1.5 there, 2.5 here".
std::string difference(const Charge& there, const Charge& here);

std::string_view to_text(ChargeCategory value);
std::string_view to_text(ChargeFrequency value);
std::string_view to_text(PricingCategory value);
std::string_view to_text(UsedOrUnused value);
// Read exactly the FOCUS spelling; nothing for any other text.
std::optional<ChargeCategory> parse_charge_category(std::string_view text);
std::optional<ChargeFrequency> parse_charge_frequency(std::string_view text);
std::optional<PricingCategory> parse_pricing_category(std::string_view text);
std::optional<UsedOrUnused> parse_used_or_unused(std::string_view text);

}  // namespace pennyweight
