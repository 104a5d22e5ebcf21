// The policy as a document: YAML, read with every mistake named by its place.
//
// The document stands in a file of its own, or in the configuration under `policy:`. Its keys are
// explained in docs/guide/policy.md, and docs/schema/policy.schema.json has them for editors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "policy/policy.h"

namespace pennyweight {

// Whether the document must say `version: 1`: a file of its own must, since it is kept and passed
// on without the program that it was written for.
enum class PolicyVersion { kRequired, kOptional };

struct PolicyReading {
  Policy policy;                  // REQUIRES of its users: no problem is an error
  std::vector<Problem> problems;  // by place
  bool states_dimensions = false;
  bool states_time_zone = false;
  YamlReader::KnownKeys
      known_keys;  // of the mappings that were read; a test holds the schema to it
};

// What the document does not state is as in `defaults`. Lists are replaced whole, so that a
// document that states its dimensions has these and no others.
PolicyReading read_policy(const YamlNode& root, const std::string& name, const Policy& defaults,
                          PolicyVersion version);

// A file of its own.
PolicyReading check_policy(std::string_view yaml, const std::string& name, const Policy& defaults);
Result<Policy> parse_policy(std::string_view yaml, const std::string& name, const Policy& defaults);

// "dimensions:" of a policy or a configuration, in the order of the document. `what` is where it
// stands.
std::vector<DimensionRule> read_dimensions(YamlReader& reader, const YamlNode& node,
                                           const std::string& what);

}  // namespace pennyweight
