// Decompressor: what gzip or zstd made small, as it was: in bounded memory, whatever its size.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

// Fills the buffer from the front with bytes as they lie in the file; 0 at its end.
using RawRead = std::function<Result<std::size_t>(std::span<char>)>;

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  // Fills `buffer` from the front; how many bytes, 0 at the end. An Error where the bytes are
  // damaged, or end before they should.
  virtual Result<std::size_t> read(std::span<char> buffer, const RawRead& raw) = 0;
};

inline constexpr std::size_t kMagicBytes = 4;

// By the first bytes of a file, kMagicBytes where it has so many. Null: it is not compressed.
std::unique_ptr<Decompressor> decompressor_for(std::string_view first);

}  // namespace pennyweight
