// Hash128: the fingerprint of a fact's key or content.
//
// It is XXH3 with 128 bits over fields that carry their kind and length, so that ("ab","c") and
// ("a","bc") differ, as do a number, a text and an absent field. It has no key: it tells facts
// apart and does not defend against someone who forges collisions.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pennyweight {

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
};

Hash128 hash_of(std::string_view bytes);

// Computes hash_of() for bytes that come in pieces.
class StreamHash {
 public:
  StreamHash();
  ~StreamHash();
  StreamHash(const StreamHash&) = delete;
  StreamHash& operator=(const StreamHash&) = delete;
  void add(std::string_view bytes);
  Hash128 hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Collects fields one after another and hashes them once.
class Fingerprint {
 public:
  Fingerprint& add(std::string_view field);
  Fingerprint& add(std::int64_t number);
  Fingerprint& add_absent();  // differs from an empty text and from every number
  // Present and absent differ whatever the value is.
  Fingerprint& add(const std::optional<std::uint64_t>& count);
  Hash128 hash() const { return hash_of(bytes_); }

  // For callers that hash much: fields that several fingerprints begin with are added once, and the
  // memory is reused.
  std::size_t size() const { return bytes_.size(); }
  void cut(std::size_t size) { bytes_.resize(size); }  // REQUIRES: an earlier size()
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

// 32 lower-case hexadecimal digits.
std::string to_text(const Hash128& hash);
std::optional<Hash128> parse_hash(std::string_view text);

}  // namespace pennyweight
