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
#include <functional>
#include <memory>
#include <optional>
#include <set>
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

// When a view is sent: the costs of each whole period, once it is over.
enum class ViewPeriod { kDay, kWeek, kMonth };
std::string_view to_text(ViewPeriod period);  // "day", "week", "month"
std::optional<ViewPeriod> parse_view_period(std::string_view text);

struct ViewSchedule {
  ViewPeriod every = ViewPeriod::kWeek;
  std::string receiver = {};    // of alerts.receivers; empty: the owner's own mail address
  std::string sent_until = {};  // the last day that was sent, "2026-03-08"; empty: nothing yet
  std::string problem = {};     // why it could not be sent the last time
};

struct SavedView {
  std::uint64_t id = 0;
  std::string user;
  std::string name;
  std::string query;    // the page's address: "/explore?by=team&month=2026-03"
  bool shared = false;  // also visible to users with the same or a wider scope
  Instant created_at;
  std::optional<ViewSchedule> schedule = {};
};

// A sign-in that goes on.
struct Session {
  std::string id;  // "s_" and 16 digits, public; the secret is not stored
  std::string user;
  SignedInBy by = SignedInBy::kPassword;
  Instant created_at;
  Instant seen_at;  // to the minute
  Instant expires_at;
  std::string peer;   // the address it was begun from; empty: unknown
  std::string agent;  // what the browser called itself
};

// Where somebody signs in from.
struct Device {
  std::string peer;        // address; empty: unknown
  std::string agent = {};  // the header User-Agent; cut to kAgentBytesMax
};

// What a change does, for its line in the audit log.
struct Change {
  std::optional<User> user_before = {}, user_after = {};
  std::optional<Token> token_before = {}, token_after = {};
  std::optional<SavedView> view_before = {}, view_after = {};
  std::optional<Session> session = {};  // begun or ended
  std::uint64_t tokens_revoked = 0;     // with it
};

// A line of the audit log that was just written.
struct RecordedLine {
  std::uint64_t number = 0;
  std::string head;  // as text
};

// Writes the line of a change and returns the log's head. It runs in the transaction of the change,
// when all but the commit is done: after an Error the change is undone. So no change exists without
// its line. If the commit fails, or the process is killed before it, the line is there without its
// change: settle_lines() finds it. Without a recorder a change leaves no line; for tests.
using Recorder = std::function<Result<RecordedLine>(const Change&)>;

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
  // Guessing: see lock_out.h.
  std::uint32_t failures_max = 5;
  std::chrono::minutes lock_out{15};
  // How long the tokens of somebody who signs in by OpenID Connect only work after a sign-in.
  std::chrono::hours vouched_for{7 * 24};
  std::uint32_t argon2_kib = 19'456;  // RFC 9106, OWASP's second choice
  std::uint32_t argon2_rounds = 2;
};

// The name under which get() has the audit log's head of the last change.
inline constexpr std::string_view kAuditHeadText = "trail.head";

class Accounts {
 public:
  static Result<std::unique_ptr<Accounts>> open(const AccountsOptions& options, Clock& clock);
  virtual ~Accounts() = default;

  // If there are no users: creates "admin" and returns its one-time password, which must be changed
  // at the first sign-in.
  virtual Result<std::optional<std::string>> create_first_admin(const Recorder& record = {}) = 0;

  virtual Result<std::vector<User>> users() = 0;  // by name
  virtual Result<std::optional<User>> find_user(std::string_view name) = 0;
  virtual Result<std::optional<User>> find_subject(std::string_view subject) = 0;
  // Adds a user; with a password, a local one, who must change it first if `one_time`. Passwords
  // for other people come from one_time_password() of server/access/password.h.
  virtual Result<User> add_user(const User& user, std::string_view password, bool one_time,
                                const Recorder& record = {}) = 0;
  // Changes the user of that name: display name, email, role, scope, disabled, and the subject of
  // one who signs in by OpenID Connect; has_totp only from true to false, which removes the second
  // factor. The last admin can't be disabled, given a scope, demoted or removed. A change of role,
  // scope or disabled ends the user's sessions.
  virtual Result<User> change_user(const User& user, const Recorder& record = {}) = 0;
  // Removes the user's sessions, tokens and saved views as well.
  virtual Result<void> remove_user(std::string_view name, const Recorder& record = {}) = 0;
  // The password needs at least 12 characters, must not be easy to guess (password.h), and must
  // differ from one that must be changed. Ends the user's sessions, except for the one of id
  // `keep_session`, and their lock-out. Without `keep_session` it is a reset by somebody else,
  // which revokes the user's tokens as well: whoever stole the account may have made some.
  virtual Result<void> set_password(std::string_view name, std::string_view password, bool one_time,
                                    std::string_view keep_session = {},
                                    const Recorder& record = {}) = 0;
  // Checks a user's password, for changes that need more than a session: a new password, removing
  // the second factor. Failures count as those of sign_in() do. Nothing: it is right.
  virtual Result<std::optional<Refusal>> check_password(std::string_view name,
                                                        std::string_view password,
                                                        std::string_view peer) = 0;

