// The client's address, and whether it uses TLS, when a trusted proxy forwards its requests.
//
// Anybody can send these headers, so only what trusted proxies wrote into them is believed. Each
// proxy appends the address it was contacted from, so they are read from the right: past the
// addresses of trusted proxies to the first other one, which is the client. The client may have
// written everything left of it. If the two headers name different clients, or an entry of a proxy
// can't be read, the last trusted proxy stands for the client: nobody can claim another's address.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/address.h"

namespace pennyweight::server {

struct Origin {
  std::string peer;     // the client's address; the connection's if nothing else is believed
  bool secure = false;  // the client contacted the proxy over TLS
  bool operator==(const Origin&) const = default;
};

// Names in lower case. Repeated headers keep the order in which they were sent.
using Headers = std::multimap<std::string, std::string>;

// `peer` is the address of the connection. X-Forwarded-For with X-Forwarded-Proto, and Forwarded
// (RFC 7239), count only if it is in one of `trusted`. `secure` needs a trusted proxy, and every
// statement about the protocol must say https.
Origin resolve_origin(std::string_view peer, const Headers& headers,
                      std::span<const AddressBlock> trusted);

// One step on the way to the server, as the headers describe it.
struct Hop {
  std::optional<Address> address;  // nothing: hidden or unreadable
  std::optional<bool> secure;      // nothing: not stated
  bool operator==(const Hop&) const = default;
};

// The hops of one line of X-Forwarded-For: "192.0.2.1, [2001:db8::1]:4711".
std::vector<Hop> read_forwarded_for(std::string_view line);
// The hops of one Forwarded header (RFC 7239, section 4):
// 'for=192.0.2.1;proto=https, for="[2001:db8::1]:4711"'. A malformed line is one unknown hop.
std::vector<Hop> read_forwarded(std::string_view line);

}  // namespace pennyweight::server
