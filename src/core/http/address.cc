#include "core/http/address.h"

#include <curl/curl.h>

#include <memory>
#include <optional>

#include "core/ascii.h"
#include "core/http/curl_handles.h"

namespace pennyweight::http {
namespace {

CurlUrl parsed(std::string_view text) {
  CurlUrl url(curl_url());
  const std::string copy(text);
  // A NUL would hide what follows from libcurl and show it elsewhere.
  if (!url || copy.find('\0') != std::string::npos) return nullptr;
  if (curl_url_set(url.get(), CURLUPART_URL, copy.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    return nullptr;
  }
  return url;
}

std::optional<std::string> part(const CurlUrl& url, CURLUPart which, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url.get(), which, &text, flags) != CURLUE_OK) return std::nullopt;
  std::string copy(text);
  curl_free(text);
  return which == CURLUPART_HOST ? ascii::lower_case(copy) : copy;
}

}  // namespace

std::string shown_address(std::string_view text) {
  const CurlUrl url = parsed(text);
  if (!url) return "(not a URL)";
  const auto port = part(url, CURLUPART_PORT, 0);
  std::string shown = part(url, CURLUPART_SCHEME, 0).value_or("") + "://" +
                      part(url, CURLUPART_HOST, 0).value_or("") + (port ? ":" + *port : "") +
                      part(url, CURLUPART_PATH, 0).value_or("");
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (shown.size() > kShownBytesMax) shown.resize(kShownBytesMax);
  return shown;
}

bool same_origin(std::string_view one, std::string_view other) {
  const CurlUrl a = parsed(one);
  const CurlUrl b = parsed(other);
  if (!a || !b) return false;
  const auto same = [&](CURLUPart which, unsigned flags) {
    const auto of_a = part(a, which, flags);
    return of_a && of_a == part(b, which, flags);
  };
  return same(CURLUPART_SCHEME, 0) && same(CURLUPART_HOST, 0) &&
         same(CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

bool is_upgrade_to_tls(std::string_view from, std::string_view to) {
  const CurlUrl a = parsed(from);
  const CurlUrl b = parsed(to);
  if (!a || !b) return false;
  const auto host = part(a, CURLUPART_HOST, 0);
  return host && host == part(b, CURLUPART_HOST, 0) && part(a, CURLUPART_SCHEME, 0) == "http" &&
         part(b, CURLUPART_SCHEME, 0) == "https" &&
         part(a, CURLUPART_PORT, CURLU_DEFAULT_PORT) == "80" &&
         part(b, CURLUPART_PORT, CURLU_DEFAULT_PORT) == "443";
}

}  // namespace pennyweight::http
