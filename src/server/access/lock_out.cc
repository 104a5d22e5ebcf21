#include "server/access/lock_out.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "core/try.h"

namespace pennyweight::access {
namespace {

constexpr std::int64_t kDoublingsMax = 20;
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

Result<std::chrono::milliseconds> lock_out_left(SqlDatabase& database, std::string_view key,
                                                Instant now) {
  const auto until =
      TRY(database.integer("SELECT until FROM lock_outs WHERE key = ?", {Blob{key}}));
  if (!until || *until <= unix_ms(now)) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(*until - unix_ms(now));
}

Result<void> count_failure(SqlDatabase& database, std::string_view key, Instant now,
                           const LockOutRule& rule) {
  const auto left = TRY(lock_out_left(database, key, now));
  if (left.count() > 0) return {};
  const auto change = [&](std::string_view sql, std::initializer_list<SqlValue> values) {
    return database.change(sql, values);
  };
  std::ignore = TRY(change("DELETE FROM failures WHERE at <= ?", {unix_ms(now - kFailureKeptFor)}));
  std::ignore =
      TRY(change("INSERT INTO failures (key, at) VALUES (?, ?)", {Blob{key}, unix_ms(now)}));
  const auto count = TRY(database.integer("SELECT count(*) FROM failures WHERE key = ? AND at > ?",
                                          {Blob{key}, unix_ms(now - rule.within)}));
  const std::int64_t beyond = count.value_or(0) - static_cast<std::int64_t>(rule.failures_max);
  if (beyond >= 0) {
    const std::chrono::milliseconds wait =
        std::min(rule.most, rule.first * (std::int64_t{1} << std::min(beyond, kDoublingsMax)));
    std::ignore = TRY(change("INSERT OR REPLACE INTO lock_outs (key, until) VALUES (?, ?)",
                             {Blob{key}, unix_ms(now + wait)}));
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
  const auto bytes = static_cast<std::int64_t>(key.size());
  for (const std::string_view sql : {"DELETE FROM failures WHERE substr(key, 1, ?) = ?",
                                     "DELETE FROM lock_outs WHERE substr(key, 1, ?) = ?"}) {
    std::ignore = TRY(database.change(sql, {bytes, Blob{key}}));
  }
  return {};
}

Result<void> remember_device(SqlDatabase& database, std::string_view key, Instant now) {
  std::ignore =
      TRY(database.change("INSERT OR REPLACE INTO known_devices (key, seen_at) VALUES (?, ?)",
                          {Blob{key}, unix_ms(now)}));
  std::ignore = TRY(database.change("DELETE FROM known_devices WHERE seen_at <= ?",
                                    {unix_ms(now - kDeviceKnownFor)}));
  std::ignore =
      TRY(database.change("DELETE FROM known_devices WHERE key IN "
                          "(SELECT key FROM known_devices ORDER BY seen_at DESC LIMIT -1 OFFSET ?)",
                          {kKnownDevicesMax}));
  return {};
}

Result<bool> is_known_device(SqlDatabase& database, std::string_view key, Instant now) {
  const auto seen =
      TRY(database.integer("SELECT seen_at FROM known_devices WHERE key = ?", {Blob{key}}));
  return seen && *seen > unix_ms(now - kDeviceKnownFor);
}

}  // namespace pennyweight::access
