#include "ingest/schedulers/slurm/duration.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

namespace pennyweight::slurm {
namespace {

constexpr std::uint64_t kDaysMax = 100'000;

std::optional<std::uint64_t> digits(std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || value > most) return std::nullopt;
  return value;
}

// Splits a text at every colon; nothing when an element is not a number of at most `most`.
std::optional<std::vector<std::uint64_t>> clock_parts(std::string_view text, std::uint64_t most) {
  std::vector<std::uint64_t> parts;
  while (parts.size() < 4) {
    const std::size_t colon = text.find(':');
    const auto part = digits(text.substr(0, colon), most);
    if (!part) return std::nullopt;
    parts.push_back(*part);
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
  return std::nullopt;
}

// "5", "25" and "250" are 500, 250 and 250 ms.
std::optional<std::uint64_t> fraction_ms(std::string_view text) {
  if (text.empty() || text.size() > 3) return std::nullopt;
  auto value = digits(text, 999);
  for (std::size_t i = text.size(); value && i < 3; ++i) *value *= 10;
  return value;
}

std::optional<std::uint64_t> duration_ms(std::string_view text) {
  std::uint64_t days = 0;
  std::uint64_t ms = 0;
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string_view::npos;
  if (has_days) {
    const auto read = digits(text.substr(0, dash), kDaysMax);
    if (!read) return std::nullopt;
    days = *read;
    text.remove_prefix(dash + 1);
  }
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    const auto read = fraction_ms(text.substr(point + 1));
    if (!read) return std::nullopt;
    ms = *read;
    text = text.substr(0, point);
  }
  // "999:59" is legal where there are no days in front: Slurm reads minutes beyond 59.
  const auto parts = clock_parts(text, 9'999'999);
  if (!parts) return std::nullopt;
  std::uint64_t hours = 0, minutes = 0, seconds = 0;
  switch (parts->size()) {
    case 3:
      hours = (*parts)[0], minutes = (*parts)[1], seconds = (*parts)[2];
      break;
    case 2:
      if (has_days) {
        hours = (*parts)[0], minutes = (*parts)[1];
      } else {
        minutes = (*parts)[0], seconds = (*parts)[1];
      }
      break;
    case 1:
      if (!has_days) return std::nullopt;
      hours = (*parts)[0];
      break;
    default:
      return std::nullopt;
  }
  if (seconds > 59 || (parts->size() == 3 && minutes > 59) || (has_days && hours > 23)) {
    return std::nullopt;
  }
  if (ms != 0 && (parts->size() == 1 || (has_days && parts->size() == 2))) return std::nullopt;
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

}  // namespace

Result<std::uint64_t> parse_duration_ms(std::string_view text) {
  if (const auto ms = duration_ms(text)) return *ms;
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a duration such as 1-02:03:04", text.substr(0, 40)));
}

Result<std::uint64_t> parse_count(std::string_view text) {
  if (const auto count = digits(text, ~std::uint64_t{0})) return *count;
  return fail(ErrorCode::kBadValue, fmt::format("'{}' is not a whole number", text.substr(0, 40)));
}

}  // namespace pennyweight::slurm
