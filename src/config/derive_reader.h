// Rules that make a value of a label, as a list of {label: image, matches: "…/(.*)", value: $1}.
#pragma once

#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "policy/label_pattern.h"

namespace pennyweight {

std::vector<DeriveRule> read_derive_rules(YamlReader& yaml, const YamlNode& node,
                                          const std::string& what);

}  // namespace pennyweight
