#include "core/clickhouse/address.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "core/ascii.h"
#include "core/base_encoding.h"
#include "core/percent.h"
#include "core/try.h"

namespace pennyweight::clickhouse {
namespace {

constexpr std::string_view kScheme = "clickhouse://";
constexpr std::size_t kValueBytesMax = 4096;  // of user, password, and an option's value
constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kHostBytesMax = 253;  // RFC 1035, section 2.3.4
constexpr std::size_t kEndpointsMax = 64;
constexpr std::int64_t kMsMax = 86'400'000;  // a day
// Long enough for several statements on a cluster: with less, programs that are alive would often
// be taken for dead.
constexpr std::int64_t kLeaseMsMin = 1'000;
constexpr std::string_view kOptions[] = {
    "ca_file",  "cluster",    "compress", "connect_timeout_ms", "lease_ms", "password_file",
    "retry_ms", "timeout_ms", "tls"};

// The message may be read by somebody who must not know the password, and a malformed text may have
// the password anywhere. So a message quotes only parts that can't be part of it.
std::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::kConfig,
              fmt::format("the ledger's address {}; it is written "
                          "clickhouse://user:password@host:8123,host:8123/database?option=value",
                          what));
}

// The name of a database or cluster that needs no quotes in a statement.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && !ascii::is_digit(text.front()) &&
         std::ranges::all_of(
             text, [](char c) { return ascii::is_letter(c) || ascii::is_digit(c) || c == '_'; });
}

// Percent-decodes a value. Nothing for a '%' without two hexadecimal digits, for a control
// character, and for a value that is too long.
std::optional<std::string> decode_value(std::string_view text) {
  if (text.size() > kValueBytesMax) return std::nullopt;
  auto decoded = percent_decoded(text);
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 127; };
  if (decoded && std::ranges::any_of(*decoded, is_control)) return std::nullopt;
  return decoded;
}

// A user or password that HTTP headers can carry: they drop spaces at both ends.
Result<std::string> credential(std::string_view text, std::string_view what) {
  auto decoded = decode_value(text);
  if (!decoded) {
    return wrong(
        fmt::format("has a {} with a control character, with a '%' that two hexadecimal "
                    "digits don't follow (write '%' itself as %25), or of more than {} bytes",
                    what, kValueBytesMax));
  }
  if (decoded->starts_with(' ') || decoded->ends_with(' ')) {
    return wrong(fmt::format("has a {} that begins or ends with a space", what));
  }
  return *decoded;
}

Result<void> read_user(std::string_view text, Address& address) {
  const auto colon = text.find(':');
  auto user = credential(text.substr(0, colon), "user");
  if (!user) return std::unexpected(user.error());
  if (user->empty() || user->find(':') != std::string::npos) {
    return wrong("has an empty user, or one with a ':'");
  }
  address.user = std::move(*user);
  if (colon == std::string_view::npos) return {};
  auto password = TRY(credential(text.substr(colon + 1), "password"));
  address.password = std::move(password);
  return {};
}

bool is_host(std::string_view text) {
  if (text.empty() || text.size() > kHostBytesMax) return false;
  if (text.starts_with('[')) {  // an address of IPv6
    return text.size() > 3 && text.ends_with(']') && text.find(':') != std::string_view::npos &&
           std::ranges::all_of(text.substr(1, text.size() - 2),
                               [](char c) { return hex_value(c) || c == ':' || c == '.'; });
  }
  return std::ranges::all_of(text, [](char c) {
    return ascii::is_letter(c) || ascii::is_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

struct Host {
  std::string name;
  int port = 0;  // 0: not written
};

Result<std::vector<Host>> read_hosts(std::string_view text) {
  std::vector<Host> hosts;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    const auto place = fmt::format("host {}", hosts.size() + 1);
    if (hosts.size() == kEndpointsMax) {
      return wrong(fmt::format("has more than {} hosts", kEndpointsMax));
    }
    Host host;
    const auto colon =
        one.find(':', one.starts_with('[') ? std::min(one.find(']'), one.size()) : 0);
    if (colon != std::string_view::npos) {
      const std::string_view port = one.substr(colon + 1);
      const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), host.port);
      if (error != std::errc{} || end != port.data() + port.size() || host.port < 1 ||
          host.port > 65'535) {
        return wrong(place + " has a port that is not a number from 1 to 65535");
      }
      one = one.substr(0, colon);
    }
    if (!is_host(one)) return wrong(place + " is neither a name nor an address");
    host.name = one;
    hosts.push_back(std::move(host));
  }
  return hosts;
}

Result<bool> read_flag(std::string_view name, std::string_view value) {
  if (value == "0" || value == "1") return value == "1";
  return wrong(fmt::format("has an option {} that is neither 0 nor 1", name));
}

Result<std::chrono::milliseconds> read_ms(std::string_view name, std::string_view value,
                                          std::int64_t least) {
  std::int64_t count = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc{} || end != value.data() + value.size() || count < least ||
      count > kMsMax) {
    return wrong(
        fmt::format("has an option {} that is not a whole number of milliseconds from {} to "
                    "{}",
                    name, least, kMsMax));
  }
  return std::chrono::milliseconds(count);
}

template <class Value>
Result<void> put(Result<Value> value, Value& where) {
  if (!value) return std::unexpected(value.error());
  where = std::move(*value);
  return {};
}

