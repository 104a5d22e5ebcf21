#include "core/http/retry_after.h"

#include <curl/curl.h>

#include <algorithm>
#include <string>

#include "core/ascii.h"

namespace pennyweight::http {
namespace {

constexpr std::size_t kHeaderBytesMax = 64;  // an HTTP date has 29

std::optional<std::int64_t> seconds_of_date(std::string_view text) {
  const std::string copy(text);
  const time_t at = curl_getdate(copy.c_str(), nullptr);
  if (at < 0) return std::nullopt;
  return static_cast<std::int64_t>(at);
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value,
                                                           std::string_view date) {
  value = ascii::trim(value);
  date = ascii::trim(date);
  if (value.empty() || value.size() > kHeaderBytesMax || date.size() > kHeaderBytesMax) return {};
  const std::int64_t most =
      std::chrono::duration_cast<std::chrono::seconds>(kRetryAfterMax).count();
  std::int64_t seconds = 0;
  if (std::ranges::all_of(value, ascii::is_digit)) {
    for (const char c : value) seconds = std::min(most, seconds * 10 + (c - '0'));
  } else {
    const auto until = seconds_of_date(value);
    const auto now = seconds_of_date(date);
    if (!until || !now) return {};
    seconds = std::clamp<std::int64_t>(*until - *now, 0, most);
  }
  return std::chrono::seconds(seconds);
}

}  // namespace pennyweight::http
