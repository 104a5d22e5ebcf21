#include "reporting/rollup/dictionary.h"

#include <algorithm>

namespace pennyweight::rollup {

Facet lean(Facet facet) {
  std::fill(facet.begin() + kLeanDimensions, facet.end(), 0);
  return facet;
}

Number value_in(const LabelSet& set, Number dimension) {
  const auto found = std::ranges::find(set, dimension, &LabelSet::value_type::first);
  return found == set.end() ? 0 : found->second;
}

Dictionary::Dictionary() {
  texts.number_of(std::string_view());
  facets.number_of(Facet{});
  places.number_of(Location{});
  sets.number_of(LabelSet{});
}

}  // namespace pennyweight::rollup
