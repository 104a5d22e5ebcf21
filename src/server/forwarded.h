// Forwarded: who asks, and whether over TLS, where a proxy that we trust stands in between.
//
// Anybody can write these headers, so only what proxies of ours wrote into them is believed. Each
// appends whom it was asked by, so they are read from the right: past the addresses that are
// proxies of ours to the first that is not, which is the asker. What stands left of it he may have
// written himself. Where the two headers name different askers, or what a proxy wrote can't be
// read, the proxy that is known to be one stands for him: nobody gets another's address.
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
  std::string peer;     // address; as it was given where nothing else is believed
  bool secure = false;  // the proxy was asked over TLS
  bool operator==(const Origin&) const = default;
};

// Names in small letters. A header that is there several times stands in the order it was sent in.
using Headers = std::multimap<std::string, std::string>;

// `peer` is who is connected to us. X-Forwarded-For with X-Forwarded-Proto, and Forwarded
// (RFC 7239), count where it is in one of `trusted`. Never secure by the word of anybody else, and
// only where all that is said of it says https.
Origin origin_of(std::string_view peer, const Headers& headers,
                 std::span<const AddressBlock> trusted);

// One step on the way to us, as the headers have it.
struct Hop {
  std::optional<Address> address;  // nothing: hidden, or not readable
  std::optional<bool> secure;      // nothing: not said
  bool operator==(const Hop&) const = default;
};

// The hops of one line of X-Forwarded-For: "192.0.2.1, [2001:db8::1]:4711".
std::vector<Hop> read_forwarded_for(std::string_view line);
// RFC 7239, section 4, of one line: 'for=192.0.2.1;proto=https, for="[2001:db8::1]:4711"'. A line
// that is none is one hop of which nothing is known.
std::vector<Hop> read_forwarded(std::string_view line);

}  // namespace pennyweight::server
