#include "allocation/pricing/price_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/gpu/gpu_model.h"
#include "core/gpu/plain_table.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/units.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

constexpr std::string_view kCpuRow = "(cpu)";
constexpr std::string_view kMemoryRow = "(memory_gib)";

// The cells of a row, in the order of the table's shape.
struct RateCell {
  enum : std::size_t {
    kProvider,
    kRegion,
    kInstanceType,
    kOption,
    kFrom,
    kPerHour,
    kCurrency,
    kSource,
    kGpuModel,
    kGpuCount,
    kVcpu,
    kMemoryGib,
  };
};
constexpr std::string_view kRateColumns[] = {"provider", "region",   "instance_type", "option",
                                             "from",     "per_hour", "currency"};
constexpr std::string_view kRateOptionalColumns[] = {"source", "gpu_model", "gpu_count", "vcpu",
                                                     "memory_gib"};

using Row = std::span<const std::string_view>;

Result<std::string> read_list_name(std::string_view column, std::string_view text) {
  if (text.empty()) return fail(ErrorCode::kBadValue, fmt::format("{} is missing", column));
  if (text.size() > limits::kIdBytesMax) {
    return fail(ErrorCode::kBadValue, fmt::format("{} of {} bytes; at most {} are read", column,
                                                  text.size(), limits::kIdBytesMax));
  }
  if (!is_plain_text(text)) {
    return fail(ErrorCode::kBadValue, fmt::format("{} is not UTF-8", column));
  }
  return std::string(text);
}

Result<Decimal> read_hourly_price(std::string_view text, Decimal max) {
  const auto price = parse_exact_decimal(text);
  if (!price) return std::unexpected(price.error().during("per_hour"));
  if (price->is_negative() || *price > max) {
    return fail(ErrorCode::kBadValue,
                fmt::format("per_hour {} is outside 0 to {}", to_text(*price), to_text(max)));
  }
  return *price;
}

// The name in core/gpu/gpu_model.h where the model is known there.
std::string model_name(std::string_view listed) {
  const GpuModel* model = find_gpu_model(listed);
  return model != nullptr ? model->name : std::string(listed);
}

Result<std::optional<std::uint64_t>> read_capacity(std::string_view column, std::string_view text,
                                                   std::uint64_t units) {
  if (text.empty()) return std::nullopt;
  const auto amount = parse_exact_decimal(text);
  if (!amount) return std::unexpected(amount.error().during(column));
  const auto whole = exact_count(*amount, units);
  if (!whole) return std::unexpected(whole.error().during(column));
  return *whole;
}

struct TypeCells {
  std::string_view provider, name, gpu_model, gpu_count, vcpu, memory_gib;
};

Result<InstanceType> read_instance_type(const TypeCells& cells) {
  InstanceType type;
  type.provider = cells.provider;
  type.name = cells.name;
  if (!cells.gpu_model.empty()) {
    auto model = TRY(read_list_name("gpu_model", cells.gpu_model));
    type.gpu_model = model_name(model);
  }
  if (!cells.gpu_count.empty()) {
    const auto count = parse_count(cells.gpu_count, limits::kGpusPerNodeMax);
    if (!count) return std::unexpected(count.error().during("gpu_count"));
    type.gpu_count = static_cast<std::uint32_t>(*count);
  }
  const auto cpu = TRY(read_capacity("vcpu", cells.vcpu, kMilliPerCpu));
  const auto memory = TRY(read_capacity("memory_gib", cells.memory_gib, kBytesPerGib));
  type.cpu_milli = cpu;
  type.memory_bytes = memory;
  return type;
}

Result<Rate> read_list_rate(Row row) {
  Rate rate;
  auto provider = TRY(read_list_name("provider", row[RateCell::kProvider]));
  auto type = TRY(read_list_name("instance_type", row[RateCell::kInstanceType]));
  if (!row[RateCell::kRegion].empty()) {
    auto region = TRY(read_list_name("region", row[RateCell::kRegion]));
    rate.region = std::move(region);
  }
  const auto option = parse_purchase_option(row[RateCell::kOption]);
  if (!option) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("'{}' is not an option; use on_demand, spot, committed_1y or committed_3y",
                    printable_text(row[RateCell::kOption], 60)));
  }
  const auto from = parse_instant(row[RateCell::kFrom]);
  if (!from) return std::unexpected(from.error().during("from"));
  const auto price = TRY(read_hourly_price(row[RateCell::kPerHour], kRatePerHourMax));
  const auto currency = Currency::parse(row[RateCell::kCurrency]);
  if (!currency) return std::unexpected(currency.error().during("currency"));
  rate.provider = std::move(provider);
  rate.instance_type = std::move(type);
  rate.option = *option;
  rate.from = *from;
  rate.per_hour = price;
  rate.currency = *currency;
  return rate;
}

