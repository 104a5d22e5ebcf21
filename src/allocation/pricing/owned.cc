#include "allocation/pricing/owned.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/check.h"
#include "core/gpu/plain_table.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/split.h"
#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

struct AssetCell {
  enum : std::size_t {
    kCluster,
    kNode,
    kPurchase,
    kSalvage,
    kCurrency,
    kInService,
    kLifeMonths,
    kRetired,
    kCapitalPercent,
    kPowerWatts,
    kPue,
    kTariff,
    kColocation,
    kOperations,
    kSupport,
  };
};
constexpr std::string_view kAssetColumns[] = {"cluster",  "node",       "purchase",   "salvage",
                                              "currency", "in_service", "life_months"};
constexpr std::string_view kAssetOptionalColumns[] = {
    "retired",           "cost_of_capital_percent", "power_watts",       "pue", "tariff_per_kwh",
    "colo_per_kw_month", "operations_per_month",    "support_per_month", "note"};

constexpr std::uint64_t kLifeMonthsMax = 600;
// Values above these are refused as mistakes; up to them no product leaves the range of money.
constexpr Decimal kAmountMax = Decimal::from_units(1'000'000'000'000);
constexpr Decimal kPercentMax = Decimal::from_units(1000);
constexpr Decimal kWattsMax = Decimal::from_units(10'000'000);
constexpr Decimal kPueMax = Decimal::from_units(10);
constexpr Decimal kTariffMax = Decimal::from_units(1'000'000);
constexpr Decimal kKwhMax = Decimal::from_units(1'000'000);

constexpr Decimal kOne = Decimal::from_units(1);
constexpr int kHoursPerDay = 24;
constexpr std::uint64_t kDaysPerYear = 365;
// Watts have at most three decimals, so that the kW and kWh of a day are exact.
constexpr std::uint64_t kMilliwattsPerWatt = 1000;

Result<std::string> read_asset_name(std::string_view column, std::string_view text) {
  if (text.empty()) return fail(ErrorCode::kBadValue, fmt::format("{} is missing", column));
  if (text.size() > limits::kIdBytesMax || !is_plain_text(text)) {
    return fail(ErrorCode::kBadValue, fmt::format("{} is longer than {} bytes or not UTF-8", column,
                                                  limits::kIdBytesMax));
  }
  return std::string(text);
}

Result<Decimal> read_number(std::string_view column, std::string_view text, Decimal max) {
  const auto number = parse_exact_decimal(text);
  if (!number) return std::unexpected(number.error().during(column));
  if (number->is_negative() || *number > max) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} {} is outside 0 to {}", column, to_text(*number), to_text(max)));
  }
  return *number;
}

Result<void> read_running_costs(std::span<const std::string_view> row, OwnedAsset& asset) {
  const struct {
    std::size_t cell;
    Decimal max;
    Decimal& value;
  } numbers[] = {{AssetCell::kCapitalPercent, kPercentMax, asset.capital_percent},
                 {AssetCell::kPowerWatts, kWattsMax, asset.power_watts},
                 {AssetCell::kPue, kPueMax, asset.pue},
                 {AssetCell::kTariff, kTariffMax, asset.tariff_per_kwh},
                 {AssetCell::kColocation, kAmountMax, asset.colocation_per_kw_month},
                 {AssetCell::kOperations, kAmountMax, asset.operations_per_month},
                 {AssetCell::kSupport, kAmountMax, asset.support_per_month}};
  for (const auto& [cell, max, value] : numbers) {
    if (row[cell].empty()) continue;
    const auto number =
        TRY(read_number(kAssetOptionalColumns[cell - AssetCell::kRetired], row[cell], max));
    value = number;
  }
  if (!exact_count(asset.power_watts, kMilliwattsPerWatt)) {
    return fail(ErrorCode::kBadValue, "power_watts has more than three digits after the point");
  }
  if (!row[AssetCell::kPue].empty() && asset.pue < kOne) {
    return fail(ErrorCode::kBadValue, fmt::format("pue {} is below 1", to_text(asset.pue)));
  }
  if (!row[AssetCell::kTariff].empty() &&
      (row[AssetCell::kPowerWatts].empty() || row[AssetCell::kPue].empty())) {
    return fail(ErrorCode::kBadValue, "tariff_per_kwh needs power_watts and pue in the same row");
  }
  if (!row[AssetCell::kColocation].empty() && row[AssetCell::kPowerWatts].empty()) {
    return fail(ErrorCode::kBadValue, "colo_per_kw_month needs power_watts in the same row");
  }
  return {};
}

