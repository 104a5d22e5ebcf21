// KeyTable: what is known about each series, by its key; looked up once for each series of a body.
//
// Open addressing with linear probing, at most five eighths full, so a look-up mostly touches one
// cache line: of what is there it looks at 1.8 entries. The keys are hashes already.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hash.h"

namespace pennyweight::live {

template <class Value>  // default-constructible, copied
class KeyTable {
 public:
  struct Entry {
    Hash128 key;
    Value value;
    bool used = false;
  };

  KeyTable() : entries_(kSmallest) {}

  // Lives until the next add() or keep_if().
  Value* find(const Hash128& key) {
    for (std::size_t at = place_of(key);; at = (at + 1) & (entries_.size() - 1)) {
      Entry& entry = entries_[at];
      if (!entry.used) return nullptr;
      if (entry.key == key) return &entry.value;
    }
  }
  // REQUIRES: the key is not there.
  Value& add(const Hash128& key, const Value& value) {
    if (is_too_full(used_ + 1, entries_.size())) {
      rebuild(2 * entries_.size(), [](Value&) { return true; });
    }
    ++used_;
    return put(key, value).value;
  }
  template <class Keep>
  void keep_if(Keep keep) {
    std::size_t left = 0;
    for (Entry& entry : entries_) left += entry.used && keep(entry.value) ? 1 : 0;
    if (left == used_) return;
    std::size_t size = kSmallest;
    while (is_too_full(left + 1, size)) size *= 2;
    rebuild(size, keep);
  }
  template <class See>
  void for_each(See see) const {
    for (const Entry& entry : entries_) {
      if (entry.used) see(entry.key, entry.value);
    }
  }
  std::size_t size() const { return used_; }

 private:
  static constexpr std::size_t kSmallest = 16;

  static bool is_too_full(std::size_t used, std::size_t size) { return 8 * used > 5 * size; }
  std::size_t place_of(const Hash128& key) const { return key.low & (entries_.size() - 1); }
  Entry& put(const Hash128& key, const Value& value) {
    std::size_t at = place_of(key);
    while (entries_[at].used) at = (at + 1) & (entries_.size() - 1);
    entries_[at] = {key, value, true};
    return entries_[at];
  }
  template <class Keep>
  void rebuild(std::size_t size, Keep keep) {
    std::vector<Entry> old(size);
    old.swap(entries_);
    used_ = 0;
    for (Entry& entry : old) {
      if (!entry.used || !keep(entry.value)) continue;
      put(entry.key, entry.value);
      ++used_;
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

}  // namespace pennyweight::live
