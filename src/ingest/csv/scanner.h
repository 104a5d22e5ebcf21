// Scanner: finds the special bytes of CSV (delimiter, quote, CR, LF), 64 bytes at a time, and notes
// whether a row may hold anything but plain ASCII.
//
// This is the inner loop of every import: it compares 16 bytes at once instead of branching at each
// byte. It finds the same on every machine; only the speed differs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pennyweight::csv {

class Scanner {
 public:
  static constexpr std::size_t kBlockBytes = 64;

  Scanner(std::string_view bytes, char delimiter) : bytes_(bytes), delimiter_(delimiter) {}

  // The first special byte at or after the position, and moves past it; bytes.size() if there is
  // none.
  std::size_t next() {
    while (marks_ == 0) {
      if (block_end_ >= bytes_.size()) return bytes_.size();
      load(block_end_);
    }
    const auto offset = static_cast<std::size_t>(std::countr_zero(marks_));
    marks_ &= marks_ - 1;
    return block_ + offset;
  }

  // Moves to `position`, forwards or backwards.
  void seek(std::size_t position) {
    if (position < block_ || position >= block_end_) {
      marks_ = 0;
      block_end_ = position;  // loaded by the next next()
      return;
    }
    marks_ = marks_of_block_ & (~std::uint64_t{0} << (position - block_));
  }

  // Starts a row; a block that reaches into it counts for it.
  void begin_row() { unusual_ = unusual_block_; }
  // True if a NUL or a byte that is not ASCII may lie between begin_row() and the position.
  bool may_be_unusual() const { return unusual_; }

 private:
  void load(std::size_t begin) {
    block_ = begin;
    const std::size_t left = bytes_.size() - begin;
    if (left >= kBlockBytes) {
      block_end_ = begin + kBlockBytes;
      scan(bytes_.data() + begin);
    } else {
      block_end_ = bytes_.size();
      char padded[kBlockBytes];
      std::memset(padded, ' ', kBlockBytes);
      std::memcpy(padded, bytes_.data() + begin, left);
      scan(padded);
      marks_ &= (std::uint64_t{1} << left) - 1;  // the delimiter may be a space
    }
    marks_of_block_ = marks_;
    unusual_ = unusual_ || unusual_block_;
  }

  void scan(const char* block) {
    std::uint64_t marks = 0;
    std::uint64_t unusual = 0;
#if defined(__SSE2__)
    const __m128i delimiter = _mm_set1_epi8(delimiter_);
    for (std::size_t i = 0; i < 4; ++i) {
      const __m128i at = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));
      const __m128i found = _mm_or_si128(
          _mm_or_si128(_mm_cmpeq_epi8(at, delimiter), _mm_cmpeq_epi8(at, _mm_set1_epi8('"'))),
          _mm_or_si128(_mm_cmpeq_epi8(at, _mm_set1_epi8('\n')),
                       _mm_cmpeq_epi8(at, _mm_set1_epi8('\r'))));
      // The sign bit marks bytes above ASCII; NUL is compared for.
      const __m128i odd = _mm_or_si128(at, _mm_cmpeq_epi8(at, _mm_setzero_si128()));
      marks |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(found))} << (16 * i);
      unusual |= static_cast<std::uint32_t>(_mm_movemask_epi8(odd));
    }
#else
    for (unsigned i = 0; i < kBlockBytes; ++i) {
      const char c = block[i];
      const bool found = c == delimiter_ || c == '"' || c == '\n' || c == '\r';
      marks |= std::uint64_t{found} << i;
      unusual |= std::uint64_t{c <= 0 || static_cast<unsigned char>(c) >= 0x80};
    }
#endif
    marks_ = marks;
    unusual_block_ = unusual != 0;
  }

  std::string_view bytes_;
  char delimiter_;
  std::size_t block_ = 0;      // where the loaded block begins
  std::size_t block_end_ = 0;  // and ends
  std::uint64_t marks_ = 0;    // bit i: byte block_ + i is special and lies ahead
  std::uint64_t marks_of_block_ = 0;
  bool unusual_block_ = false;
  bool unusual_ = false;
};

}  // namespace pennyweight::csv
