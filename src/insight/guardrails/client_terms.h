// ClientTerms: where the work of a client may run, and beside whom.
#pragma once

#include <string>
#include <string_view>
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

  // Whether work with this value of the dimension is theirs.
  bool is_theirs(std::string_view value) const;
};

// Whether one of the patterns fits the value, or there are none; an unknown value ("") fits none.
bool is_permitted(const std::vector<std::string>& patterns, std::string_view value);

}  // namespace pennyweight::guardrails
