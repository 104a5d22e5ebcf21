#include "reporting/export/unit_prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/int128.h"

namespace pennyweight {
namespace {

constexpr std::string_view kUnitOfNone = "Units";

UInt128 size_of(Decimal number) {
  return static_cast<UInt128>(number.is_negative() ? -number.ticks() : number.ticks());
}

// Whether price × quantity is the cost, but for (price + 1) × 5·10^-13: half of what judges
// forgive, so that the parts of a divided line are within it too.
bool gives(Decimal price, Decimal quantity, Decimal cost) {
  const auto product = multiply(price, quantity, Rounding::kHalfEven);
  if (!product || price.is_negative()) return false;
  const Int128 miss = product->ticks() - cost.ticks();
  constexpr Int128 kPart = 2'000'000'000'000;
  const Int128 forgiven = (price.ticks() + Decimal::kTicksPerUnit) / kPart;
  return (miss < 0 ? -miss : miss) <= forgiven;
}

// |cost| / |quantity|, to the nearest tick, and 0 of no quantity; nothing where that is out of
// range.
std::optional<Decimal> quotient(Decimal cost, Decimal quantity) {
  const UInt128 divisor = size_of(quantity);
  if (divisor == 0) return Decimal();
  constexpr auto kScale = static_cast<UInt128>(Decimal::kTicksPerUnit);
  // The quotient of the ticks × 10^18: out of range unless cost / quantity has twenty digits.
  if (size_of(cost) / divisor > static_cast<UInt128>(Decimal::kTicksMax) / kScale) {
    return std::nullopt;
  }
  auto [price, rest] = multiply_divide(size_of(cost), kScale, divisor);
  if (rest >= divisor - rest) price += 1;
  return Decimal::from_ticks(static_cast<Int128>(price));
}

std::optional<Decimal> fitted(const std::optional<Decimal>& stated, Decimal quantity,
                              Decimal cost) {
  if (stated && gives(*stated, quantity, cost)) return stated;
  const auto price = quotient(cost, quantity);
  if (!price || !gives(*price, quantity, cost)) return std::nullopt;
  return price;
}

// Quantity and unit in 10^digits of the unit; nothing where digits would be lost, or the unit
// counts in a number already ("100 GB").
std::optional<UnitPrices> in_multiples(const UnitPrices& prices, int digits) {
  const bool counts =
      prices.unit.empty() || std::isdigit(static_cast<unsigned char>(prices.unit.front())) != 0;
  if (counts) return std::nullopt;
  Int128 scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  if (prices.quantity->ticks() % scale != 0) return std::nullopt;
  UnitPrices result = prices;
  result.quantity = Decimal::from_ticks(prices.quantity->ticks() / scale);
  result.unit = to_text(scale) + " " + prices.unit;
  return result;
}

bool fit_both(UnitPrices& prices, const Charge& charge, bool from_stated) {
  const auto none = std::optional<Decimal>();
  const auto list = fitted(from_stated ? charge.list_unit_price : none, *prices.quantity,
                           charge.costs.list.amount());
  const auto contracted = fitted(from_stated ? charge.contracted_unit_price : none,
                                 *prices.quantity, charge.costs.contracted.amount());
  prices.list = list;
  prices.contracted = contracted;
  return list && contracted;
}

UnitPrices starting_point(const Charge& charge, bool is_negative) {
  UnitPrices prices{charge.pricing_quantity, charge.pricing_unit, {}, {}};
  const bool costs =
      charge.costs.list.amount().ticks() != 0 || charge.costs.contracted.amount().ticks() != 0;
  const bool has_quantity = prices.quantity && (prices.quantity->ticks() != 0 || !costs);
  if (!has_quantity) {
    const bool consumed = charge.consumed_quantity && charge.consumed_quantity->ticks() != 0 &&
                          charge.charge_category == ChargeCategory::kUsage;
    prices.quantity = consumed ? *charge.consumed_quantity : Decimal::from_units(1);
    prices.unit = consumed ? charge.consumed_unit : std::string(kUnitOfNone);
  }
  if (prices.unit.empty()) prices.unit = kUnitOfNone;
  if (costs && prices.quantity->is_negative() != is_negative) prices.quantity = -*prices.quantity;
  return prices;
}

void note_replaced(Replaced& replaced, std::string_view column,
                   const std::optional<Decimal>& stated, const std::optional<Decimal>& written) {
  if (stated && stated != written) replaced.emplace_back(column, to_text(*stated));
}

}  // namespace

Result<FittedPrices> fit_prices(const Charge& charge) {
  const Int128 list = charge.costs.list.amount().ticks();
  const Int128 contracted = charge.costs.contracted.amount().ticks();
  if ((list < 0 && contracted > 0) || (list > 0 && contracted < 0)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("ListCost is {} and ContractedCost {}: no quantity gives both, since "
                            "FOCUS allows no negative unit price",
                            to_text(charge.costs.list.amount()),
                            to_text(charge.costs.contracted.amount())));
  }
  const UnitPrices start = starting_point(charge, list < 0 || contracted < 0);
  UnitPrices prices = start;
  bool fits = fit_both(prices, charge, start.quantity == charge.pricing_quantity);
  for (int digits = 3; !fits && digits <= 18; digits += 3) {
    if (auto multiples = in_multiples(start, digits)) {
      prices = *std::move(multiples);
      fits = fit_both(prices, charge, false);
    }
  }
  if (!fits) {
    const bool is_negative = list < 0 || contracted < 0;
    prices = {Decimal::from_units(is_negative ? -1 : 1), std::string(kUnitOfNone), {}, {}};
    fit_both(prices, charge, false);
  }
  FittedPrices result{prices, {}};
  note_replaced(result.replaced, "ContractedUnitPrice", charge.contracted_unit_price,
                prices.contracted);
  note_replaced(result.replaced, "ListUnitPrice", charge.list_unit_price, prices.list);
  note_replaced(result.replaced, "PricingQuantity", charge.pricing_quantity, prices.quantity);
  if (!charge.pricing_unit.empty() && charge.pricing_unit != prices.unit) {
    result.replaced.emplace_back("PricingUnit", charge.pricing_unit);
  }
  return result;
}

}  // namespace pennyweight
