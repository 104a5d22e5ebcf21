#include "server/forwarded.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/ascii.h"

namespace pennyweight::server {
namespace {

constexpr std::size_t kPortDigitsMax = 5;

// A port number, or an obfuscated port (RFC 7239, section 6.4).
bool is_port(std::string_view text) {
  if (text.starts_with('_')) {
    return text.size() > 1 && std::ranges::all_of(text, [](char c) {
             return ascii::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
           });
  }
  return text.size() <= kPortDigitsMax && ascii::is_all_digits(text);
}

// An address with or without a port: "192.0.2.1:80", "[2001:db8::1]", "2001:db8::1".
std::optional<Address> read_node(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view port = text.substr(end + 1);
    if (!port.empty() && !(port.starts_with(':') && is_port(port.substr(1)))) return std::nullopt;
    const std::string_view inside = text.substr(1, end - 1);
    return inside.contains(':') ? parse_address(inside) : std::nullopt;
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return parse_address(text);
  }
  return is_port(text.substr(colon + 1)) ? parse_address(text.substr(0, colon)) : std::nullopt;
}

// The elements of one line of Forwarded, each with its pairs.
class ForwardedReader {
 public:
  explicit ForwardedReader(std::string_view line) : rest_(line) {}

  // False: the line is malformed.
  bool read(std::vector<Hop>& hops) {
    while (true) {
      Hop hop;
      bool has_pairs = false;
      if (!read_element(hop, has_pairs)) return false;
      if (has_pairs) hops.push_back(hop);
      if (rest_.empty()) return true;
      rest_.remove_prefix(1);  // the comma
    }
  }

 private:
  // Reads the pairs up to a comma or the end: "a=b; c=d". Empty pairs are skipped.
  bool read_element(Hop& hop, bool& has_pairs) {
    bool has_for = false, has_proto = false;
    while (true) {
      skip_blanks();
      if (rest_.empty() || rest_.front() == ',') return true;
      if (rest_.front() == ';') {
        rest_.remove_prefix(1);
        continue;
      }
      const std::string_view name = take_while([](char c) { return is_of_token(c); });
      if (name.empty() || !rest_.starts_with('=')) return false;
      rest_.remove_prefix(1);
      const auto value = read_value();
      if (!value) return false;
      has_pairs = true;
      if (ascii::equal_ignoring_case(name, "for")) {
        if (std::exchange(has_for, true)) return false;
        hop.address = read_node(*value);
      } else if (ascii::equal_ignoring_case(name, "proto")) {
        if (std::exchange(has_proto, true)) return false;
        hop.secure = ascii::equal_ignoring_case(*value, "https");
      }
      skip_blanks();
      if (!rest_.empty() && rest_.front() != ',' && rest_.front() != ';') return false;
    }
  }

  std::optional<std::string> read_value() {
    if (!rest_.starts_with('"')) {
      // More than a token is accepted: some proxies write addresses with colons and brackets
      // without quotes.
      const std::string_view plain =
          take_while([](char c) { return is_of_token(c) || c == ':' || c == '[' || c == ']'; });
      if (plain.empty()) return std::nullopt;
      return std::string(plain);
    }
    std::string value;
    bool is_escaped = false;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (!is_escaped && rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return value;
      }
      is_escaped = !is_escaped && rest_[i] == '\\';
      if (!is_escaped) value += rest_[i];
    }
    return std::nullopt;  // no closing quote
  }

  // RFC 9110, section 5.6.2.
  static bool is_of_token(char c) {
    return ascii::is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
  }