Result<OwnedAsset> read_asset(std::span<const std::string_view> row) {
  OwnedAsset asset;
  auto cluster = TRY(read_asset_name("cluster", row[AssetCell::kCluster]));
  auto node = TRY(read_asset_name("node", row[AssetCell::kNode]));
  const auto currency = Currency::parse(row[AssetCell::kCurrency]);
  if (!currency) return std::unexpected(currency.error().during("currency"));
  const auto purchase = read_number("purchase", row[AssetCell::kPurchase], kAmountMax);
  if (!purchase) return std::unexpected(purchase.error());
  const auto salvage = read_number("salvage", row[AssetCell::kSalvage], kAmountMax);
  if (!salvage) return std::unexpected(salvage.error());
  if (*salvage > *purchase) {
    return fail(ErrorCode::kBadValue, fmt::format("salvage {} is above the purchase {}",
                                                  to_text(*salvage), to_text(*purchase)));
  }
  const auto in_service = parse_date(row[AssetCell::kInService]);
  if (!in_service) return std::unexpected(in_service.error().during("in_service"));
  const auto months = parse_count(row[AssetCell::kLifeMonths], kLifeMonthsMax);
  if (!months) return std::unexpected(months.error().during("life_months"));
  if (*months == 0) return fail(ErrorCode::kBadValue, "life_months is 0");
  if (!row[AssetCell::kRetired].empty()) {
    const auto retired = parse_date(row[AssetCell::kRetired]);
    if (!retired) return std::unexpected(retired.error().during("retired"));
    if (*retired <= *in_service) {
      return fail(ErrorCode::kBadValue, fmt::format("retired {} is not after in_service {}",
                                                    to_text(*retired), to_text(*in_service)));
    }
    asset.retired = *retired;
  }
  asset.cluster = ClusterId(std::move(cluster));
  asset.node = NodeId(std::move(node));
  asset.purchase = Money::from_decimal(*purchase, *currency);
  asset.salvage = Money::from_decimal(*salvage, *currency);
  asset.in_service = *in_service;
  asset.life_months = static_cast<std::uint32_t>(*months);
  TRY(read_running_costs(row, asset));
  return asset;
}

// Finds two assets of one node in service on the same day.
Result<void> refuse_overlap(const std::vector<OwnedAsset>& assets) {
  std::vector<const OwnedAsset*> order;
  order.reserve(assets.size());
  for (const OwnedAsset& asset : assets) order.push_back(&asset);
  std::stable_sort(order.begin(), order.end(), [](const OwnedAsset* a, const OwnedAsset* b) {
    return std::tie(a->cluster, a->node, a->in_service) <
           std::tie(b->cluster, b->node, b->in_service);
  });
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const OwnedAsset& asset = *order[i];
    const OwnedAsset& next = *order[i + 1];
    if (asset.cluster != next.cluster || asset.node != next.node) continue;
    if (asset.retired && *asset.retired <= next.in_service) continue;
    return fail(
        ErrorCode::kConflict,
        fmt::format("{}: {} is already in service according to {}; state there when it was retired",
                    next.place, next.node.text(), asset.place));
  }
  return {};
}

std::uint64_t days_between(Date first, Date end) {
  return static_cast<std::uint64_t>((end - first).count());
}

// The sum of what the first `count` of `parties` equal parties get of `total`.
Money first_parts(Money total, std::uint64_t parties, std::uint64_t count) {
  const auto ticks = static_cast<UInt128>(total.ticks());
  const UInt128 even = ticks / parties;
  const UInt128 rest = ticks % parties;  // one tick each to the first ones
  const UInt128 sum = even * count + std::min<UInt128>(rest, count);
  return Money::from_ticks(static_cast<Int128>(sum), total.currency());
}

Decimal product(Decimal a, Decimal b) {
  const auto value = multiply(a, b, Rounding::kHalfEven);
  CHECK(value.has_value(), "the limits of an asset keep its products in range");
  return *value;
}

Money capital_of(const OwnedAsset& asset, Date day) {
  const Money book = asset.purchase - depreciated_before(asset, day);
  constexpr auto kYear = static_cast<UInt128>(Decimal::kTicksPerUnit) * UInt128{100} * kDaysPerYear;
  auto [quotient, remainder] =
      multiply_divide(static_cast<UInt128>(book.ticks()),
                      static_cast<UInt128>(asset.capital_percent.ticks()), kYear);
  const UInt128 twice = remainder * 2;
  if (twice > kYear || (twice == kYear && quotient % 2 != 0)) quotient += 1;
  return Money::from_ticks(static_cast<Int128>(quotient), asset.currency());
}

