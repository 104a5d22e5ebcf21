#include "allocation/pricing/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "allocation/pricing/embedded.h"
#include "allocation/pricing/price_table.h"
#include "core/check.h"
#include "core/gpu/plain_table.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::pair<PurchaseOption, std::string_view> kOptionNames[] = {
    {PurchaseOption::kOnDemand, "on_demand"},
    {PurchaseOption::kSpot, "spot"},
    {PurchaseOption::kCommitted1Year, "committed_1y"},
    {PurchaseOption::kCommitted3Years, "committed_3y"},
};

template <class T>
T built_in_or_die(Result<T> parsed) {
  CHECK(parsed.has_value(), "the built-in prices are read by a test");
  return *std::move(parsed);
}

HostUnitRates built_in_host_rates() {
  constexpr std::string_view kColumns[] = {"part", "per_hour"};
  const PlainTable table =
      built_in_or_die(PlainTable::parse(embedded::host_unit_rates_csv(), "host_unit_rates.csv",
                                        {.required = kColumns, .others_ignored = true}));
  HostUnitRates rates;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto row = table.row(i);
    const Decimal price = built_in_or_die(parse_exact_decimal(row[1]));
    (row[0] == "(cpu)" ? rates.per_cpu_hour : rates.per_gib_hour) = price;
  }
  return rates;
}

Result<HostUnitRates> convert_host_rates(const HostUnitRates& rates, Currency currency, Date date,
                                         const ExchangeRates& exchange, const RateSearch& search) {
  const auto found = TRY(exchange.rate_on(rates.currency, currency, date, search));
  const auto cpu = TRY(multiply(rates.per_cpu_hour, found.rate, Rounding::kHalfEven));
  const auto memory = TRY(multiply(rates.per_gib_hour, found.rate, Rounding::kHalfEven));
  return HostUnitRates{.per_cpu_hour = cpu, .per_gib_hour = memory, .currency = currency};
}

bool by_key(const Rate& a, const Rate& b) {
  return std::tie(a.instance_type, a.region, a.option, a.from) <
         std::tie(b.instance_type, b.region, b.option, b.from);
}

// The series of prices that an override file has, and from when on.
using SeriesKey = std::tuple<std::string, std::string, PurchaseOption>;  // type, region, option
using SeriesStarts = std::map<SeriesKey, Instant>;

SeriesStarts first_dates(const std::vector<Rate>& rates) {
  SeriesStarts starts;
  for (const Rate& rate : rates) {
    const auto [at, added] =
        starts.emplace(SeriesKey(rate.instance_type, rate.region, rate.option), rate.from);
    if (!added) at->second = std::min(at->second, rate.from);
  }
  return starts;
}

bool is_replaced(const Rate& rate, const SeriesStarts& starts) {
  // Overridden by a series of its own region, or by one for every region.
  for (const std::string& region : {rate.region, std::string()}) {
    const auto at = starts.find(SeriesKey(rate.instance_type, region, rate.option));
    if (at != starts.end() && rate.from >= at->second) return true;
  }
  return false;
}

std::string region_text(const std::string& region) {
  return region.empty() ? "(every region)" : region;
}

// The rate of the option that is in force; the rates are sorted by (option, from).
const Rate* in_force(const std::vector<const Rate*>& rates, PurchaseOption option, Instant at) {
  const Rate* found = nullptr;
  for (const Rate* rate : rates) {
    if (rate->option != option || rate->from > at) continue;
    // Of two with one date, the region's own price wins over that for every region.
    if (found == nullptr || rate->from > found->from ||
        (rate->from == found->from && found->region.empty())) {
      found = rate;
    }
  }
  return found;
}

std::unexpected<Error> no_price(const RateQuery& query, const std::vector<const Rate*>& rates) {
  std::set<std::string_view> options;
  const Rate* first = nullptr;
  for (const Rate* rate : rates) {
    options.insert(to_text(rate->option));
    if (rate->option != query.option) continue;
    if (first == nullptr || rate->from < first->from) first = rate;
  }
  const std::string what =
      fmt::format("no {} price of {}{}", to_text(query.option), query.instance_type,
                  query.region.empty() ? "" : " in " + query.region);
  if (first == nullptr) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}; there is: {}", what, fmt::join(options, ", ")));
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("{} at {}; the first is from {}. Price at a later date, or state the "
                          "price in a price file",
                          what, to_text(query.at), to_text(first->from)));
}

}  // namespace

