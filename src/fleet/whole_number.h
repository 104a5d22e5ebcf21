// A count read from a table: digits alone.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pennyweight {

// Nothing for anything but digits that fit.
inline std::optional<std::uint64_t> parse_whole_number(std::string_view text) {
  if (text.empty() || text.front() == '-') return std::nullopt;
  std::uint64_t value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace pennyweight
