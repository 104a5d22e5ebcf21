#include "app/import/resource_naming.h"

#include <algorithm>

#include "core/ascii.h"

namespace pennyweight {
namespace {

constexpr std::size_t kIdDigitsMin = 8;  // of hexadecimal ones

bool is_hexadecimal(char c) { return ascii::is_digit(c) || (c >= 'a' && c <= 'f'); }

bool is_number(std::string_view name) {
  return name.size() >= kIdDigitsMin && ascii::is_all_digits(name);
}

// A word, a hyphen and hexadecimal digits, such as "i-0abcdef0123456789".
bool is_id(std::string_view name) {
  const std::size_t hyphen = name.find('-');
  if (hyphen == 0 || hyphen == std::string_view::npos) return false;
  const std::string_view digits = name.substr(hyphen + 1);
  return digits.size() >= kIdDigitsMin && std::ranges::all_of(digits, is_hexadecimal) &&
         std::ranges::all_of(name.substr(0, hyphen), ascii::is_lower);
}

}  // namespace

ResourceNaming naming_of(std::string_view plain) {
  if (plain.empty()) return ResourceNaming::kNone;
  if (plain.starts_with("arn:")) return ResourceNaming::kArn;
  if (plain.starts_with("ocid1.")) return ResourceNaming::kOcid;
  if (is_number(plain)) return ResourceNaming::kNumber;
  if (is_id(plain)) return ResourceNaming::kId;
  return plain.find('/') == std::string_view::npos ? ResourceNaming::kName : ResourceNaming::kPath;
}

std::string plain_resource(std::string_view resource) {
  std::string plain = ascii::lower_case(resource);
  const std::size_t last = plain.find_last_of("/:");
  if (last == std::string::npos) return plain;
  const std::string_view end = std::string_view(plain).substr(last + 1);
  return is_id(end) || is_number(end) || end.starts_with("ocid1.") ? std::string(end) : plain;
}

bool is_unique_everywhere(std::string_view plain) {
  constexpr std::size_t kLongName = 17;  // an EC2 instance id has 19
  return plain.find_first_of("/:") != std::string_view::npos || plain.size() >= kLongName;
}

}  // namespace pennyweight
