// Decompressor: unpacks gzip and zstd, in bounded memory whatever the size of the content.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "core/error.h"

namespace pennyweight {

// Fills the buffer from the front with the file's bytes as they are; returns 0 at its end.
using RawRead = std::function<Result<std::size_t>(std::span<char>)>;

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  // Fills `buffer` from the front with unpacked bytes and returns how many, 0 at the end. An Error
  // where the file is damaged or cut short.
  virtual Result<std::size_t> read(std::span<char> buffer, const RawRead& raw) = 0;
};

inline constexpr std::size_t kMagicBytes = 4;

// Chosen by the first bytes of a file, kMagicBytes of them where there are as many. Null: the file
// is not compressed.
std::unique_ptr<Decompressor> decompressor_for(std::string_view first);

}  // namespace pennyweight
