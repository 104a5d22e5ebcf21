#include "server/access/lock_out.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "core/try.h"

namespace pennyweight::access {
namespace {

constexpr std::size_t kIpv6Bytes = 16;
constexpr std::size_t kNetworkBytes = 8;
// ::ffff:0:0/96, an IPv4 address as a dual-stack socket shows it.
constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::string address_group(std::string_view peer) {
  std::string text(peer.substr(0, peer.find('%')));  // fe80::1%eth0
  std::array<unsigned char, kIpv6Bytes> address{};
  if (inet_pton(AF_INET6, text.c_str(), address.data()) != 1) return text;
  if (std::ranges::equal(kMapped, std::span(address).first<kMapped.size()>())) {
    std::array<char, INET_ADDRSTRLEN> shown{};
    inet_ntop(AF_INET, address.data() + kMapped.size(), shown.data(), shown.size());
    return shown.data();
  }
  std::fill(address.begin() + kNetworkBytes, address.end(), static_cast<unsigned char>(0));
  std::array<char, INET6_ADDRSTRLEN> network{};
  inet_ntop(AF_INET6, address.data(), network.data(), network.size());
  return std::string(network.data()) + "/64";
}

Result<bool> is_locked_out(SqlDatabase& database, std::string_view key, Instant now) {
  const auto until = database.integer("SELECT until FROM lock_outs WHERE key = ?", {Blob{key}});
  if (!until) return std::unexpected(until.error());
  return until->has_value() && unix_ms(now) < **until;
}

Result<void> count_failure(SqlDatabase& database, std::string_view key, Instant now,
                           const LockOutRule& rule) {
  const auto locked = TRY(is_locked_out(database, key, now));
  if (locked) return {};
  const std::int64_t begin = unix_ms(now - rule.lasts);
  const auto change = [&](std::string_view sql, std::initializer_list<SqlValue> values) {
    return database.change(sql, values);
  };
  std::ignore = TRY(change("DELETE FROM failures WHERE at <= ?", {begin}));
  std::ignore =
      TRY(change("INSERT INTO failures (key, at) VALUES (?, ?)", {Blob{key}, unix_ms(now)}));
  const auto count =
      TRY(database.integer("SELECT count(*) FROM failures WHERE key = ?", {Blob{key}}));
  if (count.value_or(0) >= static_cast<std::int64_t>(rule.failures_max)) {
    std::ignore = TRY(change("INSERT OR REPLACE INTO lock_outs (key, until) VALUES (?, ?)",
                             {Blob{key}, unix_ms(now + rule.lasts)}));
    std::ignore = TRY(change("DELETE FROM failures WHERE key = ?", {Blob{key}}));
  }
  std::ignore = TRY(change("DELETE FROM lock_outs WHERE until <= ?", {unix_ms(now)}));
  std::ignore = TRY(change("DELETE FROM failures WHERE id <= (SELECT max(id) FROM failures) - ?",
                           {kFailuresKeptMax}));
  std::ignore =
      TRY(change("DELETE FROM lock_outs WHERE key IN "
                 "(SELECT key FROM lock_outs ORDER BY until DESC LIMIT -1 OFFSET ?)",
                 {kLockOutsKeptMax}));
  return {};
}

Result<void> clear_failures(SqlDatabase& database, std::string_view key) {
  for (const std::string_view sql :
       {"DELETE FROM failures WHERE key = ?", "DELETE FROM lock_outs WHERE key = ?"}) {
    std::ignore = TRY(database.change(sql, {Blob{key}}));
  }
  return {};
}

}  // namespace pennyweight::access
