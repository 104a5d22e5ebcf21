#include "ingest/bills/azure/unit_of_measure.h"

#include <fmt/format.h>

#include <utility>

#include "core/ascii.h"

namespace pennyweight::azure {
namespace {

constexpr std::int64_t kBlockMax = 1'000'000'000'000;

constexpr std::pair<std::string_view, std::string_view> kTimes[] = {
    {"second", "Seconds"}, {"seconds", "Seconds"}, {"minute", "Minutes"}, {"minutes", "Minutes"},
    {"hour", "Hours"},     {"hours", "Hours"},     {"hora", "Hours"},     {"小时", "Hours"},
    {"day", "Days"},       {"days", "Days"},       {"month", "Months"},   {"months", "Months"},
    {"year", "Years"},     {"years", "Years"},
};

std::string_view plural_time(std::string_view word) {
  const std::string key = ascii::lower_case(word);
  for (const auto& [name, plural] : kTimes) {
    if (key == name) return plural;
  }
  return {};
}

// "GB Hour" → "GB-Hours", " / Month" → "Units/Month"; FOCUS 1.4, attribute UnitFormat.
std::string focus_unit(std::string_view text) {
  if (text.empty()) return "Units";
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view above = ascii::trim(text.substr(0, slash), " ");
    return fmt::format("{}/{}", above.empty() ? "Units" : above,
                       ascii::trim(text.substr(slash + 1), " "));
  }
  const std::size_t space = text.rfind(' ');
  const std::string_view last = space == std::string_view::npos ? text : text.substr(space + 1);
  const std::string_view time = plural_time(last);
  if (time.empty()) return std::string(text);
  if (space == std::string_view::npos) return std::string(time);
  std::string out(ascii::trim(text.substr(0, space), " "));
  for (char& c : out) {
    if (c == ' ') c = '-';
  }
  return fmt::format("{}-{}", out, time);
}

}  // namespace

UnitOfMeasure parse_unit_of_measure(std::string_view text) {
  text = ascii::trim(text, " ");
  UnitOfMeasure measure;
  std::int64_t block = 0;
  std::size_t i = 0;
  while (i < text.size() && ascii::is_digit(text[i]) && block < kBlockMax) {
    block = block * 10 + (text[i++] - '0');
  }
  bool counts_blocks = false;
  const auto at_word_end = [&](std::size_t at) {
    return at == text.size() || text[at] == ' ' || text[at] == '/';
  };
  if (i > 0 && i < text.size() && at_word_end(i + 1)) {
    const std::string_view letters = "KMB";
    const std::size_t power = letters.find(text[i]);
    if (power != std::string_view::npos) {
      for (std::size_t p = 0; p <= power; ++p) block *= 1000;
      counts_blocks = true;
      ++i;
    }
  }
  const bool has_block = i > 0 && at_word_end(i) && block > 0 && block <= kBlockMax;
  if (has_block) {
    measure.block = block;
    measure.counts_blocks = counts_blocks;
    text = ascii::trim(text.substr(i), " ");
  }
  measure.unit = focus_unit(text);
  measure.pricing_unit =
      measure.block == 1 ? measure.unit : fmt::format("{} {}", measure.block, measure.unit);
  return measure;
}

ParsedDecimal pricing_quantity(Decimal quantity, const UnitOfMeasure& measure) {
  if (measure.counts_blocks || measure.block == 1) return {.value = quantity, .rounded = false};
  const Int128 ticks = quantity.ticks();
  const Int128 block = measure.block;
  Int128 quotient = ticks / block;
  const Int128 rest = ticks % block;
  if (rest == 0) return {.value = Decimal::from_ticks(quotient), .rounded = false};
  const Int128 twice = (rest < 0 ? -rest : rest) * 2;
  const bool is_up = twice > block || (twice == block && quotient % 2 != 0);
  if (is_up) quotient += ticks < 0 ? -1 : 1;
  return {.value = Decimal::from_ticks(quotient), .rounded = true};
}

Result<Decimal> consumed_quantity(Decimal quantity, const UnitOfMeasure& measure) {
  if (!measure.counts_blocks || measure.block == 1) return quantity;
  return multiply(quantity, Decimal::from_units(measure.block), Rounding::kHalfEven);
}

}  // namespace pennyweight::azure
