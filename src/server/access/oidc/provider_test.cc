#include "server/access/oidc/provider.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base_encoding.h"
#include "core/crypto/sha256.h"
#include "core/try.h"
#include "server/access/oidc/fake_provider_test.h"
#include "server/access/oidc/id_token.h"
#include "server/access/oidc/metadata.h"
#include "server/access/oidc/pending_sign_ins.h"

namespace pennyweight::access::oidc {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string unescaped(std::string_view text) {
  return httplib::detail::decode_url(std::string(text), false);
}

std::string parameter(const std::string& url, const std::string& name) {
  const std::size_t at = url.find(name + "=", url.find('?'));
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 1;
  return unescaped(url.substr(begin, url.find('&', begin) - begin));
}

class ProviderTest : public testing::Test {
 protected:
  ProviderTest() {
    settings_.issuer = fake_.issuer;
    settings_.client_id = "pw";
    settings_.redirect_url = "https://pw.example/cb";
    settings_.role_claim = "groups";
    settings_.roles = {{"admins", "admin"}, {"people", "viewer"}};
    fake_.claims.issued = unix_ms(clock_.now()) / 1000;
    fake_.claims.expires = fake_.claims.issued + 300;
  }

  Provider& provider() {
    if (!provider_) {
      auto opened = Provider::open(settings_, clock_);
      CHECK(opened.has_value(), "the settings are right");
      provider_ = *std::move(opened);
    }
    return *provider_;
  }
  SignInRedirect begin(std::string_view next = "/explore?by=team") {
    const auto begun = provider().begin(next);
    CHECK(begun.has_value(), "the provider answers");
    fake_.claims.nonce = parameter(begun->url, "nonce");
    return *begun;
  }
  Result<SignInResult> finish(const SignInRedirect& begun) {
    return provider().finish({{"code", "c-1"}, {"state", parameter(begun.url, "state")}},
                             begun.cookie);
  }
  // A complete sign-in.
  Result<SignInResult> sign_in() { return finish(begin()); }
  std::string refusal() {
    const auto finished = sign_in();
    return finished ? "signed in" : finished.error().message;
  }

