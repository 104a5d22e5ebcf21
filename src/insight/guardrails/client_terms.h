// ClientTerms: where the work of a client may run, and beside whom.
#pragma once

#include <string>
#include <vector>

namespace pennyweight::guardrails {

// Lists are of patterns, in which '*' stands for any characters; an empty one allows all.
struct ClientTerms {
  std::string name;
  std::string dimension = "client";      // whose value says that a workload is theirs
  std::vector<std::string> values = {};  // of it; none: the name
  std::vector<std::string> regions = {};
  std::vector<std::string> accounts = {};  // of the provider: FOCUS's SubAccountId
  std::vector<std::string> node_pools = {};
  bool dedicated_nodes = false;  // nobody else runs on a node while they do
  bool operator==(const ClientTerms&) const = default;
};

}  // namespace pennyweight::guardrails
