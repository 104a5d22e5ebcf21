// Machines: who sends telemetry, and reads what we measure of ourselves, without an account.
//
// Prometheus and its kin bear a fixed token, or run on this very machine. They may send telemetry,
// read /metrics, and see what runs now; nothing else is ever allowed to them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.h"
#include "server/server.h"

namespace pennyweight::api {

struct Machines {
  std::vector<std::string> tokens = {};
  // Who asks from this machine bears no token. A request that a browser makes, or a proxy passes
  // on, is not one from this machine, whatever its address says.
  bool trust_loopback = false;
};

// Who asks with this token ("" for none), if it is a machine.
std::optional<access::Principal> machine_of(const Machines& machines,
                                            const server::Request& request, std::string_view token);

}  // namespace pennyweight::api
