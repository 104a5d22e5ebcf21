#include "server/known_hosts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii.h"
#include "server/address.h"

namespace pennyweight::server {
namespace {

// Not in the public DNS: RFC 6761, RFC 6762 (.local, in which Kubernetes' names end as well), RFC
// 8375, ICANN's .internal, and the services of Kubernetes.
constexpr std::array<std::string_view, 6> kPrivateEndings = {".localhost", ".local", ".home.arpa",
                                                             ".internal",  ".svc",   ".test"};

}  // namespace

KnownHosts::KnownHosts(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::string& name : names_) name = ascii::lower_case(name);
}

bool KnownHosts::contains(std::string_view host) const {
  if (host.empty()) return false;
  if (!host.contains('.') || parse_address(host)) return true;
  std::string name = ascii::lower_case(host);
  if (name.ends_with('.')) name.pop_back();  // the root
  const auto ends_with = [&](std::string_view ending) {
    return name.size() > ending.size() && name.ends_with(ending);
  };
  if (!name.contains('.')) return false;  // "ai." is a public name
  if (std::ranges::any_of(kPrivateEndings, ends_with)) return true;
  return std::ranges::any_of(names_, [&](const std::string& known) {
    return known == name || (known.starts_with("*.") && ends_with(known.substr(1)));
  });
}

}  // namespace pennyweight::server
