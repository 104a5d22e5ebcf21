#include "ingest/csv/cells.h"

#include <fmt/format.h>

#include <utility>

#include "core/decimal.h"
#include "core/limits.h"
#include "core/whole_count.h"

namespace pennyweight::csv {

std::string_view Cells::text(std::string_view column) const {
  const auto place = header_.find(column);
  return place && *place < row_.fields.size() ? row_.fields[*place] : std::string_view{};
}

void Cells::refuse(std::string_view column, std::string reason) {
  if (!refusal_) refusal_ = Refusal{std::string(column), std::move(reason)};
}

bool Cells::demand(std::string_view column) {
  if (has(column)) return true;
  refuse(column, fmt::format("'{}' is empty and must be given", column));
  return false;
}

std::string_view Cells::optional_name(std::string_view column) {
  const std::string_view value = text(column);
  if (value.size() > limits::kIdBytesMax) {
    refuse(column, fmt::format("a name has at most {} bytes, this one {}", limits::kIdBytesMax,
                               value.size()));
  }
  if (value == "NULL" || value == "null") {
    refuse(column, "the word NULL has no meaning here; leave the cell empty");
  }
  return value;
}

std::string_view Cells::name(std::string_view column) {
  return demand(column) ? optional_name(column) : std::string_view{};
}

std::uint64_t Cells::count(std::string_view column, std::uint64_t max) {
  return demand(column) ? optional_count(column, max).value_or(0) : 0;
}

std::optional<std::uint64_t> Cells::optional_count(std::string_view column, std::uint64_t max) {
  const std::string_view value = text(column);
  if (value.empty()) return std::nullopt;
  const auto parsed = parse_count(value, max);
  if (!parsed) {
    refuse(column, parsed.error().message);
    return std::nullopt;
  }
  return *parsed;
}

std::uint64_t Cells::scaled(std::string_view column, std::uint64_t units) {
  return demand(column) ? optional_scaled(column, units).value_or(0) : 0;
}

template <class Convert>
std::optional<std::uint64_t> Cells::converted(std::string_view column, Convert convert) {
  const std::string_view value = text(column);
  if (value.empty()) return std::nullopt;
  const auto decimal = parse_exact_decimal(value);
  if (!decimal) {
    refuse(column, decimal.error().message);
    return std::nullopt;
  }
  const Result<std::uint64_t> count = convert(*decimal);
  if (!count) {
    refuse(column, count.error().message);
    return std::nullopt;
  }
  return *count;
}

std::optional<std::uint64_t> Cells::optional_scaled(std::string_view column, std::uint64_t units) {
  return converted(column, [&](Decimal value) { return exact_count(value, units); });
}

std::optional<std::uint64_t> Cells::optional_nearest(std::string_view column, std::uint64_t units) {
  return converted(column, [&](Decimal value) { return nearest_count(value, units); });
}

Instant Cells::instant(std::string_view column) {
  return demand(column) ? optional_instant(column).value_or(Instant{}) : Instant{};
}

std::optional<Instant> Cells::optional_instant(std::string_view column) {
  const std::string_view value = text(column);
  if (value.empty()) return std::nullopt;
  const auto parsed = parse_instant(value);
  if (!parsed) {
    refuse(column, parsed.error().message);
    return std::nullopt;
  }
  return *parsed;
}

}  // namespace pennyweight::csv
