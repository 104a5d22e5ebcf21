// Which addresses no request goes to, whoever named them: a configuration, a list of targets that
// others can write to, or an answer that redirects. The check is of the address that a name has led
// to, at the moment of connecting, so a name that leads elsewhere the second time gains nothing.
#pragma once

#include <sys/socket.h>

#include <string>

namespace pennyweight::http {

// Why nothing may be asked of this address; "": it may. Refused are link-local addresses (RFC 3927,
// RFC 4291), where clouds keep the credentials of a machine (169.254.169.254), the other addresses
// of such services, and multicast and unspecified ones. IPv4 addresses inside of IPv6 ones (mapped,
// NAT64, 6to4) count as what they are. Private and loopback addresses are where exporters live:
// allowed, unless only public ones are (public_address.h).
std::string refused_peer(const sockaddr& address, bool public_addresses_only = false);

}  // namespace pennyweight::http
