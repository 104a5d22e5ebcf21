// What the readers of a scenario's options share: numbers as people write them, and messages that
// name the option as it was written.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "insight/replay/admission.h"
#include "insight/what_if/scenario_text.h"

namespace pennyweight::what_if {

constexpr std::uint32_t kPercentMax = 10'000;
constexpr std::size_t kShownBytesMax = 200;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "2%", "0.5%": percent from 0.0001 to 100, in millionths.
std::optional<std::uint32_t> parse_hourly_share(std::string number);
// "60%", up to 100 %.
std::optional<std::uint32_t> parse_percent_of_price(std::string_view text);
// Minutes of a day: "20:00".
std::optional<std::uint32_t> parse_minute(std::string_view text);
// "20:00-06:00".
std::optional<replay::DailyWindow> parse_window(std::string_view text);
// "24h", "90m", in microseconds; up to a month.
std::optional<std::int64_t> parse_length(std::string_view text);

// The texts, and what is wrong of them. REQUIRES: the texts outlive it.
class OptionReader {
 public:
  explicit OptionReader(const ScenarioTexts& texts) : texts_(texts) {}

 protected:
  struct NamedPercent {
    std::string name;
    std::uint32_t percent;
  };

  std::unexpected<Error> wrong(std::string_view option, std::string_view text,
                               std::string_view what) const;
  std::unexpected<Error> without_effect(std::string_view option, std::string_view why) const;
  Result<void> check_model(const std::string& model, std::string_view option,
                           const std::string& text) const;
  // "NAME=60%", "60%": a name, which may be empty, and percent.
  Result<NamedPercent> read_percent(const std::string& text, std::string_view option) const;
  Result<std::int64_t> minutes_us(std::uint32_t minutes, std::string_view option) const;

  // Whether nodes are away at times that are known.
  bool has_outages() const { return !texts_.outages.empty() || !texts_.spot_trace.empty(); }
  std::string_view outage_option() const {
    return texts_.spot_trace.empty() ? "outage" : "spot-trace";
  }

  const ScenarioTexts& texts_;
};

// Each reads the options of one idea into the scenario. Errors are kBadValue, and name the option.
Result<void> read_team_options(const ScenarioTexts& texts, Scenario& scenario);
Result<void> read_fleet_options(const ScenarioTexts& texts, Scenario& scenario);
Result<void> read_price_options(const ScenarioTexts& texts, Scenario& scenario);
Result<void> read_model_options(const ScenarioTexts& texts, Scenario& scenario);

}  // namespace pennyweight::what_if