// Reads the rows one by one and refuses duplicates.
class PriceTableReader {
 public:
  // The Error says why a row is refused.
  Result<void> read(Row row, const std::string& place) {
    if (row[RateCell::kInstanceType] == kCpuRow) return read_host_rate(row, table_.per_cpu_hour);
    if (row[RateCell::kInstanceType] == kMemoryRow) return read_host_rate(row, table_.per_gib_hour);
    auto rate = TRY(read_list_rate(row));
    TRY(read_type(row, place));
    rate.source = row[RateCell::kSource].empty()
                      ? place
                      : printable_text(row[RateCell::kSource], limits::kIdBytesMax);
    table_.rates.push_back(std::move(rate));
    return {};
  }

  PriceTable take() { return std::move(table_); }

 private:
  Result<void> read_host_rate(Row row, std::optional<Decimal>& rate) {
    if (rate) {
      return fail(
          ErrorCode::kConflict,
          fmt::format("a second rate for {}; only one rate can be in force, so keep one of them",
                      row[RateCell::kInstanceType]));
    }
    const auto price = TRY(read_hourly_price(row[RateCell::kPerHour], kHostUnitRateMax));
    const auto currency = Currency::parse(row[RateCell::kCurrency]);
    if (!currency) return std::unexpected(currency.error().during("currency"));
    if (table_.host_currency && *table_.host_currency != *currency) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the rate of {} is in {} and the other one in {}; state both in one "
                              "currency",
                              row[RateCell::kInstanceType], currency->text(),
                              table_.host_currency->text()));
    }
    table_.host_currency = *currency;
    rate = price;
    return {};
  }

  Result<void> read_type(Row row, const std::string& place) {
    const TypeCells cells{.provider = row[RateCell::kProvider],
                          .name = row[RateCell::kInstanceType],
                          .gpu_model = row[RateCell::kGpuModel],
                          .gpu_count = row[RateCell::kGpuCount],
                          .vcpu = row[RateCell::kVcpu],
                          .memory_gib = row[RateCell::kMemoryGib]};
    if (cells.gpu_model.empty() && cells.gpu_count.empty() && cells.vcpu.empty() &&
        cells.memory_gib.empty()) {
      return {};
    }
    auto type = TRY(read_instance_type(cells));
    const auto [at, added] =
        stated_.emplace(type.name, std::pair(table_.instance_types.size(), place));
    if (added) {
      table_.instance_types.push_back(std::move(type));
      return {};
    }
    if (table_.instance_types[at->second.first] == type) return {};
    return fail(ErrorCode::kConflict, fmt::format("{} has different GPUs, vcpu or memory at {}",
                                                  type.name, at->second.second));
  }

  PriceTable table_;
  // The index of an instance type in the table, and the place of the row that describes it.
  std::unordered_map<std::string, std::pair<std::size_t, std::string>> stated_;
};

// The place of a row that repeats an earlier price from the same date.
std::optional<std::size_t> find_repeat(const std::vector<Rate>& rates) {
  const auto key = [&](std::size_t i) {
    const Rate& rate = rates[i];
    return std::tie(rate.instance_type, rate.region, rate.option, rate.from);
  };
  std::vector<std::size_t> order(rates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  const auto repeat = std::adjacent_find(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) == key(b); });
  if (repeat == order.end()) return std::nullopt;
  return *std::next(repeat);
}

}  // namespace

Result<PriceTable> parse_price_table(std::string_view csv, std::string_view name) {
  const auto table = TRY(
      PlainTable::parse(csv, name, {.required = kRateColumns, .optional = kRateOptionalColumns}));
  PriceTableReader reader;
  std::vector<std::size_t> row_of_rate;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto read = reader.read(table.row(i), table.place(i));
    if (!read) return std::unexpected(read.error().during(table.place(i)));
    const std::string_view type = table.row(i)[RateCell::kInstanceType];
    if (type != kCpuRow && type != kMemoryRow) row_of_rate.push_back(i);
  }
  PriceTable prices = reader.take();
  if (const auto repeat = find_repeat(prices.rates)) {
    const Rate& rate = prices.rates[*repeat];
    return fail(ErrorCode::kConflict,
                fmt::format("{}: a second {} price of {} from {}; keep one of them",
                            table.place(row_of_rate[*repeat]), to_text(rate.option),
                            rate.instance_type, to_text(rate.from)));
  }
  return prices;
}

Result<std::vector<InstanceType>> parse_instance_types(std::string_view csv,
                                                       std::string_view name) {
  constexpr std::string_view kColumns[] = {"provider",  "name", "gpu_model",
                                           "gpu_count", "vcpu", "memory_gib"};
  const auto table = TRY(PlainTable::parse(csv, name, {.required = kColumns}));
  std::vector<InstanceType> types;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto row = table.row(i);
    auto type = read_instance_type({.provider = row[0],
                                    .name = row[1],
                                    .gpu_model = row[2],
                                    .gpu_count = row[3],
                                    .vcpu = row[4],
                                    .memory_gib = row[5]});
    if (!type) return std::unexpected(type.error().during(table.place(i)));
    types.push_back(*std::move(type));
  }
  return types;
}

}  // namespace pennyweight
