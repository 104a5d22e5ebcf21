// KnownHosts: the names and addresses that a request may be addressed to.
//
// A page of an attacker's site can make a browser send requests to this server under the attacker's
// own name, once that name resolves to this machine (DNS rebinding). It can't choose an address, a
// name without a dot, or a name that no public registry hands out; those need no configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pennyweight::server {

class KnownHosts {
 public:
  // `names`: as "gpu.example.com", or "*.example.com" for every name below it; in any case.
  explicit KnownHosts(std::vector<std::string> names);

  // `host`: of a request, without port and brackets. "" is not known.
  bool contains(std::string_view host) const;

 private:
  std::vector<std::string> names_;  // in lower case
};

}  // namespace pennyweight::server
