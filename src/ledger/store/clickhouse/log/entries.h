// Entries: the entries of the commit log that count, in order. An entry takes 24 bytes, and copies
// share all but the last thousand, so every query can cheaply keep its own state of a long log.
//
// Not thread-safe; but copies may be used by different threads, since what they share is immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::commit_log {

struct Entry {
  std::uint64_t position = 0;  // 1, 2, … without gaps
  std::uint64_t turn = 0;      // never less than that of the position before
  std::uint64_t session = 0;
  std::string what;
  bool operator==(const Entry&) const = default;
};

class Entries {
 public:
  std::uint64_t size() const { return chunks_.size() * kChunk + tail_.size(); }
  bool empty() const { return size() == 0; }
  // The entry at position index + 1. REQUIRES: index < size()
  Entry operator[](std::uint64_t index) const {
    const Packed& entry = packed(index);
    return {index + 1, entry.turn, entry.session, kinds_[entry.kind].what};
  }
  Entry back() const { return (*this)[size() - 1]; }  // REQUIRES: !empty()

  // How many entries have a kind: "import", "run", …
  std::uint64_t count(std::string_view what) const;
  // Calls visit(position, session) for the entries of a kind after position `behind`, in order.
  template <class Visit>
  void each(std::string_view what, const Visit& visit, std::uint64_t behind = 0) const {
    const std::size_t kind = find_kind(what);
    if (kind == kinds_.size()) return;
    for (std::uint64_t index = behind; index < size(); ++index) {
      const Packed& entry = packed(index);
      if (entry.kind == kind) visit(index + 1, entry.session);
    }
  }
  // The index of a session's entry, or size(). Linear.
  std::uint64_t find(std::uint64_t session) const;

  // Appends the entry at position size() + 1.
  void add(std::uint64_t turn, std::uint64_t session, std::string_view what);

  // Iterates by value.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using reference = Entry;
    using pointer = void;
    Iterator() = default;
    Iterator(const Entries& entries, std::uint64_t index) : entries_(&entries), index_(index) {}
    Entry operator*() const { return (*entries_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++index_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Entries* entries_ = nullptr;
    std::uint64_t index_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  struct Packed {
    std::uint64_t session = 0;
    std::uint64_t turn = 0;
    std::size_t kind = 0;  // of kinds_
  };
  static constexpr std::uint64_t kChunk = 1024;
  using Chunk = std::array<Packed, kChunk>;
  struct Kind {
    std::string what;
    std::uint64_t count = 0;
  };

  const Packed& packed(std::uint64_t index) const {
    const std::uint64_t chunk = index / kChunk;
    return chunk < chunks_.size() ? (*chunks_[chunk])[index % kChunk] : tail_[index % kChunk];
  }
  std::size_t find_kind(std::string_view what) const;  // kinds_.size(): none

  std::vector<std::shared_ptr<const Chunk>> chunks_;  // full; shared, since they never change
  std::vector<Packed> tail_;                          // less than a chunk
  std::vector<Kind> kinds_;                           // a handful
};

}  // namespace pennyweight::commit_log
