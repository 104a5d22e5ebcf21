#include "core/percent.h"

#include "core/ascii.h"
#include "core/base_encoding.h"

namespace pennyweight {

std::string percent_encoded(std::string_view text) { return percent_encoded(text, "-._~"); }

std::string percent_encoded(std::string_view text, std::string_view kept_marks) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (ascii::is_letter_or_digit(c) || kept_marks.contains(c)) {
      encoded += c;
    } else {
      append_percent(encoded, c);
    }
  }
  return encoded;
}

void append_percent(std::string& out, char byte) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  out += {'%', kDigits[value >> 4], kDigits[value & 15]};
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const auto high = hex_value(text[i + 1]);
    const auto low = hex_value(text[i + 2]);
    if (!high || !low) return std::nullopt;
    decoded += static_cast<char>(*high << 4 | *low);
    i += 2;
  }
  return decoded;
}

}  // namespace pennyweight
