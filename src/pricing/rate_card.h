// RateCard: what a contract says that usage costs, for usage that comes without money.
//
// A card is a CSV file of one price a row: for whom (provider), for what (sku, service, gpu_model,
// instance_type, region: names, or patterns with '*'), by which unit, in which currency, from when
// to when. A price is flat: tiers by volume and minimum commitments are not on a card, since the
// price of a line would then hang on which other lines were read before it.
//
// What has no price, or could have two, is an Error that says which usage it is and what to write
// into the card; nothing is priced by guess.
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

// The columns by which a row says what it prices, the most telling first.
enum class CardField { kSku, kInstanceType, kGpuModel, kService, kRegion, kProvider };
inline constexpr std::size_t kCardFields = 6;
std::string_view to_text(CardField field);  // "sku", …, as the column is called

struct CardRate {
  std::array<std::string, kCardFields> match;  // by CardField; empty: anything
  std::string unit;                            // "GPU-Hours", as written
  Decimal price;                               // of one unit
  Decimal list_price;                          // before the contract's discount; else the price
  Currency currency = kUsd;
  std::optional<Instant> from, to;  // nothing: always was, always will be
  std::string place;                // "card.csv:12"
  bool operator==(const CardRate&) const = default;
};

// Usage that wants a price. A text that is not known is empty, and only a row that does not ask for
// it fits.
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
  // Columns unit,price,currency and at least one of sku,instance_type,gpu_model,service; where
  // wanted region,provider,list_price,from,to,note. An error carries the place. Refused are,
  // besides malformed values: a row that names no sku, instance_type, gpu_model or service, a
  // negative price, one above kCardPriceMax, and rows for the same usage that overlap in time. A
  // row without `to` ends where the next row for the same usage begins.
  static Result<RateCard> parse(std::string_view csv, std::string_view name);

  // The one row in force for all of the usage's time: of those that fit, the one that says the
  // most about it (a name before a pattern before nothing, column by column in the order of
  // CardField; of two patterns the one with more letters). The answer lives as long as the card.
  Result<const CardRate*> find(const CardUsage& usage) const;

  const std::vector<CardRate>& rates() const { return rates_; }  // in the order of the file
  const std::string& name() const { return name_; }

 private:
  Error no_price(const CardUsage& usage) const;

  std::string name_;
  std::vector<CardRate> rates_;
};

// A price above this is taken for a slip of the pen and refused.
inline constexpr Decimal kCardPriceMax = Decimal::from_units(1'000'000);
inline constexpr std::size_t kCardRatesMax = 10'000;

// quantity / quantities_per_unit units at the rate: 3,600,000 for milliseconds at a price of an
// hour. Exact but for one rounding at 10^-18. REQUIRES: quantities_per_unit > 0. An error where the
// amount leaves the range of money.
Result<CardAmounts> amounts_of(const CardRate& rate, Decimal quantity,
                               std::uint64_t quantities_per_unit);

// quantity / divisor, half-even at 10^-18, and whether it was rounded. REQUIRES: divisor > 0.
ParsedDecimal divided(Decimal quantity, std::uint64_t divisor);

// Whether `text` is `pattern`, in which each '*' stands for any letters or none. Upper and lower
// case are the same.
bool fits_pattern(std::string_view pattern, std::string_view text);

// Whether two units are one: upper and lower case, '-', '_' and ' ', and a plural s at the end of a
// word do not matter: "GPU-Hours", "gpu hour".
bool same_unit(std::string_view a, std::string_view b);

}  // namespace pennyweight
