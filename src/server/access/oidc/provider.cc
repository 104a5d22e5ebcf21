#include "server/access/oidc/provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/crypto/sha256.h"
#include "core/http/address.h"
#include "core/http/client.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "server/access/oidc/claim_mapping.h"
#include "server/access/oidc/encoding.h"
#include "server/access/oidc/id_token.h"
#include "server/access/oidc/json_object.h"
#include "server/access/oidc/metadata.h"
#include "server/access/oidc/pending_sign_ins.h"

namespace pennyweight::access::oidc {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{10'000};
constexpr milliseconds kFreshFor{3'600'000};
// How long the provider's metadata is used while it can't be fetched again.
constexpr milliseconds kUsableFor{86'400'000};
// How long to wait before asking a provider again that does not answer.
constexpr milliseconds kBetweenFailures{5'000};
// How often an unknown key may trigger fetching the keys again: anybody can name an unknown key.
constexpr milliseconds kBetweenKeySearches{60'000};
constexpr std::size_t kSecretBytesMax = 64u << 10;
constexpr std::size_t kParameterBytesMax = 16u << 10;
// Logout tokens that could be sent again; each is signed by the provider.
constexpr std::size_t kLogoutsMax = 10'000;

// Keeps only paths of this server: afterwards, the browser must not go to another site.
std::string own_path(std::string_view next) {
  const bool is_own = next.starts_with('/') && next.size() <= kParameterBytesMax / 8 &&
                      !next.starts_with("//") && next.find('\\') == std::string_view::npos &&
                      std::ranges::all_of(next, [](char c) { return c > ' ' && c != 127; });
  return is_own ? std::string(next) : "/";
}

// An error code such as "invalid_grant"; other texts are not repeated.
std::string error_word(std::string_view text) {
  const bool is_word = !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return ascii::is_lower(c) || c == '_' || c == '-' || ascii::is_digit(c);
  });
  return is_word ? std::string(text) : "an error";
}

std::string with_query(std::string url,
                       const std::vector<std::pair<std::string, std::string>>& query) {
  char separator = url.find('?') == std::string::npos ? '?' : '&';
  for (const auto& [name, value] : query) {
    url += separator;
    url += form_encoded(name) + "=" + form_encoded(value);
    separator = '&';
  }
  return url;
}

std::string form(const std::vector<std::pair<std::string, std::string>>& fields) {
  return with_query("?", fields).substr(2);
}

// The only value of a parameter; nothing if it is missing, repeated, or too long.
std::string only_value(const std::multimap<std::string, std::string>& query,
                       const std::string& name) {
  const auto [begin, end] = query.equal_range(name);
  if (begin == end || std::next(begin) != end || begin->second.size() > kParameterBytesMax)
    return {};
  return begin->second;
}

class OpenIdProvider : public Provider {
 public:
  OpenIdProvider(Settings settings, Clock& clock) : settings_(std::move(settings)), clock_(clock) {}

  const std::string& name() const override { return settings_.name; }

  Result<SignInRedirect> begin(std::string_view next) override {
    const auto metadata = TRY(this->metadata());
    const std::string state = random_text();
    const std::string cookie = random_text();
    const Instant now = clock_.now();
    const PendingSignIn sign_in{.cookie_hash = sha256(cookie),
                                .nonce = random_text(),
                                .code_verifier = random_text(),
                                .next = own_path(next),
                                .ends_at = now + kSignInLasts};
    std::string scopes;
    for (const std::string& scope : settings_.scopes) scopes += (scopes.empty() ? "" : " ") + scope;
    std::string url = with_query(metadata.authorization_endpoint,
                                 {{"response_type", "code"},
                                  {"client_id", settings_.client_id},
                                  {"redirect_uri", settings_.redirect_url},
                                  {"scope", scopes},
                                  {"state", state},
                                  {"nonce", sign_in.nonce},
                                  {"code_challenge", to_base64url(sha256(sign_in.code_verifier))},
                                  {"code_challenge_method", "S256"}});
    const std::scoped_lock lock(mutex_);
    pending_.add(state, sign_in, now);
    return SignInRedirect{.url = std::move(url), .cookie = cookie};
  }

