// What the file promises: no secrets in it, nothing lost, no waiting for one another.
#include "server/access/accounts_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "server/access/accounts_for_tests.h"
#include "server/access/totp.h"

namespace pennyweight::access {
namespace {

using AccountsFileTest = AccountsTest;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

unsigned mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777U;
}

TEST_F(AccountsFileTest, HoldsNoSecret) {
  add(user("bo"));
  const SignIn session = sign_in("bo");
  const auto token = accounts_->add_token({.id = "",
                                           .name = "scripts",
                                           .user = "bo",
                                           .only = {},
                                           .scope = {},
                                           .created_at = {},
                                           .expires_at = clock_.now() + std::chrono::days(9),
                                           .last_used = {}});
  ASSERT_TRUE(token);
  const auto totp = accounts_->begin_totp("bo");
  ASSERT_TRUE(totp);
  EXPECT_EQ(refusal("copper-kettle-77", "wrong"), Refusal::kWrong);  // a password for a name
  EXPECT_EQ(refusal("bo", "wrong", "", "198.51.100.77"), Refusal::kWrong);

  std::string all;
  for (const char* ending : {"", "-wal", "-shm"}) all += bytes_of(options_.path + ending);
  ASSERT_NE(all.find("scripts"), std::string::npos);  // it is the right file
  for (const std::string& secret :
       {std::string(kPassword), session.secret, session.principal.csrf, token->secret,
        token->secret.substr(4), totp->secret, from_base32(totp->secret),
        std::string("copper-kettle-77"), std::string("198.51.100.77")}) {
    EXPECT_EQ(all.find(secret), std::string::npos) << secret;
  }
  const std::string key = bytes_of(options_.path + ".key");
  ASSERT_EQ(key.size(), 32u);
  EXPECT_EQ(all.find(key), std::string::npos);
}

TEST_F(AccountsFileTest, SealsWhatItMustReadAgain) {
  const auto key = SealingKey::open(folder_ + "/another.key");
  ASSERT_TRUE(key);
  const std::string secret = "12345678901234567890";
  const auto sealed = key->seal(secret, "totp bo");
  const auto again = key->seal(secret, "totp bo");
  ASSERT_TRUE(sealed && again);
  EXPECT_NE(*sealed, *again);
  EXPECT_EQ(sealed->find(secret.substr(0, 8)), std::string::npos);
  EXPECT_EQ(key->unseal(*sealed, "totp bo"), secret);
  EXPECT_FALSE(key->unseal(*sealed, "totp cy"));
  for (std::size_t i = 0; i < sealed->size(); ++i) {
    std::string altered = *sealed;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_FALSE(key->unseal(altered, "totp bo")) << i;
    EXPECT_FALSE(key->unseal(sealed->substr(0, i), "totp bo")) << i;
  }
  const auto same = SealingKey::open(folder_ + "/another.key");
  ASSERT_TRUE(same);
  EXPECT_EQ(same->unseal(*sealed, "totp bo"), secret);
}

TEST_F(AccountsFileTest, IsForItsOwnerAlone) {
  add(user("bo"));
  for (const char* ending : {"", "-wal", "-shm", ".key"}) {
    EXPECT_EQ(mode_of(options_.path + ending), 0600U) << ending;
  }
  accounts_.reset();
  for (const char* ending : {"", ".key"}) {
    ASSERT_EQ(::chmod((options_.path + ending).c_str(), 0664), 0);
  }
  open();
  for (const char* ending : {"", ".key"}) EXPECT_EQ(mode_of(options_.path + ending), 0600U);
  EXPECT_EQ(refusal("bo"), std::nullopt);
}

TEST_F(AccountsFileTest, OthersAreRefused) {
  const auto code = [&](const std::string& path) {
    const auto opened =
        Accounts::open({.path = path, .argon2_kib = 64, .argon2_rounds = 1}, clock_);
    return opened ? std::nullopt : std::optional(opened.error().code);
  };
  std::ofstream(folder_ + "/text") << std::string(5000, 'x');
  EXPECT_EQ(code(folder_ + "/text"), ErrorCode::kBadFile);
  {
    auto other = SqlDatabase::open(folder_ + "/other");
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->run("CREATE TABLE users (name TEXT)"));
  }
  const std::string before = bytes_of(folder_ + "/other");
  EXPECT_EQ(code(folder_ + "/other"), ErrorCode::kBadFile);
  EXPECT_EQ(bytes_of(folder_ + "/other"), before);
  EXPECT_EQ(code(folder_ + "/no/folder"), ErrorCode::kIo);
  EXPECT_FALSE(Accounts::open({.path = folder_}, clock_));
  {
    accounts_.reset();
    auto later = SqlDatabase::open(options_.path);
    ASSERT_TRUE(later);
    ASSERT_TRUE(later->run("PRAGMA user_version = 1000"));
  }
  EXPECT_EQ(code(options_.path), ErrorCode::kUnsupported);
  std::ofstream(folder_ + "/short.key") << "short";
  EXPECT_EQ(code(folder_ + "/short"), ErrorCode::kBadFile);
}

