#include "allocation/pricing/rate_card.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/plain_table.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::array<CardField, kCardFields> kFields = {
    CardField::kSku,     CardField::kInstanceType, CardField::kGpuModel,
    CardField::kService, CardField::kRegion,       CardField::kProvider};

// The cells of a row, in the order of the table's shape.
struct CardCell {
  enum : std::size_t {
    kUnit,
    kPrice,
    kCurrency,
    kFirstField,  // the fields follow in the order of CardField
    kListPrice = kFirstField + kCardFields,
    kFrom,
    kTo,
  };
};
constexpr std::string_view kCardColumns[] = {"unit", "price", "currency"};
constexpr std::string_view kCardOptionalColumns[] = {
    "sku",      "instance_type", "gpu_model", "service", "region",
    "provider", "list_price",    "from",      "to",      "note"};

std::size_t index_of(CardField field) { return static_cast<std::size_t>(field); }

std::string plain_unit(std::string_view unit) {
  std::string plain;
  const auto end_word = [&] {
    if (plain.size() > 1 && plain.back() == 's' && plain[plain.size() - 2] != '-') plain.pop_back();
  };
  for (const char c : unit) {
    if (c == '-' || c == '_' || c == ' ') {
      end_word();
      plain += '-';
    } else {
      plain += ascii::to_lower(c);
    }
  }
  end_word();
  return plain;
}

Result<Decimal> read_card_price(std::string_view column, std::string_view text) {
  const auto price = parse_exact_decimal(text);
  if (!price) return std::unexpected(price.error().during(column));
  if (price->is_negative() || *price > kCardPriceMax) {
    return fail(ErrorCode::kBadValue, fmt::format("{} {} is outside 0 to {}", column,
                                                  to_text(*price), to_text(kCardPriceMax)));
  }
  return *price;
}

Result<std::optional<Instant>> read_instant(std::string_view column, std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto at = parse_instant(text);
  if (!at) return std::unexpected(at.error().during(column));
  return *at;
}

Result<std::string> read_card_name(std::string_view column, std::string_view text) {
  if (text.size() > limits::kIdBytesMax || !is_plain_text(text)) {
    return fail(ErrorCode::kBadValue, fmt::format("{} is longer than {} bytes or not UTF-8", column,
                                                  limits::kIdBytesMax));
  }
  return std::string(text);
}

Result<CardRate> read_card_rate(std::span<const std::string_view> row) {
  CardRate rate;
  for (const CardField field : kFields) {
    auto name = TRY(read_card_name(to_text(field), row[CardCell::kFirstField + index_of(field)]));
    rate.match[index_of(field)] = std::move(name);
  }
  const auto names = [&](CardField field) { return !rate.match[index_of(field)].empty(); };
  if (!names(CardField::kSku) && !names(CardField::kInstanceType) && !names(CardField::kGpuModel) &&
      !names(CardField::kService)) {
    return fail(ErrorCode::kBadValue,
                "names no sku, instance_type, gpu_model or service; write * for all of them");
  }
  auto unit = read_card_name("unit", row[CardCell::kUnit]);
  if (!unit) return std::unexpected(unit.error());
  if (unit->empty()) return fail(ErrorCode::kBadValue, "unit is missing");
  const auto price = read_card_price("price", row[CardCell::kPrice]);
  if (!price) return std::unexpected(price.error());
  const auto list = TRY(row[CardCell::kListPrice].empty()
                            ? price
                            : read_card_price("list_price", row[CardCell::kListPrice]));
  const auto currency = Currency::parse(row[CardCell::kCurrency]);
  if (!currency) return std::unexpected(currency.error().during("currency"));
  const auto from = read_instant("from", row[CardCell::kFrom]);
  if (!from) return std::unexpected(from.error());
  const auto to = read_instant("to", row[CardCell::kTo]);
  if (!to) return std::unexpected(to.error());
  if (*from && *to && **from >= **to) {
    return fail(ErrorCode::kBadValue,
                fmt::format("to {} is not after from {}", to_text(**to), to_text(**from)));
  }
  rate.unit = *std::move(unit);
  rate.price = *price;
  rate.list_price = list;
  rate.currency = *currency;
  rate.from = *from;
  rate.to = *to;
  return rate;
}

// Rows with one key price the same usage. Names are compared as patterns are, without regard to
// case.
std::string key_of(const CardRate& rate) {
  std::string key;
  for (const std::string& text : rate.match) {
    for (const char c : text) key += ascii::to_lower(c);
    key += '\n';
  }
  return key + plain_unit(rate.unit) + '\n' + rate.currency.text();
}

bool begins_before(const CardRate& a, const CardRate& b) {
  return b.from.has_value() && (!a.from || *a.from < *b.from);
}