  // Signs a local user in. `code` is from the second factor, or a recovery code; empty: none given.
  virtual Result<std::variant<SignIn, Refusal>> sign_in(std::string_view name,
                                                        std::string_view password,
                                                        std::string_view code, const Device& device,
                                                        const Recorder& record = {}) = 0;
  // How long sign_in() and check_password() refuse as kLockedOut; 0: they don't.
  virtual Result<std::chrono::milliseconds> lock_out_left(std::string_view name,
                                                          std::string_view peer) = 0;
  // Signs in a user whom an OpenID provider has identified: one without a password here, or with a
  // subject. Others are refused as kWrong.
  virtual Result<std::variant<SignIn, Refusal>> sign_in_external(std::string_view name,
                                                                 const Device& device = {},
                                                                 const Recorder& record = {}) = 0;
  // The provider no longer vouches for a user who has no password here: ends the user's sessions,
  // and suspends the user's tokens until the next sign-in.
  virtual Result<void> stop_vouching(std::string_view name, const Recorder& record = {}) = 0;
  // The principal of a session; nothing if there is none, or it is over. Extends its idle timeout,
  // to the minute.
  virtual Result<std::optional<Principal>> session(std::string_view secret) = 0;
  virtual Result<void> sign_out(std::string_view secret, const Recorder& record = {}) = 0;
  // Confirms who is signed in, for changes that need a fresh sign-in: checks password and code as
  // sign_in() does, and sets Principal::proved_at of the session. Nothing: they are right.
  virtual Result<std::optional<Refusal>> confirm_session(std::string_view secret,
                                                         std::string_view password,
                                                         std::string_view code,
                                                         std::string_view peer,
                                                         const Recorder& record = {}) = 0;
  // The user's sessions that go on, the latest first.
  virtual Result<std::vector<Session>> sessions(std::string_view user) = 0;
  // Ends one session of the user. kNotFound: the user has no such session.
  virtual Result<void> end_session(std::string_view user, std::string_view id,
                                   const Recorder& record = {}) = 0;
  // Ends all sessions of the user except for the one of id `keep_session`.
  virtual Result<std::uint64_t> end_sessions(std::string_view user, std::string_view keep_session,
                                             const Recorder& record = {}) = 0;

  // The second factor: RFC 6238 with SHA-1, 30 s, 6 digits; one step of drift; a code works once.
  struct Enrolment {
    std::string secret;  // base32
    std::string uri;     // otpauth://totp/…
    std::string qr_svg;
  };
  // For a local user without one. The code that confirms it counts as used.
  virtual Result<Enrolment> begin_totp(std::string_view name) = 0;
  virtual Result<bool> confirm_totp(std::string_view name, std::string_view code,
                                    const Recorder& record = {}) = 0;
  virtual Result<void> remove_totp(std::string_view name, const Recorder& record = {}) = 0;
  // Makes new recovery codes, each of which replaces the code of the second factor once; earlier
  // ones are no longer valid. For users with a second factor.
  virtual Result<std::vector<std::string>> make_recovery_codes(std::string_view name,
                                                               const Recorder& record = {}) = 0;
  virtual Result<std::uint64_t> recovery_codes_left(std::string_view name) = 0;

  struct NewToken {
    Token token;
    std::string secret;  // shown once
  };
  // Uses name, user, only, scope and expires_at (at most 400 days ahead) of `token`. With a maker:
  // kUnsupported if the maker is a token itself, must change the password, or has a scope and makes
  // a token for another user, since that token could see more than its maker.
  virtual Result<NewToken> add_token(const Token& token, const Principal* maker = nullptr,
                                     const Recorder& record = {}) = 0;
  virtual Result<std::vector<Token>> tokens(std::string_view user) = 0;  // by id; empty: all users'
  virtual Result<void> revoke_token(std::string_view id, const Recorder& record = {}) = 0;
  // The principal of a token; nothing if it is unknown, expired or revoked, its user disabled, or
  // the user has no password here and the last sign-in by OpenID Connect is too long ago.
  virtual Result<std::optional<Principal>> bearer(std::string_view secret) = 0;

  // Adds a view if the id is 0; otherwise replaces the user's own view of that id.
  virtual Result<SavedView> save_view(const SavedView& view, const Recorder& record = {}) = 0;
  // The user's own views and those that others share with them, by name.
  virtual Result<std::vector<SavedView>> views(std::string_view user) = 0;
  // Sends a user's own view from now on, after `sent_until`; nothing: no longer.
  virtual Result<SavedView> schedule_view(std::string_view user, std::uint64_t id,
                                          const std::optional<ViewSchedule>& schedule,
                                          const Recorder& record = {}) = 0;
  // All views with a schedule, by id.
  virtual Result<std::vector<SavedView>> scheduled_views() = 0;
  // What came of sending one: up to which day it was sent, or why not. Not a change of anybody's,
  // so that it leaves no line. A schedule that was ended or set otherwise stays as it is.
  virtual Result<void> note_sent(const SavedView& view, const std::string& sent_until,
                                 const std::string& problem) = 0;
  virtual Result<void> remove_view(std::string_view user, std::uint64_t id,
                                   const Recorder& record = {}) = 0;

  // Stores other small texts by name, such as the head of the audit log.
  virtual Result<void> put(std::string_view name, std::string_view value) = 0;
  virtual Result<std::optional<std::string>> get(std::string_view name) = 0;

  // Finds lines whose changes were not committed. `settle` gets the number up to which lines are
  // settled and the numbers after it that changes were committed with; no change is made meanwhile,
  // by any process. It returns the number up to which lines are settled from now on. The first
  // time, there is no number yet.
  using Settle = std::function<Result<std::uint64_t>(std::optional<std::uint64_t> settled,
                                                     const std::set<std::uint64_t>& committed)>;
  virtual Result<void> settle_lines(const Settle& settle) = 0;

  // Makes a consistent copy, with the key beside it, while others use the file. Refused if `path`
  // exists.
  virtual Result<void> copy_to(const std::string& path) = 0;
};

}  // namespace pennyweight::access
