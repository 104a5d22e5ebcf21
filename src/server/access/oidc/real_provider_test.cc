// The whole sign-in against a real, certified provider: npm's oidc-provider, which
// tests/api/openid_provider.mjs starts on loopback. Skipped where node or the package is missing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "core/check.h"
#include "core/try.h"
#include "server/access/oidc/provider.h"

namespace pennyweight::access::oidc {
namespace {

using testing::HasSubstr;

constexpr const char* kCallback = "http://127.0.0.1:1/api/v1/session/openid/callback";

class WallClock : public Clock {
 public:
  Instant now() override {
    return from_unix_seconds(static_cast<std::int64_t>(std::time(&ignored_)));
  }

 private:
  std::time_t ignored_ = 0;
};

// Runs the provider's program during its own lifetime.
class RealProvider {
 public:
  explicit RealProvider(const std::string& alg) {
    int in[2] = {};
    int out[2] = {};
    CHECK(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0, "pipes");
    child_ = ::fork();
    CHECK(child_ >= 0, "a process");
    if (child_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execlp("node", "node", PROJECT_ROOT "/tests/api/openid_provider.mjs", "--redirect",
               kCallback, "--alg", alg.c_str(), nullptr);
      std::_Exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    stdin_ = in[1];
    std::string line;
    char c = 0;
    while (::read(out[0], &c, 1) == 1 && c != '\n') line += c;
    ::close(out[0]);
    std::smatch found;
    if (std::regex_search(line, found, std::regex("\"issuer\":\"([^\"]*)\""))) issuer = found[1];
  }
  ~RealProvider() {
    ::close(stdin_);  // which makes it exit
    int status = 0;
    ::waitpid(child_, &status, 0);
  }
  std::string issuer;

 private:
  pid_t child_ = -1;
  int stdin_ = -1;
};

bool is_installed() {
  return std::filesystem::exists(PROJECT_ROOT "/node_modules/oidc-provider") &&
         std::system("node --version > /dev/null 2>&1") == 0;
}

// A browser: follows redirects, keeps cookies, and sends the provider's forms until it is sent
// back.
class Browser {
 public:
  explicit Browser(std::string origin) : origin_(std::move(origin)), client_(origin_) {}

  // The query of the callback.
  std::multimap<std::string, std::string> sign_in(std::string url, const std::string& as) {
    for (int i = 0; i < 20; ++i) {
      if (url.starts_with(kCallback)) return query_of(url);
      httplib::Result answer = client_.Get(path_of(url), headers());
      CHECK(answer, "the provider answers");
      keep_cookies(*answer);
      std::smatch form;
      std::smatch prompt;
      if (answer->status == 200 &&
          std::regex_search(answer->body, form, std::regex("action=\"([^\"]*)\"")) &&
          std::regex_search(answer->body, prompt, std::regex("name=\"prompt\" value=\"(\\w+)\""))) {
        const httplib::Params fields = {{"prompt", prompt[1]}, {"login", as}, {"password", "any"}};
        answer = client_.Post(path_of(form[1]), headers(), fields);
        CHECK(answer, "the provider answers");
        keep_cookies(*answer);
      }
      CHECK(answer->status == 303 || answer->status == 302, "it leads on");
      url = answer->get_header_value("Location");
    }
    return {};
  }

 private:
  std::string path_of(const std::string& url) const {
    return url.starts_with(origin_) ? url.substr(origin_.size()) : url;
  }
  httplib::Headers headers() const {
    std::string all;
    for (const auto& [name, value] : cookies_) {
      all += (all.empty() ? "" : "; ") + name + "=" + value;
    }
    return {{"Cookie", all}};
  }
  void keep_cookies(const httplib::Response& answer) {
    const auto [begin, end] = answer.headers.equal_range("Set-Cookie");
    for (auto at = begin; at != end; ++at) {
      const std::string pair = at->second.substr(0, at->second.find(';'));
      const std::size_t equals = pair.find('=');
      cookies_[pair.substr(0, equals)] = pair.substr(equals + 1);
      if (pair.size() == equals + 1) cookies_.erase(pair.substr(0, equals));
    }
  }
  static std::multimap<std::string, std::string> query_of(const std::string& url) {
    httplib::Params params;
    httplib::detail::parse_query_text(url.substr(url.find('?') + 1), params);
    return {params.begin(), params.end()};
  }

