// The section `guardrails:` of the configuration: rules about what a workload may cost and
// request.
#pragma once

#include <vector>

#include "config/config_key.h"
#include "config/yaml_reader.h"
#include "insight/guardrails/rules.h"

namespace pennyweight {

// Names are unique, every rule has a condition and a reason, and all amounts are in one currency.
std::vector<guardrails::GuardrailRule> read_guardrails(YamlReader& reader, const YamlNode& node);

ConfigKeys guardrail_config_keys();

}  // namespace pennyweight
