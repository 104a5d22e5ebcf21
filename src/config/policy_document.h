// Reads a policy from YAML and reports every mistake with its place.
//
// The document is a file of its own, or the section `policy:` of the configuration.
// docs/guide/policy.md explains its keys; docs/schema/policy.schema.json lists them for editors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allocation/policy/policy.h"
#include "config/yaml_reader.h"
#include "core/error.h"

namespace pennyweight {

// Whether the document must say `version: 1`. A file of its own must, since it may be passed on
// without the program that it was written for.
enum class PolicyVersion { kRequired, kOptional };

struct PolicyReading {
  Policy policy;                  // only to be used when no problem is an error
  std::vector<Problem> problems;  // by place
  bool states_dimensions = false;
  bool states_time_zone = false;
  YamlReader::KnownKeys
      known_keys;  // of the mappings that were read; a test compares the schema with them
};

// What the document does not state is as in `defaults`. Lists are replaced as a whole, so that a
// document that states its dimensions has these and no others.
PolicyReading read_policy(const YamlNode& root, const std::string& name, const Policy& defaults,
                          PolicyVersion version);

// Reads a policy file.
PolicyReading check_policy(std::string_view yaml, const std::string& name, const Policy& defaults);
Result<Policy> parse_policy(std::string_view yaml, const std::string& name, const Policy& defaults);

// Reads the section `dimensions:` of a policy or a configuration, in the document's order. `what`
// is the section's path, for messages.
std::vector<DimensionRule> read_dimensions(YamlReader& reader, const YamlNode& node,
                                           const std::string& what);

}  // namespace pennyweight