  Result<SignInResult> finish(const std::multimap<std::string, std::string>& query,
                              std::string_view cookie) override {
    std::optional<PendingSignIn> sign_in;
    {
      const std::scoped_lock lock(mutex_);
      sign_in = pending_.take(only_value(query, "state"), cookie, clock_.now());
    }
    if (!sign_in) {
      return fail(ErrorCode::kNotFound,
                  "this sign-in is unknown: it took too long, was used already, or was started in "
                  "another browser; start again");
    }
    const auto metadata = TRY(this->metadata());
    TRY(check_issuer(query, metadata));
    if (query.contains("error")) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("the provider refused: {}", error_word(only_value(query, "error"))));
    }
    const std::string code = only_value(query, "code");
    if (code.empty()) return fail(ErrorCode::kBadValue, "the provider sent no code");
    const auto tokens = TRY(exchange(metadata, code, sign_in->code_verifier));
    auto identity = TRY(read_tokens(metadata, tokens, sign_in->nonce));
    return SignInResult{.who = std::move(identity), .next = std::move(sign_in->next)};
  }

  Result<SignOut> read_logout(std::string_view token) override {
    const auto header = TRY(read_token_header(token));
    const auto metadata = TRY(this->metadata());
    TRY(refresh_keys(metadata, header));
    const Instant now = clock_.now();
    const std::scoped_lock lock(mutex_);
    const auto claims = TRY(verify_logout_token(
        token, keys_,
        {.issuer = settings_.issuer, .client_id = settings_.client_id, .nonce = {}, .now = now}));
    std::erase_if(logouts_, [&](const auto& logout) { return logout.second <= now; });
    if (logouts_.size() >= kLogoutsMax) {
      return fail(ErrorCode::kLimit, "the OpenID provider sends too many logout tokens");
    }
    SignOut sign_out{.who = {.issuer = settings_.issuer,
                             .subject = claims.text("sub").value_or(""),
                             .name = {},
                             .display_name = {},
                             .email = {},
                             .not_entitled = "signed out at the provider"},
                     .id = claims.text("jti").value_or(""),
                     .ends_at = logout_ends_at(claims)};
    if (logouts_.contains(sign_out.id)) {
      return fail(ErrorCode::kBadValue, "the logout token was accepted before");
    }
    return sign_out;
  }

  void mark_done(const SignOut& done) override {
    const std::scoped_lock lock(mutex_);
    logouts_.emplace(done.id, done.ends_at);
  }

 private:
  struct Tokens {
    std::string id_token;
    std::string access_token;
  };

  // RFC 9207: an answer of another provider must not be taken for this one's.
  static Result<void> check_issuer(const std::multimap<std::string, std::string>& query,
                                   const Metadata& metadata) {
    if (!query.contains("iss") && !metadata.sends_issuer) return {};
    if (only_value(query, "iss") == metadata.issuer) return {};
    return fail(ErrorCode::kBadValue, "the answer is from another provider");
  }

  Result<http::Response> ask(http::Request request, std::size_t bytes_max) const {
    http::Settings settings;
    settings.ca_file = settings_.ca_file;
    settings.timeout = kPatience;
    settings.body_bytes_max = bytes_max;
    // With headers that may be secret, the client follows no redirect to another host or away from
    // TLS.
    request.headers.emplace_back("Cache-Control", "no-cache");
    request.headers.emplace_back("Accept", "application/json");
    http::Client client(std::move(settings));
    auto response = client.send(request);
    if (!response) return std::unexpected(response.error().during("the OpenID provider"));
    return response;
  }

  Result<std::string> get_json(const std::string& url) const {
    const auto response = TRY(ask({.url = url}, JsonObject::kBytesMax));
    if (response.status != 200) {
      return fail(ErrorCode::kIo, fmt::format("the OpenID provider: {} answers {}",
                                              http::shown_address(url), response.status));
    }
    return response.body;
  }

