#include "core/objects/sign.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/crypto/sha256.h"

namespace pennyweight::objects {
namespace {

// "20260305T101112Z"
std::string basic_time(Instant at) {
  std::string text = to_text(std::chrono::floor<std::chrono::seconds>(at));
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

}  // namespace

std::string percent_encoded(std::string_view text, bool keeps_slashes) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = ascii::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' ||
                          c == '~' || (keeps_slashes && c == '/');
    if (is_plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string query_text(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    out += (out.empty() ? "" : "&") + percent_encoded(name, false) + "=" +
           percent_encoded(value, false);
  }
  return out;
}

std::map<std::string, std::string> sign_s3(const S3Signature& request) {
  const std::string time = basic_time(request.at);
  const std::string day = time.substr(0, 8);
  const std::string nothing = to_hex(sha256(""));
  std::map<std::string, std::string> headers = {
      {"host", request.host}, {"x-amz-content-sha256", nothing}, {"x-amz-date", time}};
  if (!request.session_token.empty()) headers["x-amz-security-token"] = request.session_token;
  std::string lines, names;
  for (const auto& [name, value] : headers) {
    lines += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical = fmt::format("GET\n{}\n{}\n{}\n{}\n{}", request.path,
                                            query_text(request.query), lines, names, nothing);
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", day, request.region);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, to_hex(sha256(canonical)));
  std::string key = hmac_sha256("AWS4" + request.secret_key, day);
  for (const std::string_view part : {std::string_view(request.region), std::string_view("s3"),
                                      std::string_view("aws4_request")}) {
    key = hmac_sha256(key, part);
  }
  headers["authorization"] =
      fmt::format("AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders={},Signature={}",
                  request.access_key, scope, names, to_hex(hmac_sha256(key, to_sign)));
  headers.erase("host");  // the client sends it
  return headers;
}

std::string sign_shared_key(const SharedKey& request) {
  // Eleven standard headers, of which only If-Match (the eighth) may be sent; then ours, then the
  // resource.
  std::string to_sign = "GET\n" + std::string(7, '\n') + request.if_match + std::string(4, '\n');
  for (const auto& [name, value] : request.headers) to_sign += name + ":" + value + "\n";
  to_sign += "/" + request.account + request.path;
  for (const auto& [name, value] : request.query) to_sign += "\n" + name + ":" + value;
  return fmt::format("SharedKey {}:{}", request.account,
                     to_base64(hmac_sha256(request.key, to_sign)));
}

}  // namespace pennyweight::objects
