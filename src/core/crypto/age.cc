#include "core/crypto/age.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/base_encoding.h"
#include "core/check.h"
#include "core/crypto/bech32.h"
#include "core/crypto/openssl_owners.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "core/try.h"

namespace pennyweight::age {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kFileKeyBytes = 16;
constexpr std::size_t kNonceBytes = 16;   // of the payload
constexpr std::size_t kCipherNonce = 12;  // of ChaCha20-Poly1305
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kChunkBytes = 64u << 10;
constexpr std::size_t kHeaderBytesMax = 64u << 10;
constexpr std::size_t kIdentitiesMax = 100;
constexpr std::string_view kVersionLine = "age-encryption.org/v1\n";
constexpr std::string_view kWrapInfo = "age-encryption.org/v1/X25519";

using openssl::bytes_of;
using openssl::Key;

unsigned char* writable(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::unexpected<Error> refuse(std::string_view why) {
  return fail(ErrorCode::kBadFile, "the encrypted file is not valid: " + std::string(why));
}

// HKDF with SHA-256 (RFC 5869), of 32 bytes.
std::string derive(std::string_view secret, std::string_view salt, std::string_view info) {
  std::string prk = hmac_sha256(salt, secret);
  std::string key = hmac_sha256(prk, std::string(info) + '\x01');
  wipe(prk);
  return key;
}

Key private_key(const std::string& key) {
  return Key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, bytes_of(key), key.size()));
}

std::string public_half(EVP_PKEY& key) {
  std::string half(kKeyBytes, '\0');
  std::size_t size = half.size();
  CHECK(EVP_PKEY_get_raw_public_key(&key, writable(half), &size) == 1 && size == kKeyBytes,
        "an X25519 key has 32 bytes");
  return half;
}

// The shared secret of two keys (RFC 7748). Nothing where it would be zero: a point of small order.
std::optional<std::string> agree(EVP_PKEY& mine, const std::string& other) {
  const Key theirs(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, bytes_of(other), other.size()));
  const openssl::KeyContext context(EVP_PKEY_CTX_new(&mine, nullptr));
  std::string shared(kKeyBytes, '\0');
  std::size_t size = shared.size();
  if (!theirs || !context || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), theirs.get()) != 1 ||
      EVP_PKEY_derive(context.get(), writable(shared), &size) != 1 || size != kKeyBytes) {
    return std::nullopt;
  }
  return shared;
}

// ChaCha20-Poly1305 (RFC 8439) without further data; the tag is at the end.
std::string seal(const std::string& key, const std::string& nonce, std::string_view plain) {
  const openssl::Cipher context(EVP_CIPHER_CTX_new());
  std::string sealed(plain.size() + kTagBytes, '\0');
  int size = 0, rest = 0;
  CHECK(context &&
            EVP_EncryptInit_ex(context.get(), EVP_chacha20_poly1305(), nullptr, bytes_of(key),
                               bytes_of(nonce)) == 1 &&
            EVP_EncryptUpdate(context.get(), writable(sealed), &size, bytes_of(plain),
                              static_cast<int>(plain.size())) == 1 &&
            EVP_EncryptFinal_ex(context.get(), writable(sealed) + size, &rest) == 1 &&
            EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes,
                                writable(sealed) + plain.size()) == 1,
        "OpenSSL encrypts with the ciphers that it is built with");
  return sealed;
}

std::optional<std::string> open_sealed(const std::string& key, const std::string& nonce,
                                       std::string_view sealed) {
  if (sealed.size() < kTagBytes) return std::nullopt;
  const std::string_view body = sealed.substr(0, sealed.size() - kTagBytes);
  std::string tag(sealed.substr(body.size()));
  const openssl::Cipher context(EVP_CIPHER_CTX_new());
  std::string plain(body.size() + 1, '\0');  // one more, so that there is a place to write to
  int size = 0, rest = 0;
  if (!context ||
      EVP_DecryptInit_ex(context.get(), EVP_chacha20_poly1305(), nullptr, bytes_of(key),
                         bytes_of(nonce)) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) != 1 ||
      EVP_DecryptUpdate(context.get(), writable(plain), &size, bytes_of(body),
                        static_cast<int>(body.size())) != 1 ||
      EVP_DecryptFinal_ex(context.get(), writable(plain) + size, &rest) != 1) {
    return std::nullopt;
  }
  plain.resize(body.size());
  return plain;
}

