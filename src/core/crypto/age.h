// Encrypts files as age does (age-encryption.org/v1, X25519 recipients), so that they can be read
// without this program, by `age --decrypt`.
//
// A recipient is a public key: who encrypts for it can't read what was written before. Every part
// of a file is authenticated; one that was cut, extended, changed or reordered is refused. It says
// nothing about who wrote the file: that takes a signature (core/crypto/signature.h).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace pennyweight::age {

struct Recipient {
  std::string key;  // 32 bytes
};
struct Identity {
  std::string key;  // 32 bytes, secret
};

// "age1…". An Error says what is wrong with it.
Result<Recipient> parse_recipient(std::string_view text);
// A file of age-keygen: lines of AGE-SECRET-KEY-1…, comments (#) and blank lines.
Result<std::vector<Identity>> parse_identities(std::string_view text);

// The file in pieces.
using Write = std::function<Result<void>(std::string_view bytes)>;

class Encryptor {
 public:
  // Writes the header. REQUIRES: at least one recipient.
  static Result<Encryptor> begin(std::span<const Recipient> recipients, Write write);
  Encryptor(Encryptor&&) noexcept;
  ~Encryptor();
  Result<void> add(std::string_view bytes);
  // Writes the rest. Without it the file is incomplete, and refused.
  Result<void> finish();

 private:
  struct State;
  explicit Encryptor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Decryptor {
 public:
  Decryptor(std::span<const Identity> identities, Write write);
  Decryptor(Decryptor&&) noexcept;
  ~Decryptor();
  // Bytes of the encrypted file; writes what is authentic. An Error: it is not, or is for others.
  Result<void> add(std::string_view bytes);
  // An Error: the file ends too early.
  Result<void> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::age