  // The metadata as published; fetched again every hour.
  Result<Metadata> metadata() {
    const auto known = [&]() -> std::optional<Result<Metadata>> {
      const Instant now = clock_.now();
      const std::scoped_lock lock(mutex_);
      if (metadata_ && now < metadata_at_ + kFreshFor) return *metadata_;
      if (now < failed_at_ + kBetweenFailures && now >= failed_at_ && failure_) {
        if (metadata_ && now < metadata_at_ + kUsableFor) return *metadata_;
        return std::unexpected(*failure_);
      }
      return std::nullopt;
    };
    if (auto found = known()) return *std::move(found);
    const auto turn = turn_to_fetch(failure_, failed_at_);
    if (!turn) {
      const Instant now = clock_.now();
      const std::scoped_lock lock(mutex_);
      if (metadata_ && now < metadata_at_ + kUsableFor) return *metadata_;
      return std::unexpected(turn.error());
    }
    if (auto found = known()) return *std::move(found);  // another thread has fetched it meanwhile
    const auto json = get_json(metadata_url(settings_.issuer));
    auto read = json ? read_metadata(*json, settings_.issuer, !settings_.client_secret_file.empty())
                     : Result<Metadata>(std::unexpected(json.error()));
    const Instant now = clock_.now();
    const std::scoped_lock lock(mutex_);
    if (!read) {
      failed_at_ = now;
      failure_ = read.error();
      // Old metadata stands in only if the provider gives no answer, not if it gives a different
      // one.
      if (json) metadata_.reset();
      if (metadata_ && now < metadata_at_ + kUsableFor) return *metadata_;
      return read;
    }
    failure_.reset();
    metadata_ = *read;
    metadata_at_ = now;
    return read;
  }

  // Waits until no other thread fetches; not where the last try has just failed: of a provider that
  // doesn't answer, one caller waits for the next try and the others are told.
  Result<std::unique_lock<std::mutex>> turn_to_fetch(const std::optional<Error>& failure,
                                                     const Instant& failed_at) {
    std::unique_lock fetching(fetching_, std::try_to_lock);
    if (fetching.owns_lock()) return fetching;
    {
      const Instant now = clock_.now();
      const std::scoped_lock lock(mutex_);
      const bool is_new = now < failed_at + kBetweenFailures + kPatience;
      if (failure && is_new) return std::unexpected(*failure);
    }
    fetching.lock();
    return fetching;
  }

  // Makes sure that the token's key is known, if the provider publishes it. Anybody can send a
  // token, so a provider that fails is not asked for each of them.
  Result<void> refresh_keys(const Metadata& metadata, const TokenHeader& header) {
    const auto known = [&]() -> std::optional<Result<void>> {
      const Instant now = clock_.now();
      const std::scoped_lock lock(mutex_);
      const bool is_fresh = keys_at_ && now < *keys_at_ + kFreshFor && now >= *keys_at_;
      if (is_fresh && (keys_.find(header) != nullptr || now < *keys_at_ + kBetweenKeySearches)) {
        return Result<void>();
      }
      if (keys_failure_ && now < keys_failed_at_ + kBetweenFailures && now >= keys_failed_at_) {
        return std::unexpected(*keys_failure_);
      }
      return std::nullopt;
    };
    if (auto found = known()) return *std::move(found);
    const auto turn = TRY(turn_to_fetch(keys_failure_, keys_failed_at_));
    if (auto found = known()) return *std::move(found);
    const auto json = get_json(metadata.jwks_uri);
    auto keys = json ? KeySet::read(*json) : Result<KeySet>(std::unexpected(json.error()));
    const std::scoped_lock lock(mutex_);
    if (!keys) {
      keys_failed_at_ = clock_.now();
      keys_failure_ = keys.error();
      return std::unexpected(keys.error());
    }
    keys_failure_.reset();
    keys_ = *std::move(keys);
    keys_at_ = clock_.now();
    return {};
  }

