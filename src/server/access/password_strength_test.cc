#include "server/access/password_strength.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/access/guessed_words.h"
#include "server/access/password.h"

namespace pennyweight::access {
namespace {

TEST(PasswordStrength, WhatPeopleMakeOfWordsAndYearsIsWeak) {
  for (const char* const weak :
       {"Summer2026!!!", "Winter2025!!", "Liverpool1892", "P@ssw0rd1234", "letmein!letmein",
        "Berlin-2026-!", "qwertz123456", "asdfasdfasdf", "abcabcabcabc", "Monday12345!",
        "SummerWinter1", "Michael1985!!", "nvidia2026gpu", "1qaz2wsx2026", "2026-2026-2026",
        "ana.lima.1990!", "dragondragon"}) {
    EXPECT_LT(password_strength(weak, "ana.lima@lab.org"), kStrengthMin) << weak;
    EXPECT_FALSE(check_new_password(weak, "ana.lima@lab.org")) << weak;
  }
}

TEST(PasswordStrength, UnrelatedWordsAndChanceAreStrong) {
  for (const char* const strong :
       {"tin-otter-42-lamp", "my tooth defies rust", "xk7qmz0vfw3p", "Grüße aus Köln",
        "a long enough passphrase", "tin otter under 42 lamps", "her own long passphrase",
        "vcq81nsd0wpb"}) {
    EXPECT_GE(password_strength(strong, "ana"), kStrengthMin) << strong;
    EXPECT_TRUE(check_new_password(strong, "ana")) << strong;
  }
}

TEST(PasswordStrength, AddsWhatItsPartsCost) {
  EXPECT_EQ(password_strength("", "ana"), 0U);
  EXPECT_EQ(password_strength("7", "ana"), 33U);
  EXPECT_EQ(password_strength("summer", "ana"), 90U);
  EXPECT_EQ(password_strength("Summer", "ana"), 100U);
  EXPECT_EQ(password_strength("5ummer", "ana"), 100U);
  EXPECT_EQ(password_strength("2026", "ana"), 70U);
  EXPECT_EQ(password_strength("summer2026", "ana"), 160U);
  EXPECT_EQ(password_strength("!!!", "ana"), 60U);
  EXPECT_EQ(password_strength("ana", "ana"), 20U);
  EXPECT_EQ(password_strength("\xc3\xa9", "ana"), 60U);
  EXPECT_GE(password_strength(std::string(1024, 'x') + "y", "ana"), 1U);
}

TEST(PasswordStrength, TheTableIsSorted) { EXPECT_TRUE(std::ranges::is_sorted(kGuessedWords)); }

}  // namespace
}  // namespace pennyweight::access
