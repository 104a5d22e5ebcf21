#include "pricing/price_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/limits.h"
#include "core/plain_text.h"
#include "core/whole_count.h"
#include "fleet/gpu_model.h"
#include "fleet/plain_table.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kMilliPerCpu = 1000;
constexpr std::uint64_t kBytesPerGib = std::uint64_t{1} << 30;
constexpr std::string_view kCpuRow = "(cpu)";
constexpr std::string_view kMemoryRow = "(memory_gib)";

// Cells of a row, by the order of the shape.
enum PriceCell : std::size_t {
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
constexpr std::string_view kRequired[] = {"provider", "region",   "instance_type", "option",
                                          "from",     "per_hour", "currency"};
constexpr std::string_view kOptional[] = {"source", "gpu_model", "gpu_count", "vcpu", "memory_gib"};

using Row = std::span<const std::string_view>;

Result<std::string> read_name(std::string_view column, std::string_view text) {
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

Result<Decimal> read_price(std::string_view text, Decimal max) {
  const auto price = parse_exact_decimal(text);
  if (!price) return std::unexpected(price.error().during("per_hour"));
  if (price->is_negative() || *price > max) {
    return fail(ErrorCode::kBadValue,
                fmt::format("per_hour {} is outside 0 to {}", to_text(*price), to_text(max)));
  }
  return *price;
}

// The fleet's own name where it knows the model.
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
    auto model = read_name("gpu_model", cells.gpu_model);
    if (!model) return std::unexpected(model.error());
    type.gpu_model = model_name(*model);
  }
  if (!cells.gpu_count.empty()) {
    const auto count = parse_count(cells.gpu_count, limits::kGpusPerNodeMax);
    if (!count) return std::unexpected(count.error().during("gpu_count"));
    type.gpu_count = static_cast<std::uint32_t>(*count);
  }
  const auto cpu = read_capacity("vcpu", cells.vcpu, kMilliPerCpu);
  if (!cpu) return std::unexpected(cpu.error());
  const auto memory = read_capacity("memory_gib", cells.memory_gib, kBytesPerGib);
  if (!memory) return std::unexpected(memory.error());
  type.cpu_milli = *cpu;
  type.memory_bytes = *memory;
  return type;
}

Result<Rate> read_rate(Row row) {
  Rate rate;
  auto provider = read_name("provider", row[kProvider]);
  if (!provider) return std::unexpected(provider.error());
  auto type = read_name("instance_type", row[kInstanceType]);
  if (!type) return std::unexpected(type.error());
  if (!row[kRegion].empty()) {
    auto region = read_name("region", row[kRegion]);
    if (!region) return std::unexpected(region.error());
    rate.region = *std::move(region);
  }
  const auto option = parse_purchase_option(row[kOption]);
  if (!option) {
    return fail(ErrorCode::kBadValue,
                fmt::format("option '{}' is none of on_demand, spot, committed_1y, committed_3y",
                            printable_text(row[kOption], 60)));
  }
  const auto from = parse_instant(row[kFrom]);
  if (!from) return std::unexpected(from.error().during("from"));
  const auto price = read_price(row[kPerHour], kRatePerHourMax);
  if (!price) return std::unexpected(price.error());
  const auto currency = Currency::parse(row[kCurrency]);
  if (!currency) return std::unexpected(currency.error().during("currency"));
  rate.provider = *std::move(provider);
  rate.instance_type = *std::move(type);
  rate.option = *option;
  rate.from = *from;
  rate.per_hour = *price;
  rate.currency = *currency;
  return rate;
}

// Reads the rows one by one and remembers what may not be said twice.
class PriceTableReader {
 public:
  // The reason why a row is refused.
  Result<void> read(Row row, const std::string& place) {
    if (row[kInstanceType] == kCpuRow) return read_host_rate(row, table_.per_cpu_hour);
    if (row[kInstanceType] == kMemoryRow) return read_host_rate(row, table_.per_gib_hour);
    auto rate = read_rate(row);
    if (!rate) return std::unexpected(rate.error());
    if (auto type = read_type(row, place); !type) return type;
    rate->source = row[kSource].empty() ? place : printable_text(row[kSource], limits::kIdBytesMax);
    table_.rates.push_back(*std::move(rate));
    return {};
  }

