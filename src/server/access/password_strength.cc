#include "server/access/password_strength.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "core/ascii.h"
#include "server/access/common_passwords.h"
#include "server/access/guessed_words.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kBytesJudged = 64;
// Costs in tenths of a bit.
constexpr std::uint32_t kDigit = 33;
constexpr std::uint32_t kOther = 40;       // a letter or sign
constexpr std::uint32_t kForeign = 60;     // a character beyond ASCII, at its first byte
constexpr std::uint32_t kWord = 90;        // one of some hundreds
constexpr std::uint32_t kVariant = 10;     // with capitals, or with digits for letters
constexpr std::uint32_t kYear = 70;        // 1900 to 2039
constexpr std::uint32_t kRow = 60;         // where it begins, where to, how far
constexpr std::uint32_t kRepetition = 20;  // how often
constexpr std::uint32_t kName = 20;
constexpr std::size_t kPatternMin = 3;

// Digits and signs that stand for letters.
char letter_for(char c) {
  switch (c) {
    case '0':
      return 'o';
    case '1':
    case '!':
      return 'i';
    case '3':
      return 'e';
    case '4':
    case '@':
      return 'a';
    case '5':
    case '$':
      return 's';
    case '7':
      return 't';
    default:
      return c;
  }
}

std::string with_letters(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), letter_for);
  return out;
}

bool is_listed_word(std::string_view text) {
  return std::ranges::binary_search(kGuessedWords, text) ||
         std::ranges::find(kCommonPasswords, text) != std::end(kCommonPasswords);
}

bool is_year(std::string_view text) {
  return text.size() == 4 && std::ranges::all_of(text, ascii::is_digit) &&
         (text.starts_with("19") || (text.starts_with("20") && text[2] <= '3'));
}

bool is_on_row(std::string_view text) {
  const std::string backwards(text.rbegin(), text.rend());
  return std::ranges::any_of(
      kRows, [&](std::string_view row) { return row.contains(text) || row.contains(backwards); });
}

class Judge {
 public:
  Judge(std::string_view password, std::string_view name)
      : text_(password.substr(0, kBytesJudged)), small_(ascii::lower_case(text_)) {
    const std::string small_name = ascii::lower_case(name);
    for (std::size_t begin = 0; begin <= small_name.size();) {
      const std::size_t end = std::min(small_name.find_first_of(".@_-", begin), small_name.size());
      if (end - begin >= kPatternMin) names_.push_back(small_name.substr(begin, end - begin));
      begin = end + 1;
    }
    names_.push_back(small_name);
  }

  // The cheapest way to write what is between two bytes.
  std::uint32_t cost(std::size_t begin, std::size_t end) const {
    std::vector<std::uint32_t> best(end - begin + 1, std::numeric_limits<std::uint32_t>::max());
    best[0] = 0;
    for (std::size_t to = begin + 1; to <= end; ++to) {
      for (std::size_t from = begin; from < to; ++from) {
        const std::uint32_t more = part_cost(from, to);
        best[to - begin] = std::min(best[to - begin], best[from - begin] + more);
      }
    }
    return best.back();
  }

  std::uint32_t whole() const { return cost(0, text_.size()); }

 private:
  static constexpr std::uint32_t kNoPart = 1'000'000;

  std::uint32_t part_cost(std::size_t begin, std::size_t end) const {
    const std::string_view part = std::string_view(small_).substr(begin, end - begin);
    if (part.size() == 1) return character_cost(part[0]);
    if (part.size() < kPatternMin) return kNoPart;
    std::uint32_t least = kNoPart;
    if (std::ranges::find(names_, part) != names_.end()) least = kName + variant(begin, end);
    if (is_year(part)) least = std::min(least, kYear);
    if (is_on_row(part)) least = std::min(least, kRow + variant(begin, end));
    const std::string letters = with_letters(part);
    if (is_listed_word(part)) {
      least = std::min(least, kWord + variant(begin, end));
    } else if (letters != part && is_listed_word(letters)) {
      least = std::min(least, kWord + kVariant + variant(begin, end));
    }
    return std::min(least, repetition_cost(begin, end));
  }

  static std::uint32_t character_cost(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xc0) return kForeign;
    if (byte >= 0x80) return 0;  // the rest of a character
    return ascii::is_digit(c) ? kDigit : kOther;
  }

  std::uint32_t variant(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin) == std::string_view(small_).substr(begin, end - begin)
               ? 0
               : kVariant;
  }

  // "!!!", "abcabc": a block, and how often.
  std::uint32_t repetition_cost(std::size_t begin, std::size_t end) const {
    const std::string_view part = std::string_view(small_).substr(begin, end - begin);
    for (std::size_t block = 1; block <= part.size() / 2; ++block) {
      if (part.size() % block != 0 || (block == 1 && part.size() < kPatternMin)) continue;
      if (part.substr(block) != part.substr(0, part.size() - block)) continue;
      return cost(begin, begin + block) + kRepetition;
    }
    return kNoPart;
  }

  const std::string_view text_;
  const std::string small_;
  std::vector<std::string> names_;
};

}  // namespace

std::uint32_t password_strength(std::string_view password, std::string_view name) {
  return Judge(password, name).whole();
}

}  // namespace pennyweight::access
