// Accounts: users, sessions, tokens, saved views: what must outlive a restart, in one SQLite file.
//
// Secrets are never kept: passwords as argon2id, session ids and tokens as SHA-256, TOTP secrets
// encrypted with the key beside the file. Thread-safe, and other processes may change the file
// meanwhile: nothing of it is held in memory. Every change is told to the caller as before and
// after, for the audit log.
//
// Errors: kNotFound, there is no such user, token or view; kConflict, it is there already, or the
// last admin would go; kBadValue, a value or password that is refused, in words for who typed it;
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

#include "access/principal.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight::access {

struct User {
  std::string name;  // [a-z0-9._@-], 1 to 128
  std::string display_name;
  std::string email;
  Role role = Role::kViewer;
  std::vector<SummaryFilter> scope;
  bool local = true;    // has a password here; false: comes by OpenID Connect
  std::string subject;  // of OpenID Connect: "issuer subject"; empty: none
  bool has_totp = false;
  bool disabled = false;
  bool must_change_password = false;
  Instant created_at;
  std::optional<Instant> last_sign_in;
};

struct Token {
  std::string id;                    // "t_" and 16 digits, public; the secret stands nowhere
  std::string name;                  // what for
  std::string user;                  // whose
  std::vector<Permission> only;      // empty: all of his role
  std::vector<SummaryFilter> scope;  // beside his own
  Instant created_at;
  Instant expires_at;
  std::optional<Instant> last_used;
  bool revoked = false;
};

struct SavedView {
  std::uint64_t id = 0;
  std::string user;
  std::string name;
  std::string query;    // of the page's address: "/explore?by=team&month=2026-03"
  bool shared = false;  // others with the same or wider scope see it too
  Instant created_at;
};

// Why somebody is not let in. Told to him in the same words whether the user exists or not.
enum class Refusal { kWrong, kNeedsCode, kLockedOut, kDisabled };

struct SignIn {
  std::string secret;  // of the cookie: 256 random bits; it is not kept
  Principal principal;
  Instant expires_at;
};

struct AccountsOptions {
  std::string path;  // of the SQLite file; its key is path + ".key"
  std::chrono::hours session_lasts{12};
  std::chrono::minutes session_idle{120};
  std::uint32_t failures_max = 5;  // within lock_out, of a user or an address
  std::chrono::minutes lock_out{15};
  std::uint32_t argon2_kib = 19'456;  // RFC 9106, OWASP's second choice
  std::uint32_t argon2_rounds = 2;
};

class Accounts {
 public:
  static Result<std::unique_ptr<Accounts>> open(const AccountsOptions& options, Clock& clock);
  virtual ~Accounts() = default;

  // Where there is no user at all: makes "admin" with a one-time password, which is returned once
  // and must be changed at the first sign-in.
  virtual Result<std::optional<std::string>> create_first_admin() = 0;

  virtual Result<std::vector<User>> users() = 0;  // by name
  virtual Result<std::optional<User>> find_user(std::string_view name) = 0;
  virtual Result<std::optional<User>> find_subject(std::string_view subject) = 0;
  // A new user; with a password a local one, who must change it where `one_time`. The password of
  // somebody else is one_time_password() of access/password.h.
  virtual Result<User> add_user(const User& user, std::string_view password, bool one_time) = 0;
  // Of the user of that name: display name, email, role, scope, disabled, subject (of one who comes
  // by OpenID Connect). The last admin can't be disabled, bound to a scope, demoted or removed.
  // Sessions of a user end when role, scope or disabled change.
  virtual Result<User> change_user(const User& user) = 0;
  // His sessions, tokens and saved views go with him.
  virtual Result<void> remove_user(std::string_view name) = 0;
  // At least 12 characters, not among the most common ones, not made of the user's name, and not
  // the one that must be changed. Ends his sessions, but for the one of that id, and his lock-out.
  virtual Result<void> set_password(std::string_view name, std::string_view password, bool one_time,
                                    std::string_view keep_session = {}) = 0;
  // Whether it is his, for what a session alone does not allow: changing it, turning off the second
  // factor. Counts as sign_in does. Nothing: it is.
  virtual Result<std::optional<Refusal>> check_password(std::string_view name,
                                                        std::string_view password,
                                                        std::string_view peer) = 0;

  // Sign-in of a local user. `code` is of his second factor; empty: none given.
  virtual Result<std::variant<SignIn, Refusal>> sign_in(std::string_view name,
                                                        std::string_view password,
                                                        std::string_view code,
                                                        std::string_view peer) = 0;
  // Of a user that an OpenID provider has vouched for: one without a password here, or with a
  // subject. Others are kWrong.
  virtual Result<std::variant<SignIn, Refusal>> sign_in_vouched(std::string_view name) = 0;
  // Nothing: no such session, or it is over. Moves its idle end, to the minute.
  virtual Result<std::optional<Principal>> session(std::string_view secret) = 0;
  virtual Result<void> sign_out(std::string_view secret) = 0;

  // Second factor (RFC 6238, SHA-1, 30 s, 6 digits; one step of drift; a code counts once).
  struct Enrolment {
    std::string secret;  // base32
    std::string uri;     // otpauth://totp/…
    std::string qr_svg;
  };
  // Of a local user who has none. The code that confirms it counts as used.
  virtual Result<Enrolment> begin_totp(std::string_view name) = 0;
  virtual Result<bool> confirm_totp(std::string_view name, std::string_view code) = 0;
  virtual Result<void> remove_totp(std::string_view name) = 0;

  struct NewToken {
    Token token;
    std::string secret;  // shown once
  };
  // What counts: name, user, only, scope, expires_at, at most 400 days ahead. With the one who
  // makes it: kUnsupported where he is a token himself or must change his password, or where it
  // would be another's and he is bound to a scope, since it could reach further than he does.
  virtual Result<NewToken> add_token(const Token& token, const Principal* maker = nullptr) = 0;
  virtual Result<std::vector<Token>> tokens(std::string_view user) = 0;  // empty: of all; by id
  virtual Result<void> revoke_token(std::string_view id) = 0;
  // Nothing: unknown, expired or revoked, or its user is disabled.
  virtual Result<std::optional<Principal>> bearer(std::string_view secret) = 0;

  // A new one where the id is 0, else in place of his own of that id.
  virtual Result<SavedView> save_view(const SavedView& view) = 0;
  // His own, and those that others share with him; by name.
  virtual Result<std::vector<SavedView>> views(std::string_view user) = 0;
  virtual Result<void> remove_view(std::string_view user, std::uint64_t id) = 0;

  // What must outlive a restart beside these: small texts by name (the head of the audit log).
  virtual Result<void> put(std::string_view name, std::string_view value) = 0;
  virtual Result<std::optional<std::string>> get(std::string_view name) = 0;

  // A consistent copy while others use it, its key beside it. Refused where there is a file
  // already.
  virtual Result<void> copy_to(const std::string& path) = 0;
};

}  // namespace pennyweight::access
