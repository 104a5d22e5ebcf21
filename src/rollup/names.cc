#include "rollup/names.h"

#include <algorithm>

namespace pennyweight::rollup {

Facet lean(Facet facet) {
  std::fill(facet.begin() + kLeanDimensions, facet.end(), 0);
  return facet;
}

Number value_in(const Set& set, Number dimension) {
  const auto found = std::ranges::find(set, dimension, &Set::value_type::first);
  return found == set.end() ? 0 : found->second;
}

Names::Names() {
  texts.number_of(std::string_view());
  facets.number_of(Facet{});
  places.number_of(Place{});
  sets.number_of(Set{});
}

}  // namespace pennyweight::rollup