// An altered file gives no session with a guessed role or scope.
TEST_F(AccountsFileTest, ARowThatMeansNothingIsAnError) {
  add(user("bo"));
  const SignIn session = sign_in("bo");
  for (const char* change :
       {"UPDATE users SET role = 'owner'", "UPDATE users SET role = 'viewer', scope = ''",
        "UPDATE users SET scope = 'team'"}) {
    {
      auto raw = SqlDatabase::open(options_.path);
      ASSERT_TRUE(raw);
      ASSERT_TRUE(raw->run(change));
    }
    EXPECT_EQ(accounts_->session(session.secret).error().code, ErrorCode::kBadFile) << change;
    EXPECT_EQ(try_sign_in("bo").error().code, ErrorCode::kBadFile) << change;
  }
}

TEST_F(AccountsFileTest, ManySignInAtOnce) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 12;
  for (int i = 0; i < kThreads; ++i) add(user("user" + std::to_string(i)));
  const auto other = another();
  std::atomic<int> let_in = 0;
  std::atomic<int> seen = 0;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        Accounts& accounts = i % 2 == 0 ? *accounts_ : *other;
        const std::string name = "user" + std::to_string(i);
        for (int round = 0; round < kRounds; ++round) {
          const auto done = accounts.sign_in(name, kPassword, "", {.peer = "10.0.0.1"});
          if (!done || !std::holds_alternative<SignIn>(*done)) continue;
          ++let_in;
          const std::string& secret = std::get<SignIn>(*done).secret;
          const auto principal = accounts.session(secret);
          if (principal && *principal && (*principal)->name == name) ++seen;
          if (accounts.sign_out(secret) && accounts.session(secret) == std::nullopt) ++refused;
        }
      });
    }
  }
  EXPECT_EQ(let_in, kThreads * kRounds);
  EXPECT_EQ(seen, let_in);
  EXPECT_EQ(refused, let_in);
}

// Guessing in parallel reveals no more than guessing one by one.
TEST_F(AccountsFileTest, GuessesAtOnceTellNoMore) {
  add(user("bo"));
  constexpr int kThreads = 8;
  constexpr int kGuesses = 10;
  std::atomic<int> wrong = 0;
  std::atomic<int> locked = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int guess = 0; guess < kGuesses; ++guess) {
          const auto done = accounts_->sign_in("bo", "guess " + std::to_string(i * 100 + guess), "",
                                               {.peer = "10.0.0.1"});
          if (!done || !std::holds_alternative<Refusal>(*done)) continue;
          if (std::get<Refusal>(*done) == Refusal::kWrong) ++wrong;
          if (std::get<Refusal>(*done) == Refusal::kLockedOut) ++locked;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 5);
  EXPECT_EQ(locked, kThreads * kGuesses - 5);
}

TEST_F(AccountsFileTest, ACodeCountsOnceForThoseAtOnce) {
  add(user("bo"));
  const auto begun = accounts_->begin_totp("bo");
  ASSERT_TRUE(begun);
  const std::string secret = from_base32(begun->secret);
  const std::int64_t now = totp_step(clock_.now());
  ASSERT_EQ(accounts_->confirm_totp("bo", totp_code(secret, now)), true);
  const std::string code = totp_code(secret, now + 1);
  std::atomic<int> let_in = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const auto done =
            accounts_->sign_in("bo", kPassword, code, {.peer = "10.0." + std::to_string(i) + ".1"});
        if (done && std::holds_alternative<SignIn>(*done)) ++let_in;
      });
    }
  }
  EXPECT_EQ(let_in, 1);
}

