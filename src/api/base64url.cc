#include "api/base64url.h"

#include <cstdint>

namespace pennyweight::api {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned kLetterBits = 6;
constexpr unsigned kByteBits = 8;

}  // namespace

std::string to_base64url(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    held = held << kByteBits | static_cast<unsigned char>(c);
    for (bits += kByteBits; bits >= kLetterBits; bits -= kLetterBits) {
      text += kLetters[held >> (bits - kLetterBits) & 63];
    }
  }
  if (bits > 0) text += kLetters[held << (kLetterBits - bits) & 63];
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::size_t letter = kLetters.find(c);
    if (letter == std::string_view::npos) return std::nullopt;
    held = held << kLetterBits | static_cast<std::uint32_t>(letter);
    bits += kLetterBits;
    if (bits >= kByteBits) {
      bits -= kByteBits;
      bytes += static_cast<char>(held >> bits & 255);
    }
  }
  // A whole letter too many, or bits that no byte needs: another text would mean the same.
  if (bits == kLetterBits || (held & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace pennyweight::api
