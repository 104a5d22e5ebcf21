// Reads the rules of policy.spread: who pays idle, overhead and shared cost.
#pragma once

#include <vector>

#include "allocation/policy/policy.h"
#include "config/condition_reader.h"
#include "config/yaml_reader.h"

namespace pennyweight {

// `dimensions_used` gets the dimensions that the rules name, `at` the place of each rule.
std::vector<SpreadRule> read_spread_rules(YamlReader& yaml, const YamlNode& node,
                                          std::vector<DimensionUse>& dimensions_used,
                                          std::vector<const YamlNode*>* at);

}  // namespace pennyweight
