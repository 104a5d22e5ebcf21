#include "ledger/end_keys.h"

namespace pennyweight {
namespace {

template <class Fact>
Hash128 key_with_end(const Fact& fact) {
  return Fingerprint().add("with an end").add(to_text(natural_key(fact))).hash();
}

template <class Fact>
bool agree_but_for_the_end(Fact a, const Fact& b) {
  a.to = b.to;
  return content_hash(a) == content_hash(b);
}

}  // namespace

template <class Fact>
EndKeys<Fact>::EndKeys(std::span<const Fact> in_ledger) {
  for (const Fact& fact : in_ledger) known_.try_emplace(fact.id.hash, fact);
}

template <class Fact>
Hash128 EndKeys<Fact>::key_of(const Fact& fact) {
  const Hash128 natural = natural_key(fact);
  const Hash128 with_end = key_with_end(fact);
  const auto at_natural = known_.find(natural);
  const bool is_of_earlier_version = at_natural != known_.end() && at_natural->second.to;
  // Where an earlier version stored the end under the natural key, the other key is the rest's.
  const bool is_at_natural = is_of_earlier_version == fact.to.has_value();
  Hash128 key = is_at_natural ? natural : with_end;
  const auto counterpart = known_.find(is_at_natural ? with_end : natural);
  if (counterpart != known_.end() && !agree_but_for_the_end(counterpart->second, fact)) {
    key = counterpart->first;
  }
  known_.try_emplace(key, fact);
  return key;
}

template class EndKeys<Node>;
template class EndKeys<Gpu>;

}  // namespace pennyweight