// Ends each row where the next for the same usage begins. An Error where two still overlap.
Result<void> end_rates(std::vector<CardRate>& rates) {
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::string> keys;
  keys.reserve(rates.size());
  for (const CardRate& rate : rates) keys.push_back(key_of(rate));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (keys[a] != keys[b]) return keys[a] < keys[b];
    return begins_before(rates[a], rates[b]);
  });
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    CardRate& rate = rates[order[i]];
    const CardRate& next = rates[order[i + 1]];
    if (keys[order[i]] != keys[order[i + 1]]) continue;
    if (!rate.to && begins_before(rate, next)) rate.to = next.from;
    if (!rate.to || !next.from || *rate.to > *next.from) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{}: prices the same usage at the same time as {}; end one where the "
                              "other begins",
                              next.place, rate.place));
    }
  }
  return {};
}

bool covers(const CardRate& rate, Instant at) {
  return (!rate.from || *rate.from <= at) && (!rate.to || at < *rate.to);
}

bool same_gpu_model(std::string_view asked, std::string_view used) {
  const GpuModel* model = find_gpu_model(asked);
  return model != nullptr && model == find_gpu_model(used);
}

bool fits_field(CardField field, std::string_view asked, const CardUsage& usage) {
  if (asked.empty()) return true;
  switch (field) {
    case CardField::kSku:
      return std::any_of(usage.skus.begin(), usage.skus.end(), [&](std::string_view sku) {
        return !sku.empty() && fits_pattern(asked, sku);
      });
    case CardField::kInstanceType:
      return fits_pattern(asked, usage.instance_type);
    case CardField::kGpuModel:
      return fits_pattern(asked, usage.gpu_model) || same_gpu_model(asked, usage.gpu_model);
    case CardField::kService:
      return fits_pattern(asked, usage.service);
    case CardField::kRegion:
      return fits_pattern(asked, usage.region);
    case CardField::kProvider:
      return fits_pattern(asked, usage.provider);
  }
  return false;
}

bool fits(const CardRate& rate, const CardUsage& usage) {
  return std::all_of(kFields.begin(), kFields.end(), [&](CardField field) {
    return fits_field(field, rate.match[index_of(field)], usage);
  });
}

// How specific a row is, field by field: 0 for an empty column, 1 + the letters of a pattern, the
// largest value for a name.
std::array<std::size_t, kCardFields> detail_of(const CardRate& rate) {
  std::array<std::size_t, kCardFields> detail{};
  for (std::size_t i = 0; i < kCardFields; ++i) {
    const std::string& text = rate.match[i];
    if (text.empty()) continue;
    const auto stars = static_cast<std::size_t>(std::count(text.begin(), text.end(), '*'));
    detail[i] = stars == 0 ? limits::kIdBytesMax + 2 : 1 + text.size() - stars;
  }
  return detail;
}

// The row that a person can add to the card.
std::string row_for(const CardUsage& usage) {
  const auto sku = std::find_if(usage.skus.begin(), usage.skus.end(),
                                [](std::string_view text) { return !text.empty(); });
  std::vector<std::string> cells;
  const auto add = [&](std::string_view column, std::string_view value) {
    if (!value.empty()) cells.push_back(fmt::format("{}={}", column, printable_text(value, 100)));
  };
  add("provider", usage.provider);
  if (sku != usage.skus.end()) add("sku", *sku);
  add("service", usage.service);
  add("gpu_model", usage.gpu_model);
  add("instance_type", usage.instance_type);
  add("region", usage.region);
  add("unit", usage.unit);
  if (usage.currency) add("currency", usage.currency->text());
  return fmt::format("{}", fmt::join(cells, ", "));
}

UInt128 size_of(Decimal value) {
  return value.is_negative() ? -static_cast<UInt128>(value.ticks())
                             : static_cast<UInt128>(value.ticks());
}

// a * b / divisor ticks, half-even.
Result<ParsedDecimal> scaled(Decimal a, Decimal b, std::uint64_t divisor) {
  constexpr auto kScale = static_cast<UInt128>(Decimal::kTicksPerUnit);
  const Error too_large{ErrorCode::kBadValue,
                        fmt::format("{} at {} is out of range", to_text(a), to_text(b))};
  if (size_of(b) != 0 &&
      size_of(a) / kScale > static_cast<UInt128>(Decimal::kTicksMax) / size_of(b)) {
    return std::unexpected(too_large);
  }
  const UInt128 whole = kScale * divisor;
  auto [quotient, remainder] = multiply_divide(size_of(a), size_of(b), whole);
  const UInt128 twice = remainder * 2;
  if (twice > whole || (twice == whole && quotient % 2 != 0)) quotient += 1;
  if (quotient > static_cast<UInt128>(Decimal::kTicksMax)) return std::unexpected(too_large);
  const auto ticks = static_cast<Int128>(quotient);
  return ParsedDecimal{Decimal::from_ticks(a.is_negative() != b.is_negative() ? -ticks : ticks),
                       remainder != 0};
}

}  // namespace

