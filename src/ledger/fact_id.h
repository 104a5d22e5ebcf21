// FactId: identifies a fact, so that it is recognised when it arrives again.
//
// Facts are immutable. Every fact has a natural key (what it is about) and a content fingerprint
// (everything it says). The same key with the same content is the same fact, and repeating it is
// harmless. The same key with other content is a conflict: the new one is set aside with a message
// that says what differs.
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

// A hash for unordered containers whose order does not matter. An id is a fingerprint already, so
// either half of it will do.
struct FactIdHash {
  std::size_t operator()(const FactId& id) const { return static_cast<std::size_t>(id.hash.low); }
};

inline std::string to_text(const FactId& id) { return to_text(id.hash); }

// The id of the `ordinal`-th (from 0) of several charges with the same content.
inline FactId numbered(const Hash128& content, std::uint64_t ordinal) {
  return FactId{{.high = content.high, .low = content.low + ordinal}};  // may wrap
}

// Where a fact was read: a line of an imported file. It is not part of the fact's content.
struct SourceLine {
  std::uint64_t line = 0;  // 1-based; 0 where the format has no lines
  auto operator<=>(const SourceLine&) const = default;
};

}  // namespace pennyweight
