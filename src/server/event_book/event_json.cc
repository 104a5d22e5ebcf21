#include "server/event_book/event_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstdint>

#include "config/budget_config.h"
#include "core/json_text.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using forecasting::KnownEvent;
using simdjson::dom::element;

constexpr std::int64_t kPercentMax = 10'000;

std::unexpected<Error> wrong_event_key(std::string_view key, std::string_view what) {
  return fail(ErrorCode::kBadValue, fmt::format("{}: {}", printable_text(key, 50), what));
}

Result<std::string> event_text(std::string_view key, const element& value) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return wrong_event_key(key, "this is a text");
  return std::string(text);
}

Result<Date> event_day(std::string_view key, const element& value) {
  const std::string text = TRY(event_text(key, value));
  const auto day = parse_date(text);
  if (!day) return wrong_event_key(key, day.error().message);
  return *day;
}

Result<void> read_event_key(std::string_view key, const element& value, KnownEvent& event,
                            std::optional<Date>& from) {
  if (value.is_null()) return {};
  if (key == "name") {
    event.name = TRY(event_text(key, value));
  } else if (key == "from") {
    from = TRY(event_day(key, value));
  } else if (key == "to") {
    event.to = TRY(event_day(key, value));
  } else if (key == "key") {
    event.key = TRY(event_text(key, value));
  } else if (key == "by") {
    event.by = TRY(event_text(key, value));
  } else if (key == "per_day") {
    const std::string text = TRY(event_text(key, value));
    const auto amount = parse_amount(text);
    if (!amount) return wrong_event_key(key, amount.error().message);
    event.per_day = *amount;
  } else if (key == "percent") {
    std::int64_t percent = 0;
    if (value.get(percent) != simdjson::SUCCESS || percent < 0 || percent > kPercentMax) {
      return wrong_event_key(key, "this is a whole number from 0 to 10,000");
    }
    event.percent = static_cast<int>(percent);
  } else {
    return wrong_event_key(key, "an event has no such key");
  }
  return {};
}

}  // namespace

std::string event_effect(const KnownEvent& event) {
  if (event.percent) return fmt::format("{} % remain", *event.percent);
  if (!event.per_day) return "";
  return (event.per_day->is_negative() ? "" : "+") + budget_amount_text(*event.per_day);
}

std::string event_json(const KnownEvent& event) {
  const auto pair = [](std::string_view name, std::string_view value) {
    return fmt::format("{}: {}", json_string(name), json_string(value));
  };
  std::string text = "{" + pair("name", event.name) + ", " + pair("from", to_text(event.from));
  if (event.to) text += ", " + pair("to", to_text(*event.to));
  if (!event.key.empty()) text += ", " + pair("key", event.key);
  if (!event.by.empty()) text += ", " + pair("by", event.by);
  if (event.per_day) text += ", " + pair("per_day", budget_amount_text(*event.per_day));
  if (event.percent) text += fmt::format(", \"percent\": {}", *event.percent);
  return text + "}";
}

Result<KnownEvent> parse_event_json(std::string_view json, std::string_view name) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string padded(json);
  if (parser.parse(padded).get(object) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadValue, "an event is a JSON object");
  }
  KnownEvent event;
  event.name = name;
  std::optional<Date> from;
  for (const auto field : object) TRY(read_event_key(field.key, field.value, event, from));
  if (!from) return wrong_event_key("from", "missing: the first day of the event");
  event.from = *from;
  TRY(forecasting::check_known_event(event));
  return event;
}

}  // namespace pennyweight
