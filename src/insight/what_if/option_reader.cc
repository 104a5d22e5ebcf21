#include "insight/what_if/option_reader.h"

#include <fmt/format.h>

#include <utility>

#include "core/gpu/gpu_model.h"
#include "core/plain_text.h"
#include "insight/replay/spot.h"

namespace pennyweight::what_if {

std::optional<std::uint32_t> parse_hourly_share(std::string number) {
  constexpr std::size_t kDecimals = 4;
  if (!number.ends_with('%')) return std::nullopt;
  number.pop_back();
  const std::size_t point = number.find('.');
  std::string decimals = point == std::string::npos ? "" : number.substr(point + 1);
  if (point != std::string::npos && (decimals.empty() || decimals.size() > kDecimals)) {
    return std::nullopt;
  }
  decimals.resize(kDecimals, '0');
  const auto whole = parse_number<std::uint32_t>(std::string_view(number).substr(0, point));
  const auto rest = parse_number<std::uint32_t>(decimals);
  if (!whole || !rest || *whole > 100) return std::nullopt;
  const std::uint32_t share = *whole * 10'000 + *rest;
  if (share == 0 || share > replay::kReclaimParts) return std::nullopt;
  return share;
}

std::optional<std::uint32_t> parse_percent_of_price(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const auto percent = parse_number<std::uint32_t>(text);
  if (!percent || *percent > 100) return std::nullopt;
  return percent;
}

std::optional<std::uint32_t> parse_minute(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hours = parse_number<std::uint32_t>(text.substr(0, 2));
  const auto minutes = parse_number<std::uint32_t>(text.substr(3));
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return *hours * 60 + *minutes;
}

std::optional<replay::DailyWindow> parse_window(std::string_view text) {
  if (text.size() != 11 || text[5] != '-') return std::nullopt;
  const auto from = parse_minute(text.substr(0, 5));
  const auto to = parse_minute(text.substr(6));
  if (!from.has_value() || !to.has_value()) return std::nullopt;
  const replay::DailyWindow window{.from_minute = from.value_or(0), .to_minute = to.value_or(0)};
  return window.from_minute == window.to_minute ? std::nullopt : std::optional(window);
}

std::optional<std::int64_t> parse_length(std::string_view text) {
  if (!text.ends_with('h') && !text.ends_with('m')) return std::nullopt;
  const std::int64_t unit = text.ends_with('h') ? 60 : 1;
  text.remove_suffix(1);
  const auto count = parse_number<std::uint32_t>(text);
  if (!count || *count == 0 || *count * unit > kMinutesMax) return std::nullopt;
  return *count * unit * 60 * 1'000'000;
}

std::unexpected<Error> OptionReader::wrong(std::string_view option, std::string_view text,
                                           std::string_view what) const {
  return fail(ErrorCode::kBadValue, fmt::format("{}{} '{}': {}", texts_.dashes, option,
                                                printable_text(text, kShownBytesMax), what));
}

std::unexpected<Error> OptionReader::without_effect(std::string_view option,
                                                    std::string_view why) const {
  return fail(ErrorCode::kBadValue,
              fmt::format("{}{} changes nothing here: {}", texts_.dashes, option, why));
}

Result<void> OptionReader::check_model(const std::string& model, std::string_view option,
                                       const std::string& text) const {
  if (model.empty() || find_gpu_model(model) != nullptr) return {};
  return wrong(option, text,
               fmt::format("GPU model '{}' is unknown or fits several; write it in full, such as "
                           "H100-SXM5-80GB",
                           printable_text(model, kShownBytesMax)));
}

Result<OptionReader::NamedPercent> OptionReader::read_percent(const std::string& text,
                                                              std::string_view option) const {
  const std::size_t equals = text.rfind('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  std::string_view number(text);
  number.remove_prefix(equals == std::string::npos ? 0 : equals + 1);
  if (number.ends_with('%')) {
    number.remove_suffix(1);
    const auto percent = parse_number<std::uint32_t>(number);
    if (percent && *percent <= kPercentMax) return NamedPercent{name, *percent};
  }
  return wrong(option, text,
               "write NAME=PERCENT% or PERCENT% for all, such as nlp=150% (0% to 10000%)");
}

Result<std::int64_t> OptionReader::minutes_us(std::uint32_t minutes,
                                              std::string_view option) const {
  if (minutes > kMinutesMax) {
    return wrong(option, std::to_string(minutes), "at most 44640 minutes");
  }
  return std::int64_t{minutes} * 60 * 1'000'000;
}

}  // namespace pennyweight::what_if