  void skip_blanks() {
    while (!rest_.empty() && ascii::is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  template <class Is>
  std::string_view take_while(const Is& is) {
    const auto end = std::ranges::find_if_not(rest_, is);
    const std::string_view taken(rest_.begin(), end);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

bool is_trusted(const Address& address, std::span<const AddressBlock> trusted) {
  return std::ranges::any_of(trusted,
                             [&](const AddressBlock& block) { return block.contains(address); });
}

// The hops of all lines of a header in order; nothing if it is absent.
template <class Read>
std::optional<std::vector<Hop>> hops_of(const Headers& headers, const std::string& name,
                                        const Read& read) {
  const auto [begin, end] = headers.equal_range(name);
  if (begin == end) return std::nullopt;
  std::vector<Hop> hops;
  for (auto line = begin; line != end; ++line) {
    const std::vector<Hop> more = read(line->second);
    hops.insert(hops.end(), more.begin(), more.end());
  }
  return hops;
}

// The client that the hops lead to. `nearest` is the proxy at the other end of the connection.
struct ClaimedOrigin {
  Address client;
  std::optional<bool> secure;
};

ClaimedOrigin walk_hops(const std::vector<Hop>& hops, const Address& nearest,
                        std::span<const AddressBlock> trusted) {
  ClaimedOrigin claimed{.client = nearest, .secure = {}};
  for (std::size_t i = hops.size(); i-- > 0;) {
    claimed.secure = hops[i].secure;
    if (!hops[i].address) break;
    claimed.client = *hops[i].address;
    if (!is_trusted(claimed.client, trusted)) break;
  }
  return claimed;
}

// X-Forwarded-Proto has one entry for each proxy that sets it. Which one is the client's is not
// said, so all must be "https".
std::optional<bool> forwarded_proto(const Headers& headers) {
  const auto [begin, end] = headers.equal_range("x-forwarded-proto");
  if (begin == end) return std::nullopt;
  bool all = true;
  for (auto line = begin; line != end; ++line) {
    std::string_view rest = line->second;
    while (true) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      all = all && ascii::equal_ignoring_case(ascii::trim(rest.substr(0, comma)), "https");
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return all;
}

}  // namespace

std::vector<Hop> read_forwarded_for(std::string_view line) {
  std::vector<Hop> hops;
  while (true) {
    const std::size_t comma = std::min(line.find(','), line.size());
    const std::string_view text = ascii::trim(line.substr(0, comma));
    // An empty list element is not a hop (RFC 9110, section 5.6.1).
    if (!text.empty()) hops.push_back({.address = read_node(text), .secure = {}});
    if (comma == line.size()) return hops;
    line.remove_prefix(comma + 1);
  }
}

std::vector<Hop> read_forwarded(std::string_view line) {
  std::vector<Hop> hops;
  if (!ForwardedReader(line).read(hops)) hops.assign(1, Hop());
  return hops;
}

Origin resolve_origin(std::string_view peer, const Headers& headers,
                      std::span<const AddressBlock> trusted) {
  const Origin as_it_is{.peer = std::string(peer), .secure = false};
  if (trusted.empty()) return as_it_is;
  const auto nearest = parse_address(peer);
  if (!nearest || !is_trusted(*nearest, trusted)) return as_it_is;
  std::optional<ClaimedOrigin> by_x, by_standard;
  if (const auto hops = hops_of(headers, "x-forwarded-for", read_forwarded_for)) {
    by_x = walk_hops(*hops, *nearest, trusted);
  }
  if (const auto hops = hops_of(headers, "forwarded", read_forwarded)) {
    by_standard = walk_hops(*hops, *nearest, trusted);
  }
  Address client = by_x ? by_x->client : by_standard ? by_standard->client : *nearest;
  // A proxy writes one of the two headers and may pass the other on as the client sent it.
  if (by_x && by_standard && by_x->client != by_standard->client) client = *nearest;
  bool is_said = false, is_https = true;
  const auto hear = [&](const std::optional<bool>& secure) {
    if (!secure) return;
    is_said = true;
    is_https = is_https && *secure;
  };
  hear(forwarded_proto(headers));
  if (by_standard) hear(by_standard->secure);
  return {.peer = client == *nearest ? std::string(peer) : to_text(client),
          .secure = is_said && is_https};
}

}  // namespace pennyweight::server
