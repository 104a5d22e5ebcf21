// MachineClients: programs such as Prometheus that use the API without an account.
//
// They present a fixed token, or run on this machine. They may send telemetry, read /metrics and
// see what runs now, and nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/principal.h"
#include "server/server.h"

namespace pennyweight::api {

struct MachineClients {
  std::vector<std::string> tokens = {};
  // Accept requests from this machine without a token. A request by a browser, or passed on by a
  // proxy, does not count as one from this machine, whatever its address.
  bool trust_loopback = false;
};

// The principal of a request with this token ("" for none), if it comes from a machine client.
std::optional<access::Principal> find_machine_client(const MachineClients& machines,
                                                     const server::Request& request,
                                                     std::string_view token);

}  // namespace pennyweight::api
