// RateCard: the prices of a contract, for usage that comes without amounts.
//
// A card is a CSV file with one price a row: the provider, what it prices (sku, service, gpu_model,
// instance_type, region: names, or patterns with '*'), the unit, the currency, and the time for
// which it holds. Prices are flat: a card has no volume tiers and no minimum commitments, since the
// price of a charge would then depend on which other charges were read before it.
//
// Usage without a price, or with two possible prices, is an Error that names the usage and the row
// to add to the card; prices are never guessed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/decimal.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/money.h"

namespace pennyweight {

// The columns that say what a row prices, the most specific first.
enum class CardField { kSku, kInstanceType, kGpuModel, kService, kRegion, kProvider };
inline constexpr std::size_t kCardFields = 6;
std::string_view to_text(CardField field);  // "sku", …, as the column is called

struct CardRate {
  std::array<std::string, kCardFields> match;  // by CardField; empty: anything
  std::string unit;                            // "GPU-Hours", as written
  Decimal price;                               // of one unit
  Decimal list_price;  // before the contract's discount; without that column the price
  Currency currency = kUsd;
  std::optional<Instant> from, to;  // nothing: without a begin or end
  std::string place;                // "card.csv:12"
  bool operator==(const CardRate&) const = default;
};

// Usage to be priced. An unknown text is empty and matches only rows that leave that column empty.
struct CardUsage {
  std::string_view provider;
  std::array<std::string_view, 3> skus;  // any of them: SKU id, meter, price id
  std::string_view service;
  std::string_view gpu_model;
  std::string_view instance_type;
  std::string_view region;
  std::string_view unit;
  std::optional<Currency> currency;  // of the bill, where it states one
  Interval during;
};

struct CardAmounts {
  Money cost;            // at the price
  Money list;            // at the list price
  bool rounded = false;  // either had digits beyond 10^-18; half-even
};

class RateCard {
 public:
  RateCard() = default;  // prices nothing
  // The columns are unit,price,currency, at least one of sku,instance_type,gpu_model,service, and
  // optionally region,provider,list_price,from,to,note. An Error has the place. Besides malformed
  // values it refuses a row that names no sku, instance_type, gpu_model or service, a negative
  // price, a price above kCardPriceMax, and rows for the same usage that overlap in time. A row
  // without `to` ends where the next row for the same usage begins.
  static Result<RateCard> parse(std::string_view csv, std::string_view name);
  // A card of given rates. As above, a rate without `to` ends where the next for the same usage
  // begins, and rates for the same usage that overlap in time are an Error.
  static Result<RateCard> from_rates(std::vector<CardRate> rates, std::string_view name);

  // The row in force for all of the usage's time. Of several that match it is the most specific
  // one: a name before a pattern before an empty column, column by column in the order of
  // CardField; of two patterns the one with more letters. The result lives as long as the card.
  Result<const CardRate*> find(const CardUsage& usage) const;

  const std::vector<CardRate>& rates() const { return rates_; }  // in the order of the file
  const std::string& name() const { return name_; }

 private:
  Error no_price(const CardUsage& usage) const;

  std::string name_;
  std::vector<CardRate> rates_;
};

// A price above this is refused as a mistake.
inline constexpr Decimal kCardPriceMax = Decimal::from_units(1'000'000);
inline constexpr std::size_t kCardRatesMax = 10'000;

// The cost of quantity / quantities_per_unit units at the rate; quantities_per_unit is 3,600,000
// for milliseconds at an hourly price. Exact except for one rounding at 10^-18. REQUIRES:
// quantities_per_unit > 0. An Error where the amount leaves the range of money.
Result<CardAmounts> amounts_of(const CardRate& rate, Decimal quantity,
                               std::uint64_t quantities_per_unit);

// quantity / divisor, half-even at 10^-18, and whether it was rounded. REQUIRES: divisor > 0.
ParsedDecimal divided(Decimal quantity, std::uint64_t divisor);

// Whether `text` matches `pattern`, in which each '*' stands for any characters or none. Case does
// not matter.
bool fits_pattern(std::string_view pattern, std::string_view text);

// Whether two units are the same. Case, '-', '_' and ' ', and a plural s at the end of a word do
// not matter: "GPU-Hours", "gpu hour".
bool same_unit(std::string_view a, std::string_view b);

}  // namespace pennyweight