  SimulatedClock clock_{from_unix_seconds(1'800'000'000)};
  FakeProvider fake_;
  Settings settings_;
  std::unique_ptr<Provider> provider_;
  int tokens_ = 0;
};

TEST_F(ProviderTest, SendsTheBrowserThereAndKnowsItAgain) {
  const SignInRedirect begun = begin();
  EXPECT_TRUE(begun.url.starts_with(fake_.issuer + "/auth?")) << begun.url;
  EXPECT_EQ(parameter(begun.url, "response_type"), "code");
  EXPECT_EQ(parameter(begun.url, "client_id"), "pw");
  EXPECT_EQ(parameter(begun.url, "redirect_uri"), "https://pw.example/cb");
  EXPECT_EQ(parameter(begun.url, "scope"), "openid profile email");
  EXPECT_EQ(parameter(begun.url, "code_challenge_method"), "S256");
  EXPECT_THAT(begun.url, Not(HasSubstr(begun.cookie)));
  const auto finished = finish(begun);
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->next, "/explore?by=team");
  EXPECT_EQ(finished->who, (ExternalIdentity{.issuer = fake_.issuer,
                                             .subject = "s-1",
                                             .name = "ana",
                                             .display_name = "Ana Lima",
                                             .email = "",
                                             .role = "viewer"}));
  // The challenge is the verifier's hash (RFC 7636), and a public client sends its id.
  const std::string verifier = parameter("?" + fake_.token_body, "code_verifier");
  EXPECT_EQ(to_base64url(sha256(verifier)), parameter(begun.url, "code_challenge"));
  EXPECT_EQ(verifier.size(), 43U);
  EXPECT_EQ(parameter("?" + fake_.token_body, "client_id"), "pw");
  EXPECT_EQ(parameter("?" + fake_.token_body, "code"), "c-1");
  EXPECT_EQ(fake_.authorization, "");
}

TEST_F(ProviderTest, ProvesItselfWithItsSecret) {
  const auto file =
      std::filesystem::temp_directory_path() / ("oidc_test_secret." + std::to_string(::getpid()));
  std::ofstream(file) << "s:e c+\n";
  settings_.client_secret_file = file;
  EXPECT_TRUE(sign_in());
  EXPECT_EQ(fake_.authorization, "Basic cHc6cyUzQWUlMjBjJTJC") << "pw:s%3Ae%20c%2B";
  EXPECT_THAT(fake_.token_body, Not(HasSubstr("client_id")));
  std::filesystem::remove(file);
  EXPECT_THAT(refusal(), HasSubstr("client_secret_file"));
}

TEST_F(ProviderTest, EverySignInHasItsOwnSecrets) {
  const SignInRedirect one = begin();
  const SignInRedirect other = begin();
  for (const char* name : {"state", "nonce", "code_challenge"}) {
    EXPECT_EQ(parameter(one.url, name).size(), 43U);
    EXPECT_NE(parameter(one.url, name), parameter(other.url, name));
  }
  EXPECT_NE(one.cookie, other.cookie);
}

TEST_F(ProviderTest, LeadsOnlyToItsOwnPages) {
  for (const char* bad : {"https://evil.example/", "//evil.example", "/\\evil.example", "", "x",
                          "/a b", "/a\r\nSet-Cookie: x"}) {
    const auto finished = finish(begin(bad));
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->next, "/") << bad;
  }
}

TEST_F(ProviderTest, RefusesAnotherStateOrBrowserOrASecondTime) {
  const SignInRedirect begun = begin();
  const std::string state = parameter(begun.url, "state");
  const auto code_of = [&](const std::multimap<std::string, std::string>& query,
                           const std::string& cookie) {
    const auto finished = provider().finish(query, cookie);
    return finished ? std::optional<ErrorCode>() : finished.error().code;
  };
  EXPECT_EQ(code_of({{"code", "c"}, {"state", "other"}}, begun.cookie), ErrorCode::kNotFound);
  EXPECT_EQ(code_of({{"code", "c"}}, begun.cookie), ErrorCode::kNotFound);
  EXPECT_EQ(code_of({{"code", "c"}, {"state", state}, {"state", state}}, begun.cookie),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of({{"code", "c"}, {"state", state}}, begun.cookie), std::nullopt);
  EXPECT_EQ(code_of({{"code", "c"}, {"state", state}}, begun.cookie), ErrorCode::kNotFound)
      << "once";
  const SignInRedirect stolen = begin();
  EXPECT_EQ(code_of({{"code", "c"}, {"state", parameter(stolen.url, "state")}}, "another"),
            ErrorCode::kNotFound);
  EXPECT_EQ(code_of({{"code", "c"}, {"state", parameter(stolen.url, "state")}}, stolen.cookie),
            ErrorCode::kNotFound)
      << "a state tried by another browser is used up";
}

TEST_F(ProviderTest, RefusesSignInsThatTakeTooLong) {
  const SignInRedirect begun = begin();
  clock_.advance(Provider::kSignInLasts);
  EXPECT_EQ(finish(begun).error().code, ErrorCode::kNotFound);
}

TEST_F(ProviderTest, TellsWhatTheProviderSays) {
  const SignInRedirect begun = begin();
  const auto refused = provider().finish({{"error", "access_denied"},
                                          {"error_description", "<script>"},
                                          {"state", parameter(begun.url, "state")}},
                                         begun.cookie);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(refused.error().message, "the provider refused: access_denied");
}

TEST_F(ProviderTest, RefusesAnAnswerOfAnotherProvider) {
  fake_.more_metadata = R"(,"authorization_response_iss_parameter_supported":true)";
  EXPECT_THAT(refusal(), HasSubstr("from another provider"));
  const SignInRedirect begun = begin();
  const std::string state = parameter(begun.url, "state");
  EXPECT_FALSE(
      provider().finish({{"code", "c"}, {"state", state}, {"iss", "http://x"}}, begun.cookie));
  const SignInRedirect again = begin();
  EXPECT_TRUE(provider().finish(
      {{"code", "c"}, {"state", parameter(again.url, "state")}, {"iss", fake_.issuer}},
      again.cookie));
}

TEST_F(ProviderTest, RefusesTokensWithWrongClaims) {
  const TestClaims good = fake_.claims;
  const auto with = [&](const std::function<void(TestClaims&)>& change) {
    const SignInRedirect begun = begin();
    const std::string nonce = fake_.claims.nonce;
    fake_.claims = good;
    fake_.claims.nonce = nonce;
    change(fake_.claims);
    const auto finished = finish(begun);
    return finished ? "signed in" : finished.error().message;
  };
  EXPECT_EQ(with([](TestClaims&) {}), "signed in");
  EXPECT_THAT(with([](TestClaims& c) { c.nonce = "other"; }), HasSubstr("another sign-in"));
  EXPECT_THAT(with([](TestClaims& c) { c.nonce = ""; }), HasSubstr("another sign-in"));
  EXPECT_THAT(with([](TestClaims& c) { c.issuer += "/"; }), HasSubstr("another issuer"));
  EXPECT_THAT(with([](TestClaims& c) { c.audience = "\"other\""; }), HasSubstr("another client"));
  EXPECT_THAT(with([](TestClaims& c) { c.audience = "[]"; }), HasSubstr("another client"));
  EXPECT_THAT(with([](TestClaims& c) { c.audience = R"(["pw","other"])"; }),
              HasSubstr("issued to another client"));
  EXPECT_THAT(with([](TestClaims& c) { c.more += R"(,"azp":"other")"; }),
              HasSubstr("issued to another client"));
  EXPECT_EQ(with([](TestClaims& c) {
              c.audience = R"(["pw","other"])";
              c.more += R"(,"azp":"pw")";
            }),
            "signed in");
  EXPECT_THAT(with([](TestClaims& c) { c.expires = c.issued - 60; }), HasSubstr("expired"));
  EXPECT_EQ(with([](TestClaims& c) { c.expires = c.issued - 59; }), "signed in") << "skew";
  EXPECT_THAT(with([](TestClaims& c) { c.issued += 61; }), HasSubstr("in the future"));
  EXPECT_EQ(with([](TestClaims& c) { c.issued += 60; }), "signed in") << "skew";
  EXPECT_THAT(with([](TestClaims& c) { c.more += R"(,"nbf":4000000000)"; }),
              HasSubstr("not valid yet"));
  EXPECT_THAT(with([](TestClaims& c) { c.more += R"(,"at_hash":"AAAA")"; }),
              HasSubstr("another access token"));
  const std::string half = sha256("at").substr(0, 16);
  EXPECT_EQ(with([&](TestClaims& c) { c.more += R"(,"at_hash":")" + to_base64url(half) + "\""; }),
            "signed in");
}

