#include "server/forecast_book/forecast_book.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "core/decimal.h"
#include "core/files/disk.h"
#include "core/files/record_file.h"
#include "core/json_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using forecasting::KeptDay;
using forecasting::KeptForecast;
using forecasting::MoneyRange;
using simdjson::dom::element;

constexpr std::uint64_t kFileBytesMax = 256u << 20;

std::string amount_of_day(const Money& amount) { return json_string(to_text(amount.amount())); }

// ["120.5", ["100", "140"], null]
std::string day_json(const KeptDay& day) {
  const auto range = [](const std::optional<MoneyRange>& one) {
    return one ? fmt::format("[{},{}]", amount_of_day(one->low), amount_of_day(one->high))
               : std::string("null");
  };
  return fmt::format("[{},{},{}]", amount_of_day(day.expected), range(day.range80),
                     range(day.range95));
}

std::string forecast_line(const KeptForecast& forecast) {
  std::string days;
  for (const KeptDay& day : forecast.days) days += (days.empty() ? "" : ",") + day_json(day);
  return fmt::format(
      "{{\"first\": {}, \"by\": {}, \"key\": {}, \"currency\": {}, \"days\": [{}]}}\n",
      json_string(to_text(forecast.first)), json_string(forecast.by), json_string(forecast.key),
      json_string(forecast.days.front().expected.currency().text()), days);
}

std::unexpected<Error> wrong_line() {
  return fail(ErrorCode::kBadFile, "this is no kept forecast");
}

// The items of a list of so many; nothing: it is another value.
std::optional<std::vector<element>> items_of(const element& value, std::size_t count) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS || list.size() != count) return std::nullopt;
  return std::vector<element>(list.begin(), list.end());
}

Result<Money> read_amount(const element& value, Currency currency) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return wrong_line();
  const auto amount = TRY(parse_exact_decimal(text));
  return Money::from_decimal(amount, currency);
}

Result<std::optional<MoneyRange>> read_range(const element& value, Currency currency) {
  if (value.is_null()) return std::nullopt;
  const auto ends = items_of(value, 2);
  if (!ends) return wrong_line();
  const Money low = TRY(read_amount(ends->front(), currency));
  const Money high = TRY(read_amount(ends->back(), currency));
  return MoneyRange{low, high};
}

Result<KeptForecast> read_line(simdjson::dom::parser& parser, std::string_view line) {
  const simdjson::padded_string padded(line);
  simdjson::dom::object object;
  if (parser.parse(padded).get(object) != simdjson::SUCCESS) return wrong_line();
  std::string_view first;
  std::string_view by;
  std::string_view key;
  std::string_view code;
  simdjson::dom::array days;
  if (object["first"].get(first) != simdjson::SUCCESS ||
      object["by"].get(by) != simdjson::SUCCESS || object["key"].get(key) != simdjson::SUCCESS ||
      object["currency"].get(code) != simdjson::SUCCESS ||
      object["days"].get(days) != simdjson::SUCCESS || days.size() == 0) {
    return wrong_line();
  }
  const Currency currency = TRY(Currency::parse(code));
  const Date begin = TRY(parse_date(first));
  KeptForecast forecast{begin, std::string(by), std::string(key), {}};
  for (const element item : days) {
    const auto day = items_of(item, 3);
    if (!day) return wrong_line();
    const Money expected = TRY(read_amount((*day)[0], currency));
    const auto range80 = TRY(read_range((*day)[1], currency));
    const auto range95 = TRY(read_range((*day)[2], currency));
    forecast.days.push_back({expected, range80, range95});
  }
  return forecast;
}

}  // namespace

ForecastBook::ForecastBook(std::string path) : path_(std::move(path)) {}

Result<void> ForecastBook::read() {
  if (is_read_) return {};
  const std::string text = TRY(read_record_file(path_, kFileBytesMax));
  std::vector<KeptForecast> kept;
  simdjson::dom::parser parser;
  TRY(read_records(path_, text, 0, "remove the line, or the file: then forecasts are kept anew",
                   [&](std::string_view line) -> Result<void> {
                     auto forecast = TRY(read_line(parser, line));
                     kept.push_back(std::move(forecast));
                     return {};
                   }));
  kept_ = std::move(kept);
  is_read_ = true;
  return {};
}

Result<std::vector<KeptForecast>> ForecastBook::kept(const std::string& by) {
  const std::lock_guard lock(mutex_);
  TRY(read());
  std::vector<KeptForecast> chosen;
  std::ranges::copy_if(kept_, std::back_inserter(chosen),
                       [&](const KeptForecast& one) { return one.by == by; });
  return chosen;
}

Result<bool> ForecastBook::has(const std::string& by, Date first) {
  const std::lock_guard lock(mutex_);
  TRY(read());
  return std::ranges::any_of(
      kept_, [&](const KeptForecast& one) { return one.by == by && one.first == first; });
}

Result<void> ForecastBook::add(std::span<const KeptForecast> forecasts) {
  if (forecasts.empty()) return {};
  const std::lock_guard lock(mutex_);
  TRY(read());
  std::vector<KeptForecast> all = kept_;
  const Date oldest = forecasts.front().first - kKeptFor;
  std::erase_if(all, [&](const KeptForecast& one) { return one.first < oldest; });
  std::ranges::copy_if(forecasts, std::back_inserter(all),
                       [](const KeptForecast& one) { return !one.days.empty(); });
  std::string text;
  for (const KeptForecast& one : all) text += forecast_line(one);
  TRY(replace_file(path_, text));
  kept_ = std::move(all);
  return {};
}

}  // namespace pennyweight