  std::string origin_;
  httplib::Client client_;
  std::map<std::string, std::string> cookies_;
};

class RealProviderTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!is_installed()) GTEST_SKIP() << "node or oidc-provider is not installed";
    real_ = std::make_unique<RealProvider>(GetParam());
    ASSERT_NE(real_->issuer, "");
    settings_ = {.issuer = real_->issuer,
                 .client_id = "public",
                 .redirect_url = kCallback,
                 .scopes = {"openid", "profile", "email", "groups"},
                 .role_claim = "groups",
                 .roles = {{"gpu-admins", "admin"}, {"team-nlp", "team_lead"}},
                 .default_role = {},
                 .scope_claim = "groups",
                 .scope_rules = {{.match = "team-*", .dimension = "team"}}};
    std::string name =
        (std::filesystem::temp_directory_path() / "real_provider_test.XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr, "a folder for the test");
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::unique_ptr<Provider> open() {
    auto provider = Provider::open(settings_, clock_);
    CHECK(provider.has_value(), "the settings are right");
    return *std::move(provider);
  }
  Result<SignInResult> sign_in(Provider& provider, const std::string& as) {
    const auto begun = TRY(provider.begin("/live"));
    query_ = Browser(real_->issuer).sign_in(begun.url, as);
    cookie_ = begun.cookie;
    return provider.finish(query_, begun.cookie);
  }

  std::unique_ptr<RealProvider> real_;
  Settings settings_;
  WallClock clock_;
  std::filesystem::path folder_;
  std::multimap<std::string, std::string> query_;
  std::string cookie_;
};

TEST_P(RealProviderTest, SignsPeopleIn) {
  const auto provider = open();
  const auto ana = sign_in(*provider, "ana");
  ASSERT_TRUE(ana) << ana.error().message;
  EXPECT_EQ(ana->who, (ExternalIdentity{.issuer = real_->issuer,
                                        .subject = "subject-of-ana",
                                        .name = "ana",
                                        .display_name = "Ana Lima",
                                        .email = "ana@example.com",
                                        .role = "admin"}));
  EXPECT_EQ(ana->next, "/live");
  // The same answer a second time.
  EXPECT_EQ(provider->finish(query_, cookie_).error().code, ErrorCode::kNotFound);
  const auto nina = sign_in(*provider, "nina");
  ASSERT_TRUE(nina) << nina.error().message;
  EXPECT_EQ(nina->who.role, "team_lead");
  EXPECT_EQ(nina->who.scope, (std::vector<ScopePart>{{"team", {"nlp", "vision"}}}));
  EXPECT_NE(sign_in(*provider, "mallory")->who.not_entitled, "") << "has no role";
  EXPECT_THAT(sign_in(*provider, "o'neil").error().message, HasSubstr("can't be a user name"));
}

TEST_P(RealProviderTest, ProvesThatWeAreTheClient) {
  settings_.client_id = "secret";
  settings_.client_secret_file = folder_ / "secret";
  std::ofstream(folder_ / "secret") << "s3cr:et +/%&\n";
  const auto provider = open();
  const auto ana = sign_in(*provider, "ana");
  ASSERT_TRUE(ana) << ana.error().message;
  std::ofstream(folder_ / "secret") << "another\n";
  const auto refused = sign_in(*provider, "ana");
  EXPECT_EQ(refused.error().code, ErrorCode::kConfig);
  EXPECT_THAT(refused.error().message, HasSubstr("401 with invalid_client"));
}

// A stolen code: the thief has neither the verifier nor the state.
TEST_P(RealProviderTest, ACodeIsNoUseInAnotherSignIn) {
  const auto provider = open();
  const auto first = provider->begin("/");
  const auto stolen = Browser(real_->issuer).sign_in(first->url, "ana");
  const auto other = provider->begin("/");
  auto query = Browser(real_->issuer).sign_in(other->url, "nina");
  query.erase("code");
  query.emplace("code", stolen.find("code")->second);
  const auto refused = provider->finish(query, other->cookie);
  EXPECT_EQ(refused.error().code, ErrorCode::kBadValue);
  EXPECT_THAT(refused.error().message, HasSubstr("invalid_grant"));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, RealProviderTest, testing::Values("RS256", "ES256"));

}  // namespace
}  // namespace pennyweight::access::oidc
