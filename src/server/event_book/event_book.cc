#include "server/event_book/event_book.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/files/file_lock.h"
#include "core/json_text.h"
#include "core/try.h"
#include "server/event_book/event_json.h"

namespace pennyweight {
namespace {

using forecasting::KnownEvent;

constexpr std::uint64_t kEventBookBytesMax = 16u << 20;

std::string event_line(const EventChange& change) {
  return fmt::format("{{\"number\": {}, \"at\": {}, \"who\": {}, \"name\": {}, \"event\": {}}}\n",
                     change.number, json_string(to_text(change.at)), json_string(change.who),
                     json_string(change.name), change.event ? event_json(*change.event) : "null");
}

Result<EventChange> parse_event_change(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string padded(line);
  EventChange change;
  bool is_sound = parser.parse(padded).get(object) == simdjson::SUCCESS;
  const auto text = [&](std::string_view name) {
    std::string_view value;
    is_sound = is_sound && object[name].get(value) == simdjson::SUCCESS;
    return std::string(value);
  };
  const std::string at = text("at");
  change.who = text("who");
  change.name = text("name");
  simdjson::dom::element event;
  is_sound = is_sound && object["number"].get(change.number) == simdjson::SUCCESS &&
             object["event"].get(event) == simdjson::SUCCESS;
  if (!is_sound) return fail(ErrorCode::kBadFile, "this is not a valid change to a known event");
  change.at = TRY(parse_instant(at));
  if (!event.is_null()) change.event = TRY(parse_event_json(simdjson::minify(event)));
  return change;
}

}  // namespace

EventBook::EventBook(std::string path)
    : changes_(std::move(path), kEventBookBytesMax, parse_event_change) {}

std::vector<KnownEvent> EventBook::current() const {
  std::map<std::string, KnownEvent> by_name;
  for (const EventChange& change : changes_.records()) {
    if (change.event) {
      by_name.insert_or_assign(change.name, *change.event);
    } else {
      by_name.erase(change.name);
    }
  }
  std::vector<KnownEvent> all;
  for (auto& [name, event] : by_name) all.push_back(std::move(event));
  return all;
}

Result<std::vector<KnownEvent>> EventBook::events() {
  const std::lock_guard lock(mutex_);
  std::ignore = TRY(changes_.read());
  return current();
}

Result<std::vector<KnownEvent>> EventBook::with(std::span<const KnownEvent> configured) {
  std::vector<KnownEvent> all(configured.begin(), configured.end());
  std::vector<KnownEvent> kept = TRY(events());
  std::erase_if(kept, [&](const KnownEvent& one) {
    return std::ranges::find(configured, one.name, &KnownEvent::name) != configured.end();
  });
  std::ranges::move(kept, std::back_inserter(all));
  return all;
}

Result<std::vector<EventChange>> EventBook::history(std::string_view name) {
  const std::lock_guard lock(mutex_);
  std::ignore = TRY(changes_.read());
  std::vector<EventChange> chosen;
  std::ranges::copy_if(
      changes_.records(), std::back_inserter(chosen),
      [&](const EventChange& change) { return name.empty() || change.name == name; });
  return chosen;
}

Result<void> EventBook::append(const std::optional<KnownEvent>& before, EventChange change,
                               const Recorder& record) {
  change.number = changes_.records().empty() ? 1 : changes_.records().back().number + 1;
  const std::string text = changes_.with(event_line(change));
  if (!changes_.has_room_for(text)) {
    return fail(ErrorCode::kLimit, fmt::format("{} is full", changes_.path()));
  }
  TRY(record(before, change.event));
  std::ignore = TRY(changes_.replace(text));
  return {};
}

Result<void> EventBook::set(const KnownEvent& event, const std::string& who, Instant at,
                            const Recorder& record) {
  TRY(forecasting::check_known_event(event));
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(changes_.path()));
  std::ignore = TRY(changes_.read());
  const std::vector<KnownEvent> all = current();
  const auto known = std::ranges::find(all, event.name, &KnownEvent::name);
  const bool is_known = known != all.end();
  if (is_known && *known == event) return {};
  if (!is_known && all.size() >= kKeptEventsMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} known events are kept, which is all that may be; remove some that "
                            "are over",
                            all.size()));
  }
  return append(is_known ? std::optional(*known) : std::nullopt,
                {.at = at, .who = who, .name = event.name, .event = event}, record);
}

Result<void> EventBook::remove(const std::string& name, const std::string& who, Instant at,
                               const Recorder& record) {
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(changes_.path()));
  std::ignore = TRY(changes_.read());
  const std::vector<KnownEvent> all = current();
  const auto known = std::ranges::find(all, name, &KnownEvent::name);
  if (known == all.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("nobody has kept an event '{}'", name));
  }
  return append(*known, {.at = at, .who = who, .name = name, .event = std::nullopt}, record);
}

}  // namespace pennyweight
