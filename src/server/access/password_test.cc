#include "server/access/password.h"

#include <gtest/gtest.h>

#include <set>

namespace pennyweight::access {
namespace {

constexpr HashCost kCheap{.kib = 64, .rounds = 1};

TEST(Password, GoodOnesAreTaken) {
  const std::pair<const char*, const char*> rows[] = {
      {"tin-otter-42-lamp", "ana"},
      {"banana split for ana", "ana"},  // the name by chance, and
                                        // more than that
      {"Grüße aus Köln", "ana"},
      {"my tooth defies rust", "bo"},
      {"rgb.lamp/QWEasd-77", "bo"},
  };
  for (const auto& [password, name] : rows) {
    const auto checked = check_new_password(password, name);
    EXPECT_TRUE(checked) << password << ": " << checked.error().message;
  }
}

TEST(Password, BadOnesAreRefused) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "ana"},
      {"tin-otter-1", "ana"},  // 11 characters
      {"ééééüüüüöö1", "ana"},  // 11 characters in 21 bytes
      {"aaaaaaaaaaaaaaaa", "ana"},
      {"abababababab", "ana"},
      {"123456789012", "ana"},
      {"210987654321", "ana"},
      {"abcdefghijklmnop", "ana"},
      {"qwertyuiop12", "ana"},
      {"1qaz2wsx3edc", "ana"},
      {"x1q2w3e4r5t6y", "ana"},
      {"password1234", "ana"},
      {"Password2026!", "ana"},
      {"2026password!!", "ana"},
      {"CorrectHorseBatteryStaple", "ana"},
      {"administrator", "ana"},
      {"pennyweight1!", "ana"},
      {"ana.lima@lab.org", "ana.lima@lab.org"},
      {"Ana.Lima2026", "ana.lima@lab.org"},
      {"anaanaana123456x", "ana"},
      {"benedictine-1", "benedictine"},
      {"tin-otter\n42-lamp", "ana"},
      {"tin-otter-42-lamp\xff", "ana"},
  };
  for (const auto& [password, name] : rows) {
    const auto checked = check_new_password(password, name);
    ASSERT_FALSE(checked) << password;
    EXPECT_EQ(checked.error().code, ErrorCode::kBadValue);
    if (*password != '\0') {
      EXPECT_EQ(checked.error().message.find(password), std::string::npos);
    }
  }
  EXPECT_FALSE(check_new_password(std::string(kPasswordBytesMax, 'x') + "yzabcdef", "ana"));
}

TEST(Password, OneTimePasswordsAreTakenAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const auto password = one_time_password();
    ASSERT_TRUE(password);
    EXPECT_EQ(password->size(), 24u);
    EXPECT_EQ(password->find_first_of("ilou"), std::string::npos);
    EXPECT_TRUE(check_new_password(*password, "admin")) << *password;
    EXPECT_TRUE(seen.insert(*password).second);
  }
}

TEST(Password, IsKeptAsArgon2id) {
  const auto first = hash_password("tin-otter-42-lamp", kCheap);
  const auto second = hash_password("tin-otter-42-lamp", kCheap);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->starts_with("$argon2id$v=19$m=64,t=1,p=1$")) << *first;
  EXPECT_NE(*first, *second);  // a salt each
  EXPECT_EQ(verify_password("tin-otter-42-lamp", *first), true);
  EXPECT_EQ(verify_password("tin-otter-42-lamp", *second), true);
  EXPECT_EQ(verify_password("tin-otter-42-lam", *first), false);
  EXPECT_EQ(verify_password("", *first), false);
  EXPECT_FALSE(verify_password("x", "$argon2id$nonsense"));
}

// A vector of argon2's authors: phc-winner-argon2, src/test.c.
TEST(Password, IsThatOfOtherPrograms) {
  const std::string theirs =
      "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  EXPECT_EQ(verify_password("password", theirs), true);
  EXPECT_EQ(verify_password("Password", theirs), false);
}

}  // namespace
}  // namespace pennyweight::access
