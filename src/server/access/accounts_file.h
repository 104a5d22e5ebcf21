// AccountsFile: implements Accounts with SQLite. For this module alone.
//
// One connection, guarded by one mutex. Hashing a password takes long and happens outside of it.
#pragma once

#include <condition_variable>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/access/accounts.h"
#include "server/access/secrets.h"
#include "server/access/sqlite.h"

namespace pennyweight::access {

inline constexpr std::size_t kUsersMax = 10'000;
inline constexpr std::size_t kSessionsPerUserMax = 20;
inline constexpr std::size_t kTokensPerUserMax = 100;       // active ones
inline constexpr std::size_t kEndedTokensPerUserMax = 200;  // expired or revoked, still listed
inline constexpr std::chrono::days kTokenLastsMax{400};
inline constexpr std::size_t kViewsPerUserMax = 200;
inline constexpr std::size_t kViewQueryBytesMax = 4096;
inline constexpr std::size_t kNameBytesMax = 128;
inline constexpr std::size_t kTextBytesMax = 1u << 20;
inline constexpr std::size_t kAgentBytesMax = 256;
inline constexpr std::size_t kRecoveryCodes = 10;
// Passwords hashed at the same time: each takes argon2_kib of memory.
inline constexpr std::size_t kHashesAtOnceMax = 4;

class AccountsFile final : public Accounts {
 public:
  AccountsFile(const AccountsOptions& options, Clock& clock, SqlDatabase database, SealingKey key,
               std::string dummy_hash);

  Result<std::optional<std::string>> create_first_admin(const Recorder& record) override;

  Result<std::vector<User>> users() override;
  Result<std::optional<User>> find_user(std::string_view name) override;
  Result<std::optional<User>> find_subject(std::string_view subject) override;
  Result<User> add_user(const User& user, std::string_view password, bool one_time,
                        const Recorder& record) override;
  Result<User> change_user(const User& user, const Recorder& record) override;
  Result<void> remove_user(std::string_view name, const Recorder& record) override;
  Result<void> set_password(std::string_view name, std::string_view password, bool one_time,
                            std::string_view keep_session, const Recorder& record) override;
  Result<std::optional<Refusal>> check_password(std::string_view name, std::string_view password,
                                                std::string_view peer) override;

  Result<std::variant<SignIn, Refusal>> sign_in(std::string_view name, std::string_view password,
                                                std::string_view code, const Device& device,
                                                const Recorder& record) override;
  Result<std::chrono::milliseconds> lock_out_left(std::string_view name,
                                                  std::string_view peer) override;
  Result<std::variant<SignIn, Refusal>> sign_in_external(std::string_view name,
                                                         const Device& device,
                                                         const Recorder& record) override;
  Result<void> stop_vouching(std::string_view name, const Recorder& record) override;
  Result<std::optional<Principal>> session(std::string_view secret) override;
  Result<void> sign_out(std::string_view secret, const Recorder& record) override;
  Result<std::optional<Refusal>> confirm_session(std::string_view secret, std::string_view password,
                                                 std::string_view code, std::string_view peer,
                                                 const Recorder& record) override;
  Result<std::vector<Session>> sessions(std::string_view user) override;
  Result<void> end_session(std::string_view user, std::string_view id,
                           const Recorder& record) override;
  Result<std::uint64_t> end_sessions(std::string_view user, std::string_view keep_session,
                                     const Recorder& record) override;

  Result<Enrolment> begin_totp(std::string_view name) override;
  Result<bool> confirm_totp(std::string_view name, std::string_view code,
                            const Recorder& record) override;
  Result<void> remove_totp(std::string_view name, const Recorder& record) override;
  Result<std::vector<std::string>> make_recovery_codes(std::string_view name,
                                                       const Recorder& record) override;
  Result<std::uint64_t> recovery_codes_left(std::string_view name) override;

  Result<NewToken> add_token(const Token& token, const Principal* maker,
                             const Recorder& record) override;
  Result<std::vector<Token>> tokens(std::string_view user) override;
  Result<void> revoke_token(std::string_view id, const Recorder& record) override;
  Result<std::optional<Principal>> bearer(std::string_view secret) override;

  Result<SavedView> save_view(const SavedView& view, const Recorder& record) override;
  Result<std::vector<SavedView>> views(std::string_view user) override;
  Result<SavedView> schedule_view(std::string_view user, std::uint64_t id,
                                  const std::optional<ViewSchedule>& schedule,
                                  const Recorder& record) override;
  Result<std::vector<SavedView>> scheduled_views() override;
  Result<void> note_sent(const SavedView& view, const std::string& sent_until,
                         const std::string& problem) override;
  Result<void> remove_view(std::string_view user, std::uint64_t id,
                           const Recorder& record) override;

