#include "allocation/pricing/exchange.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/gpu/plain_table.h"
#include "core/instant.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

// The cells of a row, in the order of the table's shape.
struct ExchangeCell {
  enum : std::size_t { kDate, kFrom, kTo, kRate, kSource };
};
constexpr std::string_view kExchangeColumns[] = {"date", "from", "to", "rate"};
constexpr std::string_view kExchangeOptionalColumns[] = {"source"};

auto pair_of(const ExchangeRate& rate) { return std::tie(rate.from, rate.to, rate.date); }

Result<ExchangeRate> read_exchange_rate(std::span<const std::string_view> row,
                                        const std::string& place) {
  ExchangeRate rate;
  const auto date = parse_date(row[ExchangeCell::kDate]);
  if (!date) return std::unexpected(date.error().during("date"));
  const auto from = Currency::parse(row[ExchangeCell::kFrom]);
  if (!from) return std::unexpected(from.error().during("from"));
  const auto to = Currency::parse(row[ExchangeCell::kTo]);
  if (!to) return std::unexpected(to.error().during("to"));
  if (*from == *to) {
    return fail(ErrorCode::kBadValue,
                fmt::format("a rate from {} to itself, which is always 1", from->text()));
  }
  const auto value = parse_exact_decimal(row[ExchangeCell::kRate]);
  if (!value) return std::unexpected(value.error().during("rate"));
  if (*value <= Decimal() || *value > kExchangeRateMax) {
    return fail(ErrorCode::kBadValue, fmt::format("rate {} is not above 0 and at most {}",
                                                  to_text(*value), to_text(kExchangeRateMax)));
  }
  rate.date = *date;
  rate.from = *from;
  rate.to = *to;
  rate.rate = *value;
  rate.source = row[ExchangeCell::kSource].empty()
                    ? place
                    : printable_text(row[ExchangeCell::kSource], limits::kIdBytesMax);
  return rate;
}

// 1/rate, half-even. A rate of 10^-18 gives 10^18, and kExchangeRateMax a result far from zero.
Decimal inverse_of(Decimal rate) {
  constexpr auto kOneUnit = static_cast<UInt128>(Decimal::kTicksPerUnit);
  const auto divisor = static_cast<UInt128>(rate.ticks());
  auto [quotient, remainder] = multiply_divide(kOneUnit, kOneUnit, divisor);
  const UInt128 twice = remainder * 2;
  if (twice > divisor || (twice == divisor && quotient % 2 != 0)) quotient += 1;
  return Decimal::from_ticks(static_cast<Int128>(quotient));
}

bool is_exact_product(Decimal a, Decimal b) {
  const auto size = [](Decimal d) {
    return d.is_negative() ? -static_cast<UInt128>(d.ticks()) : static_cast<UInt128>(d.ticks());
  };
  return multiply_divide(size(a), size(b), static_cast<UInt128>(Decimal::kTicksPerUnit))
             .remainder == 0;
}

FoundRate step_of(const ExchangeRate& rate, bool inverse) {
  if (!inverse) return {rate.from, rate.to, rate.rate, RatePath::kDirect, {rate}};
  return {rate.to, rate.from, inverse_of(rate.rate), RatePath::kInverse, {rate}};
}

std::string said(const ExchangeRate& rate) {
  return fmt::format("1 {} = {} {} ({}, {})", rate.from.text(), to_text(rate.rate), rate.to.text(),
                     to_text(rate.date), rate.source);
}

}  // namespace

std::string to_text(const FoundRate& found) {
  const std::string rate =
      fmt::format("1 {} = {} {}", found.from.text(), to_text(found.rate), found.to.text());
  switch (found.path) {
    case RatePath::kSame:
      return rate;
    case RatePath::kDirect:
      return fmt::format("{} ({}, {})", rate, to_text(found.steps.front().date),
                         found.steps.front().source);
    case RatePath::kInverse:
      return fmt::format("{}, the inverse of {}", rate, said(found.steps.front()));
    case RatePath::kCrossed:
      return fmt::format("{}, from {} and {}", rate, said(found.steps.front()),
                         said(found.steps.back()));
  }
  return rate;
}

Result<ExchangeRates> ExchangeRates::parse(std::string_view csv, std::string_view name) {
  const auto table = TRY(PlainTable::parse(
      csv, name, {.required = kExchangeColumns, .optional = kExchangeOptionalColumns}));
  std::vector<std::pair<ExchangeRate, std::size_t>> read;  // with the row
  read.reserve(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto rate = read_exchange_rate(table.row(i), table.place(i));
    if (!rate) return std::unexpected(rate.error().during(table.place(i)));
    read.emplace_back(*std::move(rate), i);
  }
  std::stable_sort(read.begin(), read.end(), [](const auto& a, const auto& b) {
    return pair_of(a.first) < pair_of(b.first);
  });
  const auto repeat = std::adjacent_find(
      read.begin(), read.end(),
      [](const auto& a, const auto& b) { return pair_of(a.first) == pair_of(b.first); });
  if (repeat != read.end()) {
    const auto& [rate, row] = *std::next(repeat);
    return fail(
        ErrorCode::kConflict,
        fmt::format("{}: a second rate from {} to {} on {}; keep one of them", table.place(row),
                    rate.from.text(), rate.to.text(), to_text(rate.date)));
  }
  ExchangeRates rates;
  rates.name_ = name;
  rates.rates_.reserve(read.size());
  for (auto& [rate, row] : read) rates.rates_.push_back(std::move(rate));
  return rates;
}

