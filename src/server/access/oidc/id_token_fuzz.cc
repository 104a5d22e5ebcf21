// Any bytes as a token, keys, a discovery document or claims are refused or read. No unsigned token
// is accepted, and no claims give a role that is not configured.
#include <algorithm>
#include <string>
#include <vector>

#include "core/check.h"
#include "server/access/oidc/claim_mapping.h"
#include "server/access/oidc/id_token.h"
#include "server/access/oidc/metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight::access::oidc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const Settings settings = {
      .issuer = "https://i.example",
      .client_id = "pw",
      .redirect_url = "https://pw.example/cb",
      .role_claim = "groups",
      .roles = {{"admins", "admin"}, {"people", "viewer"}},
      .default_role = "",
      .scope_claim = "groups",
      .scope_rules = {{.match = "team-*", .dimension = "team"}},
  };
  const ExpectedToken expected{.issuer = settings.issuer,
                               .client_id = settings.client_id,
                               .nonce = "n",
                               .now = pennyweight::from_unix_seconds(1'700'000'000)};
  // A token, a newline, and the keys that may have signed it.
  const std::size_t line = text.find('\n');
  const auto keys = KeySet::read(line == std::string_view::npos ? "{}" : text.substr(line + 1));
  const KeySet none;
  const auto taken = verify_id_token(text.substr(0, line), keys ? *keys : none, expected);
  CHECK(!taken || (keys && keys->size() > 0), "no token is valid without a key");

  const auto metadata = read_metadata(text, settings.issuer, false);
  if (metadata) {
    CHECK(metadata->issuer == settings.issuer, "it is the issuer's own");
    CHECK(is_safe_url(metadata->token_endpoint) && is_safe_url(metadata->jwks_uri),
          "secrets go over TLS");
  }
  auto claims = JsonObject::read(text);
  if (!claims) return 0;
  static_cast<void>(check_claims(*claims, expected).has_value());
  std::vector<JsonObject> sources;
  sources.push_back(*std::move(claims));
  const auto identity = map_claims(sources, settings);
  if (identity && identity->not_entitled.empty()) {
    CHECK(identity->role == "admin" || (identity->role == "viewer" && !identity->scope.empty()),
          "users other than admins have a scope");
    CHECK(!identity->name.empty() && identity->name.size() <= 128, "the user has a name");
  }
  return 0;
}
