// Two answers that simdjson gives only indirectly, for the JSON readers of this module.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace pennyweight::bill::json {

inline bool is_at_end(simdjson::ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

// simdjson returns a raw token with the whitespace that follows it.
inline std::string_view trim_token(std::string_view token) {
  const std::size_t end = token.find_last_not_of(" \t\r\n");
  return token.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

}  // namespace pennyweight::bill::json