  Result<std::string> secret() const {
    std::ifstream file(settings_.client_secret_file, std::ios::binary);
    std::string text(kSecretBytesMax + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (text.empty() || text.size() > kSecretBytesMax) {
      return fail(ErrorCode::kConfig,
                  fmt::format("serve.openid.client_secret_file: {} is unreadable, empty, or too "
                              "large",
                              settings_.client_secret_file));
    }
    return text;
  }

  Result<Tokens> exchange(const Metadata& metadata, const std::string& code,
                          const std::string& verifier) const {
    std::vector<std::pair<std::string, std::string>> fields = {
        {"grant_type", "authorization_code"},
        {"code", code},
        {"redirect_uri", settings_.redirect_url},
        {"code_verifier", verifier}};
    http::Request request{.method = "POST", .url = metadata.token_endpoint};
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    if (settings_.client_secret_file.empty()) {
      fields.emplace_back("client_id", settings_.client_id);
    } else {
      const auto secret = TRY(this->secret());
      request.headers.emplace_back("Authorization",
                                   basic_authorization(settings_.client_id, secret));
    }
    request.body = form(fields);
    const auto response = TRY(ask(std::move(request), 4 * kTokenBytesMax));
    const auto answer = JsonObject::read(response.body);
    if (response.status != 200) {
      const std::string word = answer ? error_word(answer->text("error").value_or("")) : "an error";
      const bool is_ours = response.status == 400 && word == "invalid_grant";
      return fail(is_ours                  ? ErrorCode::kBadValue
                  : response.status >= 500 ? ErrorCode::kIo
                                           : ErrorCode::kConfig,
                  fmt::format("the OpenID provider issued no token: it answered {} with {}",
                              response.status, word));
    }
    if (!answer) return std::unexpected(answer.error().during("the OpenID provider's tokens"));
    Tokens tokens{.id_token = answer->text("id_token").value_or(""),
                  .access_token = answer->text("access_token").value_or("")};
    if (tokens.id_token.empty()) {
      return fail(ErrorCode::kBadValue, "the OpenID provider sent no ID token");
    }
    return tokens;
  }

  Result<ExternalIdentity> read_tokens(const Metadata& metadata, const Tokens& tokens,
                                       const std::string& nonce) {
    const auto header = TRY(read_token_header(tokens.id_token));
    TRY(refresh_keys(metadata, header));
    std::vector<JsonObject> sources;
    {
      const std::scoped_lock lock(mutex_);
      auto claims = TRY(verify_id_token(tokens.id_token, keys_,
                                        {.issuer = settings_.issuer,
                                         .client_id = settings_.client_id,
                                         .nonce = nonce,
                                         .now = clock_.now(),
                                         .access_token = tokens.access_token}));
      sources.push_back(std::move(claims));
    }
    if (lacks_claims(sources.front(), settings_) && !metadata.userinfo_endpoint.empty() &&
        !tokens.access_token.empty()) {
      auto more = TRY(userinfo(metadata, tokens, sources.front()));
      sources.push_back(std::move(more));
    }
    return map_claims(sources, settings_);
  }

  // The UserInfo endpoint has claims that don't fit into the token (OpenID Connect Core 1.0,
  // section 5.3).
  Result<JsonObject> userinfo(const Metadata& metadata, const Tokens& tokens,
                              const JsonObject& claims) const {
    http::Request request{.url = metadata.userinfo_endpoint};
    request.headers.emplace_back("Authorization", "Bearer " + tokens.access_token);
    const auto response = TRY(ask(std::move(request), kTokenBytesMax));
    if (response.status != 200) {
      return fail(ErrorCode::kIo,
                  fmt::format("the OpenID provider's userinfo answered {}", response.status));
    }
    auto more = JsonObject::read(response.body);
    if (!more) return std::unexpected(more.error().during("the OpenID provider's userinfo"));
    if (!more->has("sub") || more->text("sub") != claims.text("sub")) {
      return fail(ErrorCode::kBadValue, "the OpenID provider's userinfo is about another person");
    }
    return more;
  }

  const Settings settings_;
  Clock& clock_;
  std::mutex fetching_;  // taken before mutex_: one thread fetches, the others wait for the result

  std::mutex mutex_;  // guards the following
  PendingSignIns pending_;
  std::optional<Metadata> metadata_;
  Instant metadata_at_;
  std::optional<Error> failure_;
  Instant failed_at_;
  KeySet keys_;
  std::optional<Instant> keys_at_;
  std::optional<Error> keys_failure_;
  Instant keys_failed_at_;
  std::map<std::string, Instant> logouts_;  // by id (jti), until when each could be sent again
};

}  // namespace

Result<std::unique_ptr<Provider>> Provider::open(const Settings& settings, Clock& clock) {
  TRY(check(settings));
  return std::make_unique<OpenIdProvider>(settings, clock);
}

}  // namespace pennyweight::access::oidc
