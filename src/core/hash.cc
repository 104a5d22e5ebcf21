#include "core/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>
#include <cstring>
#include <new>

namespace pennyweight {

Hash128 hash_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

struct StreamHash::State {
  XXH3_state_t* xxh = XXH3_createState();
  ~State() { XXH3_freeState(xxh); }
};

StreamHash::StreamHash() : state_(std::make_unique<State>()) {
  if (state_->xxh == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_->xxh);
}
StreamHash::~StreamHash() = default;

void StreamHash::add(std::string_view bytes) {
  XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size());
}

Hash128 StreamHash::hash() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return {.high = hash.high64, .low = hash.low64};
}

Fingerprint& Fingerprint::add(std::string_view field) {
  const std::uint64_t size = field.size();
  char head[1 + sizeof size] = {'s'};
  std::memcpy(head + 1, &size, sizeof size);
  bytes_.append(head, sizeof head);
  bytes_.append(field);
  return *this;
}

Fingerprint& Fingerprint::add(std::int64_t number) {
  char field[1 + sizeof number] = {'n'};
  std::memcpy(field + 1, &number, sizeof number);
  bytes_.append(field, sizeof field);
  return *this;
}

Fingerprint& Fingerprint::add_absent() {
  bytes_.push_back('-');
  return *this;
}

Fingerprint& Fingerprint::add(const std::optional<std::uint64_t>& count) {
  if (!count) return add_absent();
  return add(std::int64_t{1}).add(static_cast<std::int64_t>(*count));
}

std::string to_text(const Hash128& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

std::optional<Hash128> parse_hash(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  Hash128 hash;
  const auto read = [](std::string_view digits, std::uint64_t& out) {
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
    return error == std::errc{} && end == digits.data() + digits.size();
  };
  if (!read(text.substr(0, 16), hash.high) || !read(text.substr(16), hash.low)) return std::nullopt;
  return hash;
}

}  // namespace pennyweight