  PriceTable take() { return std::move(table_); }

 private:
  Result<void> read_host_rate(Row row, std::optional<Decimal>& rate) {
    if (rate) {
      return fail(
          ErrorCode::kConflict,
          fmt::format("a second rate for {}; one is in force at all times", row[kInstanceType]));
    }
    const auto price = read_price(row[kPerHour], kHostUnitRateMax);
    if (!price) return std::unexpected(price.error());
    rate = *price;
    return {};
  }

  Result<void> read_type(Row row, const std::string& place) {
    const TypeCells cells{.provider = row[kProvider],
                          .name = row[kInstanceType],
                          .gpu_model = row[kGpuModel],
                          .gpu_count = row[kGpuCount],
                          .vcpu = row[kVcpu],
                          .memory_gib = row[kMemoryGib]};
    if (cells.gpu_model.empty() && cells.gpu_count.empty() && cells.vcpu.empty() &&
        cells.memory_gib.empty()) {
      return {};
    }
    auto type = read_instance_type(cells);
    if (!type) return std::unexpected(type.error());
    const auto [at, added] =
        stated_.emplace(type->name, std::pair(table_.instance_types.size(), place));
    if (added) {
      table_.instance_types.push_back(*std::move(type));
      return {};
    }
    if (table_.instance_types[at->second.first] == *type) return {};
    return fail(ErrorCode::kConflict, fmt::format("{} has other GPUs, vcpu or memory at {}",
                                                  type->name, at->second.second));
  }

  PriceTable table_;
  // Where in the table, and at which place of the text, an instance type is described.
  std::unordered_map<std::string, std::pair<std::size_t, std::string>> stated_;
};

// The place of a row that prices what an earlier one prices, from the same date.
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
  const auto table = PlainTable::parse(csv, name, {.required = kRequired, .optional = kOptional});
  if (!table) return std::unexpected(table.error());
  PriceTableReader reader;
  std::vector<std::size_t> row_of_rate;
  for (std::size_t i = 0; i < table->size(); ++i) {
    const auto read = reader.read(table->row(i), table->place(i));
    if (!read) return std::unexpected(read.error().during(table->place(i)));
    const std::string_view type = table->row(i)[kInstanceType];
    if (type != kCpuRow && type != kMemoryRow) row_of_rate.push_back(i);
  }
  PriceTable prices = reader.take();
  if (const auto repeat = find_repeat(prices.rates)) {
    const Rate& rate = prices.rates[*repeat];
    return fail(ErrorCode::kConflict,
                fmt::format("{}: a second {} price of {} from {}; keep one of them",
                            table->place(row_of_rate[*repeat]), to_text(rate.option),
                            rate.instance_type, to_text(rate.from)));
  }
  return prices;
}

Result<std::vector<InstanceType>> parse_instance_types(std::string_view csv,
                                                       std::string_view name) {
  constexpr std::string_view kColumns[] = {"provider",  "name", "gpu_model",
                                           "gpu_count", "vcpu", "memory_gib"};
  const auto table = PlainTable::parse(csv, name, {.required = kColumns});
  if (!table) return std::unexpected(table.error());
  std::vector<InstanceType> types;
  for (std::size_t i = 0; i < table->size(); ++i) {
    const auto row = table->row(i);
    auto type = read_instance_type({.provider = row[0],
                                    .name = row[1],
                                    .gpu_model = row[2],
                                    .gpu_count = row[3],
                                    .vcpu = row[4],
                                    .memory_gib = row[5]});
    if (!type) return std::unexpected(type.error().during(table->place(i)));
    types.push_back(*std::move(type));
  }
  return types;
}

}  // namespace pennyweight
