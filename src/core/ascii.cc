#include "core/ascii.h"

namespace pennyweight::ascii {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), to_lower);
  return lower;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), to_upper);
  return upper;
}

}  // namespace pennyweight::ascii