  Result<void> put(std::string_view name, std::string_view value) override;
  Result<std::optional<std::string>> get(std::string_view name) override;
  Result<void> settle_lines(const Settle& settle) override;
  Result<void> copy_to(const std::string& path) override;

 private:
  // What a sign-in is checked against.
  struct Credentials {
    User user;
    std::string hash;
  };
  struct Totp {
    std::string secret;
    bool confirmed;
    std::int64_t last_step;
  };
  // The keys that failures are counted for; see lock_out.h.
  struct Attempt {
    std::string pair_key;
    std::string user_key;
    std::string peer_key;  // empty: the address is unknown
  };

  // Callers of functions that end in _locked hold mutex_.
  Result<std::optional<User>> find_locked(std::string_view name);
  Result<User> existing_locked(std::string_view name);
  Result<std::optional<Credentials>> credentials_locked(std::string_view name);
  // An Error if `before` was the last user who could manage users. Called within a transaction,
  // after the change.
  Result<void> check_admin_left_locked(const User& before);
  // Within a transaction. An empty hash: no password.
  Result<User> insert_user_locked(const User& user, std::string_view hash, bool one_time);
  Result<void> end_sessions_locked(std::string_view user, std::string_view keep_session);

  // Runs `work` as soon as fewer than kHashesAtOnceMax others hash.
  template <class Work>
  auto with_hashing_slot(const Work& work) {
    {
      std::unique_lock lock(hashing_mutex_);
      hashing_changed_.wait(lock, [&] { return hashing_ < kHashesAtOnceMax; });
      ++hashing_;
    }
    auto result = work();
    {
      const std::lock_guard lock(hashing_mutex_);
      --hashing_;
    }
    hashing_changed_.notify_one();
    return result;
  }
  Result<std::string> hash(std::string_view password);
  Result<bool> verify(std::string_view password, const std::string& hash);

  Attempt to_attempt(std::string_view name, std::string_view peer) const;
  // How long this attempt must wait; 0: not at all.
  Result<std::chrono::milliseconds> wait_locked(const Attempt& attempt, Instant now);
  Result<void> count_failure_locked(const Attempt& attempt, Instant now);
  Result<void> remember_device_locked(const Attempt& attempt, Instant now);
  Result<bool> is_known_device_locked(const Attempt& attempt, Instant now);
  // Checks the password and lock-outs. If the password is right, `then` continues in the same
  // transaction and may still refuse, which rolls its changes back.
  using OnAuthenticated =
      std::function<Result<std::optional<Refusal>>(const User& user, Instant now, Change& change)>;
  Result<std::optional<Refusal>> authenticate(std::string_view name, std::string_view password,
                                              std::string_view peer, const OnAuthenticated& then,
                                              const Recorder& record = {});
  // Writes the line of a change, if there is a recorder, and commits both.
  Result<void> commit_recorded_locked(SqlTransaction& transaction, const Recorder& record,
                                      const Change& change);
  Result<void> remove_totp_locked(std::string_view user);
  Result<bool> use_recovery_code_locked(std::string_view user, std::string_view code);
  Result<bool> is_vouched_for_locked(const User& user, Instant now);
  Result<std::uint64_t> revoke_tokens_locked(std::string_view user);
  // An Error if the key is not the one that sealed the secret.
  Result<std::optional<Totp>> totp_locked(std::string_view user);
  Result<std::optional<Refusal>> check_code_locked(const User& user, std::string_view code,
                                                   Instant now);
  Result<SignIn> begin_session_locked(const User& user, SignedInBy by, const Device& device,
                                      Instant now, Change& change);
  Result<std::vector<Session>> select_sessions_locked(std::string_view where,
                                                      std::initializer_list<SqlValue> values);

  // `where` is a literal: the SQL behind the tables' names.
  Result<std::vector<User>> select_users_locked(std::string_view where,
                                                std::initializer_list<SqlValue> values);
  Result<std::vector<Token>> select_tokens_locked(std::string_view where,
                                                  std::initializer_list<SqlValue> values);
  Result<std::vector<SavedView>> select_views_locked(std::string_view where,
                                                     std::initializer_list<SqlValue> values);

  const AccountsOptions options_;
  Clock& clock_;
  const SealingKey key_;
  const std::string attempts_key_;
  const std::string dummy_hash_;  // checked for unknown users, so that they take the same time

  std::mutex mutex_;
  SqlDatabase database_;  // guarded by mutex_

  std::mutex hashing_mutex_;
  std::condition_variable hashing_changed_;
  std::size_t hashing_ = 0;  // guarded by hashing_mutex_
};

Principal principal_of(const User& user, SignedInBy by, std::string_view session);
// Checks a name or remark that people type: text of one line.
Result<void> check_line(std::string_view text, std::string_view what, std::size_t bytes_max);

}  // namespace pennyweight::access
