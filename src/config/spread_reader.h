// Rules of policy.spread: what becomes of idle, overhead and shared cost.
#pragma once

#include <vector>

#include "config/condition_reader.h"
#include "config/yaml_reader.h"
#include "policy/policy.h"

namespace pennyweight {

// `dimensions_used` gets what the rules name; `at` where each rule stands.
std::vector<SpreadRule> read_spread_rules(YamlReader& yaml, const YamlNode& node,
                                          std::vector<DimensionUse>& dimensions_used,
                                          std::vector<const YamlNode*>* at);

}  // namespace pennyweight
