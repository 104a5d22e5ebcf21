// Reads rules that derive a value from a label: a list of {label: image, matches: "…/(.*)", value:
// $1}.
#pragma once

#include <string>
#include <vector>

#include "allocation/policy/label_pattern.h"
#include "config/yaml_reader.h"

namespace pennyweight {

std::vector<DeriveRule> read_derive_rules(YamlReader& yaml, const YamlNode& node,
                                          const std::string& what);

}  // namespace pennyweight
