// AccountsFile: the Accounts of accounts.h, over SQLite. For this room alone.
//
// One connection under one mutex. What takes long, hashing a password, is done outside of it.
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

#include "access/accounts.h"
#include "access/secrets.h"
#include "access/sqlite.h"

namespace pennyweight::access {

inline constexpr std::size_t kUsersMax = 10'000;
inline constexpr std::size_t kSessionsPerUserMax = 20;
inline constexpr std::size_t kTokensPerUserMax = 100;       // that can be used
inline constexpr std::size_t kEndedTokensPerUserMax = 200;  // that are still shown
inline constexpr std::chrono::days kTokenLastsMax{400};
inline constexpr std::size_t kViewsPerUserMax = 200;
inline constexpr std::size_t kViewQueryBytesMax = 4096;
inline constexpr std::size_t kNameBytesMax = 128;
inline constexpr std::size_t kTextBytesMax = 1u << 20;
// Passwords that are hashed at once: each takes argon2_kib of memory.
inline constexpr std::size_t kHashesAtOnceMax = 4;

class AccountsFile final : public Accounts {
 public:
  AccountsFile(const AccountsOptions& options, Clock& clock, SqlDatabase database, SealingKey key,
               std::string dummy_hash);

  Result<std::optional<std::string>> create_first_admin() override;

  Result<std::vector<User>> users() override;
  Result<std::optional<User>> find_user(std::string_view name) override;
  Result<std::optional<User>> find_subject(std::string_view subject) override;
  Result<User> add_user(const User& user, std::string_view password, bool one_time) override;
  Result<User> change_user(const User& user) override;
  Result<void> remove_user(std::string_view name) override;
  Result<void> set_password(std::string_view name, std::string_view password, bool one_time,
                            std::string_view keep_session) override;
  Result<std::optional<Refusal>> check_password(std::string_view name, std::string_view password,
                                                std::string_view peer) override;

  Result<std::variant<SignIn, Refusal>> sign_in(std::string_view name, std::string_view password,
                                                std::string_view code,
                                                std::string_view peer) override;
  Result<std::variant<SignIn, Refusal>> sign_in_vouched(std::string_view name) override;
  Result<std::optional<Principal>> session(std::string_view secret) override;
  Result<void> sign_out(std::string_view secret) override;

  Result<Enrolment> begin_totp(std::string_view name) override;
  Result<bool> confirm_totp(std::string_view name, std::string_view code) override;
  Result<void> remove_totp(std::string_view name) override;

  Result<NewToken> add_token(const Token& token, const Principal* maker) override;
  Result<std::vector<Token>> tokens(std::string_view user) override;
  Result<void> revoke_token(std::string_view id) override;
  Result<std::optional<Principal>> bearer(std::string_view secret) override;

  Result<SavedView> save_view(const SavedView& view) override;
  Result<std::vector<SavedView>> views(std::string_view user) override;
  Result<void> remove_view(std::string_view user, std::uint64_t id) override;

  Result<void> put(std::string_view name, std::string_view value) override;
  Result<std::optional<std::string>> get(std::string_view name) override;
  Result<void> copy_to(const std::string& path) override;

 private:
  // What somebody who signs in must match.
  struct Credentials {
    User user;
    std::string hash;
  };
  struct Totp {
    std::string secret;
    bool confirmed;
    std::int64_t last_step;
  };
  struct Attempt {
    std::string user_key;
    std::string peer_key;  // empty: from nowhere that could be told
  };

  // Whatever ends in _locked: the caller holds mutex_.
  Result<std::optional<User>> find_locked(std::string_view name);
  Result<User> existing_locked(std::string_view name);
  Result<std::optional<Credentials>> credentials_locked(std::string_view name);
  // An Error where `before` was the last who can manage users. Within a transaction, after a
  // change.
  Result<void> check_admin_left_locked(const User& before);
  // Within a transaction. An empty hash: none.
  Result<User> insert_user_locked(const User& user, std::string_view hash, bool one_time);
  Result<void> end_sessions_locked(std::string_view user, std::string_view keep_session);

  // Runs it when it is its turn: not more than kHashesAtOnceMax do so at once.
  template <class Work>
  auto turn(const Work& work) {
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
  Result<bool> fits(std::string_view password, const std::string& hash);

  Attempt attempt_of(std::string_view name, std::string_view peer) const;
  Result<bool> is_locked_out_locked(const Attempt& attempt, Instant now);
  Result<void> count_failure_locked(const Attempt& attempt, Instant now);
  // Checks the password and everything about lock-outs. Where it is right `then` goes on within the
  // same transaction, and may refuse; what it did is kept only where it does not.
  using Then = std::function<Result<std::optional<Refusal>>(const User& user, Instant now)>;
  Result<std::optional<Refusal>> prove(std::string_view name, std::string_view password,
                                       std::string_view peer, const Then& then);
  // An Error where the key is not the one that it was sealed with.
  Result<std::optional<Totp>> totp_locked(std::string_view user);
  Result<std::optional<Refusal>> check_code_locked(const User& user, std::string_view code,
                                                   Instant now);
  Result<SignIn> begin_session_locked(const User& user, SignedInBy by, Instant now);

  // `where` is a literal: what comes after the tables' names.
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
  const std::string dummy_hash_;  // of nobody, for those whom there is not

  std::mutex mutex_;
  SqlDatabase database_;  // guarded by mutex_

  std::mutex hashing_mutex_;
  std::condition_variable hashing_changed_;
  std::size_t hashing_ = 0;  // guarded by hashing_mutex_
};

Principal principal_of(const User& user, SignedInBy by, std::string_view session);
std::string in_small_letters(std::string_view text);
// A name or remark that people type: text of one line.
Result<void> check_line(std::string_view text, std::string_view what, std::size_t bytes_max);

}  // namespace pennyweight::access
