// Overloaded: several lambdas as one, for std::visit.
#pragma once

namespace pennyweight {

// std::visit(Overloaded{[](A) {…}, [](B) {…}}, variant);
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

}  // namespace pennyweight
