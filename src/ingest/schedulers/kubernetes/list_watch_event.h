// Parses the answers of list and watch, as far as the protocol goes; object_json.h reads the
// objects.
//
// A watch is a stream of JSON documents {"type": …, "object": …}, each on a line of its own.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/schedulers/kubernetes/list_watch.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kEventBytesMax = 8u << 20;  // etcd stores at most 1.5 MiB of an object

// Splits a stream into lines, wherever the network cut it.
class EventSplitter {
 public:
  explicit EventSplitter(std::size_t event_bytes_max = kEventBytesMax)
      : event_bytes_max_(event_bytes_max) {}
  // Gives each complete line that is not blank to `line`, without its line end; the view lives as
  // long as the call. False: the receiver wants no more, or a line is past the limit; feed nothing
  // more then.
  bool feed(std::string_view bytes, const std::function<bool(std::string_view)>& line);
  bool is_over_limit() const { return over_limit_; }
  // The bytes of a line whose end has not come yet.
  std::size_t pending_bytes() const { return pending_.size(); }

 private:
  std::size_t event_bytes_max_;
  std::string pending_ = {};
  bool over_limit_ = false;
};

enum class EventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  EventType type = EventType::kError;
  simdjson::dom::element object = {};  // lives as long as its parser isn't used again
  std::string resource_version = {};   // empty for kError
  int error_code = 0;                  // of kError: the HTTP status it stands for
  std::optional<Milliseconds> retry_after = {};
  std::string message = {};  // of kError
};
// An event that lacks what its type requires is an Error.
Result<WatchEvent> read_event(simdjson::dom::parser& parser, std::string_view line);

struct ListPage {
  std::string resource_version = {};
  std::string continue_token = {};                 // empty: the last one
  std::vector<simdjson::dom::element> items = {};  // live as long as their parser isn't used again
};
Result<ListPage> read_page(simdjson::dom::parser& parser, std::string_view json);

// The string at a JSON pointer, "/metadata/uid"; empty where there is none.
std::string text_at(simdjson::dom::element json, std::string_view pointer);

// The message of a Status object, or the first bytes of any other answer, in printable ASCII.
std::string status_message(std::string_view body);

}  // namespace pennyweight::kubernetes
