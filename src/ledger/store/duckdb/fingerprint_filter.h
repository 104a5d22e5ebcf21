// FingerprintFilter: whether a fingerprint may have been seen before, in fixed memory.
//
// A Bloom filter of 64 MiB. "No" is certain; "maybe" is wrong for about two in a thousand of 30
// million fingerprints, and more often beyond. The caller must be right either way; a wrong
// "maybe" only costs time. All bits of a fingerprint lie in one cache line of 64 bytes: a filter
// this size is in no cache, and each line that is looked at is a wait for memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/hash.h"

namespace pennyweight {

class FingerprintFilter {
 public:
  // calloc, so that a small import touches, and pays for, only the pages that it sets.
  FingerprintFilter()
      : words_(static_cast<std::uint64_t*>(std::calloc(kWords, sizeof(std::uint64_t)))) {
    if (words_ == nullptr) throw std::bad_alloc();
  }

  bool may_hold(const Hash128& hash) const {
    const std::uint64_t* const line = line_of(hash);
    for (std::uint64_t i = 0; i < kProbes; ++i) {
      const std::uint64_t bit = probe(hash, i);
      if ((line[bit / 64] >> (bit % 64) & 1) == 0) return false;
    }
    return true;
  }
  void add(const Hash128& hash) {
    std::uint64_t* const line = line_of(hash);
    for (std::uint64_t i = 0; i < kProbes; ++i) {
      const std::uint64_t bit = probe(hash, i);
      line[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
  }

 private:
  static constexpr std::uint64_t kWords = std::uint64_t{1} << 23;
  static constexpr std::uint64_t kLineWords = 8;
  static constexpr std::uint64_t kProbes = 6;
  std::uint64_t* line_of(const Hash128& hash) const {
    return words_.get() + hash.high % (kWords / kLineWords) * kLineWords;
  }
  // Nine bits of the other half for each probe.
  static std::uint64_t probe(const Hash128& hash, std::uint64_t i) {
    return hash.low >> (9 * i) & (kLineWords * 64 - 1);
  }
  struct Free {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };
  std::unique_ptr<std::uint64_t, Free> words_;
};

}  // namespace pennyweight
