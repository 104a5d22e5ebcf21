// A test fixture: a real server with the API's routes, real accounts and a real audit log.
#pragma once

#include <fmt/format.h>
#include <httplib.h>
#include <simdjson.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "config/config.h"
#include "reporting/rollup/rollup.h"
#include "server/access/accounts_for_tests.h"
#include "server/access/oidc/provider.h"
#include "server/access/totp.h"
#include "server/annotation_book/annotation_book.h"
#include "server/api/guard.h"
#include "server/api/routes.h"
#include "server/api/users.h"
#include "server/audit_log/audit_log.h"
#include "server/event_book/event_book.h"
#include "server/server.h"

namespace pennyweight::api {

// Routes about people use no rollup.
class NoRollup : public rollup::Rollup {
 public:
  Result<bool> refresh(Store&) override { return false; }
  Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery&) override {
    return std::nullopt;
  }
  Result<std::vector<Value>> values_of(const SummaryQuery&, const std::string&, const std::string&,
                                       std::size_t) override {
    return std::vector<Value>();
  }
  std::optional<std::uint64_t> version() const override { return 0; }
};

// Identifies the configured user if the browser returns the cookie and the state.
class FakeProvider : public access::oidc::Provider {
 public:
  const std::string& name() const override { return name_; }
  Result<access::oidc::SignInRedirect> begin(std::string_view next) override {
    next_ = next;
    return access::oidc::SignInRedirect{.url = "https://sso.example/authorize?state=s1",
                                        .cookie = "c1"};
  }
  Result<access::oidc::SignInResult> finish(const std::multimap<std::string, std::string>& query,
                                            std::string_view cookie) override {
    const auto state = query.find("state");
    if (state == query.end() || state->second != "s1" || cookie != "c1") {
      return fail(ErrorCode::kNotFound, "this sign-in was not begun here");
    }
    return access::oidc::SignInResult{.who = identity, .next = next_};
  }

  Result<access::oidc::SignOut> read_logout(std::string_view token) override {
    if (token != "signed") return fail(ErrorCode::kBadValue, "the signature is wrong");
    return access::oidc::SignOut{.who = identity, .id = "j-1", .ends_at = Instant()};
  }
  void mark_done(const access::oidc::SignOut&) override { ++sign_outs_done; }

  access::oidc::ExternalIdentity identity;
  int sign_outs_done = 0;

 private:
  std::string name_ = "Example SSO";
  std::string next_;
};

class PeopleTest : public access::AccountsTest {
 protected:
  PeopleTest() {
    auto opened = audit_log::AuditLog::open(audit_log_path(), clock_);
    if (!opened) ADD_FAILURE() << opened.error().message;
    audit_log_ = opened ? *std::move(opened) : nullptr;
    add_recorded(user("ada", access::Role::kAdmin));
    add_recorded(user("vic", access::Role::kViewer));
    add_recorded(user("fin", access::Role::kFinance));
    add_recorded(user("tea", access::Role::kTeamLead, {{.dimension = "team", .values = {"nlp"}}}));
    add_recorded(user("sam", access::Role::kAdmin, {{.dimension = "team", .values = {"nlp"}}}));
  }

  void add_recorded(const access::User& who) {
    auto change = user_change(services(), {.actor = "test"}, "user.add");
    const auto added =
        change.finish(accounts_->add_user(who, access::kPassword, false, change.recorder()));
    if (!added) ADD_FAILURE() << added.error().message;
  }

  std::string audit_log_path() const { return folder_ + "/trail.audit"; }
  Services services() {
    return {.config = config_,
            .catalog = Catalog::built_in(),
            .clock = clock_,
            .ledger = [](const std::function<Result<void>(Store&)>&) -> Result<void> {
              return fail(ErrorCode::kStore, "no ledger here");
            },
            .rollup = rollup_,
            .accounts = *accounts_,
            .audit_log = *audit_log_,
            .oidc = &provider_,
            .version = "1.2.3",
            .audit_files = audit_log::LogFiles::beside(audit_log_path()),
            .machine_clients = machines_,
            .annotation_book = annotations_,
            .event_book = events_};
  }
  void serve(std::vector<server::Route> more = {}, const GuardLimits& limits = {}) {
    server::Settings settings;
    settings.guard = guard(services(), limits);
    settings.trusted_proxies = trusted_proxies_;
    settings.failed = [](std::string_view path, std::string_view what) {
      ADD_FAILURE() << path << " threw: " << what;
    };
    std::vector<server::Route> routes = api_routes(services());
    for (server::Route& route : more) routes.push_back(std::move(route));
    auto started = server::Server::start(settings, std::move(routes));
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }

