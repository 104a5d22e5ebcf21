#include "server/access/oidc/id_token.h"

#include <cjose/cjose.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "core/try.h"
#include "server/access/oidc/encoding.h"

namespace pennyweight::access::oidc {
namespace {

constexpr std::size_t kRsaBitsMin = 2048;
constexpr std::string_view kLogoutEvent = "http://schemas.openid.net/event/backchannel-logout";
// How old a logout token may be that doesn't say when it expires, as drafts of the specification
// allowed.
constexpr std::chrono::seconds kLogoutLasts{300};
// How long one may last that says it: its id is kept until then.
constexpr std::chrono::seconds kLogoutLastsMax{86'400};

struct ReleaseJws {
  void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};
using Jws = std::unique_ptr<cjose_jws_t, ReleaseJws>;

std::unexpected<Error> refuse(std::string_view why) {
  return fail(ErrorCode::kBadValue, fmt::format("the provider's token is not valid: {}", why));
}

// Three base64url texts with dots between them (RFC 7515, section 7.1). cjose aborts the program on
// base64 of an impossible length, so it gets nothing else.
bool is_compact(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t second = token.find('.', first == token.npos ? first : first + 1);
  return second != token.npos && is_base64url(token.substr(0, first)) &&
         is_base64url(token.substr(first + 1, second - first - 1)) &&
         is_base64url(token.substr(second + 1));
}

// A public key (RFC 7518, section 6) as JSON of our own, in which each member stands once and every
// number is base64url, for the same reason. Nothing if it is another kind of key, or a number is
// not base64url. The provider's own text is not handed on: where it has a member twice, cjose might
// read the one and we the other.
std::optional<std::string> public_key_json(const JsonObject& key) {
  const auto number = [&](std::string_view member) -> std::optional<std::string> {
    auto text = key.text(member);
    return text && is_base64url(*text) ? std::move(text) : std::nullopt;
  };
  const std::string type = key.text("kty").value_or("");
  if (type == "RSA") {
    const auto n = number("n"), e = number("e");
    if (!n || !e) return std::nullopt;
    return fmt::format(R"({{"kty":"RSA","n":"{}","e":"{}"}})", *n, *e);
  }
  if (type == "EC" && key.text("crv") == "P-256") {
    const auto x = number("x"), y = number("y");
    if (!x || !y) return std::nullopt;
    return fmt::format(R"({{"kty":"EC","crv":"P-256","x":"{}","y":"{}"}})", *x, *y);
  }
  return std::nullopt;
}

Result<Jws> parse(std::string_view token) {
  if (token.size() > kTokenBytesMax) {
    return refuse(fmt::format("it has more than {} bytes", kTokenBytesMax));
  }
  if (!is_compact(token)) return refuse("it is not a signed token");
  cjose_err ignored = {};
  Jws jws(cjose_jws_import(token.data(), token.size(), &ignored));
  if (!jws) return refuse("it is not a signed token");
  return jws;
}

std::string header_text(cjose_jws_t& jws, const char* name) {
  cjose_err ignored = {};
  const char* value = cjose_header_get(cjose_jws_get_protected(&jws), name, &ignored);
  return value == nullptr ? "" : value;
}

bool header_has(cjose_jws_t& jws, const char* name) {
  cjose_err ignored = {};
  char* raw = cjose_header_get_raw(cjose_jws_get_protected(&jws), name, &ignored);
  const bool has = raw != nullptr;
  std::free(raw);  // cjose's default allocator
  return has;
}

Result<TokenHeader> header_of(cjose_jws_t& jws) {
  TokenHeader header{.alg = header_text(jws, CJOSE_HDR_ALG),
                     .kid = header_text(jws, CJOSE_HDR_KID)};
  // Never "none" and never HMAC: anybody who knows the public key could sign with it as the secret.
  if (header.alg != "RS256" && header.alg != "ES256") {
    return refuse("it is not signed with RS256 or ES256");
  }
  if (header_has(jws, "crit"))
    return refuse("its header has a critical extension that is not supported");
  return header;
}

// RS256, ES256, or "" for an unusable key.
std::string algorithm_of(const cjose_jwk_t& key) {
  cjose_err ignored = {};
  switch (cjose_jwk_get_kty(&key, &ignored)) {
    case CJOSE_JWK_KTY_RSA:
      return cjose_jwk_get_keysize(&key, &ignored) >= kRsaBitsMin ? "RS256" : "";
    case CJOSE_JWK_KTY_EC:
      return cjose_jwk_EC_get_curve(&key, &ignored) == CJOSE_JWK_EC_P_256 ? "ES256" : "";
    case CJOSE_JWK_KTY_OCT:
      return "";
  }
  return "";
}

}  // namespace

void KeySet::Release::operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }

Result<KeySet> KeySet::read(std::string_view json) {
  const auto document = JsonObject::read(json);
  if (!document) return std::unexpected(document.error().during("the provider's keys"));
  const std::vector<std::string> all = document->objects("keys");
  if (all.size() > kKeysMax) {
    return fail(ErrorCode::kLimit, fmt::format("the provider has more than {} keys", kKeysMax));
  }
  KeySet set;
  for (const std::string& each : all) {
    const auto about = JsonObject::read(each);
    if (!about || about->text("use").value_or("sig") != "sig") continue;
    const auto key_json = public_key_json(*about);
    if (!key_json) continue;
    cjose_err ignored = {};
    Key key{.kid = about->text("kid").value_or(""), .alg = {}, .key = {}};
    key.key.reset(cjose_jwk_import(key_json->data(), key_json->size(), &ignored));
    if (!key.key) continue;
    key.alg = algorithm_of(*key.key);
    if (key.alg.empty() || about->text("alg").value_or(key.alg) != key.alg) continue;
    set.keys_.push_back(std::move(key));
  }
  return set;
}

const cjose_jwk_t* KeySet::find(const TokenHeader& header) const {
  const cjose_jwk_t* found = nullptr;
  for (const Key& key : keys_) {
    if (key.alg != header.alg || (!header.kid.empty() && key.kid != header.kid)) continue;
    if (found != nullptr) return nullptr;
    found = key.key.get();
  }
  return found;
}

Result<TokenHeader> read_token_header(std::string_view token) {
  const auto jws = TRY(parse(token));
  return header_of(*jws);
}

namespace {

// The claims of a token whose signature is right.
Result<JsonObject> signed_claims(std::string_view token, const KeySet& keys) {
  const auto jws = TRY(parse(token));
  const auto header = TRY(header_of(*jws));
  const cjose_jwk_t* key = keys.find(header);
  if (key == nullptr) return refuse("it is signed with a key that the provider does not publish");
  cjose_err ignored = {};
  if (!cjose_jws_verify(jws.get(), key, &ignored)) return refuse("its signature is wrong");
  std::uint8_t* bytes = nullptr;  // owned by the token
  std::size_t size = 0;
  if (!cjose_jws_get_plaintext(jws.get(), &bytes, &size, &ignored)) return refuse("it is empty");
  auto claims = JsonObject::read({reinterpret_cast<const char*>(bytes), size});
  if (!claims) return refuse(claims.error().message);
  return claims;
}

}  // namespace

Result<JsonObject> verify_id_token(std::string_view token, const KeySet& keys,
                                   const ExpectedToken& expected) {
  auto claims = TRY(signed_claims(token, keys));
  TRY(check_claims(claims, expected));
  return claims;
}

Result<JsonObject> verify_logout_token(std::string_view token, const KeySet& keys,
                                       const ExpectedToken& expected) {
  auto claims = TRY(signed_claims(token, keys));
  TRY(check_logout_claims(claims, expected));
  return claims;
}

Instant logout_ends_at(const JsonObject& claims) {
  const std::int64_t issued = claims.integer("iat").value_or(0);
  return from_unix_seconds(claims.integer("exp").value_or(issued + kLogoutLasts.count())) +
         kClockSkew;
}

Result<void> check_logout_claims(const JsonObject& claims, const ExpectedToken& expected) {
  if (claims.text("iss") != expected.issuer) return refuse("it is from another issuer");
  if (const auto audience = claims.texts("aud");
      std::ranges::find(audience, expected.client_id) == audience.end()) {
    return refuse("it is for another client");
  }
  const std::int64_t now_s = unix_ms(expected.now) / 1000;
  const auto issued = claims.integer("iat");
  if (!issued) return refuse("it does not say when it was issued");
  if (*issued > now_s + kClockSkew.count()) {
    return refuse("it was issued in the future; check both clocks");
  }
  if (*issued < 0) return refuse("it was issued before 1970");
  if (claims.has("exp") && !claims.integer("exp")) {
    return refuse("it does not say when it expires");
  }
  const std::int64_t expires = claims.integer("exp").value_or(*issued + kLogoutLasts.count());
  if (expires > *issued + kLogoutLastsMax.count()) {
    return refuse("it expires more than a day after it was issued");
  }
  if (expires <= now_s - kClockSkew.count()) {
    return refuse("it has expired; check both clocks");
  }
  const std::string id = claims.text("jti").value_or("");
  if (id.empty() || id.size() > 255) return refuse("it has no valid id (jti)");
  // What tells it from an ID token, which must not sign anybody out: the event, and no nonce.
  const auto events = claims.object("events");
  const auto event = events ? JsonObject::read(*events) : Result<JsonObject>(refuse(""));
  if (!event || !event->has_member(kLogoutEvent)) return refuse("it is not about a logout");
  if (claims.has("nonce")) return refuse("it has a nonce, as ID tokens have");
  const std::string subject = claims.text("sub").value_or("");
  if (subject.empty() || subject.size() > 255) {
    return refuse("it names no subject (sub); sessions of the provider (sid) are not known");
  }
  return {};
}

Result<void> check_claims(const JsonObject& claims, const ExpectedToken& expected) {
  if (claims.text("iss") != expected.issuer) return refuse("it is from another issuer");
  const std::vector<std::string> audience = claims.texts("aud");
  if (std::ranges::find(audience, expected.client_id) == audience.end()) {
    return refuse("it is for another client");
  }
  const auto party = claims.text("azp");
  if (claims.has("azp") ? party != expected.client_id : audience.size() > 1) {
    return refuse("it was issued to another client");
  }
  const Instant now = expected.now;
  const std::int64_t now_s = unix_ms(now) / 1000;
  const std::int64_t skew = kClockSkew.count();
  const auto expires = claims.integer("exp");
  if (!expires) return refuse("it does not say when it expires");
  if (*expires <= now_s - skew) return refuse("it has expired; check both clocks");
  const auto issued = claims.integer("iat");
  if (!issued) return refuse("it does not say when it was issued");
  if (*issued > now_s + skew) return refuse("it was issued in the future; check both clocks");
  if (claims.has("nbf") &&
      claims.integer("nbf").value_or(std::numeric_limits<std::int64_t>::max()) > now_s + skew) {
    return refuse("it is not valid yet; check both clocks");
  }
  const std::string nonce = claims.text("nonce").value_or("");
  if (expected.nonce.empty() || !is_same_secret(nonce, expected.nonce)) {
    return refuse("it belongs to another sign-in");
  }
  const std::string subject = claims.text("sub").value_or("");
  if (subject.empty() || subject.size() > 255) return refuse("it has no valid subject");
  // at_hash is the first half of the access token's SHA-256, for both algorithms.
  if (claims.has("at_hash") &&
      claims.text("at_hash") != to_base64url(sha256(expected.access_token).substr(0, 16))) {
    return refuse("it came with another access token");
  }
  return {};
}

}  // namespace pennyweight::access::oidc
