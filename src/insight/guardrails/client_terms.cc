#include "insight/guardrails/client_terms.h"

#include <algorithm>

#include "allocation/pricing/rate_card.h"

namespace pennyweight::guardrails {

bool ClientTerms::is_theirs(std::string_view value) const {
  if (values.empty()) return value == name;
  return std::ranges::find(values, value) != values.end();
}

bool is_permitted(const std::vector<std::string>& patterns, std::string_view value) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return !value.empty() && fits_pattern(pattern, value);
         });
}

}  // namespace pennyweight::guardrails