TEST_F(ProviderTest, ReadsLogoutTokens) {
  const std::int64_t now = unix_ms(clock_.now()) / 1000;
  // The token with one part of it replaced.
  const auto read = [&](const std::string& part = "", const std::string& instead = "") {
    std::string json =
        fmt::format(R"({{"iss":"{}","sub":"s-1","aud":"pw","iat":{},"exp":{},"jti":"j-{}",)"
                    R"("events":{{"http://schemas.openid.net/event/backchannel-logout":{{}}}}}})",
                    fake_.issuer, now, now + 120, ++tokens_);
    if (const auto at = json.find(part); !part.empty() && at != std::string::npos) {
      json.replace(at, part.size(), instead);
    }
    return provider().read_logout(fake_.sign(json));
  };
  const auto sign_out = read();
  ASSERT_TRUE(sign_out) << sign_out.error().message;
  EXPECT_EQ(sign_out->who.issuer, fake_.issuer);
  EXPECT_EQ(sign_out->who.subject, "s-1");
  EXPECT_NE(sign_out->who.not_entitled, "");
  EXPECT_TRUE(read(R"("aud":"pw")", R"("aud":["other","pw"])"));
  EXPECT_TRUE(read(fmt::format(R"("exp":{},)", now + 120), "")) << "as drafts allowed";

  const auto refused = [&](const std::string& part, const std::string& instead) {
    const auto answer = read(part, instead);
    return answer ? "accepted" : answer.error().message;
  };
  EXPECT_THAT(refused(R"("aud":"pw")", R"("aud":"other")"), HasSubstr("another client"));
  EXPECT_THAT(refused(fake_.issuer, "https://elsewhere.example"), HasSubstr("another issuer"));
  EXPECT_THAT(refused(R"("sub":"s-1")", R"("sid":"x")"), HasSubstr("no subject"));
  EXPECT_THAT(refused(R"("jti":)", R"("jit":)"), HasSubstr("no valid id"));
  EXPECT_THAT(refused("backchannel-logout", "other"), HasSubstr("not about a logout"));
  EXPECT_THAT(refused(R"("events":)", R"("event":)"), HasSubstr("not about a logout"));
  EXPECT_THAT(refused(R"("iat":)", R"("nonce":"n","iat":)"), HasSubstr("nonce"));
  EXPECT_THAT(refused(fmt::format(R"("iat":{})", now), fmt::format(R"("iat":{})", now + 120)),
              HasSubstr("in the future"));
  EXPECT_THAT(refused(fmt::format(R"("exp":{})", now + 120), fmt::format(R"("exp":{})", now - 120)),
              HasSubstr("expired"));
  EXPECT_THAT(refused(fmt::format(R"("iat":{},"exp":{})", now, now + 120),
                      fmt::format(R"("iat":{})", now - 600)),
              HasSubstr("expired"));
  // Times that no calendar has: of nanoseconds, for example.
  const std::string exp = fmt::format(R"("exp":{})", now + 120);
  for (const std::int64_t far : {now + 86'401, now * 1'000'000'000, INT64_MAX}) {
    EXPECT_THAT(refused(exp, fmt::format(R"("exp":{})", far)), HasSubstr("more than a day"));
  }
  EXPECT_TRUE(read(exp, fmt::format(R"("exp":{})", now + 86'400)));
  EXPECT_THAT(refused(exp, fmt::format(R"("exp":{})", INT64_MIN)), HasSubstr("expired"));
  EXPECT_THAT(
      refused(fmt::format(R"("iat":{},{})", now, exp), fmt::format(R"("iat":{})", INT64_MIN)),
      HasSubstr("before 1970"));
  // An ID token signs nobody out, and a token works once.
  EXPECT_THAT(provider().read_logout(fake_.sign(fake_.claims.json())).error().message,
              HasSubstr("no valid id"));
  EXPECT_TRUE(read());
  --tokens_;
  const auto retried = read();
  ASSERT_TRUE(retried) << "what it asked for has not been done yet";
  provider().mark_done(*retried);
  --tokens_;
  const auto again = read();
  EXPECT_EQ(again ? "accepted" : again.error().message, "the logout token was accepted before");
  // Nor does one that somebody else has signed.
  const TestKey other = rsa_key("one");
  fake_.sign = [&](const std::string& json) { return signed_token(json, *other, "RS256", "one"); };
  EXPECT_THAT(refused("", ""), HasSubstr("signature is wrong"));
}

TEST_F(ProviderTest, RefusesTokensThatTheProviderDidNotSign) {
  const TestKey other = rsa_key("one");
  fake_.sign = [&](const std::string& json) { return signed_token(json, *other, "RS256", "one"); };
  EXPECT_THAT(refusal(), HasSubstr("signature is wrong")) << "another key of that name";
  fake_.sign = [&](const std::string& json) { return signed_token(json, *other, "RS256", "two"); };
  EXPECT_THAT(refusal(), HasSubstr("does not publish"));
  // No signature at all.
  fake_.sign = [](const std::string& json) {
    return to_base64url(R"({"alg":"none"})") + "." + to_base64url(json) + ".";
  };
  EXPECT_THAT(refusal(), HasSubstr("token is not valid"));
  fake_.sign = [](const std::string& json) {
    return to_base64url(R"({"alg":"none","kid":"one"})") + "." + to_base64url(json) + ".AAAA";
  };
  EXPECT_THAT(refusal(), HasSubstr("token is not valid"));
  // With the public key as a shared secret.
  const std::string published = fake_.keys.front();
  fake_.sign = [&](const std::string& json) {
    cjose_err error = {};
    const TestKey shared(cjose_jwk_create_oct_spec(
        reinterpret_cast<const std::uint8_t*>(published.data()), published.size(), &error));
    return signed_token(json, *shared, "HS256", "one");
  };
  EXPECT_THAT(refusal(), HasSubstr("RS256 or ES256"));
  // A published key, and a shared secret.
  fake_.keys = {R"({"kty":"oct","k":"c2VjcmV0","kid":"oct","alg":"HS256"})"};
  EXPECT_THAT(refusal(), HasSubstr("RS256 or ES256"));
  // One letter of the claims is changed.
  provider_.reset();
  fake_.keys = {published};
  FakeProvider second;
  fake_.sign = [&](const std::string& json) {
    std::string token = second.sign(json);
    token[token.find('.') + 5] ^= 1;
    return token;
  };
  EXPECT_THAT(refusal(), HasSubstr("token is not valid"));
  fake_.sign = [&](const std::string&) { return std::string(kTokenBytesMax + 1, 'x'); };
  EXPECT_THAT(refusal(), HasSubstr("more than 65536 bytes"));
  fake_.token_answer = [] { return std::string(R"({"access_token":"at"})"); };
  EXPECT_THAT(refusal(), HasSubstr("no ID token"));
}

// cjose aborts the program on impossible base64: none may get that far, wherever it is.
TEST_F(ProviderTest, RefusesWhatIsNoBase64url) {
  const std::string good = fake_.sign(R"({"iss":"x"})");
  const auto keys = KeySet::read(R"({"keys":[)" + fake_.keys.front() + "]}");
  ASSERT_TRUE(keys);
  const auto said = [&](const std::string& token) {
    const auto claims = verify_id_token(token, *keys, {});
    return claims ? "taken" : claims.error().message;
  };
  EXPECT_THAT(said(good), HasSubstr("another issuer")) << "its signature is valid";
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string shorter = good;
    shorter.erase(at, 1);
    EXPECT_THAT(said(shorter), HasSubstr("is not valid")) << at;
    for (const char letter : {'=', '+', '/', '.', '\n', '\0'}) {
      std::string other = good;
      other[at] = letter;
      if (other == good) continue;
      EXPECT_THAT(said(other), HasSubstr("is not valid")) << at;
    }
  }
  for (const char* none :
       {"", ".", "..", "...", "a.b.c", "AA.AA", "AA.AA.", "AA..AA", "AA.AA.AA.AA"}) {
    EXPECT_THAT(said(none), HasSubstr("not a signed token")) << none;
  }
}

TEST_F(ProviderTest, ReadsEachMemberOfAKeyOnce) {
  // cjose would take the last "n", which is no base64url; we read the first one.
  std::string twice = fake_.keys.front();
  ASSERT_EQ(twice.back(), '}');
  twice.insert(twice.size() - 1, R"(,"n":"u=qs8")");
  EXPECT_EQ(KeySet::read(R"({"keys":[)" + twice + "]}")->size(), 1u);
  EXPECT_EQ(KeySet::read(R"({"keys":[{"kty":"RSA","e":"AQAB","n":"u=qs8"}]})")->size(), 0u);
  EXPECT_EQ(KeySet::read(R"({"keys":[{"kty":"RSA","e":"AQAB"},{"kty":"oct","k":"AAAA"}]})")->size(),
            0u);
}

TEST_F(ProviderTest, UnderstandsWhatMustBeUnderstood) {
  fake_.sign = [](const std::string& json) {
    return to_base64url(R"({"alg":"RS256","kid":"one","crit":["exp"]})") + "." +
           to_base64url(json) + ".AAAA";
  };
  EXPECT_THAT(refusal(), HasSubstr("critical extension"));
}

TEST_F(ProviderTest, TakesEllipticCurves) {
  const TestKey curve = ec_key("curve");
  fake_.keys.push_back(public_json(*curve));
  fake_.sign = [&](const std::string& json) {
    return signed_token(json, *curve, "ES256", "curve");
  };
  EXPECT_EQ(refusal(), "signed in");
  // A single key of its type needs no name, two do.
  fake_.sign = [&](const std::string& json) { return signed_token(json, *curve, "ES256", ""); };
  EXPECT_EQ(refusal(), "signed in");
  fake_.keys.push_back(public_json(*ec_key("second")));
  provider_.reset();
  EXPECT_THAT(refusal(), HasSubstr("does not publish"));
}

TEST_F(ProviderTest, LeavesOutKeysThatAreNoUse) {
  const TestKey shorter = rsa_key("short", 1024);
  const TestKey curve = ec_key("curve");
  std::string encrypts = public_json(*curve);
  encrypts.insert(1, R"("use":"enc",)");
  std::string named_for_another = public_json(*curve);
  named_for_another.insert(1, R"("alg":"ES384",)");
  const auto keys = KeySet::read(
      "{\"keys\":[" + public_json(*shorter) + "," + encrypts + "," + named_for_another +
      R"(,{"kty":"oct","k":"c2VjcmV0"},{"kty":"OKP"},{},7,)"
      R"({"kty":"RSA","n":"AAAAA","e":"AQAB"},{"kty":"RSA","n":"AAAA","e":7},)"
      R"({"kty":"EC","crv":"P-256","x":"A","y":"="}]})");
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->size(), 0U);
  EXPECT_FALSE(KeySet::read("[]"));
  std::string many = "{}";
  for (std::size_t i = 0; i < KeySet::kKeysMax; ++i) many += ",{}";
  EXPECT_FALSE(KeySet::read("{\"keys\":[" + many + "]}"));
}

TEST_F(ProviderTest, FindsNewKeysButDoesNotAskForThemAllTheTime) {
  EXPECT_EQ(refusal(), "signed in");
  EXPECT_EQ(refusal(), "signed in");
  EXPECT_EQ(fake_.key_requests, 1) << "known keys are not fetched again";
  const TestKey next = rsa_key("next");
  fake_.keys = {public_json(*next)};
  fake_.sign = [&](const std::string& json) { return signed_token(json, *next, "RS256", "next"); };
  EXPECT_THAT(refusal(), HasSubstr("does not publish")) << "within the minute";
  EXPECT_EQ(fake_.key_requests, 1);
  clock_.advance(seconds(60));
  EXPECT_EQ(refusal(), "signed in");
  EXPECT_EQ(fake_.key_requests, 2);
  // A key that is no longer published stops working after an hour at the latest.
  fake_.keys = {public_json(*rsa_key("third"))};
  clock_.advance(std::chrono::hours(1));
  fake_.claims.issued = unix_ms(clock_.now()) / 1000;
  fake_.claims.expires = fake_.claims.issued + 300;
  EXPECT_THAT(refusal(), HasSubstr("does not publish"));
}

TEST_F(ProviderTest, AsksOnlyNowAndThenForKeysThatCannotBeFetched) {
  fake_.keys_status = 500;
  const auto refused = [&] {
    const auto read = provider().read_logout(fake_.sign(fake_.claims.json()));
    return read ? "accepted" : read.error().message;
  };
  for (int i = 0; i < 3; ++i) EXPECT_THAT(refused(), HasSubstr("/jwks answers 500"));
  EXPECT_EQ(fake_.key_requests, 1) << "a failing provider is not asked by everybody";
  clock_.advance(seconds(5));
  EXPECT_THAT(refused(), HasSubstr("/jwks answers 500"));
  EXPECT_EQ(fake_.key_requests, 2);
  fake_.keys_status = 200;
  EXPECT_THAT(refused(), HasSubstr("/jwks answers 500"));
  clock_.advance(seconds(5));
  EXPECT_THAT(refused(), HasSubstr("no valid id")) << "which is no logout token";
  EXPECT_EQ(fake_.key_requests, 3);
  EXPECT_EQ(refusal(), "signed in");
}

TEST_F(ProviderTest, AsksForUserInfoWhereTheTokenLacksIt) {
  fake_.claims.more = R"(,"email":"x@example.com")";
  const auto nobody = sign_in();
  ASSERT_TRUE(nobody) << nobody.error().message;
  EXPECT_THAT(nobody->who.not_entitled, HasSubstr("has a role here"));
  fake_.more_metadata = R"(,"userinfo_endpoint":")" + fake_.issuer + R"(/userinfo")";
  provider_.reset();
  fake_.userinfo = R"({"sub":"s-1","preferred_username":"bo","groups":["admins"],"email":"y@e"})";
  const auto finished = sign_in();
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->who.name, "bo");
  EXPECT_EQ(finished->who.role, "admin");
  EXPECT_EQ(finished->who.email, "x@example.com") << "signed claims come first";
  EXPECT_EQ(fake_.authorization, "Bearer at");
  fake_.userinfo = R"({"sub":"s-2","preferred_username":"bo","groups":["admins"]})";
  EXPECT_THAT(refusal(), HasSubstr("about another person"));
  fake_.userinfo = R"({"preferred_username":"bo","groups":["admins"]})";
  EXPECT_THAT(refusal(), HasSubstr("about another person"));
}