Result<void> read_option(std::string_view name, const std::string& value, Address& address,
                         bool& tls) {
  if (name == "tls") return put(read_flag(name, value), tls);
  if (name == "compress") return put(read_flag(name, value), address.compress);
  if (name == "connect_timeout_ms") return put(read_ms(name, value, 1), address.connect_timeout);
  if (name == "timeout_ms") return put(read_ms(name, value, 1), address.timeout);
  if (name == "retry_ms") return put(read_ms(name, value, 0), address.retry);
  if (name == "lease_ms") return put(read_ms(name, value, kLeaseMsMin), address.lease);
  if (value.empty()) return wrong(fmt::format("has an option {} without a value", name));
  if (name == "ca_file") address.ca_file = value;
  if (name == "password_file") address.password_file = value;
  if (name == "cluster") {
    if (!is_name(value)) {
      return wrong(
          fmt::format("has an option cluster that is not a name: letters, digits and '_', "
                      "at most {} bytes, no digit in front",
                      kNameBytesMax));
    }
    address.cluster = value;
  }
  return {};
}

Result<void> read_options(std::string_view text, Address& address, bool& tls) {
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const auto ampersand = std::min(text.find('&'), text.size());
    const std::string_view option = text.substr(0, ampersand);
    text.remove_prefix(std::min(ampersand + 1, text.size()));
    const auto equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    if (equals == std::string_view::npos || !is_name(name)) {
      return wrong("has options that are not written name=value&name=value");
    }
    if (std::ranges::find(kOptions, name) == std::end(kOptions)) {
      return wrong(
          fmt::format("has an option {}, which is none of {}", name, fmt::join(kOptions, ", ")));
    }
    if (!seen.insert(name).second) return wrong(fmt::format("has the option {} twice", name));
    const auto value = decode_value(option.substr(equals + 1));
    if (!value) {
      return wrong(
          fmt::format("has an option {} with a control character, with a '%' that two "
                      "hexadecimal digits don't follow, or of more than {} bytes",
                      name, kValueBytesMax));
    }
    TRY(read_option(name, *value, address, tls));
  }
  return {};
}

}  // namespace

bool is_address(std::string_view text) {
  constexpr std::string_view kName = "clickhouse:";
  const bool begins_like_one =
      text.size() >= kName.size() &&
      std::ranges::equal(text.substr(0, kName.size()), kName,
                         [](char a, char b) { return ascii::to_lower(a) == b; });
  return begins_like_one || text.find("://") != std::string_view::npos;
}

Result<Address> parse_address(std::string_view text) {
  if (!text.starts_with(kScheme)) return wrong("does not begin with clickhouse://");
  text.remove_prefix(kScheme.size());
  const std::string_view authority = text.substr(0, text.find_first_of("/?"));
  const std::string_view rest = text.substr(authority.size());
  if (rest.find('@') != std::string_view::npos) {
    return wrong(
        "has an '@' behind the first '/' or '?'; write / ? @ as %2F %3F %40 in user, "
        "password and options");
  }
  if (!rest.starts_with('/')) return wrong("names no database");

  Address address;
  const auto at = authority.find('@');
  if (at != authority.rfind('@')) return wrong("has several '@'; write '@' in a password as %40");
  if (at != std::string_view::npos) {
    TRY(read_user(authority.substr(0, at), address));
  }
  auto hosts = TRY(read_hosts(authority.substr(at == std::string_view::npos ? 0 : at + 1)));

  const auto question = rest.find('?');
  address.database = rest.substr(1, question == std::string_view::npos ? question : question - 1);
  if (!is_name(address.database)) {
    return wrong(
        fmt::format("has a database that is not a name: letters, digits and '_', at most {} "
                    "bytes, no digit in front",
                    kNameBytesMax));
  }
  bool tls = false;
  if (question != std::string_view::npos) {
    TRY(read_options(rest.substr(question + 1), address, tls));
  }
  if (!address.password.empty() && !address.password_file.empty()) {
    return wrong("has both a password and a password_file; keep one");
  }
  if (!address.ca_file.empty() && !tls) return wrong("has a ca_file, which needs tls=1");
  for (const Host& host : hosts) {
    std::string endpoint = fmt::format("{}://{}:{}", tls ? "https" : "http", host.name,
                                       host.port != 0 ? host.port : (tls ? 8443 : 8123));
    if (std::ranges::find(address.endpoints, endpoint) != address.endpoints.end()) {
      return wrong(fmt::format("has the host {} twice", host.name));
    }
    address.endpoints.push_back(std::move(endpoint));
  }
  return address;
}

std::string shown(const Address& address) {
  bool tls = false;
  std::vector<std::string_view> hosts;
  for (std::string_view endpoint : address.endpoints) {
    tls = tls || endpoint.starts_with("https://");
    const auto slashes = endpoint.find("://");
    hosts.push_back(slashes == std::string_view::npos ? endpoint : endpoint.substr(slashes + 3));
  }
  std::string text = fmt::format("{}{}/{}", kScheme, fmt::join(hosts, ","), address.database);
  if (!address.cluster.empty()) text += "?cluster=" + address.cluster;
  if (tls) text += address.cluster.empty() ? "?tls=1" : "&tls=1";
  return text;
}

}  // namespace pennyweight::clickhouse