// What was asked is kept, since each of a month's charges asks the same.
struct Catalog::ConvertedHostRates {
  ExchangeRates rates;
  RateSearch search;
  std::mutex mutex;
  std::map<std::pair<Currency, Date>, Result<HostUnitRates>> found;  // guarded by mutex
};

std::string_view to_text(PurchaseOption option) {
  for (const auto& [value, name] : kOptionNames) {
    if (value == option) return name;
  }
  CHECK(false, "every purchase option has a name");
  return {};
}

std::optional<PurchaseOption> parse_purchase_option(std::string_view text) {
  for (const auto& [value, name] : kOptionNames) {
    if (name == text) return value;
  }
  return std::nullopt;
}

const Catalog& Catalog::built_in() {
  // Read once and never changed.
  static const Catalog catalog = [] {
    Catalog result;
    result.rates_ = built_in_or_die(parse_price_table(embedded::rates_csv(), "rates.csv")).rates;
    result.instance_types_ =
        built_in_or_die(parse_instance_types(embedded::instance_types_csv(), "instance_types.csv"));
    result.host_unit_rates_ = built_in_host_rates();
    result.seal();
    return result;
  }();
  return catalog;
}

Result<Catalog> Catalog::overridden_by(std::string_view csv, std::string_view name) const {
  auto table = parse_price_table(csv, name);
  if (!table) return std::unexpected(table.error().during("cannot use the price file"));

  Catalog result = *this;
  const SeriesStarts starts = first_dates(table->rates);
  std::erase_if(result.rates_, [&](const Rate& rate) { return is_replaced(rate, starts); });
  result.rates_.insert(result.rates_.end(), std::move_iterator(table->rates.begin()),
                       std::move_iterator(table->rates.end()));
  std::set<std::string_view> described;
  for (const InstanceType& type : table->instance_types) described.insert(type.name);
  std::erase_if(result.instance_types_,
                [&](const InstanceType& type) { return described.contains(type.name); });
  result.instance_types_.insert(result.instance_types_.end(), table->instance_types.begin(),
                                table->instance_types.end());
  if (table->host_currency && *table->host_currency != result.host_unit_rates_.currency &&
      !(table->per_cpu_hour && table->per_gib_hour)) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("{}: one of the rates of CPU and memory is in {} and the other in {}; "
                    "state (cpu) and (memory_gib) in one currency",
                    name, table->host_currency->text(), result.host_unit_rates_.currency.text()));
  }
  if (table->host_currency) result.host_unit_rates_.currency = *table->host_currency;
  if (table->per_cpu_hour) result.host_unit_rates_.per_cpu_hour = *table->per_cpu_hour;
  if (table->per_gib_hour) result.host_unit_rates_.per_gib_hour = *table->per_gib_hour;
  result.seal();
  return result;
}

Catalog Catalog::with_exchange_rates(ExchangeRates rates, RateSearch search) const {
  Catalog result = *this;
  result.converted_ = std::make_shared<ConvertedHostRates>();
  result.converted_->rates = std::move(rates);
  result.converted_->search = search;
  return result;
}

Result<HostUnitRates> Catalog::host_unit_rates_in(Currency currency, Date date) const {
  const Currency own = host_unit_rates_.currency;
  if (currency == own) return host_unit_rates_;
  if (converted_ == nullptr) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no exchange rates are configured to convert {} into {}", own.text(),
                            currency.text()));
  }
  const std::scoped_lock lock(converted_->mutex);
  const std::pair key(currency, date);
  if (const auto at = converted_->found.find(key); at != converted_->found.end()) return at->second;
  auto found =
      convert_host_rates(host_unit_rates_, currency, date, converted_->rates, converted_->search);
  return converted_->found.emplace(key, std::move(found)).first->second;
}

