#include "server/forwarded.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace pennyweight::server {
namespace {

constexpr std::size_t kPortDigitsMax = 5;

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Digits, or a word that stands for them (RFC 7239, section 6.4).
bool is_port(std::string_view text) {
  if (text.starts_with('_')) {
    return text.size() > 1 && std::ranges::all_of(text, [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
           });
  }
  return !text.empty() && text.size() <= kPortDigitsMax &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
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

  // False: the line is none.
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
  // Up to a comma or the end. "a=b; c=d", and empty pairs count for nothing.
  bool read_element(Hop& hop, bool& has_pairs) {
    bool has_for = false, has_proto = false;
    while (true) {
      skip_spaces();
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
      if (is_same_word(name, "for")) {
        if (std::exchange(has_for, true)) return false;
        hop.address = read_node(*value);
      } else if (is_same_word(name, "proto")) {
        if (std::exchange(has_proto, true)) return false;
        hop.secure = is_same_word(*value, "https");
      }
      skip_spaces();
      if (!rest_.empty() && rest_.front() != ',' && rest_.front() != ';') return false;
    }
  }

  std::optional<std::string> read_value() {
    if (!rest_.starts_with('"')) {
      // More than a token is taken: some write addresses with colons and brackets without quotes.
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
    return std::nullopt;  // it does not end
  }

  // RFC 9110, section 5.6.2.
  static bool is_of_token(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  }

  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
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

// Of all lines of a header, one after the other; nothing where there is none.
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

// What hops say of the asker. `nearest` is the proxy that is connected to us.
struct Told {
  Address asker;
  std::optional<bool> secure;
};

Told told_by(const std::vector<Hop>& hops, const Address& nearest,
             std::span<const AddressBlock> trusted) {
  Told told{.asker = nearest, .secure = {}};
  for (std::size_t i = hops.size(); i-- > 0;) {
    told.secure = hops[i].secure;
    if (!hops[i].address) break;
    told.asker = *hops[i].address;
    if (!is_trusted(told.asker, trusted)) break;
  }
  return told;
}

// X-Forwarded-Proto: "https", of each proxy that has a word to say. Which of several is of the
// asker is not said, so that all must say it.
std::optional<bool> forwarded_proto(const Headers& headers) {
  const auto [begin, end] = headers.equal_range("x-forwarded-proto");
  if (begin == end) return std::nullopt;
  bool all = true;
  for (auto line = begin; line != end; ++line) {
    std::string_view rest = line->second;
    while (true) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      all = all && is_same_word(trimmed(rest.substr(0, comma)), "https");
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
    const std::string_view text = trimmed(line.substr(0, comma));
    // An empty place is no hop (RFC 9110, section 5.6.1).
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

Origin origin_of(std::string_view peer, const Headers& headers,
                 std::span<const AddressBlock> trusted) {
  const Origin as_it_is{.peer = std::string(peer), .secure = false};
  if (trusted.empty()) return as_it_is;
  const auto nearest = parse_address(peer);
  if (!nearest || !is_trusted(*nearest, trusted)) return as_it_is;
  std::optional<Told> by_x, by_standard;
  if (const auto hops = hops_of(headers, "x-forwarded-for", read_forwarded_for)) {
    by_x = told_by(*hops, *nearest, trusted);
  }
  if (const auto hops = hops_of(headers, "forwarded", read_forwarded)) {
    by_standard = told_by(*hops, *nearest, trusted);
  }
  Address asker = by_x ? by_x->asker : by_standard ? by_standard->asker : *nearest;
  // A proxy writes one of them and may pass the other on as the asker sent it.
  if (by_x && by_standard && by_x->asker != by_standard->asker) asker = *nearest;
  bool is_said = false, is_https = true;
  const auto hear = [&](const std::optional<bool>& secure) {
    if (!secure) return;
    is_said = true;
    is_https = is_https && *secure;
  };
  hear(forwarded_proto(headers));
  if (by_standard) hear(by_standard->secure);
  return {.peer = asker == *nearest ? std::string(peer) : to_text(asker),
          .secure = is_said && is_https};
}

}  // namespace pennyweight::server