TEST_F(ProviderTest, GivesRolesAndScopes) {
  settings_.roles = {{"admins", "admin"}, {"leads", "team_lead"}};
  settings_.scope_claim = "org.teams";
  settings_.scope_rules = {{.match = "team-*", .dimension = "team"},
                           {.match = "proj:*:rw", .dimension = "project"}};
  const auto with = [&](const std::string& claims) -> Result<ExternalIdentity> {
    fake_.claims.more = R"(,"preferred_username":"bo")" + claims;
    const auto finished = TRY(sign_in());
    return finished.who;
  };
  const std::string teams =
      R"(,"org":{"teams":["team-nlp","team-vision","proj:x:rw","proj:y:ro","team-"]})";
  const auto lead = with(R"(,"groups":["x","leads"])" + teams);
  ASSERT_TRUE(lead) << lead.error().message;
  EXPECT_EQ(lead->not_entitled, "");
  EXPECT_EQ(lead->role, "team_lead");
  EXPECT_THAT(lead->scope,
              ElementsAre(ScopePart{"project", {"x"}}, ScopePart{"team", {"nlp", "vision"}}));
  // With two matching roles the first of the configuration counts, and an admin sees everything.
  const auto admin = with(R"(,"groups":["leads","admins"])" + teams);
  ASSERT_TRUE(admin);
  EXPECT_EQ(admin->role, "admin");
  EXPECT_TRUE(admin->scope.empty());
  for (const std::string& nothing :
       {std::string(R"(,"groups":"leads","org":{"teams":["other"]})"),  // which is not everything
        std::string(R"(,"groups":"leads")"), teams, R"(,"groups":[{"a":"admins"},7])" + teams}) {
    const auto nobody = with(nothing);
    ASSERT_TRUE(nobody) << nobody.error().message;
    EXPECT_NE(nobody->not_entitled, "") << nothing;
    EXPECT_EQ(nobody->subject, "s-1") << "and it is known who has no access";
  }
}

