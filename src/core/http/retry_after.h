// Retry-After, in seconds or as a date (RFC 9110, section 10.2.3).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace pennyweight::http {

// A server that asks for a longer wait is asked again after this long anyway.
inline constexpr std::chrono::milliseconds kRetryAfterMax = std::chrono::hours(1);

// The wait, from 0 to kRetryAfterMax. A date counts from the server's own Date header, so that
// neither clock has to be right. Nothing where the value has neither form, or is a date and the
// answer has no Date.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value,
                                                           std::string_view date);

}  // namespace pennyweight::http
