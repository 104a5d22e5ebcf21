// The part of a resource id or provider id by which charges and nodes are compared.
#pragma once

#include <string_view>

namespace pennyweight {

// "i-0abc" of "aws:///us-east-1a/i-0abc" and of "arn:aws:ec2:us-east-1:1:instance/i-0abc". The
// whole of a name without '/'.
inline std::string_view last_segment(std::string_view id) {
  const std::size_t slash = id.find_last_of('/');
  return slash == std::string_view::npos ? id : id.substr(slash + 1);
}

}  // namespace pennyweight