TEST_F(ProviderTest, NamesPeopleOnlyWithWhatCanBeAName) {
  settings_.role_claim = "";
  settings_.roles = {};
  settings_.default_role = "viewer";
  const auto name = [&](const std::string& claims) {
    fake_.claims.more = claims;
    const auto finished = sign_in();
    return finished ? finished->who.name : finished.error().message;
  };
  EXPECT_EQ(name(R"(,"preferred_username":"Ana.Lima","email":"x@e")"), "ana.lima");
  EXPECT_EQ(name(R"(,"email":"Ana@Example.com")"), "ana@example.com");
  EXPECT_EQ(name(R"(,"email":"ana@example.com","email_verified":false)"), "s-1");
  EXPECT_THAT(name(R"(,"preferred_username":"o'neil")"),
              HasSubstr("'o'neil', which can't be a user name"));
  EXPECT_THAT(name(R"(,"preferred_username":"a b")"), HasSubstr("can't be a user name"));
}

TEST_F(ProviderTest, ReadsWhatTheProviderPublishes) {
  const std::string good = fake_.metadata();
  EXPECT_TRUE(read_metadata(good, fake_.issuer, false));
  EXPECT_TRUE(read_metadata(good, fake_.issuer, true));
  const auto why = [&](const std::string& what, const std::string& with) {
    std::string text = good;
    text.replace(text.find(what), what.size(), with);
    const auto read = read_metadata(text, fake_.issuer, false);
    return read ? "read" : read.error().message;
  };
  EXPECT_THAT(why("127.0.0.1", "127.0.0.2"), HasSubstr("calls itself"));
  EXPECT_THAT(why(fake_.issuer + "/token", "http://example.com/token"), HasSubstr("https://"));
  EXPECT_THAT(why("jwks_uri", "x"), HasSubstr("jwks_uri is missing"));
  EXPECT_THAT(why("[\"code\"]", "[\"id_token\"]"), HasSubstr("response_types_supported"));
  EXPECT_THAT(why(",\"none\"", ""), HasSubstr("does not list none"));
  EXPECT_FALSE(read_metadata("[]", fake_.issuer, false));
}

TEST_F(ProviderTest, AsksOnlyNowAndThenAndKeepsWhatItKnows) {
  begin();
  begin();
  EXPECT_EQ(fake_.metadata_requests, 1);
  clock_.advance(std::chrono::hours(1));
  fake_.metadata_status = 500;
  begin();
  begin();
  EXPECT_EQ(fake_.metadata_requests, 2) << "a failing provider is not asked by everybody";
  clock_.advance(std::chrono::hours(24));
  EXPECT_EQ(provider().begin("/").error().code, ErrorCode::kIo);
  EXPECT_FALSE(provider().begin("/"));
  EXPECT_EQ(fake_.metadata_requests, 3);
  fake_.metadata_status = 200;
  clock_.advance(seconds(6));
  EXPECT_TRUE(provider().begin("/"));
}

TEST_F(ProviderTest, FollowsNoRedirectElsewhere) {
  const std::string good = fake_.metadata();
  fake_.metadata = [&] {
    std::string text = good;
    return text.replace(text.find("/jwks"), 5, "/away");
  };
  EXPECT_THAT(refusal(), HasSubstr("redirects to"));
}

TEST_F(ProviderTest, TellsARefusedCodeFromARefusedClient) {
  fake_.token_status = 400;
  fake_.token_answer = [] { return std::string(R"({"error":"invalid_grant"})"); };
  EXPECT_EQ(sign_in().error().code, ErrorCode::kBadValue);
  fake_.token_status = 401;
  fake_.token_answer = [] { return std::string(R"({"error":"invalid_client"})"); };
  EXPECT_EQ(sign_in().error().code, ErrorCode::kConfig);
  EXPECT_THAT(refusal(), HasSubstr("401 with invalid_client"));
  fake_.token_status = 503;
  EXPECT_EQ(sign_in().error().code, ErrorCode::kIo);
}

TEST(Settings, NeedTlsButForLoopback) {
  for (const char* good : {"https://i.example/realms/a", "http://127.0.0.1:80/x",
                           "http://localhost", "http://[::1]:8080/", "http://127.9.9.9"}) {
    EXPECT_TRUE(is_safe_url(good)) << good;
  }
  for (const char* bad :
       {"http://i.example", "http://127.0.0.1@evil.example/", "http://127.0.0.1.evil.example",
        "http://localhost.evil.example", "ftp://localhost", "https://", "", "https://a b",
        "http://127.0.0.1\\@evil.example", "http://localhost@evil:80", "https://x#y"}) {
    EXPECT_FALSE(is_safe_url(bad)) << bad;
  }
  SimulatedClock clock(from_unix_seconds(0));
  Settings settings{.issuer = "http://i.example",
                    .client_id = "pw",
                    .redirect_url = "https://pw.example/cb",
                    .role_claim = {},
                    .default_role = {}};
  EXPECT_FALSE(Provider::open(settings, clock));
  settings.issuer = "https://i.example";
  EXPECT_TRUE(Provider::open(settings, clock));
  settings.scopes = {"email"};
  EXPECT_FALSE(Provider::open(settings, clock));
}

TEST(PendingSignIns, IsBoundedAndForgetsTheOldestFirst) {
  PendingSignIns pending(3);
  Instant now = from_unix_seconds(1000);
  const auto add = [&](const std::string& state) {
    now += seconds(1);
    pending.add(state,
                {.cookie_hash = sha256("c"),
                 .nonce = "",
                 .code_verifier = "",
                 .next = state,
                 .ends_at = now + seconds(10)},
                now);
  };
  for (const char* state : {"a", "b", "c", "d"}) add(state);
  EXPECT_EQ(pending.size(), 3U);
  EXPECT_FALSE(pending.take("a", "c", now));
  EXPECT_EQ(pending.take("b", "c", now)->next, "b");
  EXPECT_FALSE(pending.take("b", "c", now));
  now += seconds(20);
  add("e");
  EXPECT_EQ(pending.size(), 1U) << "expired ones are gone";
}

}  // namespace
}  // namespace pennyweight::access::oidc