// age's base 64 is without padding.
std::string to_unpadded(std::string_view bytes) {
  std::string text = to_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::optional<std::string> from_unpadded(std::string_view text) {
  std::string letters(text);
  for (char& c : letters) {
    if (c == '-' || c == '_') return std::nullopt;
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return from_base64url(letters);
}

// The nonce of a chunk of the payload: its number, and whether it is the last.
std::string chunk_nonce(std::uint64_t number, bool is_last) {
  std::string nonce(kCipherNonce, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    nonce[kCipherNonce - 2 - i] = static_cast<char>(number >> (8 * i) & 0xff);
  }
  nonce.back() = is_last ? '\x01' : '\x00';
  return nonce;
}

Result<std::string> wrap_file_key(const Recipient& recipient, const std::string& file_key) {
  std::string secret = TRY(random_bytes(kKeyBytes));
  const Key mine = private_key(secret);
  wipe(secret);
  CHECK(mine != nullptr, "any 32 bytes are a private key");
  const std::string share = public_half(*mine);
  auto shared = agree(*mine, recipient.key);
  if (!shared) return fail(ErrorCode::kBadValue, "the recipient is not a usable key");
  const std::string key = derive(*shared, share + recipient.key, kWrapInfo);
  wipe(*shared);
  return "-> X25519 " + to_unpadded(share) + "\n" +
         to_unpadded(seal(key, std::string(kCipherNonce, '\0'), file_key)) + "\n";
}

struct Stanza {
  std::string share, body;  // of an X25519 stanza
};

// The X25519 stanzas of a header; those of other kinds are for others.
Result<std::vector<Stanza>> read_stanzas(std::string_view header) {
  std::vector<Stanza> stanzas;
  std::optional<std::string> share;  // of the stanza whose body is being read
  std::string body;
  bool is_in_body = false;
  header.remove_prefix(kVersionLine.size());
  while (!header.empty()) {
    const std::size_t end = header.find('\n');
    const std::string_view line = header.substr(0, end);
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 1);
    if (!is_in_body) {
      if (!line.starts_with("-> ")) return refuse("its header is malformed");
      constexpr std::string_view kKind = "-> X25519 ";
      share.reset();
      if (line.starts_with(kKind)) {
        share = from_unpadded(line.substr(kKind.size()));
        if (!share || share->size() != kKeyBytes) return refuse("its header is malformed");
      }
      body.clear();
      is_in_body = true;
      continue;
    }
    if (line.size() > 64) return refuse("its header is malformed");
    body += line;
    if (line.size() == 64) continue;
    is_in_body = false;
    const auto decoded = body.empty() ? std::optional<std::string>("") : from_unpadded(body);
    if (!decoded) return refuse("its header is malformed");
    if (!share) continue;
    if (decoded->size() != kFileKeyBytes + kTagBytes) return refuse("its header is malformed");
    stanzas.push_back({*share, *decoded});
  }
  if (is_in_body) return refuse("its header is malformed");
  return stanzas;
}

}  // namespace

Result<Recipient> parse_recipient(std::string_view text) {
  auto read = from_bech32(text);
  if (!read || read->prefix != "age" || read->bytes.size() != kKeyBytes) {
    return fail(ErrorCode::kBadValue, "'" + std::string(text) +
                                          "' is not a recipient of age, which begins with age1 and "
                                          "has 62 letters; age-keygen prints one");
  }
  return Recipient{.key = std::move(read->bytes)};
}

Result<std::vector<Identity>> parse_identities(std::string_view text) {
  std::vector<Identity> identities;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    auto read = from_bech32(line);
    if (!read || read->prefix != "age-secret-key-" || read->bytes.size() != kKeyBytes ||
        identities.size() == kIdentitiesMax) {
      return fail(ErrorCode::kBadFile,
                  "it is not an identity of age: lines of AGE-SECRET-KEY-1…, as age-keygen "
                  "writes them");
    }
    identities.push_back({.key = std::move(read->bytes)});
  }
  if (identities.empty()) return fail(ErrorCode::kBadFile, "it has no identity of age");
  return identities;
}

struct Encryptor::State {
  Write write;
  std::string key;   // of the payload
  std::string held;  // less than a chunk and a byte
  std::uint64_t chunks = 0;
  ~State() { wipe(key); }
};

Encryptor::Encryptor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Encryptor::Encryptor(Encryptor&&) noexcept = default;
Encryptor::~Encryptor() = default;

Result<Encryptor> Encryptor::begin(std::span<const Recipient> recipients, Write write) {
  CHECK(!recipients.empty(), "somebody can read the file");
  std::string file_key = TRY(random_bytes(kFileKeyBytes));
  std::string header(kVersionLine);
  for (const Recipient& recipient : recipients) {
    const auto stanza = TRY(wrap_file_key(recipient, file_key));
    header += stanza;
  }
  header += "---";
  const std::string mac = hmac_sha256(derive(file_key, "", "header"), header);
  const std::string nonce = TRY(random_bytes(kNonceBytes));
  auto state = std::make_unique<State>();
  state->key = derive(file_key, nonce, "payload");
  wipe(file_key);
  state->write = std::move(write);
  TRY(state->write(header + " " + to_unpadded(mac) + "\n" + nonce));
  return Encryptor(std::move(state));
}