TEST_F(AccountsFileTest, OpenedByManyAtOnceHasOneAdmin) {
  const std::string path = folder_ + "/fresh.sqlite";
  std::atomic<int> opened = 0;
  std::atomic<int> made = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&] {
        auto accounts =
            Accounts::open({.path = path, .argon2_kib = 64, .argon2_rounds = 1}, clock_);
        if (!accounts) {
          ADD_FAILURE() << accounts.error().message;
          return;
        }
        ++opened;
        const auto password = (*accounts)->create_first_admin();
        if (!password) ADD_FAILURE() << password.error().message;
        if (password && *password) ++made;
      });
    }
  }
  EXPECT_EQ(opened, 6);
  EXPECT_EQ(made, 1);
}

// A process that dies at any moment has lost nothing that was acknowledged.
TEST_F(AccountsFileTest, WhatIsDoneOutlivesAKill) {
  accounts_.reset();
  for (int round = 0; round < 3; ++round) {
    int pipes[2];
    ASSERT_EQ(::pipe(pipes), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto accounts = Accounts::open(options_, clock_);
      for (int i = 0; accounts; ++i) {
        const std::string name = "u" + std::to_string(round) + "-" + std::to_string(i);
        if (!(*accounts)->add_user(user(name), kPassword, false)) break;
        const auto number = static_cast<unsigned char>(i);
        if (::write(pipes[1], &number, 1) != 1) break;
      }
      ::_exit(1);
    }
    ::close(pipes[1]);
    unsigned char acknowledged = 0;
    for (int i = 0; i < 10 + round; ++i) {
      ASSERT_EQ(::read(pipes[0], &acknowledged, 1), 1);
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    while (::read(pipes[0], &acknowledged, 1) == 1) {  // before it died
    }
    ::close(pipes[0]);
    open();
    for (int i = 0; i <= acknowledged; ++i) {
      const std::string name = "u" + std::to_string(round) + "-" + std::to_string(i);
      EXPECT_TRUE(accounts_->find_user(name)->has_value()) << name;
    }
    EXPECT_EQ(refusal("u" + std::to_string(round) + "-0"), std::nullopt);
    accounts_.reset();
  }
}

TEST_F(AccountsFileTest, IsCopiedWhileOthersWrite) {
  add(user("root", Role::kAdmin));
  const auto begun = accounts_->begin_totp("root");
  ASSERT_TRUE(begun);
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  {
    const std::jthread writer([&] {
      for (int i = 0; !stop; ++i) {
        const auto text = std::to_string(i);
        if (!accounts_->put("a", text) || !accounts_->put("b", text)) return;
        ++written;
      }
    });
    while (written < 3) std::this_thread::yield();
    for (int copy = 0; copy < 4; ++copy) {
      const auto copied = accounts_->copy_to(folder_ + "/copy" + std::to_string(copy));
      EXPECT_TRUE(copied) << copied.error().message;
    }
    stop = true;
  }
  for (int copy = 0; copy < 4; ++copy) {
    const std::string path = folder_ + "/copy" + std::to_string(copy);
    EXPECT_EQ(mode_of(path), 0600U);
    EXPECT_EQ(mode_of(path + ".key"), 0600U);
    auto opened = Accounts::open({.path = path, .argon2_kib = 64, .argon2_rounds = 1}, clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    const int a = std::stoi((*opened)->get("a")->value());
    const int b = std::stoi((*opened)->get("b")->value());
    EXPECT_TRUE(a == b || a == b + 1) << a << " " << b;  // one moment of it
    EXPECT_TRUE((*opened)->find_user("root")->has_value());
    // The copied key unseals what the copy holds.
    EXPECT_EQ((*opened)->confirm_totp("root", "abc"), false);
  }
  // Nothing is overwritten, and no temporary file is left behind.
  EXPECT_EQ(accounts_->copy_to(folder_ + "/copy0").error().code, ErrorCode::kConflict);
  EXPECT_FALSE(accounts_->copy_to(folder_ + "/no/folder/copy"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
  }
}

}  // namespace
}  // namespace pennyweight::access
