#include "server/access/oidc/metadata.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/http/address.h"
#include "core/try.h"
#include "server/access/oidc/json_object.h"
#include "server/access/oidc/settings.h"

namespace pennyweight::access::oidc {
namespace {

bool has_only_url_bytes(std::string_view url) {
  return std::ranges::all_of(url, [](char c) { return c > ' ' && c < 127 && c != '\\'; });
}

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address = {};
  return host.starts_with("127.") && ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1;
}

Result<void> check_method(const JsonObject& document, std::string_view name,
                          std::string_view wanted, std::string_view fallback) {
  std::vector<std::string> known = document.texts(name);
  if (known.empty() && !document.has(name)) known.emplace_back(fallback);
  if (std::ranges::find(known, wanted) != known.end()) return {};
  return fail(
      ErrorCode::kConfig,
      fmt::format("the provider lacks a required feature: its {} does not list {}", name, wanted));
}

}  // namespace

bool is_safe_url(std::string_view url) {
  if (!has_only_url_bytes(url) || url.find('#') != std::string_view::npos) return false;
  if (url.starts_with("https://")) return url.size() > 8;
  constexpr std::string_view kPlain = "http://";
  if (!url.starts_with(kPlain)) return false;
  url.remove_prefix(kPlain.size());
  const std::string_view authority = url.substr(0, url.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos) return false;
  const std::size_t end =
      authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':');
  return is_loopback(authority.substr(0, end));
}

std::string metadata_url(std::string_view issuer) {
  while (issuer.ends_with('/')) issuer.remove_suffix(1);
  return std::string(issuer) + "/.well-known/openid-configuration";
}

Result<Metadata> read_metadata(std::string_view json, std::string_view issuer, bool has_secret) {
  const auto document = JsonObject::read(json);
  if (!document) return std::unexpected(document.error().during("the discovery document"));
  Metadata metadata;
  metadata.issuer = document->text("issuer").value_or("");
  if (metadata.issuer != issuer) {
    return fail(
        ErrorCode::kConfig,
        fmt::format("the provider calls itself {}; if that is right, set serve.openid.issuer "
                    "to exactly this",
                    http::shown_address(metadata.issuer)));
  }
  const std::pair<std::string_view, std::string*> endpoints[] = {
      {"authorization_endpoint", &metadata.authorization_endpoint},
      {"token_endpoint", &metadata.token_endpoint},
      {"jwks_uri", &metadata.jwks_uri},
      {"userinfo_endpoint", &metadata.userinfo_endpoint}};
  for (const auto& [name, into] : endpoints) {
    *into = document->text(name).value_or("");
    const bool may_lack = into == &metadata.userinfo_endpoint;
    if (into->empty() ? !may_lack : !is_safe_url(*into)) {
      return fail(ErrorCode::kConfig,
                  fmt::format("the provider's {} is {}", name,
                              into->empty() ? "missing" : "not an https:// URL"));
    }
  }
  metadata.sends_issuer =
      document->yes_or_no("authorization_response_iss_parameter_supported").value_or(false);
  TRY(check_method(*document, "response_types_supported", "code", "code"));
  TRY(check_method(*document, "token_endpoint_auth_methods_supported",
                   has_secret ? "client_secret_basic" : "none",
                   has_secret ? "client_secret_basic" : "none"));
  return metadata;
}

Result<void> check(const Settings& settings) {
  if (!is_safe_url(settings.issuer)) {
    return fail(ErrorCode::kConfig,
                "serve.openid.issuer must be an https:// URL (http:// only for loopback)");
  }
  if (!is_safe_url(settings.redirect_url)) {
    return fail(ErrorCode::kConfig,
                "serve.openid.redirect_url must be an https:// URL (http:// only for "
                "loopback)");
  }
  if (settings.client_id.empty()) {
    return fail(ErrorCode::kConfig, "serve.openid.client_id is missing");
  }
  if (std::ranges::find(settings.scopes, "openid") == settings.scopes.end()) {
    return fail(ErrorCode::kConfig, "serve.openid.scopes must contain openid");
  }
  return {};
}

}  // namespace pennyweight::access::oidc
