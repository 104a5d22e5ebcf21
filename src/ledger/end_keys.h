// The keys under which nodes and GPUs are stored, so that one without an end can be ended later.
//
// A fact without an end has its natural key, and one with an end a key of its own: neither replaces
// the other, whichever comes first, and readers take the one with the end (keep_ended). They must
// agree in all but the end. If they don't, both get one key, so that they conflict. Earlier
// versions stored facts with an end under the natural key: there they stay, and are recognised.
#pragma once

#include <map>
#include <span>
#include <type_traits>

#include "core/hash.h"
#include "ledger/node.h"

namespace pennyweight {

template <class Fact>  // Node or Gpu
class EndKeys {
 public:
  // `in_ledger`: all facts as they are stored, with their ids.
  explicit EndKeys(std::span<const Fact> in_ledger);
  // The key of the next fact of an import.
  Hash128 key_of(const Fact& fact);

 private:
  std::map<Hash128, Fact> known_;
};

template <class Fact>
inline constexpr bool has_end_key = std::is_same_v<Fact, Node> || std::is_same_v<Fact, Gpu>;

extern template class EndKeys<Node>;
extern template class EndKeys<Gpu>;

}  // namespace pennyweight
