// The answers of list and watch, as far as the protocol goes; what the objects say is read
// elsewhere (object_json.h).
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
#include "ingest/kubernetes/list_watch.h"

namespace pennyweight::kubernetes {

inline constexpr std::size_t kEventBytesMax = 8u << 20;  // etcd keeps 1.5 MiB of an object

// Cuts a stream into its lines, however the network cut it.
class EventSplitter {
 public:
  explicit EventSplitter(std::size_t event_bytes_max = kEventBytesMax)
      : event_bytes_max_(event_bytes_max) {}
  // Hands on each line that is complete now and not blank, without its end; the view lives as long
  // as the call. False: the receiver wants no more, or a line is past the limit; nothing more may
  // be fed then.
  bool feed(std::string_view bytes, const std::function<bool(std::string_view)>& line);
  bool is_over_limit() const { return over_limit_; }
  // Of a line whose end has not come.
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
// An event without what its type must have is an Error.
Result<WatchEvent> read_event(simdjson::dom::parser& parser, std::string_view line);

struct ListPage {
  std::string resource_version = {};
  std::string continue_token = {};                 // empty: the last one
  std::vector<simdjson::dom::element> items = {};  // live as long as their parser isn't used again
};
Result<ListPage> read_page(simdjson::dom::parser& parser, std::string_view json);

// The words of a Status object, or the first bytes of whatever was answered instead, in printable
// ASCII.
std::string status_message(std::string_view body);

}  // namespace pennyweight::kubernetes
