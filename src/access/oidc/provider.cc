#include "access/oidc/provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <optional>
#include <utility>

#include "access/oidc/encoding.h"
#include "access/oidc/id_token.h"
#include "access/oidc/json_object.h"
#include "access/oidc/metadata.h"
#include "access/oidc/pending.h"
#include "access/oidc/vouch.h"
#include "core/plain_text.h"
#include "http/address.h"
#include "http/client.h"

namespace pennyweight::access::oidc {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{10'000};
constexpr milliseconds kFreshFor{3'600'000};
// What the provider published is used for so long where it can't be asked again.
constexpr milliseconds kUsableFor{86'400'000};
// A provider that does not answer is not asked by everybody at once.
constexpr milliseconds kBetweenFailures{5'000};
// A key that is not known makes us look for new ones, so often at most: anybody can name one.
constexpr milliseconds kBetweenKeySearches{60'000};
constexpr std::size_t kSecretBytesMax = 64u << 10;
constexpr std::size_t kParameterBytesMax = 16u << 10;

// A path of ours: where the browser goes afterwards is no other site's.
std::string own_path(std::string_view next) {
  const bool is_own = next.starts_with('/') && next.size() <= kParameterBytesMax / 8 &&
                      !next.starts_with("//") && next.find('\\') == std::string_view::npos &&
                      std::ranges::all_of(next, [](char c) { return c > ' ' && c != 127; });
  return is_own ? std::string(next) : "/";
}

// "invalid_grant" and its like; what else it may be is not told.
std::string error_word(std::string_view text) {
  const bool is_word = !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || c == '-' || (c >= '0' && c <= '9');
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

// The one value; nothing where it is missing, twice, or too long.
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

  Result<Begun> begin(std::string_view next) override {
    const auto metadata = this->metadata();
    if (!metadata) return std::unexpected(metadata.error());
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
    std::string url = with_query(metadata->authorization_endpoint,
                                 {{"response_type", "code"},
                                  {"client_id", settings_.client_id},
                                  {"redirect_uri", settings_.redirect_url},
                                  {"scope", scopes},
                                  {"state", state},
                                  {"nonce", sign_in.nonce},
                                  {"code_challenge", base64url(sha256(sign_in.code_verifier))},
                                  {"code_challenge_method", "S256"}});
    const std::scoped_lock lock(mutex_);
    pending_.add(state, sign_in, now);
    return Begun{.url = std::move(url), .cookie = cookie};
  }

  Result<Finished> finish(const std::multimap<std::string, std::string>& query,
                          std::string_view cookie) override {
    std::optional<PendingSignIn> sign_in;
    {
      const std::scoped_lock lock(mutex_);
      sign_in = pending_.take(only_value(query, "state"), cookie, clock_.now());
    }
    if (!sign_in) {
      return fail(ErrorCode::kNotFound,
                  "this sign-in is not known: it took too long, was used already, or was begun in "
                  "another browser; begin again");
    }
    const auto metadata = this->metadata();
    if (!metadata) return std::unexpected(metadata.error());
    if (auto right = check_issuer(query, *metadata); !right) return std::unexpected(right.error());
    if (query.contains("error")) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("the provider refused: {}", error_word(only_value(query, "error"))));
    }
    const std::string code = only_value(query, "code");
    if (code.empty()) return fail(ErrorCode::kBadValue, "the provider sent no code");
    const auto tokens = exchange(*metadata, code, sign_in->code_verifier);
    if (!tokens) return std::unexpected(tokens.error());
    auto vouched = read_tokens(*metadata, *tokens, sign_in->nonce);
    if (!vouched) return std::unexpected(vouched.error());
    return Finished{.who = *std::move(vouched), .next = std::move(sign_in->next)};
  }

 private:
  struct Tokens {
    std::string id_token;
    std::string access_token;
  };

  // RFC 9207: an answer of another provider's is not to be taken for this one's.
  static Result<void> check_issuer(const std::multimap<std::string, std::string>& query,
                                   const Metadata& metadata) {
    if (!query.contains("iss") && !metadata.sends_issuer) return {};
    if (only_value(query, "iss") == metadata.issuer) return {};
    return fail(ErrorCode::kBadValue, "the answer is of another provider");
  }

  Result<http::Response> ask(http::Request request, std::size_t bytes_max) const {
    http::Settings settings;
    settings.ca_file = settings_.ca_file;
    settings.timeout = kPatience;
    settings.body_bytes_max = bytes_max;
    // Beside a header that may be secret, the client follows no redirect to another host, nor from
    // TLS to none.
    request.headers.emplace_back("Cache-Control", "no-cache");
    request.headers.emplace_back("Accept", "application/json");
    http::Client client(std::move(settings));
    auto response = client.send(request);
    if (!response) return std::unexpected(response.error().during("the OpenID provider"));
    return response;
  }

  Result<std::string> get_json(const std::string& url) const {
    const auto response = ask({.url = url}, JsonObject::kBytesMax);
    if (!response) return std::unexpected(response.error());
    if (response->status != 200) {
      return fail(ErrorCode::kIo, fmt::format("the OpenID provider: {} answers {}",
                                              http::shown_address(url), response->status));
    }
    return response->body;
  }

  // As published, asked for anew every hour.
  Result<Metadata> metadata() {
    const Instant now = clock_.now();
    const auto known = [&]() -> std::optional<Result<Metadata>> {
      const std::scoped_lock lock(mutex_);
      if (metadata_ && now < metadata_at_ + kFreshFor) return *metadata_;
      if (now < failed_at_ + kBetweenFailures && now >= failed_at_ && failure_) {
        if (metadata_ && now < metadata_at_ + kUsableFor) return *metadata_;
        return std::unexpected(*failure_);
      }
      return std::nullopt;
    };
    if (auto found = known()) return *std::move(found);
    const std::scoped_lock fetching(fetching_);
    if (auto found = known()) return *std::move(found);  // another has asked meanwhile
    const auto json = get_json(metadata_url(settings_.issuer));
    auto read = json ? read_metadata(*json, settings_.issuer, !settings_.client_secret_file.empty())
                     : Result<Metadata>(std::unexpected(json.error()));
    const std::scoped_lock lock(mutex_);
    if (!read) {
      failed_at_ = clock_.now();
      failure_ = read.error();
      // Not where it says something else now: only where it says nothing.
      if (!json && metadata_ && now < metadata_at_ + kUsableFor) return *metadata_;
      return read;
    }
    failure_.reset();
    metadata_ = *read;
    metadata_at_ = now;
    return read;
  }

  // So that the key is known by which the token is signed, if the provider publishes it.
  Result<void> refresh_keys(const Metadata& metadata, const TokenHeader& header) {
    const auto is_due = [&] {
      const Instant now = clock_.now();
      const std::scoped_lock lock(mutex_);
      if (keys_at_ && now < *keys_at_ + kFreshFor && now >= *keys_at_) {
        return keys_.find(header) == nullptr && now >= *keys_at_ + kBetweenKeySearches;
      }
      return true;
    };
    if (!is_due()) return {};
    const std::scoped_lock fetching(fetching_);
    if (!is_due()) return {};
    const auto json = get_json(metadata.jwks_uri);
    if (!json) return std::unexpected(json.error());
    auto keys = KeySet::read(*json);
    if (!keys) return std::unexpected(keys.error());
    const std::scoped_lock lock(mutex_);
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
                  fmt::format("serve.openid.client_secret_file: {} can't be read, is empty, or too "
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
      const auto secret = this->secret();
      if (!secret) return std::unexpected(secret.error());
      request.headers.emplace_back("Authorization",
                                   basic_authorization(settings_.client_id, *secret));
    }
    request.body = form(fields);
    const auto response = ask(std::move(request), 4 * kTokenBytesMax);
    if (!response) return std::unexpected(response.error());
    const auto answer = JsonObject::read(response->body);
    if (response->status != 200) {
      const std::string word = answer ? error_word(answer->text("error").value_or("")) : "an error";
      const bool is_ours = response->status == 400 && word == "invalid_grant";
      return fail(is_ours                   ? ErrorCode::kBadValue
                  : response->status >= 500 ? ErrorCode::kIo
                                            : ErrorCode::kConfig,
                  fmt::format("the OpenID provider gives no token: it answers {} with {}",
                              response->status, word));
    }
    if (!answer) return std::unexpected(answer.error().during("the OpenID provider's tokens"));
    Tokens tokens{.id_token = answer->text("id_token").value_or(""),
                  .access_token = answer->text("access_token").value_or("")};
    if (tokens.id_token.empty()) {
      return fail(ErrorCode::kBadValue, "the OpenID provider sent no ID token");
    }
    return tokens;
  }

  Result<Vouched> read_tokens(const Metadata& metadata, const Tokens& tokens,
                              const std::string& nonce) {
    const auto header = read_token_header(tokens.id_token);
    if (!header) return std::unexpected(header.error());
    if (auto refreshed = refresh_keys(metadata, *header); !refreshed) {
      return std::unexpected(refreshed.error());
    }
    std::vector<JsonObject> sources;
    {
      const std::scoped_lock lock(mutex_);
      auto claims = verify_id_token(tokens.id_token, keys_,
                                    {.issuer = settings_.issuer,
                                     .client_id = settings_.client_id,
                                     .nonce = nonce,
                                     .now = clock_.now(),
                                     .access_token = tokens.access_token});
      if (!claims) return std::unexpected(claims.error());
      sources.push_back(*std::move(claims));
    }
    if (lacks_claims(sources.front(), settings_) && !metadata.userinfo_endpoint.empty() &&
        !tokens.access_token.empty()) {
      auto more = userinfo(metadata, tokens, sources.front());
      if (!more) return std::unexpected(more.error());
      sources.push_back(*std::move(more));
    }
    return vouch(sources, settings_);
  }

  // Claims that are too many for the token (OpenID Connect Core 1.0, section 5.3).
  Result<JsonObject> userinfo(const Metadata& metadata, const Tokens& tokens,
                              const JsonObject& claims) const {
    http::Request request{.url = metadata.userinfo_endpoint};
    request.headers.emplace_back("Authorization", "Bearer " + tokens.access_token);
    const auto response = ask(std::move(request), kTokenBytesMax);
    if (!response) return std::unexpected(response.error());
    if (response->status != 200) {
      return fail(ErrorCode::kIo,
                  fmt::format("the OpenID provider: its userinfo answers {}", response->status));
    }
    auto more = JsonObject::read(response->body);
    if (!more) return std::unexpected(more.error().during("the OpenID provider's userinfo"));
    if (!more->has("sub") || more->text("sub") != claims.text("sub")) {
      return fail(ErrorCode::kBadValue, "the OpenID provider's userinfo is of another person");
    }
    return more;
  }

  const Settings settings_;
  Clock& clock_;
  std::mutex fetching_;  // taken before mutex_: one asks, the others wait for what it brings

  std::mutex mutex_;  // of the following
  Pending pending_;
  std::optional<Metadata> metadata_;
  Instant metadata_at_;
  std::optional<Error> failure_;
  Instant failed_at_;
  KeySet keys_;
  std::optional<Instant> keys_at_;
};

}  // namespace

Result<std::unique_ptr<Provider>> Provider::open(const Settings& settings, Clock& clock) {
  if (auto right = check(settings); !right) return std::unexpected(right.error());
  return std::make_unique<OpenIdProvider>(settings, clock);
}

}  // namespace pennyweight::access::oidc
