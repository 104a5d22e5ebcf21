#include "ingest/bills/gcp/amounts.h"

#include <fmt/format.h>

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/check.h"
#include "core/int128.h"
#include "core/split.h"
#include "core/try.h"
#include "ingest/bills/gcp/columns.h"
#include "ingest/bills/gcp/export_values.h"
#include "ingest/bills/number.h"

namespace pennyweight::gcp {
namespace {

using bill::RowFault;

struct AmountField {
  Field field;
  std::string_view column;
  std::optional<Decimal> Amounts::* member;
};
constexpr AmountField kAmountFields[] = {
    {Field::kListPrice, "price.list_price", &Amounts::list_price},
    {Field::kEffectivePrice, "price.effective_price", &Amounts::effective_price},
    {Field::kEffectivePriceDefault, "price.effective_price_default",
     &Amounts::effective_price_default},
};
constexpr AmountField kQuantities[] = {
    {Field::kUsageAmount, "usage.amount", &Amounts::consumed},
    {Field::kPricingAmount, "usage.amount_in_pricing_units", &Amounts::priced},
};

RowFault not_a_number(std::string_view column, const Error& error) {
  return {std::string(column),
          fmt::format("{}: {}; write digits with a point", column, error.message)};
}

bool is_null_word(std::string_view text) {
  return text == "NULL" || text == "null" || text == "\\N";
}

// Keeps the sums of a row's amounts far from the limits of 128 bits. Quantities are not added up:
// twelve terabytes stored for a day are 10^18 byte-seconds.
constexpr Decimal kAmountMax = Decimal::from_units(1'000'000'000'000'000'000);
constexpr std::size_t kCreditsMax = 100;

bool is_too_large(Decimal amount) { return amount > kAmountMax || amount < -kAmountMax; }

// Nothing for a null.
Result<std::optional<Decimal>> number_of(const Row& row, Field field, std::size_t& rounded) {
  const std::string_view text = row[field];
  if (text.empty() || is_null_word(text)) return std::nullopt;
  const auto parsed = TRY(bill::parse_printed_number(text));
  if (is_too_large(parsed.value)) {
    return fail(ErrorCode::kLimit, "more than 10^18, which no bill has");
  }
  rounded += parsed.rounded ? 1 : 0;
  return parsed.value;
}

// Nothing too for a number that a Decimal can't hold: other_columns takes its text.
Result<std::optional<Decimal>> quantity_of(const Row& row, Field field, Amounts& amounts) {
  const std::string_view text = row[field];
  if (text.empty() || is_null_word(text)) return std::nullopt;
  const auto parsed = bill::parse_printed_number(text);
  if (parsed) {
    amounts.rounded += parsed->rounded ? 1 : 0;
    return parsed->value;
  }
  if (!bill::is_number_out_of_range(text)) return std::unexpected(parsed.error());
  ++amounts.too_large;
  return std::nullopt;
}

UInt128 size_of(Int128 ticks) {
  return ticks < 0 ? UInt128{0} - static_cast<UInt128>(ticks) : static_cast<UInt128>(ticks);
}

std::array<Weight, 2> weights_of(Money part, Money whole) {
  const UInt128 first = size_of(part.ticks());
  const UInt128 all = size_of(whole.ticks());
  CHECK(first < all && first > 0, "a part is less than the whole");
  return {first, all - first};
}

}  // namespace

namespace {

// Google states credits in the currency of their row. One that names another can't be taken off it.
std::optional<RowFault> currency_fault(const Credit& credit, Currency currency) {
  for (const auto& [name, text] : credit.others) {
    if (name != kept_name("credit_currency") || ascii::equal_ignoring_case(text, currency.text())) {
      continue;
    }
    return RowFault{
        "credits",
        fmt::format("credits has {} {}, and the row is in {}; write the credit in {}",
                    to_text(credit.amount), text.substr(0, 60), currency.text(), currency.text())};
  }
  return std::nullopt;
}

}  // namespace

std::optional<RowFault> read_amounts(const Row& row, Amounts& amounts) {
  const Currency currency = amounts.cost.currency();
  const auto money = [&](Decimal amount) { return Money::from_decimal(amount, currency); };

  const auto cost = number_of(row, Field::kCost, amounts.rounded);
  if (!cost) return not_a_number("cost", cost.error());
  if (!*cost) {
    return RowFault{"cost",
                    "cost is empty; Google writes an amount in every row, 0 where there is none"};
  }
  amounts.cost = money(**cost);

  for (const auto& [field, column, member] :
       {std::tuple(Field::kCostAtList, "cost_at_list", &Amounts::list),
        std::tuple(Field::kCostAtEffectivePriceDefault, "cost_at_effective_price_default",
                   &Amounts::contracted)}) {
    const auto amount = number_of(row, field, amounts.rounded);
    if (!amount) return not_a_number(column, amount.error());
    if (*amount) amounts.*member = money(**amount);
  }
  for (const AmountField& number : kAmountFields) {
    auto value = number_of(row, number.field, amounts.rounded);
    if (!value) return not_a_number(number.column, value.error());
    amounts.*number.member = *value;
  }
  for (const AmountField& quantity : kQuantities) {
    auto value = quantity_of(row, quantity.field, amounts);
    if (!value) return not_a_number(quantity.column, value.error());
    amounts.*quantity.member = *value;
  }

  auto credits = parse_credits(row[Field::kCredits]);
  if (!credits) {
    return RowFault{"credits", fmt::format("credits {}; export the list whole, with "
                                           "TO_JSON_STRING(credits)",
                                           credits.error().message)};
  }
  amounts.credits = std::move(*credits);
  amounts.rounded += amounts.credits.rounded;
  if (amounts.credits.all.size() > kCreditsMax) {
    return RowFault{"credits", fmt::format("more than {} credits of one row", kCreditsMax)};
  }
  for (const Credit& credit : amounts.credits.all) {
    if (is_too_large(credit.amount)) {
      return RowFault{"credits", "credits: an amount of more than 10^18, which no bill has"};
    }
    if (auto fault = currency_fault(credit, currency)) return fault;
    switch (credit.kind) {
      case CreditKind::kReducedPrice:
        amounts.reduced += money(credit.amount);
        break;
      case CreditKind::kUsageCovered:
      case CreditKind::kSpendCovered:
        amounts.covered += money(credit.amount);
        break;
      case CreditKind::kFeeOffset:
        amounts.offset += money(credit.amount);
        amounts.has_offset = true;
        break;
      case CreditKind::kOwnCharge:
        break;
    }
  }
  return std::nullopt;
}

SplitMoney divide(Money total, Money part, Money whole) {
  const auto weights = weights_of(part, whole);
  const std::vector<Money> shares = split(total, weights);
  return {shares[0], shares[1]};
}

std::pair<Decimal, Decimal> divide(Decimal total, Money part, Money whole) {
  const auto weights = weights_of(part, whole);
  const std::vector<UInt128> shares = split_units(size_of(total.ticks()), weights);
  const auto signed_share = [&](UInt128 share) {
    const auto ticks = static_cast<Int128>(share);
    return Decimal::from_ticks(total.is_negative() ? -ticks : ticks);
  };
  return {signed_share(shares[0]), signed_share(shares[1])};
}

}  // namespace pennyweight::gcp
