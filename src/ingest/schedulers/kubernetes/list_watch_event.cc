#include "ingest/schedulers/kubernetes/list_watch_event.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/http/retry_after.h"

namespace pennyweight::kubernetes {
namespace {

constexpr std::size_t kMessageBytesMax = 512;

std::string printable(std::string_view text) {
  std::string out(text.substr(0, kMessageBytesMax));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = c == '\n' ? ' ' : '?';
  }
  return out;
}

}  // namespace

std::string text_at(simdjson::dom::element json, std::string_view pointer) {
  std::string_view text;
  if (json.at_pointer(pointer).get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

bool EventSplitter::feed(std::string_view bytes,
                         const std::function<bool(std::string_view)>& line) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (piece.size() > event_bytes_max_ - pending_.size()) {
      over_limit_ = true;
      return false;
    }
    if (end == std::string_view::npos) {
      pending_ += piece;
      return true;
    }
    bytes.remove_prefix(end + 1);
    std::string_view whole = piece;
    if (!pending_.empty()) whole = pending_ += piece;
    const bool blank = whole.find_first_not_of(" \t\r") == std::string_view::npos;
    const bool on = blank || line(whole);
    pending_.clear();
    if (!on) return false;
  }
  return true;
}

Result<WatchEvent> read_event(simdjson::dom::parser& parser, std::string_view line) {
  WatchEvent event;
  simdjson::dom::element json;
  if (const auto error = parser.parse(line.data(), line.size()).get(json)) {
    return fail(ErrorCode::kBadFile, fmt::format("an event of the watch is not JSON: {}",
                                                 simdjson::error_message(error)));
  }
  std::string_view type;
  simdjson::dom::object object;
  if (json["type"].get(type) != simdjson::SUCCESS ||
      json["object"].get(object) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadFile, "an event of the watch has no type, or no object");
  }
  event.object = json["object"].value_unsafe();
  if (type == "ADDED") {
    event.type = EventType::kAdded;
  } else if (type == "MODIFIED") {
    event.type = EventType::kModified;
  } else if (type == "DELETED") {
    event.type = EventType::kDeleted;
  } else if (type == "BOOKMARK") {
    event.type = EventType::kBookmark;
  } else if (type == "ERROR") {
    event.type = EventType::kError;
    std::int64_t code = 0;
    if (event.object["code"].get(code) != simdjson::SUCCESS) code = 500;
    event.error_code = code >= 100 && code <= 599 ? static_cast<int>(code) : 500;
    std::int64_t seconds = 0;
    if (event.object.at_pointer("/details/retryAfterSeconds").get(seconds) == simdjson::SUCCESS) {
      const std::int64_t most = http::kRetryAfterMax / std::chrono::seconds(1);
      event.retry_after = std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, most));
    }
    event.message = printable(text_at(event.object, "/message"));
    return event;
  } else {
    return fail(ErrorCode::kBadFile,
                "an event of the watch is of an unknown type: " + printable(type));
  }
  event.resource_version = text_at(event.object, "/metadata/resourceVersion");
  if (event.resource_version.empty()) {
    return fail(ErrorCode::kBadFile, "an event of the watch has no metadata.resourceVersion");
  }
  return event;
}

Result<ListPage> read_page(simdjson::dom::parser& parser, std::string_view text) {
  simdjson::dom::element json;
  if (const auto error = parser.parse(text.data(), text.size()).get(json)) {
    return fail(ErrorCode::kBadFile,
                fmt::format("the list is not JSON: {}", simdjson::error_message(error)));
  }
  ListPage page;
  page.resource_version = text_at(json, "/metadata/resourceVersion");
  page.continue_token = text_at(json, "/metadata/continue");
  if (page.resource_version.empty()) {
    return fail(ErrorCode::kBadFile, "the list has no metadata.resourceVersion");
  }
  const auto items = json["items"];
  if (items.is_null()) return page;
  simdjson::dom::array all;
  if (items.get(all) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadFile, "the list has no items");
  }
  page.items.assign(all.begin(), all.end());
  return page;
}

std::string status_message(std::string_view body) {
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  if (parser.parse(body.data(), body.size()).get(json) == simdjson::SUCCESS) {
    if (const std::string message = text_at(json, "/message"); !message.empty()) {
      return printable(message);
    }
  }
  return printable(body);
}

}  // namespace pennyweight::kubernetes