Result<void> Encryptor::add(std::string_view bytes) {
  // The last chunk is known by finish() alone, and is empty only where the file is.
  while (!bytes.empty()) {
    if (state_->held.size() == kChunkBytes) {
      TRY(state_->write(seal(state_->key, chunk_nonce(state_->chunks++, false), state_->held)));
      state_->held.clear();
    }
    const std::size_t more = std::min(bytes.size(), kChunkBytes - state_->held.size());
    state_->held += bytes.substr(0, more);
    bytes.remove_prefix(more);
  }
  return {};
}

Result<void> Encryptor::finish() {
  return state_->write(seal(state_->key, chunk_nonce(state_->chunks, true), state_->held));
}

struct Decryptor::State {
  std::vector<Identity> identities;
  Write write;
  std::string held;  // not yet read: of the header, or less than a chunk and a byte
  std::string key;   // of the payload; empty: the header is not whole
  std::uint64_t chunks = 0;
  ~State() {
    wipe(key);
    for (Identity& identity : identities) wipe(identity.key);
  }

  Result<std::string> unwrap(std::span<const Stanza> stanzas) const {
    for (const Identity& identity : identities) {
      const Key mine = private_key(identity.key);
      CHECK(mine != nullptr, "any 32 bytes are a private key");
      const std::string recipient = public_half(*mine);
      for (const Stanza& stanza : stanzas) {
        auto shared = agree(*mine, stanza.share);
        if (!shared) return refuse("its header is malformed");
        const std::string wrap = derive(*shared, stanza.share + recipient, kWrapInfo);
        wipe(*shared);
        if (auto file_key = open_sealed(wrap, std::string(kCipherNonce, '\0'), stanza.body)) {
          return *std::move(file_key);
        }
      }
    }
    return fail(ErrorCode::kBadValue, "the file is not encrypted for this identity");
  }

  // Reads the header once it is whole.
  Result<void> read_header() {
    const std::string_view all = held;
    if (!all.starts_with(kVersionLine.substr(0, all.size()))) {
      return refuse("it does not begin as files of age do");
    }
    const std::size_t mac_line = all.find("\n---");
    const std::size_t end =
        mac_line == std::string_view::npos ? mac_line : all.find('\n', mac_line + 1);
    if (end == std::string_view::npos || all.size() < end + 1 + kNonceBytes) {
      if (all.size() > kHeaderBytesMax) return refuse("its header is too long");
      return {};
    }
    const std::string_view signed_part = all.substr(0, mac_line + 4);
    const std::string_view mac_text = all.substr(mac_line + 4, end - mac_line - 4);
    const auto stanzas = TRY(read_stanzas(all.substr(0, mac_line + 1)));
    std::string file_key = TRY(unwrap(stanzas));
    const auto mac = mac_text.starts_with(' ') ? from_unpadded(mac_text.substr(1)) : std::nullopt;
    if (!mac || !is_same_secret(*mac, hmac_sha256(derive(file_key, "", "header"), signed_part))) {
      return refuse("its header was changed");
    }
    key = derive(file_key, all.substr(end + 1, kNonceBytes), "payload");
    wipe(file_key);
    held.erase(0, end + 1 + kNonceBytes);
    return {};
  }

  Result<void> read_chunk(std::string_view sealed, bool is_last) {
    const auto plain = open_sealed(key, chunk_nonce(chunks, is_last), sealed);
    if (!plain) return refuse("a part of it was changed, or is missing");
    if (plain->empty() && chunks > 0) return refuse("its last part is empty");
    ++chunks;
    return write(*plain);
  }
};

Decryptor::Decryptor(std::span<const Identity> identities, Write write)
    : state_(std::make_unique<State>()) {
  state_->identities.assign(identities.begin(), identities.end());
  state_->write = std::move(write);
}
Decryptor::Decryptor(Decryptor&&) noexcept = default;
Decryptor::~Decryptor() = default;

Result<void> Decryptor::add(std::string_view bytes) {
  constexpr std::size_t kSealedBytes = kChunkBytes + kTagBytes;
  state_->held += bytes;
  if (state_->key.empty()) TRY(state_->read_header());
  if (state_->key.empty()) return {};
  std::string_view rest = state_->held;
  for (; rest.size() > kSealedBytes; rest.remove_prefix(kSealedBytes)) {
    TRY(state_->read_chunk(rest.substr(0, kSealedBytes), false));
  }
  state_->held = std::string(rest);
  return {};
}

Result<void> Decryptor::finish() {
  if (state_->key.empty()) return refuse("it ends within its header");
  return state_->read_chunk(state_->held, true);
}

}  // namespace pennyweight::age
