#include "core/base_encoding.h"

#include <cstdint>

namespace pennyweight {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase32Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kBase64Letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64UrlLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned kByteBits = 8;
constexpr unsigned kBase64Bits = 6;

// A letter for each `bits` bits, from the front; bits that are missing at the end are zero.
std::string encode(std::string_view bytes, std::string_view letters, unsigned bits) {
  std::string text;
  text.reserve((bytes.size() * kByteBits + bits - 1) / bits);
  std::uint32_t buffer = 0;
  unsigned held = 0;
  for (const char byte : bytes) {
    buffer = buffer << kByteBits | static_cast<unsigned char>(byte);
    held += kByteBits;
    while (held >= bits) {
      held -= bits;
      text += letters[buffer >> held & ((1U << bits) - 1)];
    }
  }
  if (held > 0) text += letters[buffer << (bits - held) & ((1U << bits) - 1)];
  return text;
}

}  // namespace

std::string to_hex(std::string_view bytes) { return encode(bytes, kHexDigits, 4); }

std::string to_base32(std::string_view bytes) { return encode(bytes, kBase32Letters, 5); }

std::string to_base64(std::string_view bytes) {
  std::string text = encode(bytes, kBase64Letters, kBase64Bits);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string to_base64url(std::string_view bytes) {
  return encode(bytes, kBase64UrlLetters, kBase64Bits);
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() * kBase64Bits / kByteBits);
  std::uint32_t buffer = 0;
  unsigned held = 0;
  for (const char c : text) {
    const std::size_t letter = kBase64UrlLetters.find(c);
    if (letter == std::string_view::npos) return std::nullopt;
    buffer = buffer << kBase64Bits | static_cast<std::uint32_t>(letter);
    held += kBase64Bits;
    if (held >= kByteBits) {
      held -= kByteBits;
      bytes += static_cast<char>(buffer >> held & 255);
    }
  }
  // A whole letter too many, or bits that no byte needs: another text would mean the same.
  if (held == kBase64Bits || (buffer & ((1U << held) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace pennyweight
