#include "server/api/machine_clients.h"

#include <algorithm>
#include <array>

#include "core/crypto/secret.h"
#include "server/access/secrets.h"

namespace pennyweight::api {
namespace {

using access::Permission;
using access::Principal;

Principal machine(access::SignedInBy by) {
  return {.name = "machine",
          .display_name = "A machine",
          .role = access::Role::kOperator,
          .scope = {},
          .only = std::vector{Permission::kSendTelemetry, Permission::kReadMetrics,
                              Permission::kReadLive},
          .by = by,
          .session = {},
          .csrf = {},
          .must_change_password = false};
}

bool is_loopback(std::string_view peer) {
  return peer.starts_with("127.") || peer == "::1" || peer.starts_with("::ffff:127.");
}

// Headers of browsers and proxies, which a program on this machine does not send.
constexpr std::array<std::string_view, 10> kOfOthers = {
    "origin",    "referer",         "sec-fetch-site",    "sec-fetch-mode",   "via",
    "forwarded", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip"};

}  // namespace

std::optional<Principal> find_machine_client(const MachineClients& machines,
                                             const server::Request& request,
                                             std::string_view token) {
  if (!token.empty()) {
    // All tokens are compared, so that the time taken does not tell which one matched.
    bool known = false;
    for (const std::string& one : machines.tokens) known = is_same_secret(one, token) || known;
    if (!known) return std::nullopt;
    return machine(access::SignedInBy::kToken);
  }
  if (!machines.trust_loopback || !machines.tokens.empty() || !is_loopback(request.peer)) {
    return std::nullopt;
  }
  const bool of_others = std::ranges::any_of(kOfOthers, [&](std::string_view name) {
    return request.headers.contains(std::string(name));
  });
  if (of_others) return std::nullopt;
  return machine(access::SignedInBy::kLoopback);
}

}  // namespace pennyweight::api