const ExchangeRate* ExchangeRates::last_at(Currency from, Currency to, Date date) const {
  const auto after = std::upper_bound(
      rates_.begin(), rates_.end(), std::tie(from, to, date),
      [](const auto& key, const ExchangeRate& rate) { return key < pair_of(rate); });
  if (after == rates_.begin()) return nullptr;
  const ExchangeRate& rate = *std::prev(after);
  return rate.from == from && rate.to == to ? &rate : nullptr;
}

std::optional<FoundRate> ExchangeRates::one_step(Currency from, Currency to, Date date,
                                                 const RateSearch& search) const {
  const auto valid = [&](const ExchangeRate* rate) {
    return rate != nullptr && date - rate->date <= std::chrono::days(search.days_valid_max);
  };
  const ExchangeRate* own = last_at(from, to, date);
  const ExchangeRate* other = last_at(to, from, date);
  if (valid(own) && (!valid(other) || own->date >= other->date)) return step_of(*own, false);
  if (valid(other)) return step_of(*other, true);
  return std::nullopt;
}

std::vector<Currency> ExchangeRates::pivots_of(Currency from, Currency to, Date date,
                                               const RateSearch& search) const {
  std::vector<Currency> seen;
  for (const ExchangeRate& rate : rates_) {
    seen.push_back(rate.from);
    seen.push_back(rate.to);
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  std::erase_if(seen, [&](Currency pivot) {
    if (pivot == from || pivot == to || (search.pivot && pivot != *search.pivot)) return true;
    return !one_step(from, pivot, date, search) || !one_step(pivot, to, date, search);
  });
  return seen;
}

Error ExchangeRates::missing(Currency from, Currency to, Date date,
                             const RateSearch& search) const {
  const std::string file = name_.empty() ? "no rates are configured" : name_;
  std::string has;
  for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)}) {
    const ExchangeRate* last = last_at(a, b, date);
    if (last == nullptr) continue;
    has += fmt::format("; the last before it, {}, is more than {} days old", said(*last),
                       search.days_valid_max);
  }
  if (search.pivot) has += fmt::format("; nor through {}", search.pivot->text());
  return {
      ErrorCode::kNotFound,
      fmt::format("{}: no rate from {} to {} on {}{}; add a row '{},{},{},RATE'", file, from.text(),
                  to.text(), to_text(date), has, to_text(date), from.text(), to.text())};
}

Result<FoundRate> ExchangeRates::rate_on(Currency from, Currency to, Date date,
                                         const RateSearch& search) const {
  if (from == to) return FoundRate{from, to, Decimal::from_units(1), RatePath::kSame, {}};
  if (auto found = one_step(from, to, date, search)) return *std::move(found);
  const std::vector<Currency> pivots = pivots_of(from, to, date, search);
  if (pivots.empty()) return std::unexpected(missing(from, to, date, search));
  if (pivots.size() > 1) {
    std::vector<std::string> names;
    for (const Currency pivot : pivots) names.push_back(pivot.text());
    return fail(
        ErrorCode::kConflict,
        fmt::format("{}: from {} to {} on {} there are rates through each of {}; state which "
                    "currency to cross through, or add the rate itself",
                    name_, from.text(), to.text(), to_text(date), fmt::join(names, ", ")));
  }
  const auto first = *one_step(from, pivots.front(), date, search);
  const auto second = *one_step(pivots.front(), to, date, search);
  const auto rate = multiply(first.rate, second.rate, Rounding::kHalfEven);
  if (!rate) return std::unexpected(rate.error());
  if (*rate == Decimal()) {
    return fail(ErrorCode::kBadValue, fmt::format("{}: the rate from {} to {} is less than 10^-18",
                                                  name_, from.text(), to.text()));
  }
  return FoundRate{
      from, to, *rate, RatePath::kCrossed, {first.steps.front(), second.steps.front()}};
}

Result<Converted> convert_at(Money amount, const FoundRate& found) {
  CHECK(amount.currency() == found.from, "a rate is used on the currency that it is of");
  const auto product = TRY(multiply(amount.amount(), found.rate, Rounding::kHalfEven));
  return Converted{.amount = Money::from_decimal(product, found.to),
                   .rounded = !is_exact_product(amount.amount(), found.rate),
                   .rate = found};
}

Result<Converted> ExchangeRates::convert(Money amount, Currency to, Date date,
                                         const RateSearch& search) const {
  const auto found = TRY(rate_on(amount.currency(), to, date, search));
  return convert_at(amount, found);
}

}  // namespace pennyweight
