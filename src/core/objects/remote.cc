#include "core/objects/remote.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base_encoding.h"
#include "core/plain_text.h"

namespace pennyweight::objects {

http::Settings remote_settings(const std::string& ca_file) {
  return {.ca_file = ca_file,
          .connect_timeout = std::chrono::seconds(20),
          .timeout = std::chrono::seconds(120)};
}

std::map<std::string, std::string> range_headers(const ObjectEntry& entry, std::uint64_t offset) {
  std::map<std::string, std::string> headers;
  if (!entry.version.empty()) headers["If-Match"] = "\"" + entry.version + "\"";
  if (offset > 0) headers["Range"] = fmt::format("bytes={}-", offset);
  return headers;
}

std::unexpected<Error> changed(const ObjectEntry& entry, const std::string& place) {
  return fail(ErrorCode::kConflict,
              fmt::format("{}/{} changed while it was read; the next pull fetches it again", place,
                          entry.key));
}

std::unexpected<Error> refusal_of(const http::Response& response, const std::string& place,
                                  const std::string& why) {
  const std::string remedy = response.status == 401 || response.status == 403
                                 ? "; check the key and what it may read"
                             : response.status == 404 ? "; check the name"
                                                      : "";
  return fail(ErrorCode::kIo, fmt::format("{} answers {}{}{}", place, response.status,
                                          printable_text(why, 300), remedy));
}

Result<void> check_read(const http::Response& response, std::uint64_t offset,
                        const ObjectEntry& entry, const std::string& place) {
  if (response.status == 412) return changed(entry, place);
  const int want = offset > 0 ? 206 : 200;
  if (response.status == want) return {};
  if (response.status == 200 || response.status == 206 || response.status == 416) {
    return changed(entry, place);
  }
  return refusal_of(response, place + "/" + entry.key, "");
}

std::string host_of(std::string_view endpoint) {
  const std::size_t scheme = endpoint.find("://");
  if (scheme != std::string_view::npos) endpoint.remove_prefix(scheme + 3);
  return std::string(endpoint.substr(0, endpoint.find('/')));
}

std::string hex_bytes(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(hex_value(digits[i]).value_or(0) * 16 +
                               hex_value(digits[i + 1]).value_or(0));
  }
  return bytes;
}

std::optional<std::string> base64_bytes(std::string_view text) {
  std::string url(text);
  std::ranges::replace(url, '+', '-');
  std::ranges::replace(url, '/', '_');
  while (url.ends_with('=')) url.pop_back();
  return from_base64url(url);
}

std::string bare_etag(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"') etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

}  // namespace pennyweight::objects