// A day's share of a monthly amount.
Money part_of_month(Decimal amount, Date day, Currency currency) {
  const std::chrono::year_month_day date(day);
  const Date first = date.year() / date.month() / std::chrono::day(1);
  const Date end =
      std::chrono::sys_days(date.year() / date.month() / std::chrono::last) + std::chrono::days(1);
  const std::uint64_t days = days_between(first, end);
  const std::uint64_t before = days_between(first, day);
  const Money total = Money::from_decimal(amount, currency);
  return first_parts(total, days, before + 1) - first_parts(total, days, before);
}

}  // namespace

Result<std::vector<OwnedAsset>> parse_owned_assets(std::string_view csv, std::string_view name) {
  const auto table = TRY(
      PlainTable::parse(csv, name, {.required = kAssetColumns, .optional = kAssetOptionalColumns}));
  std::vector<OwnedAsset> assets;
  assets.reserve(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto asset = read_asset(table.row(i));
    if (!asset) return std::unexpected(asset.error().during(table.place(i)));
    asset->place = table.place(i);
    assets.push_back(*std::move(asset));
  }
  TRY(refuse_overlap(assets));
  return assets;
}

Result<EnergyByDay> parse_energy(std::string_view csv, std::string_view name) {
  constexpr std::string_view kColumns[] = {"cluster", "node", "day", "kwh"};
  const auto table = TRY(PlainTable::parse(csv, name, {.required = kColumns}));
  EnergyByDay energy;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto row = table.row(i);
    const auto during = [&](const Error& error) {
      return std::unexpected(error.during(table.place(i)));
    };
    auto cluster = read_asset_name("cluster", row[0]);
    if (!cluster) return during(cluster.error());
    auto node = read_asset_name("node", row[1]);
    if (!node) return during(node.error());
    const auto day = parse_date(row[2]);
    if (!day) return during(day.error().during("day"));
    const auto kwh = read_number("kwh", row[3], kKwhMax);
    if (!kwh) return during(kwh.error());
    const std::string shown = *node;
    const bool is_new =
        energy.try_emplace({ClusterId(*std::move(cluster)), NodeId(*std::move(node)), *day}, *kwh)
            .second;
    if (!is_new) {
      return fail(ErrorCode::kConflict, fmt::format("{}: a second reading of {} on {}",
                                                    table.place(i), shown, to_text(*day)));
    }
  }
  return energy;
}

Date end_of_life(const OwnedAsset& asset) {
  const std::chrono::year_month_day begin(asset.in_service);
  const auto month =
      std::chrono::year_month(begin.year(), begin.month()) + std::chrono::months(asset.life_months);
  const std::chrono::year_month_day same_day = month / begin.day();
  return same_day.ok() ? Date(same_day) : Date(month / std::chrono::last);
}

Money depreciated_before(const OwnedAsset& asset, Date day) {
  const Money whole = asset.purchase - asset.salvage;
  const Date end = end_of_life(asset);
  if (day <= asset.in_service) return Money::zero(asset.currency());
  if (day >= end) return whole;
  return first_parts(whole, days_between(asset.in_service, end),
                     days_between(asset.in_service, day));
}

std::vector<OwnedDay> owned_days(const OwnedAsset& asset, Date first, Date end,
                                 const EnergyByDay& energy) {
  const Currency currency = asset.currency();
  const Decimal kilowatts = Decimal::from_ticks(asset.power_watts.ticks() / kMilliwattsPerWatt);
  const Decimal nominal_kwh = Decimal::from_ticks(kilowatts.ticks() * kHoursPerDay);
  const Decimal colocation = product(asset.colocation_per_kw_month, kilowatts);
  if (asset.retired) end = std::min(end, *asset.retired);

  std::vector<OwnedDay> days;
  for (Date day = std::max(first, asset.in_service); day < end; day += std::chrono::days(1)) {
    const auto measured = energy.find({asset.cluster, asset.node, day});
    const Decimal kwh = measured == energy.end() ? nominal_kwh : measured->second;
    const Decimal power = product(product(kwh, asset.pue), asset.tariff_per_kwh);
    days.push_back({.day = day,
                    .depreciation = depreciated_before(asset, day + std::chrono::days(1)) -
                                    depreciated_before(asset, day),
                    .capital = capital_of(asset, day),
                    .power = Money::from_decimal(power, currency),
                    .colocation = part_of_month(colocation, day, currency),
                    .operations = part_of_month(asset.operations_per_month, day, currency),
                    .support = part_of_month(asset.support_per_month, day, currency),
                    .kwh = kwh,
                    .measured = measured != energy.end()});
  }
  return days;
}

}  // namespace pennyweight
