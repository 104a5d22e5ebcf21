// A test fixture with accounts in a folder of its own, a simulated clock and cheap hashing.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "core/ascii.h"
#include "core/clock.h"
#include "server/access/accounts.h"

namespace pennyweight::access {

inline constexpr const char* kPassword = "tin-otter-42-lamp";

class AccountsTest : public testing::Test {
 protected:
  AccountsTest() : clock_(from_unix_seconds(1'774'000'000)) {
    std::string folder = (std::filesystem::temp_directory_path() / "accounts-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) ADD_FAILURE() << "no folder for the test";
    folder_ = folder;
    options_ = {.path = folder_ + "/accounts.sqlite", .argon2_kib = 64, .argon2_rounds = 1};
    open();
  }
  ~AccountsTest() override {
    accounts_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void open() {
    accounts_.reset();
    accounts_ = another();
  }
  // The same file opened again, as by another process.
  std::unique_ptr<Accounts> another() {
    auto opened = Accounts::open(options_, clock_);
    if (!opened) ADD_FAILURE() << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }

  static User user(std::string name, Role role = Role::kViewer,
                   std::vector<SummaryFilter> scope = {}) {
    User made;
    made.name = std::move(name);
    made.role = role;
    made.scope = std::move(scope);
    return made;
  }
  void add(const User& who) {
    const auto added = accounts_->add_user(who, kPassword, false);
    ASSERT_TRUE(added) << added.error().message;
  }
  Result<std::variant<SignIn, Refusal>> try_sign_in(const std::string& name,
                                                    const std::string& password = kPassword,
                                                    const std::string& code = "",
                                                    const std::string& peer = "10.0.0.1") {
    return accounts_->sign_in(name, password, code, {.peer = peer});
  }
  // REQUIRES: the sign-in succeeds.
  SignIn sign_in(const std::string& name, const std::string& password = kPassword,
                 const std::string& code = "") {
    auto done = try_sign_in(name, password, code);
    if (!done || !std::holds_alternative<SignIn>(*done)) {
      ADD_FAILURE() << name << " could not sign in";
      return {};
    }
    return std::get<SignIn>(*std::move(done));
  }
  // Nothing if the sign-in succeeds.
  std::optional<Refusal> refusal(const std::string& name, const std::string& password = kPassword,
                                 const std::string& code = "",
                                 const std::string& peer = "10.0.0.1") {
    const auto done = try_sign_in(name, password, code, peer);
    if (!done) {
      ADD_FAILURE() << done.error().message;
      return std::nullopt;
    }
    const auto* refused = std::get_if<Refusal>(&*done);
    return refused == nullptr ? std::nullopt : std::optional(*refused);
  }
  bool is_signed_in(const std::string& secret) {
    const auto principal = accounts_->session(secret);
    if (!principal) ADD_FAILURE() << principal.error().message;
    return principal && principal->has_value();
  }

  // The bytes of a secret that was given to an authenticator app.
  static std::string from_base32(std::string_view text) {
    std::string out;
    unsigned buffer = 0;
    unsigned held = 0;
    for (const char c : text) {
      const unsigned value = static_cast<unsigned>(ascii::is_upper(c) ? c - 'A' : c - '2' + 26);
      buffer = (buffer << 5 | value) & 0xffffU;
      held += 5;
      if (held >= 8) {
        held -= 8;
        out += static_cast<char>(buffer >> held & 0xffU);
      }
    }
    return out;
  }

  SimulatedClock clock_;
  std::string folder_;
  AccountsOptions options_;
  std::unique_ptr<Accounts> accounts_;
};

}  // namespace pennyweight::access
