// BodyDecoder: decodes an HTTP body by its Content-Encoding, never past a limit.
//
// Snappy is the block format that remote_write uses (github.com/google/snappy,
// format_description.txt), not the framed one; zstd is what VictoriaMetrics' vmagent sends. A
// decompression bomb is refused before it is inflated where its length is stated (snappy, most of
// zstd), and at the limit where it is not. Memory never passes the limit plus a zstd window of 8
// MiB (RFC 9659).
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/error.h"

namespace pennyweight::prometheus {

// How much of its buffer a decoder keeps from one body to the next.
inline constexpr std::size_t kDecodedBytesKept = 16u << 20;

// One thread at a time.
class BodyDecoder {
 public:
  BodyDecoder();
  ~BodyDecoder();
  BodyDecoder(BodyDecoder&&) noexcept;
  BodyDecoder& operator=(BodyDecoder&&) noexcept;

  // `encoding` is the header's value: "", identity, gzip, x-gzip, deflate, snappy or zstd, in any
  // case. What is returned looks into `body` or into the decoder, and lives until the next decode.
  // Errors: kUnsupported, another encoding (HTTP 415); kLimit, more than `bytes_max` bytes (413);
  // kBadFile, damaged or cut off (400). The message says which encoding.
  Result<std::string_view> decode(std::string_view encoding, std::string_view body,
                                  std::size_t bytes_max);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pennyweight::prometheus
