// Anything may come as a token, a set of keys, a discovery document, or claims: it is refused or
// read. Nothing that nobody signed is taken, and no claims give a role that is not configured.
#include <algorithm>
#include <string>
#include <vector>

#include "access/oidc/id_token.h"
#include "access/oidc/metadata.h"
#include "access/oidc/vouch.h"
#include "core/check.h"

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
  const Expected expected{.issuer = settings.issuer,
                          .client_id = settings.client_id,
                          .nonce = "n",
                          .now = pennyweight::from_unix_seconds(1'700'000'000)};
  // A token, a line end, and the keys it may be signed with.
  const std::size_t line = text.find('\n');
  const auto keys = KeySet::read(line == std::string_view::npos ? "{}" : text.substr(line + 1));
  const KeySet none;
  const auto taken = verify_id_token(text.substr(0, line), keys ? *keys : none, expected);
  CHECK(!taken || (keys && keys->size() > 0), "without a key nothing is signed");

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
  const auto vouched = vouch(sources, settings);
  if (vouched) {
    CHECK(vouched->role == "admin" || (vouched->role == "viewer" && !vouched->scope.empty()),
          "who is no admin sees a part");
    CHECK(!vouched->name.empty() && vouched->name.size() <= 128, "he has a name");
  }
  return 0;
}
