#include "clickhouse/refusal.h"

#include <algorithm>

#include "core/plain_text.h"

namespace pennyweight::clickhouse {
namespace {

constexpr std::size_t kCodeDigitsMax = 5;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "DB::Exception: ", "Coordination::Exception: ": how many bytes of it stand in front.
std::size_t kind_bytes(std::string_view text) {
  constexpr std::string_view kEnd = "Exception: ";
  const auto end = text.find(kEnd);
  if (end == std::string_view::npos) return 0;
  const bool one_word = std::ranges::all_of(text.substr(0, end), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == ':' || c == '_';
  });
  return one_word ? end + kEnd.size() : 0;
}

// What follows the number of a code, where it is one; else nothing.
std::optional<std::string_view> words_behind(std::string_view text) {
  constexpr std::string_view kShown = "e.displayText() = ";
  if (text.starts_with(", e.") || text.starts_with(", type: ")) {  // 18.16; std::exception
    text.remove_prefix(2);
    if (const auto shown = text.find(kShown); shown != std::string_view::npos) {
      text.remove_prefix(shown + kShown.size());
    }
    text.remove_prefix(kind_bytes(text));
    return text.substr(0, text.find(", e.what() = "));
  }
  if (text.starts_with(". ")) {
    text.remove_prefix(2);
    const std::size_t kind = kind_bytes(text);
    if (kind > 0) return text.substr(kind, text.rfind(" (version ") - kind);
  }
  return std::nullopt;
}

std::string one_line(std::string_view text) {
  std::string line = printable_text(text, kWordsBytesMax);
  for (char& c : line) {
    if ((c >= 0 && c < ' ') || c == 127) c = ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace

std::optional<ServerError> find_server_error(std::string_view text) {
  constexpr std::string_view kCode = "Code: ";
  for (auto at = text.find(kCode); at != std::string_view::npos; at = text.find(kCode)) {
    text.remove_prefix(at + kCode.size());
    ServerError error;
    std::size_t digits = 0;
    for (; digits < text.size() && digits < kCodeDigitsMax && is_digit(text[digits]); ++digits) {
      error.code = error.code * 10 + (text[digits] - '0');
    }
    if (error.code == 0) continue;
    if (const auto words = words_behind(text.substr(digits))) {
      error.words = one_line(*words);
      return error;
    }
  }
  return std::nullopt;
}

Refusal refusal_of(int code, bool writes) {
  switch (code) {
    case 0:
      return Refusal::kNone;
    case 319:  // UNKNOWN_STATUS_OF_INSERT
      return Refusal::kUncertain;
    case 202:  // TOO_MANY_SIMULTANEOUS_QUERIES
    case 203:  // NO_FREE_CONNECTION
    case 225:  // NO_ZOOKEEPER
    case 242:  // TABLE_IS_READ_ONLY
    case 252:  // TOO_MANY_PARTS
    case 254:  // NO_ACTIVE_REPLICAS
    case 285:  // TOO_LESS_LIVE_REPLICAS
    case 286:  // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
    case 289:  // REPLICA_IS_NOT_IN_QUORUM
    case 439:  // CANNOT_SCHEDULE_TASK
    case 745:  // SERVER_OVERLOADED
    case 999:  // KEEPER_EXCEPTION
      return Refusal::kNotYet;
    case 32:    // ATTEMPT_TO_READ_AFTER_EOF: of a shard that went away
    case 159:   // TIMEOUT_EXCEEDED
    case 209:   // SOCKET_TIMEOUT
    case 210:   // NETWORK_ERROR
    case 236:   // ABORTED: the server is being stopped
    case 244:   // UNEXPECTED_ZOOKEEPER_ERROR: it went away in the midst of an insert
    case 279:   // ALL_CONNECTION_TRIES_FAILED
    case 1000:  // POCO_EXCEPTION: connections and names
      return writes ? Refusal::kUncertain : Refusal::kNotYet;
    default:
      return Refusal::kRefused;
  }
}

bool others_may(int code) {
  switch (code) {
    case 32:
    case 209:
    case 210:
    case 225:
    case 236:
    case 242:
    case 244:
    case 279:
    case 289:
    case 999:
    case 1000:
      return true;
    default:
      return false;
  }
}

}  // namespace pennyweight::clickhouse
