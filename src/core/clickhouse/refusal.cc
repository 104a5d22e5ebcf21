#include "core/clickhouse/refusal.h"

#include <algorithm>

#include "core/ascii.h"
#include "core/plain_text.h"

namespace pennyweight::clickhouse {
namespace {

constexpr std::size_t kCodeDigitsMax = 5;

// "DB::Exception: ", "Coordination::Exception: ": how many bytes of it stand in front.
std::size_t kind_bytes(std::string_view text) {
  constexpr std::string_view kEnd = "Exception: ";
  const auto end = text.find(kEnd);
  if (end == std::string_view::npos) return 0;
  const bool one_word = std::ranges::all_of(
      text.substr(0, end), [](char c) { return ascii::is_letter(c) || c == ':' || c == '_'; });
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

// One of ClickHouse's error codes after which a statement is worth sending again.
struct KnownCode {
  int code;
  std::string_view name;  // as in ErrorCodes.cpp
  Refusal of_reading;
  Refusal of_writing;
  bool others_may;  // worth trying another server at once
};

constexpr Refusal kNotYet = Refusal::kNotYet;
constexpr Refusal kUncertain = Refusal::kUncertain;

constexpr KnownCode kKnownCodes[] = {
    // A shard or the server itself went away: what was to be written may have been written.
    {32, "ATTEMPT_TO_READ_AFTER_EOF", kNotYet, kUncertain, true},
    {159, "TIMEOUT_EXCEEDED", kNotYet, kUncertain, false},
    {209, "SOCKET_TIMEOUT", kNotYet, kUncertain, true},
    {210, "NETWORK_ERROR", kNotYet, kUncertain, true},
    {236, "ABORTED", kNotYet, kUncertain, true},                     // it is being stopped
    {244, "UNEXPECTED_ZOOKEEPER_ERROR", kNotYet, kUncertain, true},  // lost during an insert
    {279, "ALL_CONNECTION_TRIES_FAILED", kNotYet, kUncertain, true},
    {319, "UNKNOWN_STATUS_OF_INSERT", kUncertain, kUncertain, false},
    {1000, "POCO_EXCEPTION", kNotYet, kUncertain, true},  // connections and names
    // The server has too much to do.
    {202, "TOO_MANY_SIMULTANEOUS_QUERIES", kNotYet, kNotYet, false},
    {203, "NO_FREE_CONNECTION", kNotYet, kNotYet, false},
    {252, "TOO_MANY_PARTS", kNotYet, kNotYet, false},
    {439, "CANNOT_SCHEDULE_TASK", kNotYet, kNotYet, false},
    {745, "SERVER_OVERLOADED", kNotYet, kNotYet, false},
    // Its replica is behind or read only, or the replicas are too few.
    {225, "NO_ZOOKEEPER", kNotYet, kNotYet, true},
    {242, "TABLE_IS_READ_ONLY", kNotYet, kNotYet, true},
    {254, "NO_ACTIVE_REPLICAS", kNotYet, kNotYet, false},
    {285, "TOO_LESS_LIVE_REPLICAS", kNotYet, kNotYet, false},
    {286, "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE", kNotYet, kNotYet, false},
    {289, "REPLICA_IS_NOT_IN_QUORUM", kNotYet, kNotYet, true},
    {999, "KEEPER_EXCEPTION", kNotYet, kNotYet, true},
};

const KnownCode* find_code(int code) {
  const auto* found = std::ranges::find(kKnownCodes, code, &KnownCode::code);
  return found == std::end(kKnownCodes) ? nullptr : found;
}

}  // namespace

std::optional<ServerError> find_server_error(std::string_view text) {
  constexpr std::string_view kCode = "Code: ";
  for (auto at = text.find(kCode); at != std::string_view::npos; at = text.find(kCode)) {
    text.remove_prefix(at + kCode.size());
    ServerError error;
    std::size_t digits = 0;
    for (; digits < text.size() && digits < kCodeDigitsMax && ascii::is_digit(text[digits]);
         ++digits) {
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
  if (code == 0) return Refusal::kNone;
  const KnownCode* known = find_code(code);
  if (known == nullptr) return Refusal::kRefused;
  return writes ? known->of_writing : known->of_reading;
}

bool others_may(int code) {
  const KnownCode* known = find_code(code);
  return known != nullptr && known->others_may;
}

}  // namespace pennyweight::clickhouse
