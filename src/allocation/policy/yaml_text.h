// Writes values as canonical YAML: plain where that can't be misread, else in double quotes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pennyweight {

// A text that every YAML reader reads as this text: "team" stays plain; "no", "1.0", "a: b" and
// other texts with a meaning in YAML are quoted, with control characters as escapes. REQUIRES:
// is_plain_text(text).
std::string yaml_text(std::string_view text);

// "[a, b]".
std::string yaml_list(std::span<const std::string> texts);

// "0.3" of 300.
std::string permille_text(std::uint32_t permille);

// "60s" for 60000: in the largest of h, m, s and ms that is exact; "0s" for zero.
std::string duration_text(std::int64_t milliseconds);

}  // namespace pennyweight
