// SeenFilter: whether a fingerprint may have been seen before, in memory that does not grow.
//
// A Bloom filter of 64 MiB. "No" is certain; "maybe" is wrong for about one in a thousand of 30
// million fingerprints, and more often beyond. Whoever asks must be right either way and only pays
// for a "maybe" with time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/hash.h"

namespace pennyweight {

class SeenFilter {
 public:
  // calloc, so that a small import touches, and pays for, only the pages that it sets.
  SeenFilter() : words_(static_cast<std::uint64_t*>(std::calloc(kWords, sizeof(std::uint64_t)))) {
    if (words_ == nullptr) throw std::bad_alloc();
  }

  bool may_hold(const Hash128& hash) const {
    for (std::uint64_t i = 0; i < kProbes; ++i) {
      const std::uint64_t bit = probe(hash, i);
      if ((words_.get()[bit / 64] >> (bit % 64) & 1) == 0) return false;
    }
    return true;
  }
  void add(const Hash128& hash) {
    for (std::uint64_t i = 0; i < kProbes; ++i) {
      const std::uint64_t bit = probe(hash, i);
      words_.get()[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
  }

 private:
  static constexpr std::uint64_t kWords = std::uint64_t{1} << 23;
  static constexpr std::uint64_t kProbes = 6;
  // Double hashing over the two halves, which are independent already.
  static std::uint64_t probe(const Hash128& hash, std::uint64_t i) {
    return (hash.high + i * (hash.low | 1)) % (kWords * 64);
  }
  struct Free {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };
  std::unique_ptr<std::uint64_t, Free> words_;
};

}  // namespace pennyweight