void Catalog::seal() {
  std::sort(instance_types_.begin(), instance_types_.end(),
            [](const InstanceType& a, const InstanceType& b) {
              return std::tie(a.name, a.provider) < std::tie(b.name, b.provider);
            });
  std::sort(rates_.begin(), rates_.end(), by_key);

  Fingerprint fingerprint;
  const auto add_decimal = [&](Decimal value) { fingerprint.add(to_text(value.ticks())); };
  const auto add_optional = [&](const std::optional<std::uint64_t>& value) {
    if (value) {
      fingerprint.add(static_cast<std::int64_t>(*value));
    } else {
      fingerprint.add_absent();
    }
  };
  for (const InstanceType& type : instance_types_) {
    fingerprint.add(type.provider).add(type.name).add(type.gpu_model);
    fingerprint.add(std::int64_t{type.gpu_count});
    add_optional(type.cpu_milli);
    add_optional(type.memory_bytes);
  }
  for (const Rate& rate : rates_) {
    fingerprint.add(rate.provider).add(rate.region).add(rate.instance_type);
    fingerprint.add(to_text(rate.option)).add(unix_ms(rate.from));
    add_decimal(rate.per_hour);
    fingerprint.add(rate.currency.text()).add(rate.source);
  }
  add_decimal(host_unit_rates_.per_cpu_hour);
  add_decimal(host_unit_rates_.per_gib_hour);
  if (host_unit_rates_.currency != kUsd) fingerprint.add(host_unit_rates_.currency.text());
  version_ = fingerprint.hash();
}

std::span<const Rate> Catalog::rates_of(std::string_view instance_type) const {
  const auto range = std::ranges::equal_range(rates_, instance_type, {}, [](const Rate& rate) {
    return std::string_view(rate.instance_type);
  });
  return {range.begin(), range.end()};
}

const InstanceType* Catalog::find_instance_type(std::string_view name) const {
  const auto at = std::ranges::lower_bound(instance_types_, name, {}, [](const InstanceType& type) {
    return std::string_view(type.name);
  });
  return at != instance_types_.end() && at->name == name ? &*at : nullptr;
}

Result<Rate> Catalog::find_rate(const RateQuery& query) const {
  const std::span<const Rate> of_type = rates_of(query.instance_type);
  if (of_type.empty()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("no price of instance type '{}'; state it in a price file",
                            query.instance_type));
  }
  // The rates that apply in each region: its own and those for every region.
  std::map<std::string, std::vector<const Rate*>> by_region;
  std::vector<const Rate*> everywhere;
  for (const Rate& rate : of_type) {
    if (rate.region.empty()) {
      everywhere.push_back(&rate);
    } else if (query.region.empty() || rate.region == query.region) {
      by_region[rate.region].push_back(&rate);
    }
  }
  for (auto& [region, rates] : by_region) {
    rates.insert(rates.end(), everywhere.begin(), everywhere.end());
  }
  if (by_region.empty() && !everywhere.empty()) by_region[""] = everywhere;
  if (by_region.empty()) {
    std::set<std::string> regions;
    for (const Rate& rate : of_type) regions.insert(region_text(rate.region));
    return fail(ErrorCode::kNotFound,
                fmt::format("no price of {} in region '{}'; there is one in: {}",
                            query.instance_type, query.region, fmt::join(regions, ", ")));
  }
  const Rate* cheapest = nullptr;
  std::vector<const Rate*> all;
  for (const auto& [region, rates] : by_region) {
    all.insert(all.end(), rates.begin(), rates.end());
    const Rate* rate = in_force(rates, query.option, query.at);
    if (rate == nullptr) continue;
    if (cheapest != nullptr && cheapest->currency != rate->currency) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("prices of {} are in {} and in {}; name a region", query.instance_type,
                      cheapest->currency.text(), rate->currency.text()));
    }
    if (cheapest == nullptr || rate->per_hour < cheapest->per_hour) cheapest = rate;
  }
  if (cheapest == nullptr) return no_price(query, all);
  return *cheapest;
}

}  // namespace pennyweight
