// Accounts: users, sessions, API tokens and saved views, in one SQLite file that survives restarts.
//
// Secrets are never stored in clear: passwords as argon2id, session ids and tokens as SHA-256, TOTP
// secrets encrypted with the key beside the file. Thread-safe. Other processes may change the file
// at any time, so nothing of it is cached in memory. Changes return the state that the caller
// records in the audit log.
//
// Errors: kNotFound, no such user, token or view; kConflict, it exists already, or the last admin
// would be removed; kBadValue, a refused value or password, in words for the person who typed it;
// kLimit; kStore and kIo, the file.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/instant.h"
#include "server/access/principal.h"

namespace pennyweight::access {

struct User {
  std::string name;  // [a-z0-9._@-], 1 to 128
  std::string display_name;
  std::string email;
  Role role = Role::kViewer;
  std::vector<SummaryFilter> scope;
  bool local = true;    // has a password here; false: signs in by OpenID Connect
  std::string subject;  // OpenID Connect: "issuer subject"; empty: none
  bool has_totp = false;
  bool disabled = false;
  bool must_change_password = false;
  Instant created_at;
  std::optional<Instant> last_sign_in;
};

struct Token {
  std::string id;                    // "t_" and 16 digits, public; the secret is not stored
  std::string name;                  // what it is for
  std::string user;                  // its owner
  std::vector<Permission> only;      // empty: all permissions of the owner's role
  std::vector<SummaryFilter> scope;  // in addition to the owner's
  Instant created_at;
  Instant expires_at;
  std::optional<Instant> last_used;
  bool revoked = false;
};

struct SavedView {
  std::uint64_t id = 0;
  std::string user;
  std::string name;
  std::string query;    // the page's address: "/explore?by=team&month=2026-03"
  bool shared = false;  // also visible to users with the same or a wider scope
  Instant created_at;
};

// Why a sign-in is refused. The answer reads the same whether the user exists or not.
enum class Refusal { kWrong, kNeedsCode, kLockedOut, kDisabled };

struct SignIn {
  std::string secret;  // for the cookie: 256 random bits, not stored
  Principal principal;
  Instant expires_at;
};

struct AccountsOptions {
  std::string path;  // the SQLite file; its key is in path + ".key"
  std::chrono::hours session_lasts{12};
  std::chrono::minutes session_idle{120};
  std::uint32_t failures_max = 5;  // within lock_out, for a user or an address
  std::chrono::minutes lock_out{15};
  std::uint32_t argon2_kib = 19'456;  // RFC 9106, OWASP's second choice
  std::uint32_t argon2_rounds = 2;
};

class Accounts {
 public:
  static Result<std::unique_ptr<Accounts>> open(const AccountsOptions& options, Clock& clock);
  virtual ~Accounts() = default;

  // If there are no users: creates "admin" and returns its one-time password, which must be changed
  // at the first sign-in.
  virtual Result<std::optional<std::string>> create_first_admin() = 0;

  virtual Result<std::vector<User>> users() = 0;  // by name
  virtual Result<std::optional<User>> find_user(std::string_view name) = 0;
  virtual Result<std::optional<User>> find_subject(std::string_view subject) = 0;
  // Adds a user; with a password, a local one, who must change it first if `one_time`. Passwords
  // for other people come from one_time_password() of server/access/password.h.
  virtual Result<User> add_user(const User& user, std::string_view password, bool one_time) = 0;
  // Changes the user of that name: display name, email, role, scope, disabled, and the subject of
  // one who signs in by OpenID Connect. The last admin can't be disabled, given a scope, demoted or
  // removed. A change of role, scope or disabled ends the user's sessions.
  virtual Result<User> change_user(const User& user) = 0;
  // Removes the user's sessions, tokens and saved views as well.
  virtual Result<void> remove_user(std::string_view name) = 0;
  // The password needs at least 12 characters, must not be a common one or made of the user's name,
  // and must differ from one that must be changed. Ends the user's sessions, except for the one of
  // id `keep_session`, and their lock-out.
  virtual Result<void> set_password(std::string_view name, std::string_view password, bool one_time,
                                    std::string_view keep_session = {}) = 0;
  // Checks a user's password, for changes that need more than a session: a new password, removing
  // the second factor. Failures count as those of sign_in() do. Nothing: it is right.
  virtual Result<std::optional<Refusal>> check_password(std::string_view name,
                                                        std::string_view password,
                                                        std::string_view peer) = 0;

  // Signs a local user in. `code` is from the second factor; empty: none given.
  virtual Result<std::variant<SignIn, Refusal>> sign_in(std::string_view name,
                                                        std::string_view password,
                                                        std::string_view code,
                                                        std::string_view peer) = 0;
  // Signs in a user whom an OpenID provider has identified: one without a password here, or with a
  // subject. Others are refused as kWrong.
  virtual Result<std::variant<SignIn, Refusal>> sign_in_external(std::string_view name) = 0;
  // The principal of a session; nothing if there is none, or it is over. Extends its idle timeout,
  // to the minute.
  virtual Result<std::optional<Principal>> session(std::string_view secret) = 0;
  virtual Result<void> sign_out(std::string_view secret) = 0;

  // The second factor: RFC 6238 with SHA-1, 30 s, 6 digits; one step of drift; a code works once.
  struct Enrolment {
    std::string secret;  // base32
    std::string uri;     // otpauth://totp/…
    std::string qr_svg;
  };
  // For a local user without one. The code that confirms it counts as used.
  virtual Result<Enrolment> begin_totp(std::string_view name) = 0;
  virtual Result<bool> confirm_totp(std::string_view name, std::string_view code) = 0;
  virtual Result<void> remove_totp(std::string_view name) = 0;

  struct NewToken {
    Token token;
    std::string secret;  // shown once
  };
  // Uses name, user, only, scope and expires_at (at most 400 days ahead) of `token`. With a maker:
  // kUnsupported if the maker is a token itself, must change the password, or has a scope and makes
  // a token for another user, since that token could see more than its maker.
  virtual Result<NewToken> add_token(const Token& token, const Principal* maker = nullptr) = 0;
  virtual Result<std::vector<Token>> tokens(std::string_view user) = 0;  // by id; empty: all users'
  virtual Result<void> revoke_token(std::string_view id) = 0;
  // The principal of a token; nothing if it is unknown, expired or revoked, or its user disabled.
  virtual Result<std::optional<Principal>> bearer(std::string_view secret) = 0;

  // Adds a view if the id is 0; otherwise replaces the user's own view of that id.
  virtual Result<SavedView> save_view(const SavedView& view) = 0;
  // The user's own views and those that others share with them, by name.
  virtual Result<std::vector<SavedView>> views(std::string_view user) = 0;
  virtual Result<void> remove_view(std::string_view user, std::uint64_t id) = 0;

  // Stores other small texts by name, such as the head of the audit log.
  virtual Result<void> put(std::string_view name, std::string_view value) = 0;
  virtual Result<std::optional<std::string>> get(std::string_view name) = 0;

  // Makes a consistent copy, with the key beside it, while others use the file. Refused if `path`
  // exists.
  virtual Result<void> copy_to(const std::string& path) = 0;
};

}  // namespace pennyweight::access