std::string_view to_text(CardField field) { return kCardOptionalColumns[index_of(field)]; }

bool fits_pattern(std::string_view pattern, std::string_view text) {
  // Greedy, with one way back: to the last '*', which then takes one more character.
  std::size_t p = 0;
  std::size_t t = 0;
  std::optional<std::size_t> star;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && ascii::to_lower(pattern[p]) == ascii::to_lower(text[t])) {
      ++p;
      ++t;
    } else if (star) {
      p = *star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool same_unit(std::string_view a, std::string_view b) { return plain_unit(a) == plain_unit(b); }

Result<RateCard> RateCard::parse(std::string_view csv, std::string_view name) {
  const auto table = TRY(
      PlainTable::parse(csv, name, {.required = kCardColumns, .optional = kCardOptionalColumns}));
  if (table.size() > kCardRatesMax) {
    return fail(ErrorCode::kLimit, fmt::format("{}: {} prices; at most {} are read", name,
                                               table.size(), kCardRatesMax));
  }
  std::vector<CardRate> rates;
  rates.reserve(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto rate = read_card_rate(table.row(i));
    if (!rate) return std::unexpected(rate.error().during(table.place(i)));
    rate->place = table.place(i);
    rates.push_back(*std::move(rate));
  }
  return from_rates(std::move(rates), name);
}

Result<RateCard> RateCard::from_rates(std::vector<CardRate> rates, std::string_view name) {
  TRY(end_rates(rates));
  RateCard card;
  card.name_ = name;
  card.rates_ = std::move(rates);
  return card;
}

Result<const CardRate*> RateCard::find(const CardUsage& usage) const {
  const CardRate* best = nullptr;
  const CardRate* equal = nullptr;  // as specific as the best
  for (const CardRate& rate : rates_) {
    if (!covers(rate, usage.during.begin()) || !same_unit(rate.unit, usage.unit)) continue;
    if (usage.currency && rate.currency != *usage.currency) continue;
    if (!fits(rate, usage)) continue;
    if (best == nullptr || detail_of(rate) > detail_of(*best)) {
      best = &rate;
      equal = nullptr;
    } else if (detail_of(rate) == detail_of(*best)) {
      equal = &rate;
    }
  }
  if (best == nullptr) return std::unexpected(no_price(usage));
  if (equal != nullptr) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} and {} both price it ({}); make one of them more specific",
                            best->place, equal->place, row_for(usage)));
  }
  if (best->to && usage.during.end() > *best->to) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the price of {} ends at {}, within {}; export the usage by day or "
                            "hour",
                            best->place, to_text(*best->to), to_text(usage.during)));
  }
  return best;
}

Error RateCard::no_price(const CardUsage& usage) const {
  std::string near;
  for (const CardRate& rate : rates_) {
    if (!fits(rate, usage)) continue;
    if (!same_unit(rate.unit, usage.unit)) {
      near = fmt::format("; {} prices it by '{}'", rate.place, rate.unit);
    } else if (usage.currency && rate.currency != *usage.currency) {
      near = fmt::format("; {} prices it in {}", rate.place, rate.currency.text());
    } else {
      near = fmt::format("; {} prices it at another time", rate.place);
    }
    break;
  }
  return {ErrorCode::kNotFound, fmt::format("no price in {} for {} at {}{}; add a row to it",
                                            name_.empty() ? std::string("a rate card") : name_,
                                            row_for(usage), to_text(usage.during.begin()), near)};
}

Result<CardAmounts> amounts_of(const CardRate& rate, Decimal quantity,
                               std::uint64_t quantities_per_unit) {
  CHECK(quantities_per_unit > 0, "a unit holds something");
  const auto cost = TRY(scaled(quantity, rate.price, quantities_per_unit));
  const auto list = TRY(scaled(quantity, rate.list_price, quantities_per_unit));
  return CardAmounts{.cost = Money::from_decimal(cost.value, rate.currency),
                     .list = Money::from_decimal(list.value, rate.currency),
                     .rounded = cost.rounded || list.rounded};
}

ParsedDecimal divided(Decimal quantity, std::uint64_t divisor) {
  CHECK(divisor > 0, "a unit holds something");
  const auto whole = scaled(quantity, Decimal::from_units(1), divisor);
  CHECK(whole.has_value(), "what is divided does not grow");
  return *whole;
}

}  // namespace pennyweight