  struct Answer {
    int status = 0;
    std::string body;
    httplib::Headers headers;
  };
  // The state of one browser: its cookie and CSRF token.
  struct Browser {
    std::string cookie = {};
    std::string csrf = {};
    std::string bearer = {};
  };

  Answer ask(const Browser& browser, const std::string& method, const std::string& path,
             const std::string& body = "", httplib::Headers headers = {}) {
    httplib::Client client("127.0.0.1", server_->port());
    if (!browser.cookie.empty()) headers.emplace("Cookie", browser.cookie);
    if (!browser.csrf.empty()) headers.emplace("X-CSRF-Token", browser.csrf);
    if (!browser.bearer.empty()) headers.emplace("Authorization", "Bearer " + browser.bearer);
    httplib::Request request;
    request.method = method;
    request.path = "/api/v1" + path;
    request.headers = std::move(headers);
    request.body = body;
    if (!body.empty() && !request.has_header("Content-Type")) {
      request.set_header("Content-Type", "application/json");
    }
    const auto result = client.send(request);
    if (!result) {
      ADD_FAILURE() << method << " " << path << ": no answer";
      return {};
    }
    return {result->status, result->body, result->headers};
  }

  // REQUIRES: the user has the usual password and no second factor.
  Browser browser_of(const std::string& name) {
    const Answer answer =
        ask({}, "POST", "/session",
            fmt::format(R"({{"user":"{}","password":"{}"}})", name, access::kPassword));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return browser_from(answer);
  }
  static Browser browser_from(const Answer& answer) {
    const auto set = answer.headers.find("Set-Cookie");
    Browser browser;
    if (set != answer.headers.end()) browser.cookie = set->second.substr(0, set->second.find(';'));
    browser.csrf = text_in(answer.body, "/csrf");
    return browser;
  }

  // The value at a JSON pointer, as minified JSON, a text without its quotes; "" if there is none.
  static std::string text_in(const std::string& json, const std::string& pointer) {
    simdjson::dom::parser parser;
    simdjson::dom::element element;
    if (parser.parse(json).at_pointer(pointer).get(element) != simdjson::SUCCESS) return "";
    std::string_view text;
    if (element.get(text) == simdjson::SUCCESS) return std::string(text);
    return simdjson::minify(element);
  }
  static std::size_t entries_in(const std::string& json) {
    simdjson::dom::parser parser;
    simdjson::dom::array data;
    return parser.parse(json)["data"].get(data) == simdjson::SUCCESS ? data.size() : 0;
  }

  // The code that an authenticator app with this secret shows now.
  std::string code_of_base32(const std::string& secret) {
    static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    std::string bytes;
    std::uint32_t held = 0, bits = 0;
    for (const char c : secret) {
      held = held << 5 | static_cast<std::uint32_t>(kLetters.find(c));
      for (bits += 5; bits >= 8; bits -= 8) bytes += static_cast<char>(held >> (bits - 8) & 255);
    }
    return access::totp_code(bytes, access::totp_step(clock_.now()));
  }

  // The newest entry of the audit log.
  audit_log::Entry last_entry() {
    const auto entries = audit_log_->entries(0, 1, [](const audit_log::Entry&) { return true; });
    if (!entries || entries->empty()) {
      ADD_FAILURE() << "the audit log is empty";
      return {};
    }
    return entries->front();
  }
  std::uint64_t entries() { return audit_log_->head().value_or(audit_log::Head{}).number; }

  Config config_ = default_config();
  const std::shared_ptr<EventBook> events_ = std::make_shared<EventBook>(folder_ + "/events.jsonl");
  const std::shared_ptr<AnnotationBook> annotations_ =
      std::make_shared<AnnotationBook>(folder_ + "/annotations.jsonl");
  MachineClients machines_;
  std::vector<server::AddressBlock> trusted_proxies_;
  NoRollup rollup_;
  FakeProvider provider_;
  std::unique_ptr<audit_log::AuditLog> audit_log_;
  std::unique_ptr<server::Server> server_;
};

}  // namespace pennyweight::api
