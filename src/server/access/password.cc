#include "server/access/password.h"

#include <argon2.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/ascii.h"
#include "core/crypto/secret.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "server/access/common_passwords.h"
#include "server/access/password_strength.h"
#include "server/access/secrets.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;
constexpr std::uint32_t kLanes = 1;

// Crockford's alphabet: no i, l, o, u. Its 32 characters are 5 bits each.
constexpr std::string_view kReadable = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kOneTimeCharacters = 20;
constexpr std::size_t kOneTimeGroup = 4;

constexpr std::size_t kDifferentMin = 5;
// How many characters a password must have besides the user's name, or besides a row of keys.
constexpr std::size_t kRestMin = 8;
// Shorter names occur in many words by chance.
constexpr std::size_t kNameBytesMin = 3;

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

bool is_letter(char c) { return ascii::is_lower(c) || static_cast<unsigned char>(c) >= 0x80; }

bool is_common(std::string_view small) {
  const auto is_listed = [](std::string_view text) {
    return std::ranges::find(kCommonPasswords, text) != std::end(kCommonPasswords);
  };
  if (is_listed(small)) return true;
  // "Password2026!": attackers try digits and signs around a word as well.
  while (!small.empty() && !is_letter(small.back())) small.remove_suffix(1);
  if (is_listed(small)) return true;
  while (!small.empty() && !is_letter(small.front())) small.remove_prefix(1);
  return is_listed(small);
}

// How many characters are not part of a row of keys, forwards or backwards.
std::size_t beside_rows(std::string_view small) {
  std::size_t rest = characters_of(small);
  for (const std::string_view row : kRows) {
    const std::string backwards(row.rbegin(), row.rend());
    for (const std::string_view direction : {row, std::string_view(backwards)}) {
      for (std::size_t begin = 0; begin < small.size(); ++begin) {
        std::size_t length = 0;
        const std::size_t start = direction.find(small[begin]);
        if (start == std::string_view::npos) continue;
        while (begin + length < small.size() && start + length < direction.size() &&
               small[begin + length] == direction[start + length]) {
          ++length;
        }
        // Shorter ones occur in words: "def", "rst".
        if (length >= 5) rest = std::min(rest, small.size() - length);
      }
    }
  }
  return rest;
}

std::size_t without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
  return characters_of(text);
}

}  // namespace

Result<std::string> readable_secret(std::size_t characters) {
  auto random = TRY(random_bytes(characters));
  std::string password;
  for (std::size_t i = 0; i < characters; ++i) {
    if (i > 0 && i % kOneTimeGroup == 0) password += '-';
    password += kReadable[static_cast<unsigned char>(random[i]) % kReadable.size()];
  }
  wipe(random);
  return password;
}

Result<std::string> one_time_password() { return readable_secret(kOneTimeCharacters); }

Result<void> check_new_password(std::string_view password, std::string_view name) {
  const auto refused = [](std::string why) { return fail(ErrorCode::kBadValue, std::move(why)); };
  if (password.size() > kPasswordBytesMax) {
    return refused(fmt::format("a password has at most {} bytes", kPasswordBytesMax));
  }
  if (!is_plain_text(password) || std::ranges::any_of(password, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      })) {
    return refused("a password is text, on one line");
  }
  if (characters_of(password) < kPasswordCharactersMin) {
    return refused(fmt::format("a password has at least {} characters", kPasswordCharactersMin));
  }
  const std::string small = ascii::lower_case(password);
  if (std::set<char>(small.begin(), small.end()).size() < kDifferentMin) {
    return refused("the password has too few different characters");
  }
  if (is_common(small) || beside_rows(small) < kRestMin) {
    return refused("the password is too common");
  }
  const std::string small_name = ascii::lower_case(name);
  for (const std::string& part : {small_name, small_name.substr(0, small_name.find('@'))}) {
    if (part.size() >= kNameBytesMin && small.find(part) != std::string::npos &&
        without(small, part) < kRestMin) {
      return refused("the password is made of the user's name");
    }
  }
  if (password_strength(password, name) < kStrengthMin) {
    return refused(
        "the password is made of words, years or patterns that are tried first; a few "
        "unrelated words are better");
  }
  return {};
}

Result<std::string> hash_password(std::string_view password, const HashCost& cost) {
  const auto salt = TRY(random_bytes(kSaltBytes));
  std::string hash(
      argon2_encodedlen(cost.rounds, cost.kib, kLanes, kSaltBytes, kHashBytes, Argon2_id), '\0');
  const int code =
      argon2id_hash_encoded(cost.rounds, cost.kib, kLanes, password.data(), password.size(),
                            salt.data(), salt.size(), kHashBytes, hash.data(), hash.size());
  if (code != ARGON2_OK) {
    return fail(ErrorCode::kLimit,
                fmt::format("cannot hash a password: {}", argon2_error_message(code)));
  }
  hash.resize(hash.find('\0'));
  return hash;
}

Result<bool> verify_password(std::string_view password, const std::string& hash) {
  const int code = argon2id_verify(hash.c_str(), password.data(), password.size());
  if (code == ARGON2_OK) return true;
  if (code == ARGON2_VERIFY_MISMATCH) return false;
  return fail(ErrorCode::kLimit,
              fmt::format("cannot check a password: {}", argon2_error_message(code)));
}

}  // namespace pennyweight::access
