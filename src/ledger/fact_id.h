// FactId: what makes a fact the same fact when it arrives again.
//
// Facts are immutable. Every fact has a natural key (what it is about) and a content fingerprint
// (what it says). The same key with the same content is the same fact and harmless; the same key
// with other content is a conflict, which is kept aside with words that say what differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/hash.h"

namespace pennyweight {

struct FactId {
  Hash128 hash;
  auto operator<=>(const FactId&) const = default;
};

// For containers that are only looked into: an id is a fingerprint, so any half of it is a hash.
struct FactIdHash {
  std::size_t operator()(const FactId& id) const { return static_cast<std::size_t>(id.hash.low); }
};

inline std::string to_text(const FactId& id) { return to_text(id.hash); }

// The id of the `ordinal`-th (from 0) of several bill lines with one and the same content.
inline FactId numbered(const Hash128& content, std::uint64_t ordinal) {
  return FactId{{.high = content.high, .low = content.low + ordinal}};  // wraps, and may
}

// Where a fact was read: a line of the file of an import. Not part of what the fact says.
struct SourceLine {
  std::uint64_t line = 0;  // 1-based; 0 where the format has no lines
  auto operator<=>(const SourceLine&) const = default;
};

}  // namespace pennyweight
